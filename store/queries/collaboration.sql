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

-- name: LockCollaboration :execrows
-- LockCollaboration makes all other transactions that write the collaboration wait until this one ends, on both databases.
UPDATE collaborations SET modified_at = modified_at WHERE id = $1;

-- name: UpdateCollaboration :execrows
UPDATE collaborations SET role = $2, expires_at = $3, can_view_path = $4, modified_at = $5 WHERE id = $1;

-- name: AnswerInvitation :execrows
-- AnswerInvitation accepts or rejects a pending invitation.
UPDATE collaborations SET status = $2, acknowledged_at = $3, modified_at = $3 WHERE id = $1 AND status = 'pending';

-- name: DeleteCollaboration :execrows
DELETE FROM collaborations WHERE id = $1;

-- name: DeleteEndedCollaborations :exec
-- DeleteEndedCollaborations deletes the rejected and expired collaborations of a user, or of a login without a user, on an item. This makes
-- room for a new one.
DELETE FROM collaborations
WHERE item_id = $1 AND (user_id = $2 OR user_id IS NULL AND invite_key = $3)
    AND (status = 'rejected' OR expires_at <> 0 AND expires_at <= $4);

-- name: DeleteInvitedEnded :exec
-- DeleteInvitedEnded deletes the rejected and expired collaborations of a user on items to which a login is invited again.
DELETE FROM collaborations
WHERE collaborations.user_id = $1 AND (collaborations.status = 'rejected' OR collaborations.expires_at <> 0 AND collaborations.expires_at <= $3)
    AND collaborations.item_id IN (SELECT invitation.item_id FROM collaborations invitation WHERE invitation.user_id IS NULL AND invitation.invite_key = $2);

-- name: DeleteNeedlessInvitations :exec
-- DeleteNeedlessInvitations deletes the invitations of a login to items that a user owns or already collaborates on.
DELETE FROM collaborations
WHERE collaborations.user_id IS NULL AND collaborations.invite_key = $2 AND (
    EXISTS (SELECT 1 FROM items WHERE items.id = collaborations.item_id AND items.owner_id = $1)
    OR collaborations.item_id IN (SELECT other.item_id FROM collaborations other WHERE other.user_id = $3)
);

-- name: BindInvitations :execrows
-- BindInvitations assigns the invitations of a login to the user who now has it.
UPDATE collaborations SET user_id = $1 WHERE user_id IS NULL AND invite_key = $2;

-- name: CollaborationsAfter :many
-- CollaborationsAfter returns the valid and pending collaborations on an item, with ids above $2.
SELECT * FROM collaborations
WHERE item_id = $1 AND id > $2 AND status <> 'rejected' AND (expires_at = 0 OR expires_at > $3)
ORDER BY id LIMIT $4;

-- name: CollaborationsBefore :many
SELECT * FROM collaborations
WHERE item_id = $1 AND id < $2 AND status <> 'rejected' AND (expires_at = 0 OR expires_at > $3)
ORDER BY id DESC LIMIT $4;
