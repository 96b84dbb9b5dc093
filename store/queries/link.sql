-- name: InsertSharedLink :exec
INSERT INTO shared_links (id, item_id, access, can_download, password, expires_at, downloads) VALUES ($1, $2, $3, $4, $5, $6, 0);

-- name: SharedLink :one
-- SharedLink returns a link with the owner of its item.
SELECT sqlc.embed(shared_links), items.kind, users.status AS owner_status, users.deleted_at AS owner_deleted_at
FROM shared_links
JOIN items ON items.id = shared_links.item_id
JOIN users ON users.id = items.owner_id
WHERE shared_links.id = $1;

-- name: SharedLinkOf :one
SELECT * FROM shared_links WHERE item_id = $1;

-- name: UpdateSharedLink :exec
UPDATE shared_links SET access = $2, can_download = $3, password = $4, expires_at = $5 WHERE id = $1;

-- name: CountLinkDownload :exec
UPDATE shared_links SET downloads = downloads + 1 WHERE id = $1;

-- name: DeleteSharedLinkOf :execrows
DELETE FROM shared_links WHERE item_id = $1;

-- name: TouchItem :exec
-- TouchItem gives an item a new etag, and changes nothing else.
UPDATE items SET etag = etag + 1 WHERE id = $1;
