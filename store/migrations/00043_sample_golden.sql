-- The golden document that a result of a sample was compared with, whose text the result may quote.

-- +goose Up
ALTER TABLE docgen_sample_results ADD COLUMN golden_version_id BIGINT NOT NULL DEFAULT 0; -- the version of the file; 0 for none

-- The golden documents of the results so far are unknown: like a reading without includes, such a result is not shown.
UPDATE docgen_sample_results SET includes = '' WHERE state <> 'waiting';

-- +goose Down
ALTER TABLE docgen_sample_results DROP COLUMN golden_version_id;
