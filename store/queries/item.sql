-- name: InsertItem :execrows
-- InsertItem adds no row when the name is taken in the parent folder.
INSERT INTO items (id, kind, parent_id, owner_id, name, name_key, description, etag, version_id, version_number, size, sha1,
                   created_at, created_by, modified_at, modified_by, content_created_at, content_modified_at, trashed_at, trashed_by,
                   storage_policy_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, 0, 0, $18)
ON CONFLICT DO NOTHING;

-- name: ItemChain :many
-- ItemChain returns the item and the folders above it, the item first, each with the role the user has there by a
-- collaboration that holds at a time (empty for none).
WITH RECURSIVE chain (item_id, depth) AS (
    SELECT items.id, CAST(0 AS BIGINT) FROM items WHERE items.id = $1
    UNION ALL
    SELECT items.parent_id, chain.depth + 1
    FROM chain JOIN items ON items.id = chain.item_id
    WHERE items.parent_id IS NOT NULL AND chain.depth < 1000
)
SELECT sqlc.embed(items), CAST(COALESCE(collaborations.role, '') AS TEXT) AS role,
       CAST(COALESCE(collaborations.can_view_path, FALSE) AS BOOLEAN) AS can_view_path
FROM chain
JOIN items ON items.id = chain.item_id
LEFT JOIN collaborations ON collaborations.item_id = items.id AND collaborations.user_id = CAST($2 AS BIGINT)
    AND collaborations.status = 'accepted' AND (collaborations.expires_at = 0 OR collaborations.expires_at > $3)
ORDER BY chain.depth;

-- name: Child :one
SELECT * FROM items WHERE parent_id = $1 AND name_key = $2 AND trashed_at = 0;

-- name: CountNames :one
-- CountNames tells whether a name is taken in a folder: 0 or 1.
SELECT COUNT(*) FROM items WHERE parent_id = $1 AND name_key = $2 AND trashed_at = 0;

-- name: HasChildren :one
SELECT EXISTS (SELECT 1 FROM items WHERE parent_id = $1 AND trashed_at = 0) AS has_children;

-- name: CountChildren :one
SELECT COUNT(*) FROM items WHERE parent_id = $1 AND trashed_at = 0;

-- name: UpdateItem :execrows
-- UpdateItem changes what a rename, a move or a new description changes. The etag asked for must still be the item's own.
UPDATE items
SET parent_id = $2, name = $3, name_key = $4, description = $5, etag = etag + 1, modified_at = $6, modified_by = $7
WHERE id = $1 AND etag = $8 AND trashed_at = 0;

-- name: SetCurrentVersion :execrows
UPDATE items
SET version_id = $2, version_number = $3, size = $4, sha1 = $5, name = $6, name_key = $7, etag = etag + 1,
    modified_at = $8, modified_by = $9, content_modified_at = $10
WHERE id = $1 AND etag = $11 AND trashed_at = 0;

-- name: TrashItem :execrows
UPDATE items
SET trashed_at = $2, trashed_by = $3, etag = etag + 1
WHERE id = $1 AND trashed_at = 0;

-- name: GrowItem :exec
-- GrowItem adds to the size of an archive.
UPDATE items SET size = size + $2 WHERE id = $1;

-- name: LockItem :execrows
-- LockItem makes every other transaction that writes the item wait until this one ends, on both databases.
UPDATE items SET etag = etag WHERE id = $1;

-- name: ChildrenAfter :many
SELECT * FROM items
WHERE parent_id = sqlc.arg(parent_id) AND trashed_at = 0 AND (kind, id) > (sqlc.arg(from_kind), sqlc.arg(from_id))
ORDER BY kind, id LIMIT sqlc.arg(count);

-- name: ChildrenBefore :many
SELECT * FROM items
WHERE parent_id = sqlc.arg(parent_id) AND trashed_at = 0 AND (kind, id) < (sqlc.arg(from_kind), sqlc.arg(from_id))
ORDER BY kind DESC, id DESC LIMIT sqlc.arg(count);

-- name: ChildrenByID :many
SELECT * FROM items WHERE parent_id = $1 AND trashed_at = 0 ORDER BY kind, id LIMIT $2 OFFSET $3;

-- name: ChildrenByIDDesc :many
SELECT * FROM items WHERE parent_id = $1 AND trashed_at = 0 ORDER BY kind, id DESC LIMIT $2 OFFSET $3;

-- name: ChildrenByName :many
SELECT * FROM items WHERE parent_id = $1 AND trashed_at = 0 ORDER BY kind, name_key LIMIT $2 OFFSET $3;

-- name: ChildrenByNameDesc :many
SELECT * FROM items WHERE parent_id = $1 AND trashed_at = 0 ORDER BY kind, name_key DESC LIMIT $2 OFFSET $3;

-- name: ChildrenByDate :many
SELECT * FROM items WHERE parent_id = $1 AND trashed_at = 0 ORDER BY kind, modified_at, id LIMIT $2 OFFSET $3;

-- name: ChildrenByDateDesc :many
SELECT * FROM items WHERE parent_id = $1 AND trashed_at = 0 ORDER BY kind, modified_at DESC, id DESC LIMIT $2 OFFSET $3;

-- name: ChildrenBySize :many
SELECT * FROM items WHERE parent_id = $1 AND trashed_at = 0 ORDER BY kind, size, id LIMIT $2 OFFSET $3;

-- name: ChildrenBySizeDesc :many
SELECT * FROM items WHERE parent_id = $1 AND trashed_at = 0 ORDER BY kind, size DESC, id DESC LIMIT $2 OFFSET $3;

-- name: InsertVersion :exec
INSERT INTO file_versions (id, file_id, number, name, blob_key, storage_policy_id, wanted_policy_id, size, sha1, created_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10);

-- name: Version :one
SELECT * FROM file_versions WHERE id = $1;

-- name: HasVersions :one
SELECT EXISTS (SELECT 1 FROM file_versions) AS has_versions;
