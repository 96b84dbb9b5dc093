-- name: Setting :one
SELECT value FROM settings WHERE name = $1;

-- name: InsertSetting :execrows
INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: LockSetting :execrows
-- LockSetting makes every other transaction that locks the same setting wait until this one ends, on both databases.
UPDATE settings SET value = value WHERE name = $1;

-- name: InsertEnterprise :exec
INSERT INTO enterprises (id, name, created_at) VALUES ($1, $2, $3);

-- name: SetEnterpriseAccount :exec
UPDATE enterprises SET account_id = $2 WHERE id = $1;

-- name: FirstEnterprise :one
SELECT * FROM enterprises ORDER BY id LIMIT 1;

-- name: InsertUser :execrows
INSERT INTO users (id, enterprise_id, login, login_key, name, name_key, kind, role, status, root_folder_id, created_at, modified_at,
                   platform_only, external_id, profile)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT DO NOTHING;

-- name: User :one
SELECT sqlc.embed(users), enterprises.name AS enterprise_name
FROM users JOIN enterprises ON enterprises.id = users.enterprise_id
WHERE users.id = $1;

-- name: UserByLogin :one
SELECT * FROM users WHERE login_key = $1;

-- name: UsersWithoutNameKey :many
SELECT id, name FROM users WHERE name_key = '';

-- name: SetNameKey :exec
UPDATE users SET name_key = $2 WHERE id = $1;

-- name: InsertApplication :execrows
INSERT INTO applications (id, enterprise_id, name, name_key, scopes, service_account_id, created_at, client_id, secret_hash, acts_as_users)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT DO NOTHING;

-- name: ApplicationByName :one
SELECT * FROM applications WHERE enterprise_id = $1 AND name_key = $2;

-- name: InsertToken :exec
INSERT INTO tokens (id, hash, user_id, application_id, scopes, created_at, expires_at, grant_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: TokenByHash :one
SELECT sqlc.embed(tokens), sqlc.embed(users)
FROM tokens JOIN users ON users.id = tokens.user_id
WHERE tokens.hash = $1;
