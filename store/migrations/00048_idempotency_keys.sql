-- Keys with which clients repeat requests safely, and the responses that a repeated request gets.

-- +goose Up
CREATE TABLE idempotency_keys (
    user_id        BIGINT  NOT NULL REFERENCES users (id), -- for whom the request acts
    application_id BIGINT  NOT NULL,
    name           TEXT    NOT NULL, -- the key
    request        TEXT    NOT NULL, -- digest of method, path, and query
    body           TEXT    NOT NULL, -- digest of the body; empty until it was read
    claim          TEXT    NOT NULL, -- the request that has the key
    claimed_until  BIGINT  NOT NULL, -- when that request counts as lost, unless it has ended
    changed        BOOLEAN NOT NULL, -- whether it has committed anything
    result         TEXT    NOT NULL, -- what it created, which is enough for a response; may be empty
    status         BIGINT  NOT NULL, -- of the response; 0 until it has ended
    response       TEXT    NOT NULL, -- JSON; empty when it was not kept
    created_at     BIGINT  NOT NULL,
    expires_at     BIGINT  NOT NULL,
    PRIMARY KEY (user_id, application_id, name)
);
CREATE INDEX idempotency_keys_expired ON idempotency_keys (expires_at);

-- +goose Down
DROP TABLE idempotency_keys;
