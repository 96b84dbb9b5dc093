-- name: InsertApplication :execrows
INSERT INTO applications (id, enterprise_id, name, name_key, scopes, service_account_id, created_at, client_id, secret_hash, acts_as_users)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT DO NOTHING;

-- name: ApplicationByName :one
SELECT * FROM applications WHERE enterprise_id = $1 AND name_key = $2;

-- name: ApplicationByClient :one
SELECT * FROM applications WHERE client_id = $1 AND client_id <> '';

-- name: LockApplication :one
-- LockApplication makes every other transaction that gives or ends tokens of an application wait until this one ends; no row
-- when the application has ended.
UPDATE applications SET secret_hash = secret_hash WHERE id = $1 AND client_id <> '' RETURNING *;

-- name: HoldApplication :one
-- HoldApplication is LockApplication for any application, also that of the tokens made by hand.
UPDATE applications SET secret_hash = secret_hash WHERE id = $1 RETURNING *;

-- name: ApplicationByID :one
SELECT * FROM applications WHERE id = $1;

-- name: Applications :many
-- Applications returns those that get tokens by themselves.
SELECT * FROM applications WHERE enterprise_id = $1 AND client_id <> '' ORDER BY name_key;

-- name: SetApplicationSecret :exec
UPDATE applications SET secret_hash = $2 WHERE id = $1;

-- name: EndApplication :exec
-- EndApplication leaves of an application what its batches name.
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
-- InsertAssertion adds no row when the assertion was used before.
INSERT INTO assertions (application_id, name, expires_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: DeleteAssertionsOfApplication :exec
DELETE FROM assertions WHERE application_id = $1;

-- name: DeleteAssertionsBefore :execrows
DELETE FROM assertions WHERE expires_at <= $1;

-- name: InsertToken :exec
INSERT INTO tokens (id, hash, user_id, application_id, scopes, created_at, expires_at, grant_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: TokenByHash :one
SELECT sqlc.embed(tokens), sqlc.embed(users), sqlc.embed(applications)
FROM tokens
JOIN users ON users.id = tokens.user_id
JOIN applications ON applications.id = tokens.application_id
WHERE tokens.hash = $1;

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
