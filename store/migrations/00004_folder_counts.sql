-- How many items each folder holds, so that the total of a listing need not be counted.

-- +goose Up
CREATE TABLE folder_counts (
    folder_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id),
    items     BIGINT NOT NULL -- directly in it, without what is in the trash itself; a folder without a row holds none
);
INSERT INTO folder_counts (folder_id, items)
SELECT parent_id, COUNT(*) FROM items WHERE parent_id IS NOT NULL AND trashed_at = 0 GROUP BY parent_id;

-- +goose Down
DROP TABLE folder_counts;
