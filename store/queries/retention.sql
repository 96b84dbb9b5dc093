-- name: HideBatch :execrows
-- HideBatch hides a batch from everyone. It changes nothing unless all jobs and the merge have ended.
UPDATE docgen_batches SET removed_at = $2
WHERE docgen_batches.id = $1 AND docgen_batches.removed_at = 0
AND NOT EXISTS (SELECT 1 FROM docgen_jobs j WHERE j.batch_id = docgen_batches.id AND j.status IN ('pending', 'submitted'))
AND NOT EXISTS (SELECT 1 FROM docgen_merges m WHERE m.batch_id = docgen_batches.id AND m.status IN ('pending', 'submitted'));

-- name: OldBatches :many
-- OldBatches returns visible batches that were created before a time, oldest first, after the position given by a time and an id.
SELECT id, created_at FROM docgen_batches
WHERE created_at < sqlc.arg(before) AND removed_at = 0
AND (created_at > sqlc.arg(after_time) OR created_at = sqlc.arg(after_time) AND id > sqlc.arg(after_id))
ORDER BY created_at, id LIMIT sqlc.arg(count);

-- name: HiddenBatches :many
-- HiddenBatches returns the batches whose time of hiding has passed. For a batch that is still being received, it is in the future.
SELECT id FROM docgen_batches WHERE removed_at <> 0 AND removed_at <= sqlc.arg(now) ORDER BY removed_at, id LIMIT sqlc.arg(count);

-- name: LockHiddenBatch :execrows
-- LockHiddenBatch makes all other transactions that delete a portion of the batch wait until this one ends.
UPDATE docgen_batches SET removed_at = removed_at WHERE id = sqlc.arg(id) AND removed_at <> 0 AND removed_at <= sqlc.arg(now);

-- name: StageBatch :execrows
-- StageBatch hides a batch until the given time, because it is being received. It changes nothing unless the batch is hidden until the time
-- was.
UPDATE docgen_batches SET removed_at = sqlc.arg(until) WHERE id = sqlc.arg(id) AND removed_at = sqlc.arg(was);

-- name: PublishBatch :execrows
-- PublishBatch makes a batch visible after it was received.
UPDATE docgen_batches SET removed_at = 0, template_version_id = sqlc.arg(template_version_id), destination_id = sqlc.arg(destination_id), options = sqlc.arg(options), shape = sqlc.arg(shape),
    number = sqlc.arg(number), jobs_total = sqlc.arg(jobs_total)
WHERE id = sqlc.arg(id) AND removed_at = sqlc.arg(until);

-- name: CountAccepting :one
-- CountAccepting returns the number of batches of a user that are being received.
SELECT COUNT(*) FROM docgen_batches WHERE removed_at > sqlc.arg(now) AND created_by = sqlc.arg(user_id);

-- name: CountDiscarded :one
-- CountDiscarded returns the number of batches of a user that were discarded while they were received, and are not deleted yet.
SELECT COUNT(*) FROM docgen_batches
WHERE removed_at <> 0 AND removed_at <= sqlc.arg(now) AND created_by = sqlc.arg(user_id) AND jobs_total = 0;

-- name: DeleteSomeInputs :exec
-- DeleteSomeInputs deletes the inputs of the first jobs of a batch.
DELETE FROM docgen_inputs WHERE docgen_inputs.job_id IN (SELECT j.id FROM docgen_jobs j WHERE j.batch_id = $1 ORDER BY j.id LIMIT $2);

-- name: DeleteSomeFailures :exec
-- DeleteSomeFailures deletes the failures of the first jobs of a batch.
DELETE FROM docgen_failures WHERE docgen_failures.job_id IN (SELECT j.id FROM docgen_jobs j WHERE j.batch_id = $1 ORDER BY j.id LIMIT $2);

-- name: DeleteSomeJobs :execrows
-- DeleteSomeJobs deletes the first jobs of a batch. Their inputs and failures must already be deleted.
DELETE FROM docgen_jobs WHERE docgen_jobs.id IN (SELECT j.id FROM docgen_jobs j WHERE j.batch_id = $1 ORDER BY j.id LIMIT $2);

