package store

import (
	"context"
	"database/sql"
	"fmt"
)

// TemplateRow is a file that is marked as a template, with what a listing shows of it.
type TemplateRow struct {
	FileID  int64
	Name    string
	State   string // of reading the tags of the version that batches use; "" if that was never requested
	Problem string // the first 1000 characters at most

	VersionID int64  // the version that batches use
	Includes  string // of the reading, as in the column

	Defaults        TemplateDefaultsRow
	SamplesRequired bool

	CurrentID          int64 // the current version of the file
	Mistakes, Warnings int64 // of the reading; -1 if unknown
	Samples            CountSamplesRow
}

// The number of templates that one step of a list considers: templateCandidates, divided by the number of owners, but at least
// candidatesPerOwner of each owner. A step takes about 10 ms.
const (
	templateCandidates = 500
	candidatesPerOwner = 10
)

// TemplateStep is the result of one step through the templates.
type TemplateStep struct {
	Rows []TemplateRow // at most the limit of the step
	Next int64         // the file id from which the next step continues
	Done bool          // there are no more templates
}

// Templates are listed in steps, each of which considers a bounded number of candidates. The candidates belong to the user, or to the
// owners of items that the user collaborates on. A step takes a share from each owner. It ends at its edge, the nearest end of a share.
// These queries are not in store/queries because sqlc does not resolve recursive queries inside an expression. A step walks along the index
// from one template to the next, because PostgreSQL would otherwise join the owners with all templates of the server. For the same reason,
// it compares whole entries of the index. SQLite does so only with values that have no affinity (Datatypes In SQLite, section 4.2), hence
// the + 0.
//
// Below, $1 is the file id to continue from, $2 the user, and $3 the current time. %[1]s is the direction as a comparison, %[2]s its
// opposite, %[3]s its order, and %[4]s the function that returns the first value in this order.
var candidateTemplates = `
WITH RECURSIVE owners (id) AS MATERIALIZED (
    SELECT users.id FROM users WHERE users.id = $2
    UNION
    SELECT items.owner_id FROM collaborations JOIN items ON items.id = collaborations.item_id
    WHERE collaborations.user_id = $2 AND collaborations.status = 'accepted'
    AND (collaborations.expires_at = 0 OR collaborations.expires_at > $3)
), walk (owner_id, file_id, step) AS (
    SELECT owners.id, CAST($1 AS BIGINT), 0 FROM owners
    UNION ALL
    SELECT walk.owner_id, (
        SELECT CASE WHEN next.owner_id = walk.owner_id THEN next.file_id END FROM docgen_templates next
        WHERE (next.owner_id, next.file_id) %[1]s (walk.owner_id, walk.file_id + 0) ORDER BY next.owner_id %[3]s, next.file_id %[3]s LIMIT 1
    ), walk.step + 1 FROM walk WHERE walk.file_id IS NOT NULL AND walk.step < (SELECT ` + ownersShare + ` FROM owners)
), edge (file_id) AS MATERIALIZED (
    SELECT %[4]s(walk.file_id) FROM walk WHERE walk.step = (SELECT ` + ownersShare + ` FROM owners)
), candidates (file_id) AS MATERIALIZED (
    SELECT walk.file_id FROM walk
    WHERE walk.step > 0 AND (walk.file_id %[2]s= (SELECT edge.file_id FROM edge) OR (SELECT edge.file_id FROM edge) IS NULL)
)
`

// ownersShare is the number of candidates that a step takes from each owner.
var ownersShare = fmt.Sprintf("CASE WHEN COUNT(*) * %[1]d < %[2]d THEN %[2]d / COUNT(*) ELSE %[1]d END", candidatesPerOwner,
	templateCandidates)

