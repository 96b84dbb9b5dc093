-- Shared links. An item has at most one. The URL of a link is computed from its id, so a row contains no secret.

-- +goose Up
CREATE TABLE shared_links (
    id           BIGINT  PRIMARY KEY,
    item_id      BIGINT  NOT NULL UNIQUE REFERENCES items (id),
    access       TEXT    NOT NULL CHECK (access IN ('open', 'company', 'collaborators')),
    can_download BOOLEAN NOT NULL,
    password     TEXT    NOT NULL, -- a hash in the PHC format; empty for none
    expires_at   BIGINT  NOT NULL, -- 0 for never
    downloads    BIGINT  NOT NULL  -- the number of downloads with the link
);

-- +goose Down
DROP TABLE shared_links;
