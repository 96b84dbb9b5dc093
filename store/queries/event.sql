-- name: EventsFrom :many
-- EventsFrom returns the events from one position to before another.
SELECT * FROM events WHERE position >= sqlc.arg(first) AND position < sqlc.arg(horizon) ORDER BY position LIMIT sqlc.arg(n);

-- name: EventsOfOwner :many
SELECT * FROM events
WHERE owner_id = sqlc.arg(user_id) AND position >= sqlc.arg(first) AND position < sqlc.arg(horizon) ORDER BY position LIMIT sqlc.arg(n);

-- name: EventsOfType :many
-- EventsOfType returns the events of a type other than ITEM_UPLOAD.
SELECT * FROM events
WHERE type = sqlc.arg(type) AND type <> 'ITEM_UPLOAD' AND position >= sqlc.arg(first) AND position < sqlc.arg(horizon)
ORDER BY position LIMIT sqlc.arg(n);

-- name: EventsOfActor :many
-- EventsOfActor returns the events that a user caused on items of others.
SELECT * FROM events
WHERE actor_id = sqlc.arg(user_id) AND actor_id <> owner_id AND position >= sqlc.arg(first) AND position < sqlc.arg(horizon)
ORDER BY position LIMIT sqlc.arg(n);

-- name: EventsAlsoOf :many
-- EventsAlsoOf returns the events that concern a user as a collaborator or as the previous owner.
SELECT * FROM events
WHERE also_id = sqlc.arg(user_id) AND also_id <> 0 AND position >= sqlc.arg(first) AND position < sqlc.arg(horizon)
ORDER BY position LIMIT sqlc.arg(n);

-- name: OwnersOfShared :many
-- OwnersOfShared returns the owners of the items that are shared with a user.
SELECT DISTINCT items.owner_id FROM collaborations JOIN items ON items.id = collaborations.item_id
WHERE collaborations.user_id = CAST(sqlc.arg(user_id) AS BIGINT) AND collaborations.status = 'accepted'
    AND (collaborations.expires_at = 0 OR collaborations.expires_at > sqlc.arg(now)) AND items.owner_id <> CAST(sqlc.arg(user_id) AS BIGINT)
ORDER BY items.owner_id LIMIT sqlc.arg(n);

-- name: FirstEvent :one
-- FirstEvent returns the first position, or 0 if there are no events.
SELECT CAST(COALESCE(MIN(position), 0) AS BIGINT) AS first FROM events;

-- name: LastEventBefore :one
-- LastEventBefore returns the last position below another, or 0 if there are no events.
SELECT CAST(COALESCE(MAX(position), 0) AS BIGINT) AS last FROM events WHERE position < $1;

-- name: DeleteOldEvents :execrows
-- DeleteOldEvents deletes those of the first events that happened before a time.
DELETE FROM events
WHERE events.position IN (SELECT o.position FROM events o ORDER BY o.position LIMIT sqlc.arg(n)) AND events.created_at < sqlc.arg(before);
