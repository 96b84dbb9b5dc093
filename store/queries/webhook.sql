-- name: InsertWebhook :execrows
INSERT INTO webhooks (id, application_id, created_by, global_content, slot, target_kind, target_id, address, triggers, status, reason, created_at, ended_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'active', '', $10, 0, $11)
ON CONFLICT DO NOTHING;

-- name: CountWebhooks :one
SELECT COUNT(*) FROM webhooks WHERE application_id = $1 AND created_by = $2 AND slot = 0;

-- name: Webhook :one
SELECT sqlc.embed(webhooks), sqlc.embed(users)
FROM webhooks JOIN users ON users.id = webhooks.created_by
WHERE webhooks.id = $1;

-- name: LockWebhook :one
-- LockWebhook makes all other transactions that change the webhook wait until this one ends.
UPDATE webhooks SET status = status WHERE id = $1 RETURNING *;

-- name: WebhooksAfter :many
SELECT * FROM webhooks WHERE application_id = $1 AND created_by = $2 AND slot = 0 AND id > $3 ORDER BY id LIMIT $4;

-- name: WebhooksBefore :many
SELECT * FROM webhooks WHERE application_id = $1 AND created_by = $2 AND slot = 0 AND id < $3 ORDER BY id DESC LIMIT $4;

-- name: UpdateWebhook :exec
UPDATE webhooks SET target_kind = $2, target_id = $3, address = $4, triggers = $5, status = $6, reason = $7, global_content = $8 WHERE id = $1;

-- name: HurryDeliveries :exec
-- HurryDeliveries makes all pending deliveries of a webhook due at the given time, if they are due later.
UPDATE webhook_deliveries SET due_at = $2, reason = '' WHERE webhook_id = $1 AND state = 'pending' AND due_at > $2;

-- name: DisableWebhook :execrows
UPDATE webhooks SET status = 'disabled', reason = $2 WHERE id = $1 AND status = 'active';

-- name: DeleteWebhook :exec
-- DeleteWebhook marks a webhook as deleted, and keeps what its deliveries need.
UPDATE webhooks SET status = 'deleted', reason = $2, slot = id, ended_at = $3 WHERE id = $1;

-- name: DeleteWebhooksOfApplication :exec
UPDATE webhooks SET status = 'deleted', reason = $2, slot = id, ended_at = $3 WHERE application_id = $1 AND status <> 'deleted';

-- name: CancelDeliveries :exec
UPDATE webhook_deliveries SET state = 'canceled', ended_at = $2, due_at = 0, reason = $3 WHERE webhook_id = $1 AND state = 'pending';

-- name: CancelDeliveriesOfApplication :exec
UPDATE webhook_deliveries SET state = 'canceled', ended_at = $2, due_at = 0, reason = $3
WHERE state = 'pending' AND webhook_id IN (SELECT webhooks.id FROM webhooks WHERE webhooks.application_id = $1);

-- name: DueDeliveries :many
SELECT webhook_deliveries.id, webhook_deliveries.event_id, webhook_deliveries.begun_at, webhook_deliveries.tries, webhook_bodies.body
FROM webhook_deliveries JOIN webhook_bodies ON webhook_bodies.delivery_id = webhook_deliveries.id
WHERE webhook_deliveries.webhook_id = $1 AND webhook_deliveries.state = 'pending' AND webhook_deliveries.due_at <= $2
ORDER BY webhook_deliveries.due_at, webhook_deliveries.id LIMIT $3;

-- name: IsDeliveryDue :one
SELECT EXISTS (SELECT 1 FROM webhook_deliveries WHERE webhook_id = $1 AND state = 'pending' AND due_at <= $2) AS is_due;

-- name: PostponeDeliveries :exec
UPDATE webhook_deliveries SET due_at = $2, reason = $3 WHERE webhook_id = $1 AND state = 'pending' AND due_at < $2;

-- name: RecordAttempt :execrows
-- RecordAttempt records the result of an attempt at a delivery that is still pending, or that was canceled while it was delivered.
UPDATE webhook_deliveries
SET state = $2, tries = tries + 1, attempts = attempts + 1, due_at = $3, ended_at = $4, reason = $5
WHERE id = $1 AND (state = 'pending' OR state = 'canceled' AND $2 = 'delivered');

