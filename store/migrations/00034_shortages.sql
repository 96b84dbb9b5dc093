-- What documents and merged files wait for while the server cannot make them, and how the tries of merged files ended.

-- +goose Up
ALTER TABLE docgen_batches ADD COLUMN waiting_for TEXT NOT NULL DEFAULT '' CHECK (waiting_for IN ('', 'disk_space', 'database')); -- what the server lacked for a document; empty when it has enough
ALTER TABLE docgen_batches ADD COLUMN pauses BIGINT NOT NULL DEFAULT 0;       -- in a row, because of that
ALTER TABLE docgen_batches ADD COLUMN paused_until BIGINT NOT NULL DEFAULT 0; -- when a document of it is tried again
ALTER TABLE docgen_merges ADD COLUMN waiting_for TEXT NOT NULL DEFAULT '' CHECK (waiting_for IN ('', 'disk_space', 'database')); -- likewise
ALTER TABLE docgen_merges ADD COLUMN pauses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE docgen_merges ADD COLUMN held BOOLEAN NOT NULL DEFAULT FALSE; -- by an attempt that has neither ended it nor put it back
ALTER TABLE docgen_merges ADD COLUMN tries BIGINT NOT NULL DEFAULT 0;     -- that ended with an error of the server
ALTER TABLE docgen_merges ADD COLUMN crashes BIGINT NOT NULL DEFAULT 0;   -- of servers, while they held it

-- +goose Down
ALTER TABLE docgen_merges DROP COLUMN crashes;
ALTER TABLE docgen_merges DROP COLUMN tries;
ALTER TABLE docgen_merges DROP COLUMN held;
ALTER TABLE docgen_merges DROP COLUMN pauses;
ALTER TABLE docgen_merges DROP COLUMN waiting_for;
ALTER TABLE docgen_batches DROP COLUMN paused_until;
ALTER TABLE docgen_batches DROP COLUMN pauses;
ALTER TABLE docgen_batches DROP COLUMN waiting_for;
