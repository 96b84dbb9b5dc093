-- ZIP downloads: see docgen/zip.go.

-- name: InsertZipDownload :exec
INSERT INTO zip_downloads (id, user_id, name, output_type, items, state, attempt, files, downloaded, skipped, skipped_folders, created_at,
                           seen_at, expires_at)
VALUES ($1, $2, $3, $4, $5, 'created', 0, $6, 0, 0, 0, $7, 0, $8);

-- name: ZipDownload :one
SELECT * FROM zip_downloads WHERE id = $1;

-- name: CountZipDownloads :one
-- CountZipDownloads returns the number of downloads of a user that are in progress and were seen after a time.
SELECT COUNT(*) FROM zip_downloads WHERE user_id = $1 AND state = 'in_progress' AND seen_at > $2;

-- name: StartZipDownload :one
-- StartZipDownload starts the next attempt of a download, and returns its number.
UPDATE zip_downloads
SET state = 'in_progress', attempt = attempt + 1, downloaded = 0, skipped = 0, skipped_folders = 0, seen_at = $2, expires_at = $3
WHERE id = $1
RETURNING attempt;

-- name: UpdateZipDownload :execrows
-- UpdateZipDownload stores the progress of an attempt, unless another one has started.
UPDATE zip_downloads
SET state = $3, items = $4, files = $5, downloaded = $6, skipped = $7, skipped_folders = $8, seen_at = $9
WHERE id = $1 AND attempt = $2;

-- name: DropZipDownloads :exec
-- DropZipDownloads deletes all downloads of a user that are not in progress, except for the newest.
DELETE FROM zip_downloads
WHERE zip_downloads.user_id = $1 AND zip_downloads.state <> 'in_progress' AND zip_downloads.id NOT IN (
    SELECT newest.id FROM zip_downloads newest WHERE newest.user_id = $1 ORDER BY newest.created_at DESC, newest.id DESC LIMIT $2
);

-- name: DeleteExpiredZipDownloads :execrows
DELETE FROM zip_downloads
WHERE zip_downloads.id IN (SELECT due.id FROM zip_downloads due WHERE due.expires_at <= $1 ORDER BY due.expires_at LIMIT $2);

-- name: DeleteZipDownloadsOf :exec
DELETE FROM zip_downloads WHERE user_id = $1;

-- name: ChildrenAfter :many
-- ChildrenAfter returns the items of a folder after a name, in the order of their names.
SELECT id, kind, name, name_key FROM items
WHERE parent_id = $1 AND trashed_at = 0 AND name_key > $2 ORDER BY name_key LIMIT $3;

-- name: MeasureTree :one
-- MeasureTree counts the items below a folder that are neither in the trash nor in a trashed folder, and sums the sizes of the files. It
-- stops after the given number of items.
WITH RECURSIVE below (item_id, item_kind, item_size) AS (
    SELECT items.id, items.kind, items.size FROM items WHERE items.parent_id = $1 AND items.trashed_at = 0
    UNION ALL
    SELECT items.id, items.kind, items.size
    FROM below JOIN items ON items.parent_id = below.item_id AND items.trashed_at = 0
)
SELECT CAST(COALESCE(SUM(CASE WHEN item_kind = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS files,
       CAST(COALESCE(SUM(CASE WHEN item_kind = 1 THEN 0 ELSE 1 END), 0) AS BIGINT) AS folders,
       CAST(COALESCE(SUM(CASE WHEN item_kind = 1 THEN item_size ELSE 0 END), 0) AS BIGINT) AS bytes
FROM (SELECT item_kind, item_size FROM below LIMIT $2) AS found;