-- name: CountTry :exec
-- CountTry counts an attempt at a delivery that has ended in the meantime.
UPDATE webhook_deliveries SET attempts = attempts + 1 WHERE id = $1;

-- name: Delivery :one
SELECT sqlc.embed(webhook_deliveries), sqlc.embed(webhooks), webhook_bodies.body
FROM webhook_deliveries
JOIN webhooks ON webhooks.id = webhook_deliveries.webhook_id
JOIN webhook_bodies ON webhook_bodies.delivery_id = webhook_deliveries.id
WHERE webhook_deliveries.id = $1;

-- name: AttemptsAfter :many
SELECT * FROM webhook_attempts WHERE delivery_id = $1 AND id > $2 ORDER BY id LIMIT $3;

-- name: AttemptsBefore :many
SELECT * FROM webhook_attempts WHERE delivery_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3;

-- name: EndedDeliveries :many
-- EndedDeliveries returns the deliveries that were created before a time and have ended, oldest first.
SELECT id FROM webhook_deliveries WHERE created_at < $1 AND state <> 'pending' ORDER BY id LIMIT $2;

-- name: DeleteWebhooksDone :execrows
-- DeleteWebhooksDone deletes the rows of webhooks that ended before a time and have no deliveries left.
DELETE FROM webhooks WHERE webhooks.slot <> 0 AND webhooks.ended_at <> 0 AND webhooks.ended_at < $1
AND NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE webhook_deliveries.webhook_id = webhooks.id);

-- name: SigningKeys :many
-- SigningKeys returns the keys that an application signs with at a time: primary, secondary, then retired keys, newest first.
SELECT * FROM signing_keys WHERE application_id = $1 AND (expires_at = 0 OR expires_at > $2)
ORDER BY CASE slot WHEN 'primary' THEN 1 WHEN 'secondary' THEN 2 ELSE 3 END, id DESC;

-- name: InsertSigningKey :exec
INSERT INTO signing_keys (id, application_id, slot, secret, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, 0);

-- name: RetireSigningKey :exec
UPDATE signing_keys SET slot = 'retired', expires_at = $3 WHERE application_id = $1 AND slot = $2;

-- name: DeleteRetiredKeys :execrows
DELETE FROM signing_keys WHERE slot = 'retired' AND expires_at <= $1;

-- name: DeleteSigningKeys :exec
DELETE FROM signing_keys WHERE application_id = $1;

-- name: ExtendListener :execrows
UPDATE webhooks SET expires_at = $2 WHERE id = $1 AND status = 'active' AND address = '';

-- name: ExpiredListeners :many
SELECT id FROM webhooks WHERE address = '' AND status <> 'deleted' AND expires_at <= $1 ORDER BY id LIMIT $2;

-- name: AcceptDelivery :execrows
-- AcceptDelivery marks a delivery as delivered when its listener has received it.
UPDATE webhook_deliveries SET state = 'delivered', ended_at = $3, due_at = 0, reason = '' WHERE id = $2 AND webhook_id = $1 AND state = 'pending';

-- name: PendingDeliveries :many
SELECT sqlc.embed(webhook_deliveries), webhook_bodies.body
FROM webhook_deliveries JOIN webhook_bodies ON webhook_bodies.delivery_id = webhook_deliveries.id
WHERE webhook_deliveries.webhook_id = $1 AND webhook_deliveries.state = 'pending' ORDER BY webhook_deliveries.id LIMIT $2;

-- name: CountListeners :one
SELECT COUNT(*) FROM webhooks WHERE application_id = $1 AND created_by = $2 AND address = '' AND status <> 'deleted';

-- name: CountPending :one
-- CountPending returns the number of pending deliveries of a user's webhooks, up to a limit.
SELECT COUNT(*) FROM (
    SELECT 1 FROM webhooks
    CROSS JOIN webhook_deliveries
    WHERE webhooks.created_by = $1 AND webhook_deliveries.webhook_id = webhooks.id AND webhook_deliveries.state = 'pending'
    LIMIT $2
) AS counted;
