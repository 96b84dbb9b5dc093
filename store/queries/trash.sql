-- name: TrashItem :execrows
UPDATE items
SET trashed_at = $2, trashed_by = $3, etag = etag + 1
WHERE id = $1 AND trashed_at = 0;

-- name: RestoreItem :execrows
UPDATE items
SET trashed_at = 0, trashed_by = 0, parent_id = $2, name = $3, name_key = $4, etag = etag + 1
WHERE id = $1 AND trashed_at <> 0;