// visibleTemplates selects the candidates that the user can see. The user owns them or collaborates on them, directly or through a folder
// above, and they are neither in the trash nor in a trashed folder.
var visibleTemplates = candidateTemplates + `
SELECT items.id, items.name, COALESCE(readings.state, ''), SUBSTR(COALESCE(readings.problem, ''), 1, 1000),
    COALESCE(NULLIF(docgen_templates.used_version_id, 0), items.version_id), COALESCE(readings.includes, ''),
    default_missing, default_locale, default_time_zone, samples_required,
    items.version_id, COALESCE(readings.mistakes, -1), COALESCE(readings.warnings, -1),
    (SELECT COUNT(*) FROM docgen_samples s WHERE s.file_id = candidates.file_id),
    (SELECT COUNT(*) FROM docgen_sample_results r WHERE r.version_id = readings.version_id AND r.state = 'passed'),
    (SELECT COUNT(*) FROM docgen_sample_results r WHERE r.version_id = readings.version_id AND r.state = 'failed'),
    (SELECT COUNT(*) FROM docgen_sample_results r WHERE r.version_id = readings.version_id AND r.state = 'waiting')
FROM candidates
JOIN docgen_templates ON docgen_templates.file_id = candidates.file_id
JOIN items ON items.id = candidates.file_id
LEFT JOIN docgen_tag_readings readings
    ON readings.version_id = COALESCE(NULLIF(docgen_templates.used_version_id, 0), items.version_id)
WHERE (
    WITH RECURSIVE chain (id, parent_id, owner_id, trashed_at) AS (
        SELECT self.id, self.parent_id, self.owner_id, self.trashed_at
        FROM items self WHERE self.id = candidates.file_id
        UNION ALL
        SELECT above.id, above.parent_id, above.owner_id, above.trashed_at
        FROM chain JOIN items above ON above.id = chain.parent_id
    )
    SELECT CASE WHEN MAX(chain.trashed_at) = 0 AND MAX(CASE
        WHEN chain.owner_id = $2 THEN 1
        WHEN EXISTS (SELECT 1 FROM collaborations WHERE collaborations.item_id = chain.id AND collaborations.user_id = $2
            AND collaborations.status = 'accepted' AND (collaborations.expires_at = 0 OR collaborations.expires_at > $3)) THEN 1
        ELSE 0 END) = 1 THEN 1 ELSE 0 END
    FROM chain
) = 1
ORDER BY candidates.file_id %[3]s LIMIT $4`

// edgeOfTemplates selects the edge of a step. It is NULL if the step considers all remaining templates.
var edgeOfTemplates = candidateTemplates + `SELECT edge.file_id FROM edge`

// TemplatesAfter searches for templates after a file id that the user can see at the time now, in ascending order of id.
func (q *Queries) TemplatesAfter(ctx context.Context, fileID, userID, limit, now int64) (TemplateStep, error) {
	return q.templates(ctx, []any{">", "<", "ASC", "MIN"}, fileID, userID, limit, now)
}

// TemplatesBefore searches for templates before a file id that the user can see at the time now, in descending order of id.
func (q *Queries) TemplatesBefore(ctx context.Context, fileID, userID, limit, now int64) (TemplateStep, error) {
	return q.templates(ctx, []any{"<", ">", "DESC", "MAX"}, fileID, userID, limit, now)
}

func (q *Queries) templates(ctx context.Context, direction []any, fileID, userID, limit, now int64) (step TemplateStep, err error) {
	step.Rows, err = collect(ctx, q.db, func(row *TemplateRow) []any {
		d, n := &row.Defaults, &row.Samples
		return []any{&row.FileID, &row.Name, &row.State, &row.Problem, &row.VersionID, &row.Includes, &d.DefaultMissing, &d.DefaultLocale,
			&d.DefaultTimeZone, &row.SamplesRequired, &row.CurrentID, &row.Mistakes, &row.Warnings, &n.Samples, &n.Passed, &n.Failed, &n.Waiting}
	}, fmt.Sprintf(visibleTemplates, direction...), fileID, userID, now, limit)
	if err != nil {
		return step, err
	}
	if n := int64(len(step.Rows)); n == limit {
		step.Next = step.Rows[n-1].FileID
		return step, nil
	}
	var edge sql.NullInt64
	err = q.db.QueryRowContext(ctx, fmt.Sprintf(edgeOfTemplates, direction...), fileID, userID, now).Scan(&edge)
	step.Next, step.Done = edge.Int64, !edge.Valid
	return step, err
}
