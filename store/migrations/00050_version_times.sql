-- Past versions keep the times of their content, so that copies and promotions of them have these times. The times of the current version
-- are those of its file.

-- +goose Up
ALTER TABLE file_versions ADD COLUMN content_created_at BIGINT NOT NULL DEFAULT 0; -- 0 if unknown, and for the current version
ALTER TABLE file_versions ADD COLUMN content_modified_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE file_versions DROP COLUMN content_modified_at;
ALTER TABLE file_versions DROP COLUMN content_created_at;
