-- name: Setting :one
SELECT value FROM settings WHERE name = $1;

-- name: InsertSetting :execrows
INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: SetSetting :exec
UPDATE settings SET value = $2 WHERE name = $1;

-- name: DeleteSetting :execrows
DELETE FROM settings WHERE name = $1;

-- name: LockSetting :execrows
-- LockSetting makes all other transactions that lock the same setting wait until this one ends, on both databases.
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

-- name: LockUser :execrows
-- LockUser makes all other transactions that change the account wait until this one ends.
UPDATE users SET modified_at = modified_at WHERE id = $1;

-- name: UpdateUser :exec
UPDATE users
SET login = $2, login_key = $3, name = $4, name_key = $5, role = $6, status = $7, external_id = $8, profile = $9, modified_at = $10
WHERE id = $1;

-- name: SetUserStatus :exec
UPDATE users SET status = $2, modified_at = $3 WHERE id = $1;

-- name: DeleteUser :exec
-- DeleteUser deletes an account and frees its login. The row stays, because other rows refer to it.
UPDATE users SET deleted_at = $2, login_key = $3, status = 'inactive', external_id = '', profile = '' WHERE id = $1;

-- name: CountActiveAdmins :one
SELECT COUNT(*) FROM users WHERE enterprise_id = $1 AND role = 'admin' AND status <> 'inactive' AND deleted_at = 0;

-- name: CountUsers :one
-- CountUsers returns the number of users that a list contains: those whose name or login begins with term, and who have the given external
-- id. An empty argument matches all users.
SELECT COUNT(*) FROM users
WHERE enterprise_id = sqlc.arg(enterprise_id) AND kind = 'managed' AND deleted_at = 0
  AND (name_key LIKE CAST(sqlc.arg(term) AS TEXT) || '%' OR login_key LIKE CAST(sqlc.arg(term) AS TEXT) || '%')
  AND (external_id = sqlc.arg(external_id) OR CAST(sqlc.arg(external_id) AS TEXT) = '')
  AND (platform_only AND CAST(sqlc.arg(sees_app_users) AS BOOLEAN) OR NOT platform_only AND CAST(sqlc.arg(sees_managed_users) AS BOOLEAN));

-- name: UsersAt :many
SELECT * FROM users
WHERE enterprise_id = sqlc.arg(enterprise_id) AND kind = 'managed' AND deleted_at = 0
  AND (name_key LIKE CAST(sqlc.arg(term) AS TEXT) || '%' OR login_key LIKE CAST(sqlc.arg(term) AS TEXT) || '%')
  AND (external_id = sqlc.arg(external_id) OR CAST(sqlc.arg(external_id) AS TEXT) = '')
  AND (platform_only AND CAST(sqlc.arg(sees_app_users) AS BOOLEAN) OR NOT platform_only AND CAST(sqlc.arg(sees_managed_users) AS BOOLEAN))
ORDER BY id LIMIT sqlc.arg(count) OFFSET sqlc.arg(skip);

-- name: UsersAfter :many
SELECT * FROM users
WHERE enterprise_id = sqlc.arg(enterprise_id) AND kind = 'managed' AND deleted_at = 0
  AND (name_key LIKE CAST(sqlc.arg(term) AS TEXT) || '%' OR login_key LIKE CAST(sqlc.arg(term) AS TEXT) || '%')
  AND (external_id = sqlc.arg(external_id) OR CAST(sqlc.arg(external_id) AS TEXT) = '')
  AND (platform_only AND CAST(sqlc.arg(sees_app_users) AS BOOLEAN) OR NOT platform_only AND CAST(sqlc.arg(sees_managed_users) AS BOOLEAN))
  AND id > sqlc.arg(from_id)
ORDER BY id LIMIT sqlc.arg(count);

-- name: UsersBefore :many
SELECT * FROM users
WHERE enterprise_id = sqlc.arg(enterprise_id) AND kind = 'managed' AND deleted_at = 0
  AND (name_key LIKE CAST(sqlc.arg(term) AS TEXT) || '%' OR login_key LIKE CAST(sqlc.arg(term) AS TEXT) || '%')
  AND (external_id = sqlc.arg(external_id) OR CAST(sqlc.arg(external_id) AS TEXT) = '')
  AND (platform_only AND CAST(sqlc.arg(sees_app_users) AS BOOLEAN) OR NOT platform_only AND CAST(sqlc.arg(sees_managed_users) AS BOOLEAN))
  AND id < sqlc.arg(from_id)
ORDER BY id DESC LIMIT sqlc.arg(count);

-- name: DeleteCollaborationsOfUser :exec
DELETE FROM collaborations WHERE user_id = $1;

-- name: HasContent :one
-- HasContent reports whether a folder contains items that are not being removed, including those in the trash.
SELECT EXISTS (SELECT 1 FROM items WHERE parent_id = $1 AND trashed_at <> 9223372036854775807) AS has_content;

-- name: MoveChildren :exec
-- MoveChildren moves all items of a folder to another folder, including those in the trash, except items that are being removed.
UPDATE items SET parent_id = $2 WHERE parent_id = $1 AND trashed_at <> 9223372036854775807;
