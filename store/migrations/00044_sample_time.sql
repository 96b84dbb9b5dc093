-- A sample can take any time for the present, including 1970-01-01, which time_at could not tell from none.

-- +goose Up
ALTER TABLE docgen_samples ADD COLUMN present_at BIGINT; -- what the document takes for the present; null for the time of the check
UPDATE docgen_samples SET present_at = time_at WHERE time_at <> 0;
ALTER TABLE docgen_samples DROP COLUMN time_at;

-- +goose Down
ALTER TABLE docgen_samples ADD COLUMN time_at BIGINT NOT NULL DEFAULT 0;
UPDATE docgen_samples SET time_at = present_at WHERE present_at IS NOT NULL;
ALTER TABLE docgen_samples DROP COLUMN present_at;
