-- name: InsertStoragePolicy :execrows
INSERT INTO storage_policies (id, name, name_key, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: StoragePolicies :many
SELECT * FROM storage_policies ORDER BY id;

-- name: StoragePolicyUsed :one
-- StoragePolicyUsed reports whether a policy other than the default stores contents, will receive some, or belongs to an archive.
SELECT CAST(
    EXISTS (SELECT 1 FROM file_versions v WHERE v.storage_policy_id = sqlc.arg(policy_id) AND v.storage_policy_id <> 1)
    OR EXISTS (SELECT 1 FROM file_versions w WHERE w.wanted_policy_id = sqlc.arg(policy_id) AND w.wanted_policy_id <> w.storage_policy_id)
    OR EXISTS (SELECT 1 FROM items i WHERE i.parent_id = sqlc.arg(archives_id) AND i.storage_policy_id = sqlc.arg(policy_id) AND i.trashed_at = 0)
    AS BOOLEAN) AS used;

-- name: MisplacedVersions :many
-- MisplacedVersions returns the first versions after an id whose content is to be moved to another policy's store.
SELECT * FROM file_versions WHERE wanted_policy_id <> storage_policy_id AND id > $1 ORDER BY id LIMIT $2;

-- name: MoveVersion :execrows
-- MoveVersion records that the content of a version was moved to its wanted policy, unless its place or its wanted policy has changed.
UPDATE file_versions SET blob_key = sqlc.arg(new_key), storage_policy_id = wanted_policy_id
WHERE id = sqlc.arg(id) AND blob_key = sqlc.arg(old_key) AND storage_policy_id = sqlc.arg(old_policy_id)
    AND wanted_policy_id = sqlc.arg(new_policy_id);

-- name: InsertContentBlocks :exec
-- InsertContentBlocks stores the checksums of a content, unless they exist already. A content never changes.
INSERT INTO content_blocks (blob_key, checksums) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: ContentBlocks :one
SELECT checksums FROM content_blocks WHERE blob_key = $1;

-- name: DeleteUnusedBlocks :execrows
-- DeleteUnusedBlocks deletes the checksums of contents that no version uses, at most the given number of them.
DELETE FROM content_blocks WHERE blob_key IN (
    SELECT b.blob_key FROM content_blocks b
    WHERE NOT EXISTS (SELECT 1 FROM file_versions v WHERE v.blob_key = b.blob_key) LIMIT $1
);
