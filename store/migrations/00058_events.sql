-- The event stream: what happened to items and accounts, one row per event. Rows contain ids and no names. They refer to nothing, because
-- they outlive what they name. store/event.go explains the positions.

-- +goose Up
CREATE TABLE events (
    position   BIGINT NOT NULL PRIMARY KEY,
    id         BIGINT NOT NULL,
    type       TEXT   NOT NULL, -- such as ITEM_UPLOAD
    created_at BIGINT NOT NULL,
    actor_id   BIGINT NOT NULL, -- the user who caused it
    owner_id   BIGINT NOT NULL, -- who owned the item afterwards; 0 if the source is no item
    also_id    BIGINT NOT NULL, -- another user it concerns: the collaborator, or the previous owner; 0 if there is none
    kind       TEXT   NOT NULL, -- of the source: file, folder, user, or application
    source_id  BIGINT NOT NULL,
    details    TEXT   NOT NULL  -- JSON object of strings; empty for none
);
CREATE INDEX events_owner ON events (owner_id, position);
CREATE INDEX events_actor ON events (actor_id, position) WHERE actor_id <> owner_id;
CREATE INDEX events_also ON events (also_id, position) WHERE also_id <> 0;
CREATE INDEX events_type ON events (type, position) WHERE type <> 'ITEM_UPLOAD'; -- which most events are

CREATE TABLE event_positions (
    id   BIGINT NOT NULL PRIMARY KEY,
    next BIGINT NOT NULL -- SQLite: the next position. PostgreSQL: what is added to the number of a transaction
);
INSERT INTO event_positions (id, next) VALUES (1, 1);

-- +goose Down
DROP TABLE event_positions;
DROP TABLE events;
