-- name: InsertAuditEvent :exec
INSERT INTO audit_events (id, at, action, outcome, actor_id, user_id, application_id, token_id, address, agent, request_id,
                          target_kind, target_id, details)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14);

-- name: AuditEventsAfter :many
SELECT sqlc.embed(audit_events), COALESCE(actors.login, '') AS actor_login, COALESCE(users.login, '') AS user_login,
       COALESCE(applications.name, '') AS application_name
FROM audit_events
LEFT JOIN users actors ON actors.id = audit_events.actor_id
LEFT JOIN users ON users.id = audit_events.user_id
LEFT JOIN applications ON applications.id = audit_events.application_id
WHERE (audit_events.action = sqlc.arg(action) OR CAST(sqlc.arg(action) AS TEXT) = '')
  AND (audit_events.user_id = sqlc.arg(user_id) OR audit_events.actor_id = sqlc.arg(user_id) OR CAST(sqlc.arg(user_id) AS BIGINT) = 0)
  AND audit_events.at >= sqlc.arg(since) AND audit_events.at < sqlc.arg(until) AND audit_events.id > sqlc.arg(from_id)
ORDER BY audit_events.id LIMIT sqlc.arg(count);

-- name: AuditEventsBefore :many
SELECT sqlc.embed(audit_events), COALESCE(actors.login, '') AS actor_login, COALESCE(users.login, '') AS user_login,
       COALESCE(applications.name, '') AS application_name
FROM audit_events
LEFT JOIN users actors ON actors.id = audit_events.actor_id
LEFT JOIN users ON users.id = audit_events.user_id
LEFT JOIN applications ON applications.id = audit_events.application_id
WHERE (audit_events.action = sqlc.arg(action) OR CAST(sqlc.arg(action) AS TEXT) = '')
  AND (audit_events.user_id = sqlc.arg(user_id) OR audit_events.actor_id = sqlc.arg(user_id) OR CAST(sqlc.arg(user_id) AS BIGINT) = 0)
  AND audit_events.at >= sqlc.arg(since) AND audit_events.at < sqlc.arg(until) AND audit_events.id < sqlc.arg(from_id)
ORDER BY audit_events.id DESC LIMIT sqlc.arg(count);
