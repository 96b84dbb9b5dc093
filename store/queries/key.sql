-- name: InsertKey :execrows
-- InsertKey claims a new key for a request.
INSERT INTO idempotency_keys (user_id, application_id, name, request, body, claim, claimed_until, changed, result, status, response, created_at, expires_at)
VALUES ($1, $2, $3, $4, '', $5, $6, FALSE, '', 0, '', $7, $8) ON CONFLICT DO NOTHING;

-- name: Key :one
SELECT * FROM idempotency_keys WHERE user_id = $1 AND application_id = $2 AND name = $3;

-- name: CountKeys :one
-- CountKeys returns the number of keys of a user that have not expired, up to a limit.
SELECT COUNT(*) FROM (SELECT 1 FROM idempotency_keys WHERE user_id = $1 AND expires_at > $2 LIMIT $3) AS counted;

-- name: DeleteKey :execrows
-- DeleteKey deletes a key that a request has and that has changed nothing.
DELETE FROM idempotency_keys WHERE user_id = $1 AND application_id = $2 AND name = $3 AND claim = $4 AND NOT changed;

-- name: DeleteExpiredKey :exec
DELETE FROM idempotency_keys WHERE user_id = $1 AND application_id = $2 AND name = $3 AND expires_at <= sqlc.arg(now);

-- name: TakeKey :execrows
-- TakeKey claims the key of a request that was lost before it changed anything.
UPDATE idempotency_keys SET claim = sqlc.arg(claim), claimed_until = sqlc.arg(until)
WHERE user_id = $1 AND application_id = $2 AND name = $3 AND claim = sqlc.arg(was) AND claimed_until <= sqlc.arg(now) AND NOT changed AND status = 0;

-- name: HoldKey :execrows
-- HoldKey extends the claim of a request.
UPDATE idempotency_keys SET claimed_until = sqlc.arg(until)
WHERE user_id = $1 AND application_id = $2 AND name = $3 AND claim = $4 AND status = 0;

-- name: NoteChange :execrows
-- NoteChange records, in the same transaction, that a request has changed something. It changes nothing if another request has the key.
UPDATE idempotency_keys SET changed = TRUE, body = sqlc.arg(body), result = sqlc.arg(result)
WHERE user_id = $1 AND application_id = $2 AND name = $3 AND claim = $4;

-- name: EndKey :execrows
-- EndKey stores the response of a request.
UPDATE idempotency_keys SET status = sqlc.arg(status), response = sqlc.arg(response), body = sqlc.arg(body)
WHERE user_id = $1 AND application_id = $2 AND name = $3 AND claim = $4;

-- name: ForgetKey :execrows
-- ForgetKey deletes a key that a request has.
DELETE FROM idempotency_keys WHERE user_id = $1 AND application_id = $2 AND name = $3 AND claim = $4;

-- name: DeleteExpiredKeys :execrows
DELETE FROM idempotency_keys WHERE (idempotency_keys.user_id, idempotency_keys.application_id, idempotency_keys.name) IN (
    SELECT k.user_id, k.application_id, k.name FROM idempotency_keys k WHERE k.expires_at <= $1 ORDER BY k.expires_at LIMIT $2
);

-- name: DeleteKeysOfUser :exec
DELETE FROM idempotency_keys WHERE user_id = $1;
