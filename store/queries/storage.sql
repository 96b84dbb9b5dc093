-- name: InsertStoragePolicy :execrows
INSERT INTO storage_policies (id, name, name_key, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: StoragePolicies :many
SELECT * FROM storage_policies ORDER BY id;

-- name: StoragePolicyUsed :one
-- StoragePolicyUsed tells whether a policy other than the default has contents, awaits some, or is that of an archive.
SELECT CAST(
    EXISTS (SELECT 1 FROM file_versions v WHERE v.storage_policy_id = sqlc.arg(policy_id) AND v.storage_policy_id <> 1)
    OR EXISTS (SELECT 1 FROM file_versions w WHERE w.wanted_policy_id = sqlc.arg(policy_id) AND w.wanted_policy_id <> w.storage_policy_id)
    OR EXISTS (SELECT 1 FROM items i WHERE i.parent_id = sqlc.arg(archives_id) AND i.storage_policy_id = sqlc.arg(policy_id) AND i.trashed_at = 0)
    AS BOOLEAN) AS used;

-- name: MisplacedVersions :many
-- MisplacedVersions returns the first versions after an id that wait to be carried to another policy's store.
SELECT * FROM file_versions WHERE wanted_policy_id <> storage_policy_id AND id > $1 ORDER BY id LIMIT $2;

-- name: MoveVersion :execrows
-- MoveVersion has a version name its content in the store that it is wanted in, as long as nothing of that has changed.
UPDATE file_versions SET blob_key = sqlc.arg(new_key), storage_policy_id = wanted_policy_id
WHERE id = sqlc.arg(id) AND blob_key = sqlc.arg(old_key) AND storage_policy_id = sqlc.arg(old_policy_id)
    AND wanted_policy_id = sqlc.arg(new_policy_id);

-- name: InsertContentBlocks :exec
-- InsertContentBlocks keeps the checksums of a content. Those that are there stay: a content never changes.
INSERT INTO content_blocks (blob_key, checksums) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: ContentBlocks :one
SELECT checksums FROM content_blocks WHERE blob_key = $1;

-- name: DeleteUnusedBlocks :execrows
-- DeleteUnusedBlocks removes checksums of contents that no version names, at most a limit of them.
DELETE FROM content_blocks WHERE blob_key IN (
    SELECT b.blob_key FROM content_blocks b
    WHERE NOT EXISTS (SELECT 1 FROM file_versions v WHERE v.blob_key = b.blob_key) LIMIT $1
);
