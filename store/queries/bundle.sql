-- name: BatchFiles :many
-- BatchFiles returns the files of the jobs of a batch after a job, in the order of the jobs, with their current versions.
SELECT docgen_jobs.id AS job_id, sqlc.embed(items), sqlc.embed(file_versions) FROM docgen_jobs
JOIN items ON items.id = docgen_jobs.output_file_id
JOIN file_versions ON file_versions.id = items.version_id
WHERE docgen_jobs.batch_id = $1 AND docgen_jobs.id > $2 AND docgen_jobs.output_file_id <> 0
ORDER BY docgen_jobs.id LIMIT $3;
