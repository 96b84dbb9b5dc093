-- Access tokens have a name and the time of their last use, and are listed by user.

-- +goose Up
ALTER TABLE tokens ADD COLUMN name TEXT NOT NULL DEFAULT '';        -- what its user calls it; empty for none
ALTER TABLE tokens ADD COLUMN used_at BIGINT NOT NULL DEFAULT 0;    -- to the minute; 0: not yet
CREATE INDEX tokens_of_user ON tokens (user_id, id);
DROP INDEX tokens_user;
CREATE INDEX refresh_tokens_of_user ON refresh_tokens (user_id, id);
DROP INDEX refresh_tokens_user;
-- There until a server has logged once that new tokens expire by default. A new database has no tokens to warn about.
INSERT INTO settings (name, value) SELECT 'notice_token_ttl', '' WHERE EXISTS (SELECT 1 FROM tokens WHERE expires_at = 0);

-- +goose Down
DELETE FROM settings WHERE name = 'notice_token_ttl';
CREATE INDEX refresh_tokens_user ON refresh_tokens (user_id);
DROP INDEX refresh_tokens_of_user;
CREATE INDEX tokens_user ON tokens (user_id);
DROP INDEX tokens_of_user;
ALTER TABLE tokens DROP COLUMN used_at;
ALTER TABLE tokens DROP COLUMN name;
