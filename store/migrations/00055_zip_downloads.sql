-- Downloads of several files and folders at once.

-- +goose Up
CREATE TABLE zip_downloads (
    id              BIGINT PRIMARY KEY,
    user_id         BIGINT NOT NULL REFERENCES users (id),
    name            TEXT   NOT NULL, -- of the file, without its extension
    output_type     TEXT   NOT NULL CHECK (output_type IN ('zip', 'pdf')),
    items           TEXT   NOT NULL, -- the requested items, as JSON; empty once they were downloaded
    state           TEXT   NOT NULL CHECK (state IN ('created', 'in_progress', 'succeeded', 'failed')),
    attempt         BIGINT NOT NULL, -- the number of times that the download was started
    files           BIGINT NOT NULL, -- in all items
    downloaded      BIGINT NOT NULL, -- of these files
    skipped         BIGINT NOT NULL, -- of these files
    skipped_folders BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    seen_at         BIGINT NOT NULL, -- when the download last reported its progress; 0 before it starts
    expires_at      BIGINT NOT NULL
);
CREATE INDEX zip_downloads_user ON zip_downloads (user_id, created_at);
CREATE INDEX zip_downloads_expiry ON zip_downloads (expires_at);

-- +goose Down
DROP TABLE zip_downloads;
