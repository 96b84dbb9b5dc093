-- What batches of a template do when they do not say.

-- +goose Up
ALTER TABLE docgen_templates ADD COLUMN default_missing TEXT NOT NULL DEFAULT ''; -- tag, blank, or error; empty for the server's
ALTER TABLE docgen_templates ADD COLUMN default_locale TEXT NOT NULL DEFAULT ''; -- a language tag; empty for the server's
ALTER TABLE docgen_templates ADD COLUMN default_time_zone TEXT NOT NULL DEFAULT ''; -- an IANA name; empty for the server's
