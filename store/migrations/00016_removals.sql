-- Trees that are being removed for good, a portion at a time. The item at the top of each has a trashed_at of
-- 9223372036854775807, so that nobody sees it, or what is left below it, any more.

-- +goose Up
CREATE TABLE removals (
    item_id  BIGINT NOT NULL PRIMARY KEY REFERENCES items (id),
    began_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE removals;
