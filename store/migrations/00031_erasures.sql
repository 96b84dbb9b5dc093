-- Users whose personal data is being erased, a portion at a time.

-- +goose Up
ALTER TABLE users ADD COLUMN erased_at BIGINT NOT NULL DEFAULT 0; -- when nothing personal was left; 0 otherwise
CREATE TABLE erasures (
    user_id  BIGINT NOT NULL PRIMARY KEY REFERENCES users (id),
    began_at BIGINT NOT NULL,
    known    TEXT   NOT NULL, -- JSON {logins, names}: what the person is looked for by; gone with the row when all is erased
    step     BIGINT NOT NULL, -- the first that is not done
    position BIGINT NOT NULL  -- the id up to which the step is done
);
CREATE INDEX docgen_batches_creator ON docgen_batches (created_by);
CREATE INDEX audit_events_user ON audit_events (target_id) WHERE target_kind = 'user';

-- +goose Down
DROP INDEX audit_events_user;
DROP INDEX docgen_batches_creator;
DROP TABLE erasures;
ALTER TABLE users DROP COLUMN erased_at;
