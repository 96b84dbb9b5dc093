-- What a batch asks of the engine, what its data holds, and what a template's version needs of data.

-- +goose Up
ALTER TABLE docgen_batches ADD COLUMN options TEXT NOT NULL DEFAULT '';       -- JSON; empty when there are none
ALTER TABLE docgen_batches ADD COLUMN shape TEXT NOT NULL DEFAULT '';         -- JSON Schema of the data of all documents; empty when not known
ALTER TABLE docgen_tag_readings ADD COLUMN contract TEXT NOT NULL DEFAULT ''; -- JSON Schema of the data; empty unless ready
ALTER TABLE docgen_tag_readings ADD COLUMN findings TEXT NOT NULL DEFAULT ''; -- JSON: problems with their places; empty when there are none
CREATE INDEX docgen_batches_template ON docgen_batches (template_file_id, created_at);

-- +goose Down
DROP INDEX docgen_batches_template;
ALTER TABLE docgen_tag_readings DROP COLUMN findings;
ALTER TABLE docgen_tag_readings DROP COLUMN contract;
ALTER TABLE docgen_batches DROP COLUMN shape;
ALTER TABLE docgen_batches DROP COLUMN options;
