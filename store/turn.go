package store

import "context"

// LaneDue is a lane in which a user's documents are due.
type LaneDue struct {
	UserID int64
	Lane   string
}

// LanesDue returns the lanes in which documents are due, in ascending order of user. It uses the index of turns to skip from user to user,
// because one user may have very many. It is not in store/queries because sqlc does not resolve recursive queries.
func (q *Queries) LanesDue(ctx context.Context, now int64) ([]LaneDue, error) {
	return collect(ctx, q.db, func(l *LaneDue) []any { return []any{&l.UserID, &l.Lane} }, `
		WITH RECURSIVE waiting (id) AS (
			SELECT MIN(user_id) FROM docgen_turns
			UNION ALL
			SELECT (SELECT MIN(user_id) FROM docgen_turns WHERE user_id > waiting.id) FROM waiting WHERE waiting.id IS NOT NULL
		), lanes (lane) AS (SELECT 'docx' UNION ALL SELECT 'pdf' UNION ALL SELECT 'isolated')
		SELECT waiting.id, lanes.lane FROM waiting CROSS JOIN lanes
		WHERE EXISTS (SELECT 1 FROM docgen_turns WHERE user_id = waiting.id AND docgen_turns.lane = lanes.lane AND due_at <= $1)
		ORDER BY waiting.id, lanes.lane`, now)
}

// LaneBacklog sums up the waiting documents of a lane.
type LaneBacklog struct {
	Documents int64
	Oldest    int64 // creation time of the batch that has waited longest; 0 if none waits
}

// LaneBacklog sums up the waiting documents of a lane. It counts at most the given number of them. CROSS JOIN makes SQLite keep the order
// of the tables.
func (q *Queries) LaneBacklog(ctx context.Context, lane string, most int64) (b LaneBacklog, err error) {
	err = q.db.QueryRowContext(ctx, `
		SELECT
			(SELECT COUNT(*) FROM (
				SELECT 1 FROM docgen_turns t CROSS JOIN docgen_jobs j
				WHERE t.lane = $1 AND j.batch_id = t.batch_id AND j.isolated = (t.lane = 'isolated') AND j.waiting LIMIT $2) AS counted),
			COALESCE((SELECT docgen_batches.created_at FROM docgen_turns JOIN docgen_batches ON docgen_batches.id = docgen_turns.batch_id
				WHERE docgen_turns.lane = $1 ORDER BY docgen_turns.id LIMIT 1), 0)`, lane, most).Scan(&b.Documents, &b.Oldest)
	return b, err
}
