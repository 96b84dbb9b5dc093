-- What went wrong with a job moves to a table of its own, so that lists of jobs never read it; a job keeps a summary.

-- +goose Up
ALTER TABLE docgen_jobs ADD COLUMN summary TEXT NOT NULL DEFAULT ''; -- JSON {code, message, count}; '-' without failures; empty until the job has ended
CREATE TABLE docgen_failures (
    job_id  BIGINT NOT NULL PRIMARY KEY REFERENCES docgen_jobs (id),
    details TEXT   NOT NULL -- JSON {errors: [string], warnings: [string], ...}
);
-- Jobs that ended on an earlier release, which kept all of it in docgen_jobs.failures.
CREATE INDEX docgen_jobs_unsummarized ON docgen_jobs (id) WHERE summary = '' AND finished_at <> 0;

-- +goose Down
UPDATE docgen_jobs SET failures = COALESCE((SELECT details FROM docgen_failures WHERE job_id = docgen_jobs.id), failures);
DROP INDEX docgen_jobs_unsummarized;
DROP TABLE docgen_failures;
ALTER TABLE docgen_jobs DROP COLUMN summary;
