package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// maxDatabaseProblems is the maximum number of problems that SQLite's own checks report.
const maxDatabaseProblems = 100

// CheckDatabase runs the database's own checks, and returns the problems that they find. On SQLite, they check that pages, indexes, and
// foreign keys are consistent. They read the whole file and block nothing. PostgreSQL enforces foreign keys itself and has no such check.
func (db *DB) CheckDatabase(ctx context.Context) ([]string, error) {
	if db.dialect != SQLite {
		return nil, nil
	}
	problems, err := collect(ctx, db.reader, func(s *string) []any { return []any{s} },
		"PRAGMA integrity_check("+strconv.Itoa(maxDatabaseProblems)+")")
	if err != nil {
		return nil, fmt.Errorf("integrity_check: %w", err)
	}
	if len(problems) == 1 && problems[0] == "ok" {
		problems = nil
	}
	type violation struct {
		table, parent string
		row           *int64 // nil for a table without row ids
		index         int64
	}
	violations, err := collect(ctx, db.reader, func(v *violation) []any { return []any{&v.table, &v.row, &v.parent, &v.index} },
		"SELECT * FROM pragma_foreign_key_check LIMIT "+strconv.Itoa(maxDatabaseProblems))
	if err != nil {
		return nil, fmt.Errorf("foreign_key_check: %w", err)
	}
	for _, v := range violations {
		row := "a row"
		if v.row != nil {
			row = "row " + strconv.FormatInt(*v.row, 10)
		}
		problems = append(problems, fmt.Sprintf("%s of %s names a row of %s that does not exist", row, v.table, v.parent))
	}
	return problems, nil
}

// BrokenRow is a row that contradicts other rows.
type BrokenRow struct {
	Rule       string // the violated rule, after the kind of row: "file: its current version does not exist"
	ID         int64  // of the item, version, or archive that violates Rule
	Have, Want int64
}

// rowRule is a rule that all rows follow at any moment.
type rowRule struct {
	rule  string
	query string // returns at most $1 rows that violate the rule, as id, have, want
}

var rowRules = []rowRule{
	{"item: the count of its children is wrong", `
SELECT f.id, COALESCE(c.items, 0), (SELECT COUNT(*) FROM items child WHERE child.parent_id = f.id AND child.trashed_at = 0)
FROM items f LEFT JOIN folder_counts c ON c.folder_id = f.id
WHERE f.kind = 0 AND COALESCE(c.items, 0) <> (SELECT COUNT(*) FROM items child WHERE child.parent_id = f.id AND child.trashed_at = 0)
LIMIT $1`},
	{"item: it is in a file or in a folder of another owner (have its owner, want the other)", `
SELECT i.id, i.owner_id, p.owner_id FROM items i JOIN items p ON p.id = i.parent_id
WHERE p.kind <> 0 OR p.owner_id <> i.owner_id LIMIT $1`},
	{"template: its owner is not the owner of its file (have the template's, want the file's)", `
SELECT i.id, t.owner_id, i.owner_id FROM docgen_templates t JOIN items i ON i.id = t.file_id WHERE t.owner_id <> i.owner_id LIMIT $1`},
	{"item: no root folder is above it", `
WITH RECURSIVE below (id) AS (
    SELECT items.id FROM items WHERE items.parent_id IS NULL
    UNION ALL
    SELECT items.id FROM below JOIN items ON items.parent_id = below.id
)
SELECT i.id, 0, 0 FROM items i LEFT JOIN below ON below.id = i.id WHERE below.id IS NULL LIMIT $1`},
	{"user: the root folder does not exist", `
SELECT u.id, u.root_folder_id, 0 FROM users u WHERE u.deleted_at = 0
AND NOT EXISTS (SELECT 1 FROM items i WHERE i.id = u.root_folder_id AND i.parent_id IS NULL AND i.kind = 0) LIMIT $1`},
	{"file: its current version does not exist, belongs to another file, or has another size, number, or SHA-1", `
SELECT items.id, items.version_id, COALESCE(v.id, 0) FROM items LEFT JOIN file_versions v ON v.id = items.version_id
WHERE items.kind = 1 AND (v.id IS NULL OR v.file_id <> items.id OR v.size <> items.size OR v.number <> items.version_number
    OR v.sha1 <> items.sha1)
AND ` + notRemoved("items.id") + ` LIMIT $1`},
	{"version: it belongs to an item that is not a file", `
SELECT v.id, v.file_id, 0 FROM file_versions v JOIN items i ON i.id = v.file_id WHERE i.kind <> 1 LIMIT $1`},
	{"version: another version has the same content with another size or SHA-1", `
SELECT a.id, a.size, b.size FROM file_versions a
JOIN file_versions b ON b.blob_key = a.blob_key AND b.storage_policy_id = a.storage_policy_id AND b.id > a.id
WHERE a.size <> b.size OR a.sha1 <> b.sha1 LIMIT $1`},
	{"version: its storage policy does not exist", `
SELECT v.id, v.storage_policy_id, v.wanted_policy_id FROM file_versions v
WHERE NOT EXISTS (SELECT 1 FROM storage_policies p WHERE p.id = v.storage_policy_id)
OR NOT EXISTS (SELECT 1 FROM storage_policies p WHERE p.id = v.wanted_policy_id) LIMIT $1`},
	{"user: the bytes that the user stores are not the sum of the versions", spaceOf("bytes", "CAST(COALESCE(SUM(v.size), 0) AS BIGINT)")},
	{"batch: the counts of its jobs are wrong (the id is that of its first job; have the counted jobs that ended, want the number)", `
SELECT b.number, MAX(b.jobs_completed + b.jobs_incomplete + b.jobs_failed + b.jobs_canceled),
    CAST(COALESCE(SUM(CASE WHEN j.status IN ('pending', 'submitted') THEN 0 ELSE 1 END), 0) AS BIGINT)
FROM docgen_batches b LEFT JOIN docgen_jobs j ON j.batch_id = b.id WHERE b.removed_at = 0 GROUP BY b.id, b.number
HAVING MAX(b.jobs_total) <> COUNT(j.id)
OR MAX(b.jobs_completed) <> SUM(CASE WHEN j.status = 'completed' THEN 1 ELSE 0 END)
OR MAX(b.jobs_incomplete) <> SUM(CASE WHEN j.status = 'completed_with_error' THEN 1 ELSE 0 END)
OR MAX(b.jobs_failed) <> SUM(CASE WHEN j.status = 'failed' AND NOT j.canceled THEN 1 ELSE 0 END)
OR MAX(b.jobs_canceled) <> SUM(CASE WHEN j.status = 'failed' AND j.canceled THEN 1 ELSE 0 END) LIMIT $1`},
	{"batch: it has ended too early, or not at its end (the id is that of its first job; have the time of its end)", `
SELECT b.number, b.ended_at, 0 FROM docgen_batches b WHERE b.removed_at = 0 AND (b.ended_at = 0) <> (
    EXISTS (SELECT 1 FROM docgen_jobs j WHERE j.batch_id = b.id AND j.status IN ('pending', 'submitted'))
    OR EXISTS (SELECT 1 FROM docgen_merges m WHERE m.batch_id = b.id AND m.status IN ('pending', 'submitted'))) LIMIT $1`},
	{"user: the number of files that the user stores is wrong", spaceOf("files", "COUNT(DISTINCT CASE WHEN i.kind = 1 THEN i.id END)")},
}

