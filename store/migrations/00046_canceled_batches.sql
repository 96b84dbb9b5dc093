-- Batches can be canceled: their jobs that no slot holds end without documents.

-- +goose Up
ALTER TABLE docgen_batches ADD COLUMN canceled_at BIGINT NOT NULL DEFAULT 0;   -- no job of it is claimed after that; 0 unless it was canceled
ALTER TABLE docgen_batches ADD COLUMN jobs_canceled BIGINT NOT NULL DEFAULT 0; -- not counted in jobs_failed
ALTER TABLE docgen_jobs ADD COLUMN canceled BOOLEAN NOT NULL DEFAULT FALSE;    -- failed because its batch was canceled
CREATE INDEX docgen_batches_canceled ON docgen_batches (created_by, created_at, number) WHERE removed_at = 0 AND canceled_at <> 0;
CREATE INDEX docgen_batches_canceling ON docgen_batches (created_by, id) WHERE canceled_at <> 0 AND ended_at = 0;

-- +goose Down
DROP INDEX docgen_batches_canceling;
DROP INDEX docgen_batches_canceled;
ALTER TABLE docgen_jobs DROP COLUMN canceled;
ALTER TABLE docgen_batches DROP COLUMN jobs_canceled;
ALTER TABLE docgen_batches DROP COLUMN canceled_at;
