-- name: InsertCollaboration :execrows
INSERT INTO collaborations (id, item_id, user_id, invite_login, invite_key, role, status, is_access_only, can_view_path, expires_at,
                            acknowledged_at, created_at, created_by, modified_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT DO NOTHING;

-- name: Collaboration :one
SELECT sqlc.embed(collaborations), sqlc.embed(items)
FROM collaborations
JOIN items ON items.id = collaborations.item_id
WHERE collaborations.id = $1;

-- name: UpdateCollaboration :execrows
UPDATE collaborations SET role = $2, modified_at = $3 WHERE id = $1;

-- name: DeleteCollaboration :execrows
DELETE FROM collaborations WHERE id = $1;