// spaceOf returns a query that compares a column of user_space with the versions of users' files.
func spaceOf(column, sum string) string {
	return `
SELECT u.id, MAX(COALESCE(s.` + column + `, 0)), ` + sum + ` FROM users u LEFT JOIN user_space s ON s.user_id = u.id
LEFT JOIN items i ON i.owner_id = u.id LEFT JOIN file_versions v ON v.file_id = i.id
GROUP BY u.id HAVING MAX(COALESCE(s.` + column + `, 0)) <> ` + sum + ` LIMIT $1`
}

// BrokenRows returns rows that contradict others, at most limit for each rule. In a snapshot ([DB.Read]), it never reports a change that is
// still in progress.
func (q *Queries) BrokenRows(ctx context.Context, limit int) ([]BrokenRow, error) {
	var broken []BrokenRow
	for _, r := range rowRules {
		rows, err := collect(ctx, q.db, func(b *BrokenRow) []any { return []any{&b.ID, &b.Have, &b.Want} }, r.query, limit)
		if err != nil {
			rule, _, _ := strings.Cut(r.rule, ":")
			return nil, fmt.Errorf("check every %s: %w", rule, err)
		}
		for _, b := range rows {
			b.Rule = r.rule
			broken = append(broken, b)
		}
	}
	archives, err := collect(ctx, q.db, func(b *BrokenRow) []any { return []any{&b.ID, &b.Have} },
		"SELECT id, size FROM items WHERE storage_policy_id <> 0 AND trashed_at = 0 ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("check every archive: %w", err)
	}
	for _, b := range archives {
		if b.Want, err = q.TreeSize(ctx, b.ID); err != nil {
			return nil, fmt.Errorf("check the size of archive %d: %w", b.ID, err)
		}
		if b.Have != b.Want && len(broken) < limit*(len(rowRules)+1) {
			b.Rule = "archive: its size is not the sum of its files"
			broken = append(broken, b)
		}
	}
	return broken, nil
}

// StoredContent is stored content, and one of the versions that use it.
type StoredContent struct {
	VersionID, FileID int64
	Place             ContentPlace
	Size              int64
	Sha1              string
}

const storedColumns = "v.id, v.file_id, v.blob_key, v.storage_policy_id, v.size, v.sha1"

func (c *StoredContent) columns() []any {
	return []any{&c.VersionID, &c.FileID, &c.Place.Key, &c.Place.PolicyID, &c.Size, &c.Sha1}
}

// ContentsAfter returns stored contents in the order of the first version that uses each, beginning with the version after versionID.
func (q *Queries) ContentsAfter(ctx context.Context, versionID int64, limit int) ([]StoredContent, error) {
	return collect(ctx, q.db, (*StoredContent).columns, "SELECT "+storedColumns+` FROM file_versions v
		WHERE v.id > $1 AND NOT EXISTS (
			SELECT 1 FROM file_versions earlier
			WHERE earlier.blob_key = v.blob_key AND earlier.storage_policy_id = v.storage_policy_id AND earlier.id < v.id)
		ORDER BY v.id LIMIT $2`, versionID, limit)
}

// VersionsOf returns the versions that use the content at a place.
func (q *Queries) VersionsOf(ctx context.Context, place ContentPlace, limit int) ([]StoredContent, error) {
	return collect(ctx, q.db, (*StoredContent).columns,
		"SELECT "+storedColumns+" FROM file_versions v WHERE v.blob_key = $1 AND v.storage_policy_id = $2 ORDER BY v.id LIMIT $3",
		place.Key, place.PolicyID, limit)
}

// CountVersions returns the number of versions.
func (q *Queries) CountVersions(ctx context.Context) (n int64, err error) {
	err = q.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM file_versions").Scan(&n)
	return n, err
}
