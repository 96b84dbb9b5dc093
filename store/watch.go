package store

import (
	"context"
	"slices"
)

// BatchProgress is what changes in a batch while it runs.
type BatchProgress struct {
	ID                                                        string
	Total, Submitted, Completed, Incomplete, Failed, Canceled int64
	CanceledAt, EndedAt                                       int64
}

// watchedRows is the maximum number of rows that one statement reads.
const watchedRows = 64

// BatchesProgress returns the progress of those of the batches that are visible. It is not in store/queries because sqlc does not support
// lists of values.
func (q *Queries) BatchesProgress(ctx context.Context, ids []string) ([]BatchProgress, error) {
	all := make([]BatchProgress, 0, len(ids))
	for some := range slices.Chunk(ids, watchedRows) {
		args := make([]any, len(some))
		for i, id := range some {
			args[i] = id
		}
		rows, err := collect(ctx, q.db, func(p *BatchProgress) []any {
			return []any{&p.ID, &p.Total, &p.Submitted, &p.Completed, &p.Incomplete, &p.Failed, &p.Canceled, &p.CanceledAt, &p.EndedAt}
		}, `SELECT b.id, b.jobs_total, (SELECT COUNT(*) FROM docgen_jobs j WHERE j.batch_id = b.id AND j.status = 'submitted'),
				b.jobs_completed, b.jobs_incomplete, b.jobs_failed, b.jobs_canceled, b.canceled_at, b.ended_at
			FROM docgen_batches b WHERE b.removed_at = 0 AND b.id IN (`+numbered(1, len(some))+")", args...)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// UnfinishedJobs returns those of the jobs that have not ended.
func (q *Queries) UnfinishedJobs(ctx context.Context, ids []int64) ([]int64, error) {
	all := make([]int64, 0, len(ids))
	for some := range slices.Chunk(ids, watchedRows) {
		rows, err := collect(ctx, q.db, func(id *int64) []any { return []any{id} },
			"SELECT id FROM docgen_jobs WHERE finished_at = 0 AND id IN ("+numbered(1, len(some))+")", withIDs(some)...)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}
