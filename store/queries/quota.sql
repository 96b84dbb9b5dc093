-- name: AddSpace :one
-- AddSpace adds to the bytes and files that a user stores, and returns the totals. Other transactions that do so wait until this one ends.
INSERT INTO user_space (user_id, bytes, files, max_bytes) VALUES ($1, $2, $3, 0)
ON CONFLICT (user_id) DO UPDATE SET bytes = user_space.bytes + excluded.bytes, files = user_space.files + excluded.files
RETURNING *;

-- name: Space :one
SELECT * FROM user_space WHERE user_id = $1;

-- name: SetQuota :exec
-- SetQuota sets the number of bytes that a user may store, instead of the server's default.
INSERT INTO user_space (user_id, bytes, files, max_bytes) VALUES ($1, 0, 0, $2)
ON CONFLICT (user_id) DO UPDATE SET max_bytes = excluded.max_bytes;

-- name: ItemOwner :one
SELECT owner_id FROM items WHERE id = $1;
