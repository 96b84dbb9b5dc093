-- Samples that are stored with a template, and what came of checking its versions with them.

-- +goose Up
ALTER TABLE docgen_templates ADD COLUMN samples_required BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE docgen_templates ADD COLUMN used_version_id BIGINT NOT NULL DEFAULT 0; -- the newest version that passed all samples; 0 unless they are required

CREATE TABLE docgen_samples (
    file_id      BIGINT NOT NULL REFERENCES items (id), -- the template
    name         TEXT   NOT NULL,
    input        TEXT   NOT NULL, -- JSON object
    options      TEXT   NOT NULL, -- JSON, as of a batch; empty when there are none
    expectations TEXT   NOT NULL, -- JSON; empty when there are none
    golden_id    BIGINT NOT NULL, -- the file that the document is compared with, which may be gone; 0 for none
    time_at      BIGINT NOT NULL, -- what the document takes for the present; 0 for the time of the check
    size         BIGINT NOT NULL, -- bytes of input and expectations
    saved_at     BIGINT NOT NULL,
    saved_by     BIGINT NOT NULL REFERENCES users (id),
    PRIMARY KEY (file_id, name)
);

CREATE TABLE docgen_sample_results (
    version_id   BIGINT NOT NULL REFERENCES file_versions (id),
    name         TEXT   NOT NULL, -- of the sample
    state        TEXT   NOT NULL CHECK (state IN ('waiting', 'passed', 'failed')),
    round        BIGINT NOT NULL, -- another number each time the check is requested
    tries        BIGINT NOT NULL, -- of this round that began; more than one if a server ended meanwhile
    findings     TEXT   NOT NULL, -- JSON; empty while it waits
    includes     TEXT   NOT NULL, -- the files that the version included, as of readings; empty while it waits
    ended_at     BIGINT NOT NULL, -- 0 while it waits
    requested_by BIGINT NOT NULL, -- the user for whom it is checked
    PRIMARY KEY (version_id, name)
);
CREATE INDEX docgen_sample_results_waiting ON docgen_sample_results (requested_by) WHERE state = 'waiting';

-- +goose Down
DROP TABLE docgen_sample_results;
DROP TABLE docgen_samples;
ALTER TABLE docgen_templates DROP COLUMN used_version_id;
ALTER TABLE docgen_templates DROP COLUMN samples_required;
