-- Checksums of parts of contents, so that a range can be checked without reading all of a content.

-- +goose Up
CREATE TABLE content_blocks (
    blob_key  TEXT NOT NULL PRIMARY KEY,
    checksums TEXT NOT NULL -- CRC-32C of each 256 KiB, 8 hexadecimal digits each; only of contents that are larger than that
);

-- +goose Down
DROP TABLE content_blocks;
