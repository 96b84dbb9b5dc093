-- name: InsertApplication :execrows
INSERT INTO applications (id, enterprise_id, name, name_key, scopes, service_account_id, created_at, client_id, secret_hash, acts_as_users)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT DO NOTHING;

-- name: ApplicationByName :one
SELECT * FROM applications WHERE enterprise_id = $1 AND name_key = $2;

-- name: ApplicationByClient :one
SELECT * FROM applications WHERE client_id = $1 AND client_id <> '';

-- name: LockApplication :one
-- LockApplication makes all other transactions that issue or revoke tokens of an application wait until this one ends. It returns no row if
-- the application was deleted.
UPDATE applications SET secret_hash = secret_hash WHERE id = $1 AND client_id <> '' RETURNING *;

-- name: HoldApplication :one
-- HoldApplication is LockApplication for all applications, including the one whose tokens are created manually.
UPDATE applications SET secret_hash = secret_hash WHERE id = $1 RETURNING *;

-- name: ApplicationByID :one
SELECT * FROM applications WHERE id = $1;

-- name: Applications :many
-- Applications returns the applications that can request tokens.
SELECT * FROM applications WHERE enterprise_id = $1 AND client_id <> '' ORDER BY name_key;

-- name: ApplicationsAfter :many
SELECT * FROM applications WHERE enterprise_id = $1 AND client_id <> '' AND id > $2 ORDER BY id LIMIT $3;

-- name: ApplicationsBefore :many
SELECT * FROM applications WHERE enterprise_id = $1 AND client_id <> '' AND id < $2 ORDER BY id DESC LIMIT $3;

-- name: CountApplications :one
SELECT COUNT(*) FROM applications WHERE enterprise_id = $1 AND client_id <> '';

-- name: CountTokensOfUser :one
-- CountTokensOfUser returns the number of valid tokens that a user has of an application.
SELECT COUNT(*) FROM tokens WHERE user_id = $1 AND application_id = $2 AND idle = 0 AND (expires_at = 0 OR expires_at > sqlc.arg(now));

-- name: SetApplicationSecret :exec
UPDATE applications SET secret_hash = $2 WHERE id = $1;

-- name: EndApplication :exec
-- EndApplication deletes an application, but keeps what its batches refer to.
UPDATE applications SET client_id = '', secret_hash = '', name_key = $2, acts_as_users = FALSE WHERE id = $1;

