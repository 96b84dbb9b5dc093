package store

import (
	"context"
	"fmt"
	"strings"
)

// ListedBatch is what the API shows of a batch, without the large column shape.
type ListedBatch struct {
	ID                                                   string
	TemplateFileID, TemplateVersionID, DestinationID     int64
	OutputType, Source, Options                          string
	CreatedAt, CreatedBy, EnterpriseID, Number           int64
	EndedAt, CanceledAt, RetryOfJob                      int64
	RetryOf                                              string
	Total, Submitted, Completed, Incomplete              int64
	Failed, Canceled                                     int64
	MergeName, MergeStatus, MergeFailures, MergeShortage string // empty without a merged file
	MergeFileID, MergeVersionID                          int64
}

// listedBatches selects the columns of ListedBatch. Only jobs that have begun and not ended are counted, which are few.
const listedBatches = `SELECT b.id, b.template_file_id, b.template_version_id, b.destination_id, b.output_type, b.source, b.options,
	b.created_at, b.created_by, b.enterprise_id, b.number, b.ended_at, b.canceled_at, b.retry_of, b.retry_of_job, b.jobs_total,
	(SELECT COUNT(*) FROM docgen_jobs j WHERE j.batch_id = b.id AND j.status = 'submitted'),
	b.jobs_completed, b.jobs_incomplete, b.jobs_failed, b.jobs_canceled,
	COALESCE(m.file_name, ''), COALESCE(m.status, ''), COALESCE(m.failures, ''), COALESCE(m.waiting_for, ''),
	COALESCE(m.output_file_id, 0), COALESCE(m.output_version_id, 0)
	FROM docgen_batches b LEFT JOIN docgen_merges m ON m.batch_id = b.id`

func (b *ListedBatch) columns() []any {
	return []any{
		&b.ID, &b.TemplateFileID, &b.TemplateVersionID, &b.DestinationID, &b.OutputType, &b.Source, &b.Options,
		&b.CreatedAt, &b.CreatedBy, &b.EnterpriseID, &b.Number, &b.EndedAt, &b.CanceledAt, &b.RetryOf, &b.RetryOfJob,
		&b.Total, &b.Submitted, &b.Completed, &b.Incomplete, &b.Failed, &b.Canceled,
		&b.MergeName, &b.MergeStatus, &b.MergeFailures, &b.MergeShortage, &b.MergeFileID, &b.MergeVersionID,
	}
}

// BatchFilter selects batches of a user. Zero values select all.
type BatchFilter struct {
	CreatedBy  int64
	TemplateID int64
	OutputType string
	From, To   int64      // created at From or later, and before To
	State      BatchState // a condition; "" for none
}

// BatchState is a condition on the state of a batch, in SQL, so that an index can contain only the batches that meet it.
type BatchState string

// The conditions.
const (
	BatchInProgress   BatchState = "b.ended_at = 0"
	BatchEnded        BatchState = "b.ended_at <> 0"
	BatchWithFailures BatchState = "b.jobs_failed > 0"
	BatchCanceled     BatchState = "b.canceled_at <> 0"
)

// BatchesBefore returns the batches that a filter selects and that were created before a position, which is a time and a number, newest
// first.
func (q *Queries) BatchesBefore(ctx context.Context, f BatchFilter, createdAt, number int64, limit int32) ([]ListedBatch, error) {
	return q.batches(ctx, f, "<", " DESC", createdAt, number, limit)
}

// BatchesAfter is BatchesBefore for the batches that were created after a position, oldest first.
func (q *Queries) BatchesAfter(ctx context.Context, f BatchFilter, createdAt, number int64, limit int32) ([]ListedBatch, error) {
	return q.batches(ctx, f, ">", "", createdAt, number, limit)
}

func (q *Queries) batches(ctx context.Context, f BatchFilter, beyond, order string, createdAt, number int64,
	limit int32) ([]ListedBatch, error) {
	args := []any{f.CreatedBy, createdAt, number, limit}
	where := []string{"b.created_by = $1", "b.removed_at = 0", "(b.created_at, b.number) " + beyond + " ($2, $3)"}
	add := func(condition string, value any) {
		args = append(args, value)
		where = append(where, fmt.Sprintf("%s $%d", condition, len(args)))
	}
	if f.TemplateID != 0 {
		add("b.template_file_id =", f.TemplateID)
	}
	if f.OutputType != "" {
		add("b.output_type =", f.OutputType)
	}
	if f.From != 0 {
		add("b.created_at >=", f.From)
	}
	if f.To != 0 {
		add("b.created_at <", f.To)
	}
	if f.State != "" {
		where = append(where, string(f.State))
	}
	query := listedBatches + " WHERE " + strings.Join(where, " AND ") + " ORDER BY b.created_at" + order + ", b.number" + order + " LIMIT $4"
	return collect(ctx, q.db, (*ListedBatch).columns, query, args...)
}

// ListedBatch returns a batch as lists show it.
func (q *Queries) ListedBatch(ctx context.Context, id string) (ListedBatch, error) {
	var b ListedBatch
	err := q.db.QueryRowContext(ctx, listedBatches+" WHERE b.id = $1", id).Scan(b.columns()...)
	return b, err
}
