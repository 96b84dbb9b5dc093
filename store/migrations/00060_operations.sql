-- What the summary of the server shows without counting jobs: how many documents ended, in periods of ten minutes; and how the receivers of
-- webhooks do, as the server that last tried them says.

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

CREATE TABLE webhook_receivers (
    webhook_id    BIGINT NOT NULL PRIMARY KEY,
    failures      BIGINT NOT NULL, -- in a row
    failing_since BIGINT NOT NULL,
    failed_at     BIGINT NOT NULL,
    resting_until BIGINT NOT NULL, -- nothing is sent before; 0 if it does not rest
    status        BIGINT NOT NULL, -- of HTTP; 0 if there was no response
    retry_after   BIGINT NOT NULL, -- the pause that it asked for, in microseconds; 0 for none
    reason        TEXT   NOT NULL
);

-- How much is wrong with a version of a template, so that lists need not read what.
ALTER TABLE docgen_tag_readings ADD COLUMN mistakes BIGINT NOT NULL DEFAULT -1; -- -1: an earlier release read the version
ALTER TABLE docgen_tag_readings ADD COLUMN warnings BIGINT NOT NULL DEFAULT -1;

-- +goose Down
ALTER TABLE docgen_tag_readings DROP COLUMN warnings;
ALTER TABLE docgen_tag_readings DROP COLUMN mistakes;
DROP TABLE webhook_receivers;
DROP INDEX docgen_batches_short;
DROP TABLE docgen_periods;
