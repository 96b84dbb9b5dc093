-- Whose templates there are, so that a list of templates begins with those of the users it can show.

-- +goose Up
ALTER TABLE docgen_templates ADD COLUMN owner_id BIGINT NOT NULL DEFAULT 0; -- of the file
UPDATE docgen_templates SET owner_id = (SELECT items.owner_id FROM items WHERE items.id = docgen_templates.file_id);
CREATE INDEX docgen_templates_owner ON docgen_templates (owner_id, file_id);

-- +goose Down
DROP INDEX docgen_templates_owner;
ALTER TABLE docgen_templates DROP COLUMN owner_id;
