-- Who waits for a template to be read, so that users with many templates do not keep others waiting.

-- +goose Up
ALTER TABLE docgen_tag_readings ADD COLUMN requested_by BIGINT NOT NULL DEFAULT 0; -- 0 when an earlier release was asked
CREATE INDEX docgen_tag_readings_waiting ON docgen_tag_readings (requested_by) WHERE state = 'processing';

-- +goose Down
DROP INDEX docgen_tag_readings_waiting;
ALTER TABLE docgen_tag_readings DROP COLUMN requested_by;
