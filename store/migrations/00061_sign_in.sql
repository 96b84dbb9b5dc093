-- Passwords, and sessions of people who are signed in. A session is a token with an idle time.

-- +goose Up
CREATE TABLE passwords (
    user_id    BIGINT NOT NULL PRIMARY KEY REFERENCES users (id),
    hash       TEXT   NOT NULL, -- Argon2id, in the PHC string format
    changed_at BIGINT NOT NULL
);

CREATE TABLE password_invitations (
    user_id    BIGINT NOT NULL PRIMARY KEY REFERENCES users (id),
    hash       TEXT   NOT NULL UNIQUE, -- of the secret, as of tokens
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

ALTER TABLE tokens ADD COLUMN idle BIGINT NOT NULL DEFAULT 0;     -- of a session, how long it is valid without being used, in microseconds; 0 of other tokens
ALTER TABLE tokens ADD COLUMN address TEXT NOT NULL DEFAULT '';   -- of the client that signed in, or its network; empty of other tokens
ALTER TABLE tokens ADD COLUMN agent TEXT NOT NULL DEFAULT '';     -- its User-Agent; likewise
CREATE INDEX tokens_sessions ON tokens (user_id, id) WHERE idle > 0;

-- +goose Down
DELETE FROM tokens WHERE idle > 0;
DROP INDEX tokens_sessions;
ALTER TABLE tokens DROP COLUMN agent;
ALTER TABLE tokens DROP COLUMN address;
ALTER TABLE tokens DROP COLUMN idle;
DROP TABLE password_invitations;
DROP TABLE passwords;
