-- name: LockBatch :execrows
-- LockBatch makes all other transactions that lock the batch wait until this one ends. It changes nothing if the batch is hidden.
UPDATE docgen_batches SET removed_at = removed_at WHERE id = $1 AND removed_at = 0;

-- name: CancelBatch :execrows
-- CancelBatch cancels a batch. It changes nothing if the batch is canceled or hidden.
UPDATE docgen_batches SET canceled_at = $2 WHERE id = $1 AND canceled_at = 0 AND removed_at = 0;

-- name: CancelingBatches :many
-- CancelingBatches returns one canceled batch with waiting jobs of each user.
SELECT b.created_by, CAST(MIN(b.id) AS TEXT) AS id FROM docgen_batches b
WHERE b.canceled_at <> 0 AND b.ended_at = 0 AND EXISTS (SELECT 1 FROM docgen_jobs j WHERE j.batch_id = b.id AND j.waiting)
GROUP BY b.created_by ORDER BY b.created_by LIMIT $1;

-- name: CancelJobs :many
-- CancelJobs ends waiting jobs of a batch without documents.
UPDATE docgen_jobs
SET status = 'failed', canceled = TRUE, waiting = FALSE, slot = '', summary = $2, finished_at = $3
WHERE waiting AND id IN (SELECT j.id FROM docgen_jobs j WHERE j.batch_id = $1 AND j.waiting LIMIT $4)
RETURNING id;

-- name: SetRetry :exec
-- SetRetry records which batch, or which job of it, a batch retries.
UPDATE docgen_batches SET retry_of = $2, retry_of_job = $3 WHERE id = $1;

-- name: UnfinishedRetry :one
-- UnfinishedRetry returns another batch that retries the same jobs and has not ended, including one that is being received.
SELECT id FROM docgen_batches
WHERE retry_of = sqlc.arg(retry_of) AND retry_of <> '' AND retry_of_job = sqlc.arg(retry_of_job) AND ended_at = 0
AND id <> sqlc.arg(id) AND (removed_at = 0 OR removed_at > sqlc.arg(now)) LIMIT 1;

-- name: FailedJobsAfter :many
-- FailedJobsAfter returns jobs of a batch that failed, in ascending order of id. The canceled ones among them are optional.
SELECT j.id, CAST(COALESCE(LENGTH(i.data), -1) AS BIGINT) AS input_length
FROM docgen_jobs j LEFT JOIN docgen_inputs i ON i.job_id = j.id
WHERE j.batch_id = $1 AND j.status = 'failed' AND j.id > $2 AND (NOT j.canceled OR CAST(sqlc.arg(canceled) AS BOOLEAN))
ORDER BY j.id LIMIT $3;

-- name: CancelMerge :exec
-- CancelMerge ends the merge of a canceled batch. Attempts that hold it can no longer finish it.
UPDATE docgen_merges SET status = 'failed', failures = $2, finished_at = $3, held = FALSE, waiting_for = ''
WHERE batch_id = $1 AND status IN ('pending', 'submitted');

-- name: FailedJobs :one
-- FailedJobs returns the number of jobs of a batch that failed, and the first and last of them. The canceled ones among them are optional.
SELECT COUNT(*) AS jobs, CAST(COALESCE(MIN(j.id), 0) AS BIGINT) AS first, CAST(COALESCE(MAX(j.id), 0) AS BIGINT) AS last FROM docgen_jobs j
WHERE j.batch_id = $1 AND j.status = 'failed' AND (NOT j.canceled OR CAST(sqlc.arg(canceled) AS BOOLEAN));

-- name: CopyFailedJobs :execrows
-- CopyFailedJobs adds failed jobs of a batch, from one id to another, to a batch that is being received. Their ids increase by a number.
INSERT INTO docgen_jobs (id, batch_id, template_file_id, created_by, file_name, status, attempt, output_file_id, output_version_id,
    failures, finished_at, waiting)
SELECT j.id + CAST(sqlc.arg(more) AS BIGINT), CAST(sqlc.arg(to_batch) AS TEXT), j.template_file_id, j.created_by, j.file_name, 'pending', 0, 0, 0,
    '', 0, TRUE
FROM docgen_jobs j
WHERE j.batch_id = sqlc.arg(from_batch) AND j.status = 'failed' AND j.id >= sqlc.arg(from_id) AND j.id <= sqlc.arg(to_id)
AND (NOT j.canceled OR CAST(sqlc.arg(canceled) AS BOOLEAN));

-- name: CopyInputs :execrows
-- CopyInputs copies the inputs of the jobs that CopyFailedJobs has copied.
INSERT INTO docgen_inputs (job_id, data)
SELECT i.job_id + CAST(sqlc.arg(more) AS BIGINT), i.data FROM docgen_inputs i JOIN docgen_jobs j ON j.id = i.job_id
WHERE j.batch_id = sqlc.arg(from_batch) AND j.status = 'failed' AND j.id >= sqlc.arg(from_id) AND j.id <= sqlc.arg(to_id)
AND (NOT j.canceled OR CAST(sqlc.arg(canceled) AS BOOLEAN));

-- name: CountJobs :one
SELECT COUNT(*) FROM docgen_jobs WHERE batch_id = $1;
