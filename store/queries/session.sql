-- name: UserToSignIn :one
-- UserToSignIn returns the user with a login, the hash of the password, and whether the user is signed in from an address.
SELECT sqlc.embed(users), CAST(COALESCE(passwords.hash, '') AS TEXT) AS hash,
    CAST(EXISTS (SELECT 1 FROM tokens t WHERE t.user_id = users.id AND t.idle > 0 AND t.address = sqlc.arg(address)
        AND t.expires_at > sqlc.arg(now)) AS BOOLEAN) AS known
FROM users LEFT JOIN passwords ON passwords.user_id = users.id
WHERE users.login_key = sqlc.arg(login_key);

-- name: PasswordOf :one
SELECT hash FROM passwords WHERE user_id = $1;

-- name: SavePassword :exec
INSERT INTO passwords (user_id, hash, changed_at) VALUES ($1, $2, $3)
ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, changed_at = excluded.changed_at;

-- name: DeletePassword :exec
DELETE FROM passwords WHERE user_id = $1;

-- name: SaveInvitation :exec
INSERT INTO password_invitations (user_id, hash, created_at, expires_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, created_at = excluded.created_at, expires_at = excluded.expires_at;

-- name: UserInvited :one
SELECT sqlc.embed(users) FROM password_invitations JOIN users ON users.id = password_invitations.user_id
WHERE password_invitations.hash = $1 AND password_invitations.expires_at > $2;

-- name: UseInvitation :execrows
DELETE FROM password_invitations WHERE hash = $1 AND expires_at > $2;

-- name: DeleteInvitation :exec
DELETE FROM password_invitations WHERE user_id = $1;

-- name: DeleteInvitationsBefore :execrows
DELETE FROM password_invitations WHERE expires_at <= $1;

-- name: InsertSession :exec
INSERT INTO tokens (id, hash, user_id, application_id, scopes, created_at, expires_at, grant_id, name, idle, address, agent)
VALUES ($1, $2, $3, $4, $5, $6, $7, 0, '', $8, $9, $10);

-- name: SessionsOfUser :many
SELECT * FROM tokens WHERE user_id = $1 AND idle > 0 AND expires_at > sqlc.arg(now)
    AND CASE WHEN used_at > created_at THEN used_at ELSE created_at END + idle > sqlc.arg(now)
ORDER BY id DESC LIMIT $2;

-- name: DeleteOldSessions :exec
-- DeleteOldSessions deletes the sessions of a user, except the newest ones.
DELETE FROM tokens WHERE tokens.user_id = sqlc.arg(user_id) AND tokens.idle > 0 AND tokens.id NOT IN (
    SELECT t.id FROM tokens t WHERE t.user_id = sqlc.arg(user_id) AND t.idle > 0 ORDER BY t.id DESC LIMIT sqlc.arg(kept)
);

-- name: DeleteSession :execrows
DELETE FROM tokens WHERE id = $1 AND user_id = $2 AND idle > 0;

-- name: DeleteSessions :execrows
-- DeleteSessions deletes the sessions of a user, except one; 0 for none.
DELETE FROM tokens WHERE user_id = $1 AND idle > 0 AND id <> sqlc.arg(kept);

-- name: DeleteIdleSessions :execrows
DELETE FROM tokens WHERE idle > 0 AND CASE WHEN used_at > created_at THEN used_at ELSE created_at END + idle <= sqlc.arg(now);
