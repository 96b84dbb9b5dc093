-- name: InsertItem :execrows
-- InsertItem inserts no row if the name is taken in the parent folder.
INSERT INTO items (id, kind, parent_id, owner_id, name, name_key, description, etag, version_id, version_number, size, sha1,
                   created_at, created_by, modified_at, modified_by, content_created_at, content_modified_at, trashed_at, trashed_by,
                   storage_policy_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, 0, 0, $18)
ON CONFLICT DO NOTHING;

-- name: ItemChain :many
-- ItemChain returns the item, then the folders above it, each with the user's role from a collaboration that is valid at the given time, or
-- "". CROSS JOIN makes SQLite begin with the chain, whatever its statistics say.
WITH RECURSIVE chain (item_id, depth) AS (
    SELECT items.id, CAST(0 AS BIGINT) FROM items WHERE items.id = $1
    UNION ALL
    SELECT items.parent_id, chain.depth + 1
    FROM chain CROSS JOIN items
    WHERE items.id = chain.item_id AND items.parent_id IS NOT NULL AND chain.depth < 1000
)
SELECT sqlc.embed(items), CAST(COALESCE(collaborations.role, '') AS TEXT) AS role,
       CAST(COALESCE(collaborations.can_view_path, FALSE) AS BOOLEAN) AS can_view_path,
       CAST(COALESCE(collaborations.is_access_only, FALSE) AS BOOLEAN) AS is_access_only
FROM chain
CROSS JOIN items
LEFT JOIN collaborations ON collaborations.item_id = items.id AND collaborations.user_id = CAST($2 AS BIGINT)
    AND collaborations.status = 'accepted' AND (collaborations.expires_at = 0 OR collaborations.expires_at > $3)
WHERE items.id = chain.item_id
ORDER BY chain.depth;

-- name: Child :one
SELECT * FROM items WHERE parent_id = $1 AND name_key = $2 AND trashed_at = 0;

-- name: CountNames :one
-- CountNames returns 1 if a name is taken in a folder, and 0 otherwise.
SELECT COUNT(*) FROM items WHERE parent_id = $1 AND name_key = $2 AND trashed_at = 0;

-- name: HasChildren :one
SELECT EXISTS (SELECT 1 FROM items WHERE parent_id = $1 AND trashed_at = 0) AS has_children;

-- name: UpdateItem :execrows
-- UpdateItem writes a rename, a move, or a new description, if the item still has the given etag.
UPDATE items
SET parent_id = $2, name = $3, name_key = $4, description = $5, etag = etag + 1, modified_at = $6, modified_by = $7
WHERE id = $1 AND etag = $8 AND trashed_at = 0;

-- name: SetCurrentVersion :execrows
UPDATE items
SET version_id = $2, version_number = $3, size = $4, sha1 = $5, name = $6, name_key = $7, etag = etag + 1,
    modified_at = $8, modified_by = $9, content_created_at = $10, content_modified_at = $11
WHERE id = $1 AND etag = $12 AND trashed_at = 0;

-- name: SetContentTimes :exec
UPDATE items SET content_created_at = $2, content_modified_at = $3 WHERE id = $1;

-- name: AddArchiveSize :exec
-- AddArchiveSize adds to the size of an archive, in bytes.
UPDATE items SET size = size + $2 WHERE id = $1;

-- name: AddFolderItems :exec
-- AddFolderItems adds to the number of items in a folder.
INSERT INTO folder_counts (folder_id, items) VALUES ($1, $2)
ON CONFLICT (folder_id) DO UPDATE SET items = folder_counts.items + excluded.items;

-- name: LockItem :execrows
-- LockItem makes all other transactions that write the item wait until this one ends, on both databases.
UPDATE items SET etag = etag WHERE id = $1;

-- name: ActiveTree :many
-- ActiveTree returns an item and all items below it that are neither in the trash nor in a trashed folder. Folders come before their items.
-- Files have the place of their current content.
WITH RECURSIVE below (item_id, depth) AS (
    SELECT items.id, CAST(0 AS BIGINT) FROM items WHERE items.id = $1 AND items.trashed_at = 0
    UNION ALL
    SELECT items.id, below.depth + 1
    FROM below JOIN items ON items.parent_id = below.item_id AND items.trashed_at = 0
)
SELECT sqlc.embed(items), CAST(COALESCE(file_versions.blob_key, '') AS TEXT) AS blob_key,
       CAST(COALESCE(file_versions.storage_policy_id, 0) AS BIGINT) AS storage_policy_id
FROM below
JOIN items ON items.id = below.item_id
LEFT JOIN file_versions ON file_versions.id = items.version_id
ORDER BY below.depth, items.id LIMIT $2;
