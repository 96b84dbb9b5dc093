-- name: TrashItem :execrows
UPDATE items
SET trashed_at = $2, trashed_by = $3, etag = etag + 1
WHERE id = $1 AND trashed_at = 0;

-- name: RestoreItem :execrows
UPDATE items
SET trashed_at = 0, trashed_by = 0, parent_id = $2, name = $3, name_key = $4, etag = etag + 1
WHERE id = $1 AND trashed_at <> 0;

-- name: TrashAfter :many
SELECT * FROM items
WHERE owner_id = sqlc.arg(owner_id) AND trashed_at <> 0 AND (kind, id) > (sqlc.arg(from_kind), sqlc.arg(from_id))
ORDER BY kind, id LIMIT sqlc.arg(count);

-- name: TrashBefore :many
SELECT * FROM items
WHERE owner_id = sqlc.arg(owner_id) AND trashed_at <> 0 AND (kind, id) < (sqlc.arg(from_kind), sqlc.arg(from_id))
ORDER BY kind DESC, id DESC LIMIT sqlc.arg(count);

-- name: CountTrash :one
SELECT COUNT(*) FROM items WHERE owner_id = $1 AND trashed_at <> 0;

-- name: TrashByID :many
SELECT * FROM items WHERE owner_id = $1 AND trashed_at <> 0 ORDER BY kind, id LIMIT $2 OFFSET $3;

-- name: TrashByIDDesc :many
SELECT * FROM items WHERE owner_id = $1 AND trashed_at <> 0 ORDER BY kind, id DESC LIMIT $2 OFFSET $3;

-- name: TrashByName :many
SELECT * FROM items WHERE owner_id = $1 AND trashed_at <> 0 ORDER BY kind, name_key, id LIMIT $2 OFFSET $3;

-- name: TrashByNameDesc :many
SELECT * FROM items WHERE owner_id = $1 AND trashed_at <> 0 ORDER BY kind, name_key DESC, id DESC LIMIT $2 OFFSET $3;

-- name: TrashByDate :many
SELECT * FROM items WHERE owner_id = $1 AND trashed_at <> 0 ORDER BY kind, modified_at, id LIMIT $2 OFFSET $3;

-- name: TrashByDateDesc :many
SELECT * FROM items WHERE owner_id = $1 AND trashed_at <> 0 ORDER BY kind, modified_at DESC, id DESC LIMIT $2 OFFSET $3;

-- name: TrashBySize :many
SELECT * FROM items WHERE owner_id = $1 AND trashed_at <> 0 ORDER BY kind, size, id LIMIT $2 OFFSET $3;

-- name: TrashBySizeDesc :many
SELECT * FROM items WHERE owner_id = $1 AND trashed_at <> 0 ORDER BY kind, size DESC, id DESC LIMIT $2 OFFSET $3;
