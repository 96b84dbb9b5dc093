-- name: InsertUploadSession :exec
INSERT INTO upload_sessions (id, user_id, folder_id, file_id, name, size, part_size, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: UploadSession :one
SELECT * FROM upload_sessions WHERE id = $1;

-- name: UploadsOf :one
-- UploadsOf returns the number of unexpired sessions of a user, and the bytes that they may store.
SELECT COUNT(*) AS sessions, CAST(COALESCE(SUM(size), 0) AS BIGINT) AS bytes
FROM upload_sessions WHERE user_id = $1 AND expires_at > $2;

-- name: LockUploadSession :execrows
-- LockUploadSession keeps others from deleting a session until the transaction ends.
UPDATE upload_sessions SET size = size WHERE id = $1;

-- name: InsertUploadPart :execrows
INSERT INTO upload_parts (id, session_id, position, size, sha1) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING;

-- name: UploadPartAt :one
SELECT * FROM upload_parts WHERE session_id = $1 AND position = $2;

-- name: UploadParts :many
SELECT * FROM upload_parts WHERE session_id = $1 ORDER BY position LIMIT $2 OFFSET $3;

-- name: CountUploadParts :one
SELECT COUNT(*) FROM upload_parts WHERE session_id = $1;

-- name: DeleteUploadParts :exec
DELETE FROM upload_parts WHERE session_id = $1;

-- name: DeleteUploadSession :execrows
DELETE FROM upload_sessions WHERE id = $1;

-- name: ExpiredUploadSessions :many
SELECT id FROM upload_sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2;

-- name: HasUploadPart :one
SELECT EXISTS (SELECT 1 FROM upload_parts WHERE id = $1) AS has_part;
