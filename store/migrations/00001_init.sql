-- One text for SQLite and PostgreSQL: BIGINT, TEXT and BOOLEAN only; times are microseconds since 1970 in UTC, 0 means
-- "not (yet)"; ids are made in Go; a *_key is the case-folded text in hexadecimal, so that it is unique and ordered by
-- the same rule under every collation.

-- +goose Up
CREATE TABLE settings (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE enterprises (
    id         BIGINT NOT NULL PRIMARY KEY,
    name       TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE users (
    id             BIGINT NOT NULL PRIMARY KEY,
    enterprise_id  BIGINT NOT NULL REFERENCES enterprises (id),
    login          TEXT   NOT NULL,
    login_key      TEXT   NOT NULL UNIQUE,
    name           TEXT   NOT NULL,
    kind           TEXT   NOT NULL CHECK (kind IN ('managed', 'service')),
    role           TEXT   NOT NULL CHECK (role IN ('admin', 'coadmin', 'user')),
    status         TEXT   NOT NULL CHECK (status IN ('active', 'inactive', 'cannot_delete_edit', 'cannot_delete_edit_upload')),
    root_folder_id BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    modified_at    BIGINT NOT NULL
);

CREATE TABLE applications (
    id                 BIGINT NOT NULL PRIMARY KEY,
    enterprise_id      BIGINT NOT NULL REFERENCES enterprises (id),
    name               TEXT   NOT NULL,
    name_key           TEXT   NOT NULL,
    scopes             TEXT   NOT NULL,
    service_account_id BIGINT REFERENCES users (id),
    created_at         BIGINT NOT NULL,
    UNIQUE (enterprise_id, name_key)
);

CREATE TABLE tokens (
    id             BIGINT NOT NULL PRIMARY KEY,
    hash           TEXT   NOT NULL UNIQUE,
    user_id        BIGINT NOT NULL REFERENCES users (id),
    application_id BIGINT NOT NULL REFERENCES applications (id),
    scopes         TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL
);

-- Files and folders share one table because they share one namespace, one tree and one access rule.
CREATE TABLE items (
    id                  BIGINT NOT NULL PRIMARY KEY,
    kind                BIGINT NOT NULL CHECK (kind IN (0, 1)), -- 0 folder, 1 file: folders come first in every listing
    parent_id           BIGINT REFERENCES items (id),           -- null for a user's root folder alone
    owner_id            BIGINT NOT NULL REFERENCES users (id),
    name                TEXT   NOT NULL,
    name_key            TEXT   NOT NULL,
    description         TEXT   NOT NULL,
    etag                BIGINT NOT NULL,
    version_id          BIGINT NOT NULL,                        -- current file version; 0 for a folder
    version_number      BIGINT NOT NULL,
    size                BIGINT NOT NULL,
    sha1                TEXT   NOT NULL,
    created_at          BIGINT NOT NULL,
    created_by          BIGINT NOT NULL REFERENCES users (id),
    modified_at         BIGINT NOT NULL,
    modified_by         BIGINT NOT NULL REFERENCES users (id),
    content_created_at  BIGINT NOT NULL,
    content_modified_at BIGINT NOT NULL,
    trashed_at          BIGINT NOT NULL,
    trashed_by          BIGINT NOT NULL
);
CREATE UNIQUE INDEX items_name ON items (parent_id, name_key) WHERE trashed_at = 0;
CREATE INDEX items_by_id ON items (parent_id, kind, id) WHERE trashed_at = 0;
CREATE INDEX items_by_name ON items (parent_id, kind, name_key) WHERE trashed_at = 0;

CREATE TABLE file_versions (
    id         BIGINT NOT NULL PRIMARY KEY,
    file_id    BIGINT NOT NULL REFERENCES items (id),
    number     BIGINT NOT NULL,
    name       TEXT   NOT NULL,
    blob_key   TEXT   NOT NULL,
    size       BIGINT NOT NULL,
    sha1       TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    created_by BIGINT NOT NULL REFERENCES users (id),
    UNIQUE (file_id, number)
);

CREATE TABLE collaborations (
    id          BIGINT NOT NULL PRIMARY KEY,
    item_id     BIGINT NOT NULL REFERENCES items (id),
    user_id     BIGINT NOT NULL REFERENCES users (id),
    role        TEXT   NOT NULL CHECK (role IN ('editor', 'viewer', 'previewer', 'uploader', 'previewer uploader',
                                                'viewer uploader', 'co-owner')),
    created_at  BIGINT NOT NULL,
    created_by  BIGINT NOT NULL REFERENCES users (id),
    modified_at BIGINT NOT NULL,
    UNIQUE (item_id, user_id)
);
CREATE INDEX collaborations_user ON collaborations (user_id);

CREATE TABLE docgen_templates (
    file_id   BIGINT NOT NULL PRIMARY KEY REFERENCES items (id),
    marked_at BIGINT NOT NULL,
    marked_by BIGINT NOT NULL REFERENCES users (id)
);

-- What is known of the tags of one file version. A version without a row has never been asked about.
CREATE TABLE docgen_tag_readings (
    version_id BIGINT NOT NULL PRIMARY KEY REFERENCES file_versions (id),
    state      TEXT   NOT NULL CHECK (state IN ('processing', 'ready', 'failed')),
    problem    TEXT   NOT NULL -- why the template cannot be read, for a person; empty unless failed
);

CREATE TABLE docgen_tags (
    version_id BIGINT NOT NULL REFERENCES file_versions (id),
    position   BIGINT NOT NULL, -- 1 for the first tag in document order
    content    TEXT   NOT NULL,
    type       TEXT   NOT NULL,
    json_paths TEXT   NOT NULL, -- a JSON array of strings
    PRIMARY KEY (version_id, position)
);

CREATE TABLE docgen_batches (
    id                  TEXT   NOT NULL PRIMARY KEY, -- a UUID
    template_file_id    BIGINT NOT NULL REFERENCES items (id),
    template_version_id BIGINT NOT NULL REFERENCES file_versions (id),
    destination_id      BIGINT NOT NULL REFERENCES items (id),
    output_type         TEXT   NOT NULL CHECK (output_type IN ('docx', 'pdf')),
    source              TEXT   NOT NULL,
    created_at          BIGINT NOT NULL,
    created_by          BIGINT NOT NULL REFERENCES users (id),
    enterprise_id       BIGINT NOT NULL REFERENCES enterprises (id),
    application_id      BIGINT NOT NULL REFERENCES applications (id)
);

CREATE TABLE docgen_jobs (
    id                BIGINT NOT NULL PRIMARY KEY,
    batch_id          TEXT   NOT NULL REFERENCES docgen_batches (id),
    template_file_id  BIGINT NOT NULL,
    created_by        BIGINT NOT NULL,
    file_name         TEXT   NOT NULL, -- the name asked for; the output's own name may carry a suffix
    status            TEXT   NOT NULL CHECK (status IN ('pending', 'submitted', 'completed', 'completed_with_error', 'failed')),
    attempt           BIGINT NOT NULL, -- grows with every claim: the finish of a worker thought dead does not match
    output_file_id    BIGINT NOT NULL,
    output_version_id BIGINT NOT NULL,
    failures          TEXT   NOT NULL, -- JSON {errors: [string], warnings: [string]}, empty when there are none
    finished_at       BIGINT NOT NULL,
    CHECK ((status IN ('completed', 'completed_with_error')) = (output_file_id <> 0))
);
CREATE INDEX docgen_jobs_batch ON docgen_jobs (batch_id, id);
CREATE INDEX docgen_jobs_template ON docgen_jobs (template_file_id, created_by, id);
CREATE INDEX docgen_jobs_user ON docgen_jobs (created_by, id);

-- The user_input of a job, gone when the job has ended well.
CREATE TABLE docgen_inputs (
    job_id BIGINT NOT NULL PRIMARY KEY REFERENCES docgen_jobs (id),
    data   TEXT   NOT NULL
);

-- +goose Down
DROP TABLE docgen_inputs;
DROP TABLE docgen_jobs;
DROP TABLE docgen_batches;
DROP TABLE docgen_tags;
DROP TABLE docgen_tag_readings;
DROP TABLE docgen_templates;
DROP TABLE collaborations;
DROP TABLE file_versions;
DROP TABLE items;
DROP TABLE tokens;
DROP TABLE applications;
DROP TABLE users;
DROP TABLE enterprises;
DROP TABLE settings;
