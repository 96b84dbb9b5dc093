-- What is kept for a time only: batches with their jobs, and the trash.

-- +goose Up
ALTER TABLE docgen_batches ADD COLUMN removed_at BIGINT NOT NULL DEFAULT 0; -- hidden from everyone since then, and being deleted; 0 otherwise
CREATE INDEX docgen_batches_created ON docgen_batches (created_at);
CREATE INDEX docgen_batches_removed ON docgen_batches (removed_at) WHERE removed_at <> 0;
CREATE INDEX items_trashed ON items (trashed_at) WHERE trashed_at <> 0;

-- +goose Down
DROP INDEX items_trashed;
DROP INDEX docgen_batches_removed;
DROP INDEX docgen_batches_created;
ALTER TABLE docgen_batches DROP COLUMN removed_at;
