-- Webhooks, what they have to deliver, and what became of it.

-- +goose Up
CREATE TABLE webhooks (
    id             BIGINT  NOT NULL PRIMARY KEY,
    application_id BIGINT  NOT NULL REFERENCES applications (id),
    created_by     BIGINT  NOT NULL REFERENCES users (id),
    global_content BOOLEAN NOT NULL, -- whether the creator's token reached the content of everybody
    slot           BIGINT  NOT NULL, -- 0 of the one webhook that an application and user have on a target; its id of a listener, and of one that is deleted or gone
    target_kind    BIGINT  NOT NULL,
    target_id      BIGINT  NOT NULL, -- an item, which may be gone
    address        TEXT    NOT NULL, -- empty of a listener
    triggers       TEXT    NOT NULL, -- names with blanks between
    status         TEXT    NOT NULL CHECK (status IN ('active', 'disabled', 'gone', 'deleted')), -- gone: with its target, but told so yet
    reason         TEXT    NOT NULL, -- why it is not active, for a person
    created_at     BIGINT  NOT NULL,
    ended_at       BIGINT  NOT NULL, -- when it was deleted, or gone; 0 before
    expires_at     BIGINT  NOT NULL, -- of a listener, when nobody listens any more; 0 of a webhook
    UNIQUE (application_id, created_by, target_id, slot)
);
CREATE INDEX webhooks_target ON webhooks (target_id);

CREATE TABLE webhook_deliveries (
    id           BIGINT NOT NULL PRIMARY KEY,
    webhook_id   BIGINT NOT NULL REFERENCES webhooks (id),
    event_id     TEXT   NOT NULL, -- a UUID, which deliveries of one event share
    trigger_name TEXT   NOT NULL,
    state        TEXT   NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'canceled')),
    created_at   BIGINT NOT NULL,
    begun_at     BIGINT NOT NULL, -- since when it is being tried: since it was made, or replayed
    tries        BIGINT NOT NULL, -- that failed since then
    attempts     BIGINT NOT NULL, -- all there were
    due_at       BIGINT NOT NULL, -- when it is tried next; 0 when it has ended
    ended_at     BIGINT NOT NULL, -- 0 while it is pending
    reason       TEXT   NOT NULL, -- what was wrong with the last attempt, or why there was none; empty when nothing was
    CHECK ((state = 'pending') = (ended_at = 0))
);
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_created ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE state = 'pending';

-- What is sent, byte for byte: apart, because deliveries change and this does not.
CREATE TABLE webhook_bodies (
    delivery_id BIGINT NOT NULL PRIMARY KEY REFERENCES webhook_deliveries (id),
    body        TEXT   NOT NULL
);

CREATE TABLE webhook_attempts (
    delivery_id BIGINT NOT NULL REFERENCES webhook_deliveries (id),
    id          BIGINT NOT NULL,
    begun_at    BIGINT NOT NULL,
    duration    BIGINT NOT NULL, -- microseconds
    outcome     TEXT   NOT NULL,
    status      BIGINT NOT NULL, -- of HTTP; 0 when there was no answer
    record      TEXT   NOT NULL, -- JSON: what was sent and what was answered
    PRIMARY KEY (delivery_id, id)
);

-- The keys that the notifications of an application are signed with.
CREATE TABLE signing_keys (
    id             BIGINT NOT NULL PRIMARY KEY,
    application_id BIGINT NOT NULL REFERENCES applications (id),
    slot           TEXT   NOT NULL CHECK (slot IN ('primary', 'secondary', 'retired')),
    secret         TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL -- of a retired key, until when it still signs; 0 of the others
);
CREATE UNIQUE INDEX signing_keys_slot ON signing_keys (application_id, slot) WHERE slot <> 'retired';
CREATE INDEX signing_keys_application ON signing_keys (application_id);

-- +goose Down
DROP TABLE signing_keys;
DROP TABLE webhook_attempts;
DROP TABLE webhook_bodies;
DROP TABLE webhook_deliveries;
DROP TABLE webhooks;
