-- What the lists of jobs show of a job, without the large columns: shape, options, and failures.

-- +goose Up
CREATE VIEW listed_jobs AS
SELECT docgen_jobs.id, docgen_jobs.batch_id, docgen_jobs.template_file_id, docgen_batches.template_version_id, docgen_jobs.status,
    docgen_batches.output_type, docgen_jobs.output_file_id, docgen_jobs.output_version_id, docgen_jobs.summary, docgen_batches.created_at,
    docgen_jobs.created_by, docgen_batches.enterprise_id, docgen_batches.source, docgen_batches.waiting_for, docgen_batches.removed_at
FROM docgen_jobs JOIN docgen_batches ON docgen_batches.id = docgen_jobs.batch_id;

-- +goose Down
DROP VIEW listed_jobs;
