-- Temporary folders: see docgen/temporary.go.

-- name: InsertTemporaryFolder :exec
INSERT INTO temporary_folders (folder_id, user_id, job_id, expires_at) VALUES ($1, $2, $3, $4);

-- name: CountTemporaryFolders :one
SELECT COUNT(*) FROM temporary_folders WHERE user_id = $1;

-- name: DueTemporaryFolders :many
-- DueTemporaryFolders returns folders whose time has come, with the state of their jobs, whose status is empty if they were deleted.
SELECT t.folder_id, t.expires_at, COALESCE(j.status, '') AS status, COALESCE(j.finished_at, 0) AS finished_at
FROM temporary_folders t LEFT JOIN docgen_jobs j ON j.id = t.job_id
WHERE t.expires_at <= $1 ORDER BY t.expires_at LIMIT $2;

-- name: PostponeTemporaryFolder :exec
UPDATE temporary_folders SET expires_at = $2 WHERE folder_id = $1;

-- name: ExpireTemporaryFolders :exec
-- ExpireTemporaryFolders makes the folders of a user due, regardless of their jobs.
UPDATE temporary_folders SET expires_at = 0 WHERE user_id = $1;

-- name: DeleteTemporaryFolder :execrows
DELETE FROM temporary_folders WHERE folder_id = $1;

-- name: IsTemporaryFolder :one
SELECT EXISTS (SELECT 1 FROM temporary_folders WHERE folder_id = $1);
