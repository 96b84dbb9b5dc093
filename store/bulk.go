package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// bulkParameters is the maximum number of parameters of an INSERT of many rows. The databases allow far more, but the SQLite driver
// searches all parameters for each one: 100,000 jobs took 5 s with 128 parameters and 79 s with 2,048.
const bulkParameters = 128

// InsertJobs inserts many jobs at once.
func (q *Queries) InsertJobs(ctx context.Context, jobs []DocgenJob) error {
	return insertMany(ctx, q.db, `docgen_jobs (id, batch_id, template_file_id, created_by, file_name, status, attempt,
		output_file_id, output_version_id, failures, finished_at, waiting)`, jobs, func(j DocgenJob) []any {
		return []any{j.ID, j.BatchID, j.TemplateFileID, j.CreatedBy, j.FileName, j.Status, j.Attempt,
			j.OutputFileID, j.OutputVersionID, j.Failures, j.FinishedAt, j.Waiting}
	})
}

// InsertInputs inserts the user_input of many jobs at once.
func (q *Queries) InsertInputs(ctx context.Context, inputs []DocgenInput) error {
	for from := 0; from < len(inputs); {
		to, size := from, 0
		for to < len(inputs) && (to == from || size+len(inputs[to].Data) <= bulkBytes) {
			size += len(inputs[to].Data)
			to++
		}
		err := insertMany(ctx, q.db, "docgen_inputs (job_id, data)", inputs[from:to], func(i DocgenInput) []any { return []any{i.JobID, i.Data} })
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}

// bulkBytes is the approximate number of bytes of input that one statement inserts. Drivers copy all parameters of a statement.
const bulkBytes = 4 << 20

// InsertTags inserts the tags of one file version at once.
func (q *Queries) InsertTags(ctx context.Context, tags []DocgenTag) error {
	return insertMany(ctx, q.db, "docgen_tags (version_id, position, content, type, json_paths)", tags, func(t DocgenTag) []any {
		return []any{t.VersionID, t.Position, t.Content, t.Type, t.JsonPaths}
	})
}

// InsertItems inserts the items of a copied folder at once. Their names must be free.
func (q *Queries) InsertItems(ctx context.Context, items []Item) error {
	return insertMany(ctx, q.db, `items (id, kind, parent_id, owner_id, name, name_key, description, etag, version_id, version_number,
		size, sha1, created_at, created_by, modified_at, modified_by, content_created_at, content_modified_at, trashed_at,
		trashed_by, storage_policy_id)`, items, func(i Item) []any {
		return []any{i.ID, i.Kind, i.ParentID, i.OwnerID, i.Name, i.NameKey, i.Description, i.Etag, i.VersionID, i.VersionNumber,
			i.Size, i.Sha1, i.CreatedAt, i.CreatedBy, i.ModifiedAt, i.ModifiedBy, i.ContentCreatedAt, i.ContentModifiedAt, i.TrashedAt,
			i.TrashedBy, i.StoragePolicyID}
	})
}

// InsertVersions inserts the versions of many files at once.
func (q *Queries) InsertVersions(ctx context.Context, versions []FileVersion) error {
	return insertMany(ctx, q.db, `file_versions (id, file_id, number, name, blob_key, size, sha1, created_at, created_by,
		storage_policy_id, wanted_policy_id)`, versions, func(v FileVersion) []any {
		return []any{v.ID, v.FileID, v.Number, v.Name, v.BlobKey, v.Size, v.Sha1, v.CreatedAt, v.CreatedBy, v.StoragePolicyID, v.WantedPolicyID}
	})
}

// insertMany inserts rows in as few statements as the limits allow, because every statement is a round trip over a network.
func insertMany[T any](ctx context.Context, db DBTX, into string, rows []T, values func(T) []any) error {
	if len(rows) == 0 {
		return nil
	}
	width := len(values(rows[0]))
	for chunk := range slices.Chunk(rows, bulkParameters/width) {
		args := make([]any, 0, len(chunk)*width)
		for _, row := range chunk {
			args = append(args, values(row)...)
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO "+into+" VALUES "+placeholders(len(chunk), width), args...); err != nil {
			return fmt.Errorf("insert %d rows: %w", len(chunk), err)
		}
	}
	return nil
}

// placeholders returns ($1,$2),($3,$4),… for the given number of rows, each of width values.
func placeholders(rows, width int) string {
	lists := make([]string, rows)
	for i := range lists {
		lists[i] = "(" + numbered(i*width+1, width) + ")"
	}
	return strings.Join(lists, ",")
}

// collect returns the rows of a query. columns returns the destinations of a row's values.
func collect[T any](ctx context.Context, db DBTX, columns func(*T) []any, query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := []T{}
	for rows.Next() {
		var row T
		if err := rows.Scan(columns(&row)...); err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, rows.Err()
}
