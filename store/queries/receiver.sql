-- name: NoteReceiverFailure :exec
-- NoteReceiverFailure records that the receiver of a delivery failed once more.
INSERT INTO webhook_receivers (webhook_id, failures, failing_since, failed_at, resting_until, status, retry_after, reason)
SELECT d.webhook_id, 1, CAST(sqlc.arg(failed_at) AS BIGINT), CAST(sqlc.arg(failed_at) AS BIGINT), CAST(sqlc.arg(resting_until) AS BIGINT),
    CAST(sqlc.arg(status) AS BIGINT), CAST(sqlc.arg(retry_after) AS BIGINT), CAST(sqlc.arg(reason) AS TEXT)
FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE d.id = sqlc.arg(delivery_id) AND w.status <> 'deleted'
ON CONFLICT (webhook_id) DO UPDATE SET failures = webhook_receivers.failures + 1, failed_at = excluded.failed_at,
    resting_until = CASE WHEN excluded.resting_until > webhook_receivers.resting_until THEN excluded.resting_until
        ELSE webhook_receivers.resting_until END, status = excluded.status, retry_after = excluded.retry_after, reason = excluded.reason;

-- name: DeleteReceiver :exec
DELETE FROM webhook_receivers WHERE webhook_id = $1;

-- name: DeleteReceiversDone :execrows
-- DeleteReceiversDone deletes the receivers of webhooks that no longer exist.
DELETE FROM webhook_receivers WHERE NOT EXISTS (
    SELECT 1 FROM webhooks WHERE webhooks.id = webhook_receivers.webhook_id AND webhooks.status <> 'deleted'
);

-- name: Receiver :one
SELECT * FROM webhook_receivers WHERE webhook_id = $1;

-- name: PendingOfWebhook :one
-- PendingOfWebhook returns the number of pending deliveries of a webhook, up to a limit, and when the first one is due, which is 0 if there
-- are none.
SELECT (SELECT COUNT(*) FROM (
        SELECT 1 FROM webhook_deliveries d WHERE d.webhook_id = sqlc.arg(webhook_id) AND d.state = 'pending' LIMIT sqlc.arg(most)
    ) AS counted) AS pending,
    CAST(COALESCE((SELECT MIN(due_at) FROM webhook_deliveries f WHERE f.webhook_id = sqlc.arg(webhook_id) AND f.state = 'pending'), 0) AS BIGINT)
        AS first_due;

-- name: CountReceivers :one
-- CountReceivers returns the numbers of receivers that rest, and of those that have failed since a time.
SELECT CAST(COALESCE(SUM(CASE WHEN resting_until > sqlc.arg(now) THEN 1 ELSE 0 END), 0) AS BIGINT) AS resting,
    CAST(COALESCE(SUM(CASE WHEN failing_since <= sqlc.arg(since) THEN 1 ELSE 0 END), 0) AS BIGINT) AS failing
FROM (SELECT resting_until, failing_since FROM webhook_receivers LIMIT sqlc.arg(most)) AS counted;
