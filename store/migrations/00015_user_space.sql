-- How much each user stores, and how much each may.

-- +goose Up
CREATE TABLE user_space (
    user_id   BIGINT NOT NULL PRIMARY KEY REFERENCES users (id),
    bytes     BIGINT NOT NULL, -- of all versions of the user's files, past ones and those in the trash too; a user without a row stores none
    files     BIGINT NOT NULL, -- those in the trash too
    max_bytes BIGINT NOT NULL  -- 0: the server's default; -1: no limit
);
INSERT INTO user_space (user_id, bytes, files, max_bytes)
SELECT items.owner_id, CAST(COALESCE(SUM(file_versions.size), 0) AS BIGINT), COUNT(DISTINCT items.id), 0
FROM items JOIN file_versions ON file_versions.file_id = items.id GROUP BY items.owner_id;

-- +goose Down
DROP TABLE user_space;
