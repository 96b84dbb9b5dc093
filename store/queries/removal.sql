-- name: MarkRemoved :exec
-- MarkRemoved hides an item forever: its trashed_at becomes a time that no item in the trash has.
UPDATE items SET trashed_at = $2, etag = etag + 1 WHERE id = $1;

-- name: InsertRemoval :exec
INSERT INTO removals (item_id, began_at) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: DeleteRemoval :exec
DELETE FROM removals WHERE item_id = $1;

-- name: LockRemoval :execrows
-- LockRemoval makes all other transactions that remove a portion of the tree wait until this one ends, on both databases.
UPDATE removals SET began_at = began_at WHERE item_id = $1;

-- name: Removals :many
SELECT item_id FROM removals ORDER BY began_at, item_id LIMIT $1;

-- name: SomeVersions :many
SELECT id FROM file_versions WHERE file_id = $1 LIMIT $2;

-- name: SomeChildren :many
SELECT id, kind, trashed_at FROM items WHERE parent_id = $1 LIMIT $2;

-- name: DeleteTagReading :exec
DELETE FROM docgen_tag_readings WHERE version_id = $1;

-- name: DeleteFirstTags :execrows
-- DeleteFirstTags deletes the first tags of a version, at most count of them.
DELETE FROM docgen_tags WHERE docgen_tags.version_id = sqlc.arg(version_id)
    AND docgen_tags.position < COALESCE((SELECT MIN(t.position) FROM docgen_tags t WHERE t.version_id = sqlc.arg(version_id)), 0) + CAST(sqlc.arg(count) AS BIGINT);