-- name: DeleteMerge :exec
DELETE FROM docgen_merges WHERE batch_id = $1;

-- name: DeleteTurns :exec
DELETE FROM docgen_turns WHERE batch_id = $1;

-- name: DeleteBatch :exec
DELETE FROM docgen_batches WHERE id = $1;

-- name: DeleteOldInputs :execrows
-- DeleteOldInputs deletes the inputs of jobs that ended before a time.
DELETE FROM docgen_inputs WHERE docgen_inputs.job_id IN (
    SELECT i.job_id FROM docgen_inputs i JOIN docgen_jobs j ON j.id = i.job_id
    WHERE j.finished_at <> 0 AND j.finished_at < $1 LIMIT $2
);

-- name: OldFailuresOfJobs :many
-- OldFailuresOfJobs returns jobs that ended before a time and still have failures.
SELECT f.job_id, j.status, j.summary FROM docgen_failures f JOIN docgen_jobs j ON j.id = f.job_id
WHERE j.finished_at <> 0 AND j.finished_at < $1 LIMIT $2;

-- name: DeleteFailures :exec
DELETE FROM docgen_failures WHERE job_id = $1;

-- name: ReplaceOldMergeFailures :execrows
-- ReplaceOldMergeFailures replaces the failures of merges that ended before a time.
UPDATE docgen_merges SET failures = $2
WHERE finished_at <> 0 AND finished_at < $1 AND failures <> '' AND failures <> $2;

-- name: OldTrash :many
-- OldTrash returns the items that were trashed before a time, in ascending order of id.
SELECT id, kind FROM items WHERE trashed_at <> 0 AND trashed_at < $1 AND id > $2 ORDER BY id LIMIT $3;

-- name: OldVersionFiles :many
-- OldVersionFiles returns the files with versions that were trashed before a time, in ascending order of id.
SELECT DISTINCT file_id FROM file_versions WHERE trashed_at <> 0 AND trashed_at < $1 AND file_id > $2 ORDER BY file_id LIMIT $3;

-- name: OldVersions :many
-- OldVersions returns the versions of a file that were trashed before a time, except the current version.
SELECT v.id FROM file_versions v
WHERE v.file_id = $1 AND v.trashed_at <> 0 AND v.trashed_at < $2 AND v.id <> (SELECT items.version_id FROM items WHERE items.id = v.file_id)
LIMIT $3;

-- name: DeleteOldAuditEvents :execrows
DELETE FROM audit_events WHERE audit_events.id IN (SELECT e.id FROM audit_events e WHERE e.at < $1 ORDER BY e.at LIMIT $2);

-- name: RetentionCounts :one
-- RetentionCounts reports, for each kind of data, whether any is older than the given time.
SELECT
    EXISTS (SELECT 1 FROM docgen_batches b WHERE b.created_at < sqlc.arg(batches) AND b.removed_at = 0) AS batches,
    EXISTS (SELECT 1 FROM docgen_inputs i JOIN docgen_jobs j ON j.id = i.job_id
        WHERE j.finished_at <> 0 AND j.finished_at < sqlc.arg(inputs)) AS inputs,
    EXISTS (SELECT 1 FROM docgen_failures f JOIN docgen_jobs j ON j.id = f.job_id
        WHERE j.finished_at <> 0 AND j.finished_at < sqlc.arg(failures)) AS failures,
    EXISTS (SELECT 1 FROM items t WHERE t.trashed_at <> 0 AND t.trashed_at < sqlc.arg(trash)) AS trash,
    EXISTS (SELECT 1 FROM file_versions v WHERE v.trashed_at <> 0 AND v.trashed_at < sqlc.arg(trash)) AS versions,
    EXISTS (SELECT 1 FROM audit_events e WHERE e.at < sqlc.arg(audit)) AS audit,
    EXISTS (SELECT 1 FROM events o WHERE o.position = (SELECT MIN(f.position) FROM events f) AND o.created_at < sqlc.arg(events)) AS events;
