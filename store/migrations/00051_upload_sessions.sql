-- Uploads in parts. The content of a part is an object of its own until the session is committed.

-- +goose Up
CREATE TABLE upload_sessions (
    id         BIGINT PRIMARY KEY,
    user_id    BIGINT NOT NULL REFERENCES users (id),
    folder_id  BIGINT NOT NULL, -- where the file will be, which may be deleted meanwhile; 0 for the root folder of the user
    file_id    BIGINT NOT NULL, -- the file that gets a new version, which may be deleted meanwhile; 0 for a new file
    name       TEXT   NOT NULL, -- empty to keep that of the file
    size       BIGINT NOT NULL, -- bytes of the whole content
    part_size  BIGINT NOT NULL, -- bytes of every part but the last
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX upload_sessions_user ON upload_sessions (user_id);
CREATE INDEX upload_sessions_expiry ON upload_sessions (expires_at);

CREATE TABLE upload_parts (
    id         BIGINT PRIMARY KEY, -- also names the object with the content
    session_id BIGINT NOT NULL REFERENCES upload_sessions (id),
    position   BIGINT NOT NULL, -- of its first byte in the whole content
    size       BIGINT NOT NULL,
    sha1       TEXT   NOT NULL,
    UNIQUE (session_id, position)
);

-- +goose Down
DROP TABLE upload_parts;
DROP TABLE upload_sessions;
