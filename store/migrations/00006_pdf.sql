-- What is to be done when the last job of a batch has ended, and the merged file of a batch.

-- +goose Up
ALTER TABLE docgen_jobs ADD COLUMN apart BOOLEAN NOT NULL DEFAULT FALSE; -- its document is converted apart from others

-- Of the batches that have something to be done at their end; gone when that is done.
CREATE TABLE docgen_endings (
    batch_id  TEXT   NOT NULL PRIMARY KEY REFERENCES docgen_batches (id),
    jobs_left BIGINT NOT NULL, -- that have not ended
    passwords TEXT   NOT NULL  -- JSON {password, owner_password}, as they are; empty when there are none
);

-- The one PDF that a batch makes of its documents.
CREATE TABLE docgen_merges (
    batch_id          TEXT   NOT NULL PRIMARY KEY REFERENCES docgen_batches (id),
    file_name         TEXT   NOT NULL, -- the name asked for; the output's own name may carry a suffix
    status            TEXT   NOT NULL CHECK (status IN ('pending', 'submitted', 'completed', 'completed_with_error', 'failed')),
    attempt           BIGINT NOT NULL, -- grows with every claim: the finish of a worker thought dead does not match
    output_file_id    BIGINT NOT NULL,
    output_version_id BIGINT NOT NULL,
    failures          TEXT   NOT NULL, -- JSON {errors: [string], warnings: [string]}, empty when there are none
    finished_at       BIGINT NOT NULL,
    CHECK ((status IN ('completed', 'completed_with_error')) = (output_file_id <> 0))
);

-- +goose Down
DROP TABLE docgen_merges;
DROP TABLE docgen_endings;
ALTER TABLE docgen_jobs DROP COLUMN apart;
