-- Which files the tags of a template's version were read with, so that they are shown only to those who may download these.

-- +goose Up
ALTER TABLE docgen_tag_readings ADD COLUMN includes TEXT NOT NULL DEFAULT ''; -- JSON array of {name, version_id}; empty while processing, and when an earlier release read the version

-- +goose Down
ALTER TABLE docgen_tag_readings DROP COLUMN includes;
