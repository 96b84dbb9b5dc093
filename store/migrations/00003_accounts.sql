-- Accounts and applications, archives and storage policies, trash and versions, invitations.

-- +goose Up
ALTER TABLE enterprises ADD COLUMN account_id BIGINT NOT NULL DEFAULT 0; -- the user that owns the archives; 0 until the first start

ALTER TABLE users ADD COLUMN name_key TEXT NOT NULL DEFAULT '';            -- filled at the first start
ALTER TABLE users ADD COLUMN platform_only BOOLEAN NOT NULL DEFAULT FALSE; -- known to applications alone, without a login of its own
ALTER TABLE users ADD COLUMN external_id TEXT NOT NULL DEFAULT '';         -- what an application calls the user
ALTER TABLE users ADD COLUMN profile TEXT NOT NULL DEFAULT '';             -- JSON; empty when nothing is said
ALTER TABLE users ADD COLUMN deleted_at BIGINT NOT NULL DEFAULT 0;         -- the row stays: what the user made names it
CREATE INDEX users_external ON users (external_id) WHERE external_id <> '';

ALTER TABLE applications ADD COLUMN client_id TEXT NOT NULL DEFAULT '';            -- empty: gets no tokens by itself
ALTER TABLE applications ADD COLUMN secret_hash TEXT NOT NULL DEFAULT '';          -- empty: has no secret
ALTER TABLE applications ADD COLUMN acts_as_users BOOLEAN NOT NULL DEFAULT FALSE;  -- may get tokens of users, and send As-User
UPDATE applications SET acts_as_users = TRUE; -- there is one, of the tokens made by hand
CREATE UNIQUE INDEX applications_client ON applications (client_id) WHERE client_id <> '';

CREATE TABLE application_keys (
    application_id BIGINT NOT NULL REFERENCES applications (id),
    name           TEXT   NOT NULL, -- the kid of assertions
    public_key     TEXT   NOT NULL, -- PEM
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (application_id, name)
);

-- The assertions that were used and have not expired: each counts once.
CREATE TABLE assertions (
    application_id BIGINT NOT NULL REFERENCES applications (id),
    name           TEXT   NOT NULL, -- the jti
    expires_at     BIGINT NOT NULL,
    PRIMARY KEY (application_id, name)
);
CREATE INDEX assertions_expiry ON assertions (expires_at);

-- A grant is what a refresh token goes on with: all tokens that come of it end together.
ALTER TABLE tokens ADD COLUMN grant_id BIGINT NOT NULL DEFAULT 0; -- 0: of no grant
CREATE INDEX tokens_grant ON tokens (grant_id) WHERE grant_id <> 0;
CREATE INDEX tokens_user ON tokens (user_id);
CREATE INDEX tokens_expiry ON tokens (expires_at) WHERE expires_at <> 0;

CREATE TABLE refresh_tokens (
    id             BIGINT NOT NULL PRIMARY KEY,
    hash           TEXT   NOT NULL UNIQUE,
    grant_id       BIGINT NOT NULL,
    user_id        BIGINT NOT NULL REFERENCES users (id),
    application_id BIGINT NOT NULL REFERENCES applications (id),
    scopes         TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    used_at        BIGINT NOT NULL -- 0: not yet
);
CREATE INDEX refresh_tokens_grant ON refresh_tokens (grant_id);
CREATE INDEX refresh_tokens_user ON refresh_tokens (user_id);
CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at);

-- Where contents are kept. 1 is the default, which every server has.
CREATE TABLE storage_policies (
    id         BIGINT NOT NULL PRIMARY KEY,
    name       TEXT   NOT NULL,
    name_key   TEXT   NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);

ALTER TABLE items ADD COLUMN storage_policy_id BIGINT NOT NULL DEFAULT 0; -- of an archive; 0 for everything else
CREATE INDEX items_trash ON items (owner_id, kind, id) WHERE trashed_at <> 0;
CREATE INDEX items_parent ON items (parent_id); -- what a folder holds, what is in the trash too

ALTER TABLE file_versions ADD COLUMN storage_policy_id BIGINT NOT NULL DEFAULT 1; -- where the blob is
ALTER TABLE file_versions ADD COLUMN wanted_policy_id BIGINT NOT NULL DEFAULT 1;  -- where it is to be: another one while it waits to be carried there
CREATE INDEX file_versions_policy ON file_versions (storage_policy_id) WHERE storage_policy_id <> 1;
CREATE INDEX file_versions_misplaced ON file_versions (id) WHERE wanted_policy_id <> storage_policy_id;
ALTER TABLE file_versions ADD COLUMN trashed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE file_versions ADD COLUMN trashed_by BIGINT NOT NULL DEFAULT 0;
ALTER TABLE file_versions ADD COLUMN restored_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE file_versions ADD COLUMN restored_by BIGINT NOT NULL DEFAULT 0;
CREATE INDEX file_versions_blob ON file_versions (blob_key);