-- name: InsertApplicationKey :execrows
INSERT INTO application_keys (application_id, name, public_key, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: ApplicationKeys :many
SELECT * FROM application_keys WHERE application_id = $1 ORDER BY name;

-- name: DeleteApplicationKey :execrows
DELETE FROM application_keys WHERE application_id = $1 AND name = $2;

-- name: DeleteApplicationKeys :exec
DELETE FROM application_keys WHERE application_id = $1;

-- name: InsertAssertion :execrows
-- InsertAssertion inserts no row if the assertion was used before.
INSERT INTO assertions (application_id, name, expires_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: DeleteAssertionsOfApplication :exec
DELETE FROM assertions WHERE application_id = $1;

-- name: DeleteAssertionsBefore :execrows
DELETE FROM assertions WHERE expires_at <= $1;

-- name: InsertToken :exec
INSERT INTO tokens (id, hash, user_id, application_id, scopes, created_at, expires_at, grant_id, name)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: TokenByHash :one
SELECT sqlc.embed(tokens), sqlc.embed(users), sqlc.embed(applications)
FROM tokens
JOIN users ON users.id = tokens.user_id
JOIN applications ON applications.id = tokens.application_id
WHERE tokens.hash = $1;

-- name: TokenOf :one
-- TokenOf returns the token with an id.
SELECT sqlc.embed(tokens), sqlc.embed(users), sqlc.embed(applications)
FROM tokens
JOIN users ON users.id = tokens.user_id
JOIN applications ON applications.id = tokens.application_id
WHERE tokens.id = $1;

-- name: UserTokensAfter :many
-- UserTokensAfter returns the valid access and refresh tokens of a user with ids above from_id.
SELECT t.id, t.kind, t.name, t.user_id, t.application_id, t.scopes, t.created_at, t.expires_at, t.used_at,
       users.name AS user_name, users.login, applications.name AS application_name
FROM (
    SELECT a.id, CAST(CASE WHEN a.idle > 0 THEN 'session' ELSE 'access' END AS TEXT) AS kind, a.name, a.user_id, a.application_id, a.scopes, a.created_at, a.expires_at, a.used_at
    FROM tokens a WHERE a.user_id = sqlc.arg(user_id) AND (a.expires_at = 0 OR a.expires_at > sqlc.arg(now)) AND a.id > sqlc.arg(from_id)
    UNION ALL
    SELECT r.id, CAST('refresh' AS TEXT), CAST('' AS TEXT), r.user_id, r.application_id, r.scopes, r.created_at, r.expires_at, CAST(0 AS BIGINT)
    FROM refresh_tokens r WHERE r.user_id = sqlc.arg(user_id) AND r.used_at = 0 AND r.expires_at > sqlc.arg(now) AND r.id > sqlc.arg(from_id)
) t
JOIN users ON users.id = t.user_id
JOIN applications ON applications.id = t.application_id
ORDER BY t.id LIMIT sqlc.arg(count);

-- name: UserTokensBefore :many
SELECT t.id, t.kind, t.name, t.user_id, t.application_id, t.scopes, t.created_at, t.expires_at, t.used_at,
       users.name AS user_name, users.login, applications.name AS application_name
FROM (
    SELECT a.id, CAST(CASE WHEN a.idle > 0 THEN 'session' ELSE 'access' END AS TEXT) AS kind, a.name, a.user_id, a.application_id, a.scopes, a.created_at, a.expires_at, a.used_at
    FROM tokens a WHERE a.user_id = sqlc.arg(user_id) AND (a.expires_at = 0 OR a.expires_at > sqlc.arg(now)) AND a.id < sqlc.arg(from_id)
    UNION ALL
    SELECT r.id, CAST('refresh' AS TEXT), CAST('' AS TEXT), r.user_id, r.application_id, r.scopes, r.created_at, r.expires_at, CAST(0 AS BIGINT)
    FROM refresh_tokens r WHERE r.user_id = sqlc.arg(user_id) AND r.used_at = 0 AND r.expires_at > sqlc.arg(now) AND r.id < sqlc.arg(from_id)
) t
JOIN users ON users.id = t.user_id
JOIN applications ON applications.id = t.application_id
ORDER BY t.id DESC LIMIT sqlc.arg(count);

-- name: TokensAfter :many
-- TokensAfter returns the valid access and refresh tokens, with ids above from_id, of all users that a caller manages.
SELECT t.id, t.kind, t.name, t.user_id, t.application_id, t.scopes, t.created_at, t.expires_at, t.used_at,
       users.name AS user_name, users.login, applications.name AS application_name
FROM (
    SELECT a.id, CAST(CASE WHEN a.idle > 0 THEN 'session' ELSE 'access' END AS TEXT) AS kind, a.name, a.user_id, a.application_id, a.scopes, a.created_at, a.expires_at, a.used_at
    FROM tokens a WHERE (a.expires_at = 0 OR a.expires_at > sqlc.arg(now)) AND a.id > sqlc.arg(from_id)
    UNION ALL
    SELECT r.id, CAST('refresh' AS TEXT), CAST('' AS TEXT), r.user_id, r.application_id, r.scopes, r.created_at, r.expires_at, CAST(0 AS BIGINT)
    FROM refresh_tokens r WHERE r.used_at = 0 AND r.expires_at > sqlc.arg(now) AND r.id > sqlc.arg(from_id)
) t
JOIN users ON users.id = t.user_id
JOIN applications ON applications.id = t.application_id
WHERE users.enterprise_id = sqlc.arg(enterprise_id) AND users.deleted_at = 0
  AND (users.kind = 'service' AND CAST(sqlc.arg(sees_services) AS BOOLEAN)
    OR users.kind = 'managed' AND users.platform_only AND CAST(sqlc.arg(sees_app_users) AS BOOLEAN)
    OR users.kind = 'managed' AND NOT users.platform_only AND CAST(sqlc.arg(sees_managed_users) AS BOOLEAN))
ORDER BY t.id LIMIT sqlc.arg(count);

-- name: TokensBefore :many
SELECT t.id, t.kind, t.name, t.user_id, t.application_id, t.scopes, t.created_at, t.expires_at, t.used_at,
       users.name AS user_name, users.login, applications.name AS application_name
FROM (
    SELECT a.id, CAST(CASE WHEN a.idle > 0 THEN 'session' ELSE 'access' END AS TEXT) AS kind, a.name, a.user_id, a.application_id, a.scopes, a.created_at, a.expires_at, a.used_at
    FROM tokens a WHERE (a.expires_at = 0 OR a.expires_at > sqlc.arg(now)) AND a.id < sqlc.arg(from_id)
    UNION ALL
    SELECT r.id, CAST('refresh' AS TEXT), CAST('' AS TEXT), r.user_id, r.application_id, r.scopes, r.created_at, r.expires_at, CAST(0 AS BIGINT)
    FROM refresh_tokens r WHERE r.used_at = 0 AND r.expires_at > sqlc.arg(now) AND r.id < sqlc.arg(from_id)
) t
JOIN users ON users.id = t.user_id
JOIN applications ON applications.id = t.application_id
WHERE users.enterprise_id = sqlc.arg(enterprise_id) AND users.deleted_at = 0
  AND (users.kind = 'service' AND CAST(sqlc.arg(sees_services) AS BOOLEAN)
    OR users.kind = 'managed' AND users.platform_only AND CAST(sqlc.arg(sees_app_users) AS BOOLEAN)
    OR users.kind = 'managed' AND NOT users.platform_only AND CAST(sqlc.arg(sees_managed_users) AS BOOLEAN))
ORDER BY t.id DESC LIMIT sqlc.arg(count);

-- name: TokenByID :one
SELECT * FROM tokens WHERE id = $1;

-- name: RefreshTokenByID :one
SELECT * FROM refresh_tokens WHERE id = $1;

-- name: SetTokenUsed :exec
UPDATE tokens SET used_at = $2 WHERE id = $1 AND used_at < $2;

-- name: CountTokensExpiring :one
-- CountTokensExpiring returns the number of tokens of applications without a client id that expire between two times. Nothing renews such
-- tokens.
SELECT COUNT(*) FROM tokens JOIN applications ON applications.id = tokens.application_id
WHERE applications.client_id = '' AND tokens.idle = 0 AND tokens.expires_at <> 0 AND tokens.expires_at > sqlc.arg(now) AND tokens.expires_at <= sqlc.arg(until);

-- name: CountTokensWithoutExpiry :one
SELECT COUNT(*) FROM tokens WHERE expires_at = 0;

-- name: DeleteToken :exec
DELETE FROM tokens WHERE id = $1;

-- name: DeleteTokensOfGrant :exec
DELETE FROM tokens WHERE grant_id = $1 AND grant_id <> 0;

-- name: DeleteTokensOfUser :exec
DELETE FROM tokens WHERE user_id = $1;

-- name: DeleteTokensOfApplication :exec
DELETE FROM tokens WHERE application_id = $1;

-- name: DeleteTokensBefore :execrows
DELETE FROM tokens WHERE expires_at <> 0 AND expires_at <= $1;

-- name: InsertRefreshToken :exec
INSERT INTO refresh_tokens (id, hash, grant_id, user_id, application_id, scopes, created_at, expires_at, used_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0);

-- name: RefreshTokenByHash :one
SELECT * FROM refresh_tokens WHERE hash = $1;

-- name: UseRefreshToken :exec
UPDATE refresh_tokens SET used_at = $2 WHERE id = $1;

-- name: DeleteRefreshTokensOfGrant :exec
DELETE FROM refresh_tokens WHERE grant_id = $1;

-- name: DeleteRefreshTokensOfUser :exec
DELETE FROM refresh_tokens WHERE user_id = $1;

-- name: DeleteRefreshTokensOfApplication :exec
DELETE FROM refresh_tokens WHERE application_id = $1;

-- name: DeleteRefreshTokensBefore :execrows
DELETE FROM refresh_tokens WHERE expires_at <= $1;
