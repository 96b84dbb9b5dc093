package store

import (
	"context"
	"fmt"
	"strings"
)

// Condition is a condition on a column: its text is followed by the value, unless that is nil. The text comes from the source code, never
// from a request.
type Condition struct {
	SQL   string
	Value any
}

const jobColumns = `id, batch_id, template_file_id, template_version_id, status, output_type, output_file_id, output_version_id,
	summary, created_at, created_by, enterprise_id, source, waiting_for, removed_at`

// JobsAfter returns the first jobs after an id that meet all conditions on columns of listed_jobs, in ascending order of id.
// It leaves out jobs of batches that were removed.
func (q *Queries) JobsAfter(ctx context.Context, conditions []Condition, id int64, limit int32) ([]ListedJob, error) {
	return q.jobs(ctx, conditions, "id > $1", "id", id, limit)
}

// JobsBefore is JobsAfter for the last jobs before an id, in descending order.
func (q *Queries) JobsBefore(ctx context.Context, conditions []Condition, id int64, limit int32) ([]ListedJob, error) {
	return q.jobs(ctx, conditions, "id < $1", "id DESC", id, limit)
}

// jobs lists jobs. It builds its text from the given conditions, because one text for all combinations could not use the index of each.
func (q *Queries) jobs(ctx context.Context, conditions []Condition, beyond, order string, id int64, limit int32) ([]ListedJob, error) {
	where, args := []string{beyond, "removed_at = 0"}, []any{id, limit}
	for _, c := range conditions {
		if c.Value == nil {
			where = append(where, c.SQL)
			continue
		}
		args = append(args, c.Value)
		where = append(where, fmt.Sprintf("%s $%d", c.SQL, len(args)))
	}
	query := "SELECT " + jobColumns + " FROM listed_jobs WHERE " + strings.Join(where, " AND ") + " ORDER BY " + order + " LIMIT $2"
	return collect(ctx, q.db, func(j *ListedJob) []any {
		return []any{
			&j.ID, &j.BatchID, &j.TemplateFileID, &j.TemplateVersionID, &j.Status, &j.OutputType, &j.OutputFileID, &j.OutputVersionID,
			&j.Summary, &j.CreatedAt, &j.CreatedBy, &j.EnterpriseID, &j.Source, &j.WaitingFor, &j.RemovedAt,
		}
	}, query, args...)
}
