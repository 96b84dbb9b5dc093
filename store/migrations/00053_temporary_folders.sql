-- A folder without a parent that holds the files of a document on request: its template, if it came with the request, and the document,
-- if the request has no destination. Its owner sees the files but not the folder. Some time after the job has ended, everything is deleted.

-- +goose Up
CREATE TABLE temporary_folders (
    folder_id  BIGINT NOT NULL PRIMARY KEY,
    user_id    BIGINT NOT NULL,
    job_id     BIGINT NOT NULL,
    expires_at BIGINT NOT NULL -- when to look next: it is deleted then if the job ended long enough ago
);
CREATE INDEX temporary_folders_expiry ON temporary_folders (expires_at);
CREATE INDEX temporary_folders_user ON temporary_folders (user_id);

-- +goose Down
DROP TABLE temporary_folders;
