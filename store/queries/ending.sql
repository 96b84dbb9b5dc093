-- name: CountEndedJobs :one
-- CountEndedJobs adds jobs that ended in this transaction to the counts of their batch, and returns how many are left. Other transactions
-- that do so wait until this one ends, so that only one of them counts the last job.
UPDATE docgen_batches
SET jobs_completed = jobs_completed + sqlc.arg(completed), jobs_incomplete = jobs_incomplete + sqlc.arg(incomplete),
    jobs_failed = jobs_failed + sqlc.arg(failed), jobs_canceled = jobs_canceled + sqlc.arg(canceled)
WHERE id = sqlc.arg(id)
RETURNING CAST(jobs_total - jobs_completed - jobs_incomplete - jobs_failed - jobs_canceled AS BIGINT) AS jobs_left;

-- name: EndBatch :exec
-- EndBatch records when a batch ended.
UPDATE docgen_batches SET ended_at = $2 WHERE id = $1 AND ended_at = 0;

-- name: InsertEnding :exec
INSERT INTO docgen_endings (batch_id, jobs_left, passwords) VALUES ($1, $2, $3);

-- name: CountEnded :one
-- CountEnded subtracts jobs that have ended from those left in a batch, and returns how many are left. Other transactions that do so wait
-- until this one ends, so that only one of them counts the last job.
UPDATE docgen_endings SET jobs_left = jobs_left - $2 WHERE batch_id = $1 RETURNING jobs_left;

-- name: Passwords :one
SELECT passwords FROM docgen_endings WHERE batch_id = $1;

-- name: DeleteEnding :exec
DELETE FROM docgen_endings WHERE batch_id = $1;

-- name: InsertMerge :exec
INSERT INTO docgen_merges (batch_id, file_name, status, attempt, output_file_id, output_version_id, failures, finished_at)
VALUES ($1, $2, 'pending', 0, 0, 0, '', 0);

-- name: Merge :one
SELECT * FROM docgen_merges WHERE batch_id = $1;

-- name: ClaimMerge :one
-- ClaimMerge claims a merge that has not ended for one attempt. An earlier attempt can then no longer finish it. If an earlier attempt
-- still held it, crashes increases.
UPDATE docgen_merges
SET status = 'submitted', attempt = attempt + 1, held = TRUE, crashes = crashes + CASE WHEN held THEN sqlc.arg(crashes) ELSE 0 END
WHERE batch_id = sqlc.arg(batch_id) AND status IN ('pending', 'submitted')
RETURNING *;

-- name: ReleaseMerge :one
-- ReleaseMerge releases a merge if this attempt holds it, and adds to its tries and pauses.
UPDATE docgen_merges
SET held = FALSE, tries = tries + sqlc.arg(tries), pauses = (pauses + 1) * sqlc.arg(pauses), waiting_for = sqlc.arg(waiting_for)
WHERE batch_id = sqlc.arg(batch_id) AND attempt = sqlc.arg(attempt) AND status = 'submitted'
RETURNING tries, pauses;

-- name: MergeParts :many
-- MergeParts returns the documents of a batch that still exist, in the order of the request.
SELECT docgen_jobs.id AS job_id, sqlc.embed(file_versions)
FROM docgen_jobs JOIN file_versions ON file_versions.id = docgen_jobs.output_version_id
WHERE docgen_jobs.batch_id = $1
ORDER BY docgen_jobs.id;

-- name: FinishMerge :execrows
-- FinishMerge ends a merge if this attempt holds it.
UPDATE docgen_merges
SET status = $3, output_file_id = $4, output_version_id = $5, failures = $6, finished_at = $7, held = FALSE, waiting_for = ''
WHERE batch_id = $1 AND attempt = $2 AND status = 'submitted';
