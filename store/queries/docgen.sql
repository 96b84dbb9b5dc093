-- name: InsertTemplate :execrows
INSERT INTO docgen_templates (file_id, marked_at, marked_by, owner_id)
SELECT $1, $2, $3, items.owner_id FROM items WHERE items.id = $1 ON CONFLICT DO NOTHING;

-- name: DeleteTemplate :execrows
DELETE FROM docgen_templates WHERE file_id = $1;

-- name: IsTemplate :one
SELECT EXISTS (SELECT 1 FROM docgen_templates WHERE file_id = $1) AS is_template;

-- name: TemplateDefaults :one
SELECT default_missing, default_locale, default_time_zone FROM docgen_templates WHERE file_id = $1;

-- name: SetTemplateDefaults :exec
UPDATE docgen_templates SET default_missing = $2, default_locale = $3, default_time_zone = $4 WHERE file_id = $1;

-- name: InsertTagReading :execrows
INSERT INTO docgen_tag_readings (version_id, state, problem, requested_by) VALUES ($1, 'processing', '', $2) ON CONFLICT DO NOTHING;

-- name: CountReadings :one
-- CountReadings returns the number of versions that are waiting to be read for a user, up to a limit.
SELECT COUNT(*) FROM (SELECT 1 FROM docgen_tag_readings WHERE requested_by = $1 AND state = 'processing' LIMIT $2) AS counted;

-- name: TagReading :one
SELECT * FROM docgen_tag_readings WHERE version_id = $1;

-- name: TemplateReading :one
-- TemplateReading returns the state of reading a version, with the first 1000 characters of its problem at most.
SELECT state, CAST(SUBSTR(problem, 1, 1000) AS TEXT) AS problem, includes, mistakes, warnings FROM docgen_tag_readings WHERE version_id = $1;

-- name: FinishTagReading :execrows
UPDATE docgen_tag_readings SET state = $2, problem = $3, contract = $4, findings = $5, includes = $6, mistakes = $7, warnings = $8
WHERE version_id = $1 AND state = 'processing';

-- name: RestartTagReading :execrows
-- RestartTagReading makes a version whose reading has ended be read again.
UPDATE docgen_tag_readings SET state = 'processing', problem = '', contract = '', findings = '', includes = '', mistakes = -1, warnings = -1,
    requested_by = $2
WHERE version_id = $1 AND state <> 'processing';

-- name: DeleteTags :exec
DELETE FROM docgen_tags WHERE version_id = $1;

-- name: TagsAfter :many
SELECT * FROM docgen_tags WHERE version_id = $1 AND position > $2 ORDER BY position LIMIT $3;

-- name: TagsBefore :many
SELECT * FROM docgen_tags WHERE version_id = $1 AND position < $2 ORDER BY position DESC LIMIT $3;

-- name: InsertBatch :exec
INSERT INTO docgen_batches (id, template_file_id, template_version_id, destination_id, output_type, source, created_at, created_by, enterprise_id, application_id, options, shape, global_content, trace_parent, number, jobs_total)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16);

-- name: RecentBatches :many
-- RecentBatches returns the latest batches that a user created for a template.
SELECT * FROM docgen_batches
WHERE template_file_id = $1 AND created_by = $2 AND shape <> '' AND removed_at = 0
ORDER BY created_at DESC, id LIMIT $3;

-- name: Batch :one
SELECT * FROM docgen_batches WHERE id = $1;

-- name: Job :one
SELECT sqlc.embed(docgen_jobs), sqlc.embed(docgen_batches)
FROM docgen_jobs JOIN docgen_batches ON docgen_batches.id = docgen_jobs.batch_id
WHERE docgen_jobs.id = $1;

-- name: FinishJob :execrows
-- FinishJob ends a job if this attempt holds it.
UPDATE docgen_jobs
SET status = $3, output_file_id = $4, output_version_id = $5, summary = $6, finished_at = $7, slot = ''
WHERE id = $1 AND attempt = $2 AND status = 'submitted';

-- name: InsertFailures :exec
INSERT INTO docgen_failures (job_id, details) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: FailuresOfJob :one
SELECT details FROM docgen_failures WHERE job_id = $1;

-- name: UnsummarizedJobs :many
-- UnsummarizedJobs returns jobs that ended in a release without summaries.
SELECT id FROM docgen_jobs WHERE summary = '' AND finished_at <> 0 ORDER BY id LIMIT $1;

-- name: OldFailures :one
SELECT status, failures FROM docgen_jobs WHERE id = $1 AND summary = '' AND finished_at <> 0;

-- name: Summarize :exec
UPDATE docgen_jobs SET summary = $2, failures = '' WHERE id = $1;

-- name: Input :one
SELECT data FROM docgen_inputs WHERE job_id = $1;

-- name: DeleteInput :exec
DELETE FROM docgen_inputs WHERE job_id = $1;
