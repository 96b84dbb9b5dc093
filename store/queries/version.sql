-- name: InsertVersion :exec
INSERT INTO file_versions (id, file_id, number, name, blob_key, storage_policy_id, wanted_policy_id, size, sha1, created_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10);

-- name: Version :one
SELECT * FROM file_versions WHERE id = $1;

-- name: HasVersions :one
SELECT EXISTS (SELECT 1 FROM file_versions) AS has_versions;

-- name: VersionBefore :one
-- VersionBefore returns the latest version of a file before the given number that is not in the trash.
SELECT * FROM file_versions WHERE file_id = $1 AND number < $2 AND trashed_at = 0 ORDER BY number DESC LIMIT 1;

-- name: PastVersions :many
-- PastVersions returns the versions of a file except the current one, newest first.
SELECT * FROM file_versions WHERE file_id = $1 AND id <> $2 ORDER BY number DESC LIMIT $3 OFFSET $4;

-- name: CountPastVersions :one
SELECT COUNT(*) FROM file_versions WHERE file_id = $1 AND id <> $2;

-- name: KeepContentTimes :exec
-- KeepContentTimes stores the times of the content of a version that is no longer the current one.
UPDATE file_versions SET content_created_at = $2, content_modified_at = $3 WHERE id = $1;

-- name: TrashVersion :exec
UPDATE file_versions SET trashed_at = $2, trashed_by = $3 WHERE id = $1;

-- name: RestoreVersion :exec
UPDATE file_versions SET trashed_at = 0, trashed_by = 0, restored_at = $2, restored_by = $3 WHERE id = $1;

-- name: IsContentNamed :one
-- IsContentNamed reports whether the content of any version has the given key and storage policy.
SELECT EXISTS (SELECT 1 FROM file_versions WHERE blob_key = $1 AND storage_policy_id = $2) AS is_named;