-- A collaboration may wait for its user to accept it, and for the user to come into being.
ALTER TABLE collaborations RENAME TO old_collaborations;
DROP INDEX collaborations_user;
CREATE TABLE collaborations (
    id              BIGINT  NOT NULL PRIMARY KEY,
    item_id         BIGINT  NOT NULL REFERENCES items (id),
    user_id         BIGINT  REFERENCES users (id), -- null while nobody has the login that was invited
    invite_login    TEXT    NOT NULL,              -- what was invited; empty for a user who was there
    invite_key      TEXT    NOT NULL,
    role            TEXT    NOT NULL CHECK (role IN ('editor', 'viewer', 'previewer', 'uploader', 'previewer uploader',
                                                     'viewer uploader', 'co-owner')),
    status          TEXT    NOT NULL CHECK (status IN ('accepted', 'pending', 'rejected')),
    is_access_only  BOOLEAN NOT NULL,
    can_view_path   BOOLEAN NOT NULL,
    expires_at      BIGINT  NOT NULL, -- 0: never
    acknowledged_at BIGINT  NOT NULL, -- 0: not yet
    created_at      BIGINT  NOT NULL,
    created_by      BIGINT  NOT NULL REFERENCES users (id),
    modified_at     BIGINT  NOT NULL,
    UNIQUE (item_id, user_id),
    CHECK (user_id IS NOT NULL OR status = 'pending')
);
INSERT INTO collaborations (id, item_id, user_id, invite_login, invite_key, role, status, is_access_only, can_view_path,
                            expires_at, acknowledged_at, created_at, created_by, modified_at)
SELECT id, item_id, user_id, '', '', role, 'accepted', FALSE, FALSE, 0, created_at, created_at, created_by, modified_at
FROM old_collaborations;
DROP TABLE old_collaborations;

-- What lies in a tree belongs to the owner of the tree, who needs no role in it.
WITH RECURSIVE tree (id, owner_id) AS (
    SELECT items.id, items.owner_id FROM items WHERE items.parent_id IS NULL
    UNION ALL
    SELECT items.id, tree.owner_id FROM tree JOIN items ON items.parent_id = tree.id
)
UPDATE items SET owner_id = tree.owner_id FROM tree WHERE tree.id = items.id AND tree.owner_id <> items.owner_id;
DELETE FROM collaborations WHERE user_id = (SELECT items.owner_id FROM items WHERE items.id = collaborations.item_id);

CREATE INDEX collaborations_user ON collaborations (user_id);
CREATE UNIQUE INDEX collaborations_invitation ON collaborations (item_id, invite_key) WHERE user_id IS NULL;
CREATE INDEX collaborations_invited ON collaborations (invite_key) WHERE user_id IS NULL;

-- Jobs outlive the template and the folder of their batch: batches name these, but hold them no longer.
ALTER TABLE docgen_inputs RENAME TO old_inputs;
ALTER TABLE docgen_jobs RENAME TO old_jobs;
ALTER TABLE docgen_batches RENAME TO old_batches;
DROP INDEX docgen_jobs_batch;
DROP INDEX docgen_jobs_template;
DROP INDEX docgen_jobs_user;
DROP INDEX docgen_batches_template;
CREATE TABLE docgen_batches (
    id                  TEXT   NOT NULL PRIMARY KEY, -- a UUID
    template_file_id    BIGINT NOT NULL,
    template_version_id BIGINT NOT NULL,
    destination_id      BIGINT NOT NULL,
    output_type         TEXT   NOT NULL CHECK (output_type IN ('docx', 'pdf')),
    source              TEXT   NOT NULL,
    created_at          BIGINT NOT NULL,
    created_by          BIGINT NOT NULL REFERENCES users (id),
    enterprise_id       BIGINT NOT NULL REFERENCES enterprises (id),
    application_id      BIGINT NOT NULL REFERENCES applications (id),
    options             TEXT   NOT NULL, -- JSON; empty when there are none
    shape               TEXT   NOT NULL, -- JSON Schema of the data of all documents; empty when not known
    global_content      BOOLEAN NOT NULL -- whether the creator's token reached the content of everybody
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
-- The user_input of a job, gone when the job has ended well.
CREATE TABLE docgen_inputs (
    job_id BIGINT NOT NULL PRIMARY KEY REFERENCES docgen_jobs (id),
    data   TEXT   NOT NULL
);
INSERT INTO docgen_batches (id, template_file_id, template_version_id, destination_id, output_type, source, created_at, created_by,
                            enterprise_id, application_id, options, shape, global_content)
SELECT id, template_file_id, template_version_id, destination_id, output_type, source, created_at, created_by,
       enterprise_id, application_id, options, shape, FALSE
FROM old_batches;
INSERT INTO docgen_jobs (id, batch_id, template_file_id, created_by, file_name, status, attempt, output_file_id, output_version_id,
                         failures, finished_at)
SELECT id, batch_id, template_file_id, created_by, file_name, status, attempt, output_file_id, output_version_id, failures, finished_at
FROM old_jobs;
INSERT INTO docgen_inputs (job_id, data) SELECT job_id, data FROM old_inputs;
DROP TABLE old_inputs;
DROP TABLE old_jobs;
DROP TABLE old_batches;
CREATE INDEX docgen_jobs_batch ON docgen_jobs (batch_id, id);
CREATE INDEX docgen_jobs_template ON docgen_jobs (template_file_id, created_by, id);
CREATE INDEX docgen_jobs_user ON docgen_jobs (created_by, id);
CREATE INDEX docgen_batches_template ON docgen_batches (template_file_id, created_at);

-- +goose Down
-- There is no way back: what is trashed, invited and archived has no place in the tables before.
SELECT 1;
