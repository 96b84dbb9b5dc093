-- File versions are kept in the trash for a time only, as files and folders are.

-- +goose Up
CREATE INDEX file_versions_trashed ON file_versions (file_id, trashed_at) WHERE trashed_at <> 0;

-- +goose Down
DROP INDEX file_versions_trashed;
