-- name: InsertErasure :exec
INSERT INTO erasures (user_id, began_at, known, step, position) VALUES ($1, $2, $3, 0, 0) ON CONFLICT DO NOTHING;

-- name: Erasures :many
SELECT user_id FROM erasures ORDER BY began_at, user_id LIMIT $1;

-- name: ErasuresUnderWay :many
SELECT * FROM erasures ORDER BY began_at, user_id LIMIT $1;

-- name: LockErasure :many
-- LockErasure makes all other transactions that erase a portion wait until this one ends. It returns at most one row.
UPDATE erasures SET began_at = began_at WHERE user_id = $1 RETURNING *;

-- name: SetErasure :exec
UPDATE erasures SET step = $2, position = $3 WHERE user_id = $1;

-- name: DeleteErasure :exec
DELETE FROM erasures WHERE user_id = $1;

-- name: EraseUser :exec
-- EraseUser replaces all personal data in the row of a deleted user. The row stays, because other rows refer to it.
UPDATE users SET login = $2, name = $3, name_key = $4, external_id = '', profile = '', modified_at = $5 WHERE id = $1;

-- name: SetErased :exec
UPDATE users SET erased_at = $2 WHERE id = $1;

-- name: DeletedUsers :many
-- DeletedUsers returns users who were deleted but not erased, by their former login. Case does not matter.
SELECT * FROM users WHERE LOWER(login) = LOWER(sqlc.arg(login)) AND deleted_at <> 0 AND erased_at = 0 ORDER BY id LIMIT sqlc.arg(n);

-- name: UserAudit :many
-- UserAudit returns the details of all audit events about a user.
SELECT action, details FROM audit_events WHERE target_kind = 'user' AND target_id = $1 AND details <> '';

-- name: SomeAuditEvents :many
SELECT * FROM audit_events WHERE id > $1 ORDER BY id LIMIT $2;

-- name: EraseAuditEvent :exec
UPDATE audit_events SET address = $2, agent = $3, request_id = $4, details = $5 WHERE id = $1;

-- name: DeleteInvitationsOf :exec
-- DeleteInvitationsOf deletes the invitations of a login without a user.
DELETE FROM collaborations WHERE user_id IS NULL AND invite_key = $1;

-- name: EndSomeJobs :execrows
-- EndSomeJobs ends unfinished jobs of a batch, without documents. Attempts that hold one of them can no longer finish it.
UPDATE docgen_jobs
SET status = 'failed', waiting = FALSE, slot = '', summary = '-', finished_at = $2
WHERE docgen_jobs.id IN (SELECT j.id FROM docgen_jobs j WHERE j.batch_id = $1 AND j.status IN ('pending', 'submitted') LIMIT $3);

-- name: EndMerge :exec
UPDATE docgen_merges SET status = 'failed', finished_at = $2 WHERE batch_id = $1 AND status IN ('pending', 'submitted');

-- name: BatchesOfUser :many
-- BatchesOfUser returns the batches of a user whose time of hiding has not passed. For a batch that is still being received, it is in the
-- future.
SELECT id, removed_at FROM docgen_batches
WHERE created_by = sqlc.arg(user_id) AND (removed_at = 0 OR removed_at > sqlc.arg(now)) LIMIT sqlc.arg(n);

-- name: NextWebhookOfUser :many
-- NextWebhookOfUser returns a webhook of a user that EraseWebhook has not erased, or no row.
SELECT * FROM webhooks WHERE created_by = $1 AND triggers <> '' ORDER BY id LIMIT 1;

-- name: EraseWebhook :exec
-- EraseWebhook erases a deleted webhook, but keeps what other rows refer to.
UPDATE webhooks SET address = '', triggers = '' WHERE id = $1;

-- name: DeliveriesToErase :many
SELECT d.id, d.state FROM webhook_deliveries d JOIN webhook_bodies b ON b.delivery_id = d.id
WHERE d.webhook_id = $1 AND (d.state IN ('delivered', 'failed') OR b.body <> '') LIMIT $2;

-- name: SomeBodies :many
SELECT * FROM webhook_bodies WHERE delivery_id > $1 ORDER BY delivery_id LIMIT $2;

-- name: SetBody :exec
UPDATE webhook_bodies SET body = $2 WHERE delivery_id = $1;

-- name: DeleteAttempts :exec
DELETE FROM webhook_attempts WHERE delivery_id = $1;

-- name: ErasurePlan :one
-- ErasurePlan returns the numbers of rows that an erasure deletes or changes.
SELECT
    (SELECT COUNT(*) FROM tokens WHERE tokens.user_id = sqlc.arg(user_id)) AS tokens,
    (SELECT COUNT(*) FROM refresh_tokens WHERE refresh_tokens.user_id = sqlc.arg(user_id)) AS refresh_tokens,
    (SELECT COUNT(*) FROM items WHERE items.owner_id = sqlc.arg(user_id) AND items.kind = 0 AND items.parent_id IS NOT NULL) AS folders,
    (SELECT COUNT(*) FROM collaborations WHERE collaborations.user_id = sqlc.arg(user_id)) AS shares,
    (SELECT COUNT(*) FROM docgen_batches WHERE docgen_batches.created_by = sqlc.arg(user_id)) AS batches,
    (SELECT COUNT(*) FROM docgen_jobs WHERE docgen_jobs.created_by = sqlc.arg(user_id)) AS jobs,
    (SELECT COUNT(*) FROM webhooks WHERE webhooks.created_by = sqlc.arg(user_id)) AS webhooks,
    (SELECT COUNT(*) FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE w.created_by = sqlc.arg(user_id)) AS deliveries,
    (SELECT COUNT(*) FROM audit_events e WHERE e.actor_id = sqlc.arg(user_id) OR e.user_id = sqlc.arg(user_id)
        OR e.target_kind = 'user' AND e.target_id = sqlc.arg(target_id)) AS audit;
