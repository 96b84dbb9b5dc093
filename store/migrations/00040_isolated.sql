-- The standard word for a document that is generated in isolation.

-- +goose Up
ALTER TABLE docgen_jobs RENAME COLUMN apart TO isolated;

-- +goose Down
ALTER TABLE docgen_jobs RENAME COLUMN isolated TO apart;
