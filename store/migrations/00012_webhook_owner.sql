-- What waits for the webhooks of a user is counted by user.

-- +goose Up
CREATE INDEX webhooks_owner ON webhooks (created_by);

-- +goose Down
DROP INDEX webhooks_owner;
