-- A batch can retry the failed jobs of another.

-- +goose Up
ALTER TABLE docgen_batches ADD COLUMN retry_of TEXT NOT NULL DEFAULT '';        -- id of the batch whose jobs it retries, which may be deleted; empty for none
ALTER TABLE docgen_batches ADD COLUMN retry_of_job BIGINT NOT NULL DEFAULT 0;   -- the only job that it retries; 0 for all that failed
CREATE INDEX docgen_batches_retries ON docgen_batches (retry_of, retry_of_job) WHERE retry_of <> '' AND ended_at = 0;

-- +goose Down
DROP INDEX docgen_batches_retries;
ALTER TABLE docgen_batches DROP COLUMN retry_of_job;
ALTER TABLE docgen_batches DROP COLUMN retry_of;
