-- What the summary of the server shows without counting jobs: how many documents ended, in periods of ten minutes.

-- +goose Up
CREATE TABLE docgen_periods (
    period    BIGINT NOT NULL, -- number of the ten minutes since 1970
    shard     BIGINT NOT NULL, -- transactions that end documents at the same time change different rows
    outcome   TEXT   NOT NULL CHECK (outcome IN ('completed', 'completed_with_error', 'failed', 'canceled')),
    reason    TEXT   NOT NULL, -- why they failed; empty otherwise
    documents BIGINT NOT NULL,
    PRIMARY KEY (period, shard, outcome, reason)
);
CREATE INDEX docgen_batches_short ON docgen_batches (waiting_for) WHERE waiting_for <> '';

-- +goose Down
DROP INDEX docgen_batches_short;
DROP TABLE docgen_periods;
