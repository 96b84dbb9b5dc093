-- The audit log: who did what, as whom, from where. Rows refer to nothing, because they outlive what they name.

-- +goose Up
CREATE TABLE audit_events (
    id             BIGINT NOT NULL PRIMARY KEY,
    at             BIGINT NOT NULL,
    action         TEXT   NOT NULL, -- such as user.updated
    outcome        TEXT   NOT NULL CHECK (outcome IN ('success', 'denied')),
    actor_id       BIGINT NOT NULL, -- whose token it is; 0 for a guest
    user_id        BIGINT NOT NULL, -- as whom; the actor, unless the request had As-User
    application_id BIGINT NOT NULL, -- 0 for a command on the machine of the server
    token_id       BIGINT NOT NULL, -- 0 when there was none
    address        TEXT   NOT NULL, -- of the client; empty for a command
    agent          TEXT   NOT NULL, -- User-Agent, or the command and the account that ran it
    request_id     TEXT   NOT NULL,
    target_kind    TEXT   NOT NULL,
    target_id      TEXT   NOT NULL,
    details        TEXT   NOT NULL  -- JSON object of strings; empty for none
);
CREATE INDEX audit_events_at ON audit_events (at);

-- +goose Down
DROP TABLE audit_events;
