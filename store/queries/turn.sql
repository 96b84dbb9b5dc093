-- name: UserWeight :one
SELECT weight FROM users WHERE id = $1;

-- name: SetUserWeight :exec
UPDATE users SET weight = $2 WHERE id = $1;

-- name: JoinTurns :execrows
-- JoinTurns puts a batch into a lane, unless it was canceled. A new batch is served as early as the user's batches that were served least.
-- No other transaction removes the batch from the lane until this one ends.
INSERT INTO docgen_turns (id, user_id, lane, batch_id, documents, turn, due_at)
SELECT CAST(sqlc.arg(id) AS BIGINT), CAST(sqlc.arg(user_id) AS BIGINT), CAST(sqlc.arg(lane) AS TEXT), b.id, CAST(sqlc.arg(documents) AS BIGINT),
    COALESCE((SELECT t.turn FROM docgen_turns t WHERE t.user_id = sqlc.arg(user_id) AND t.lane = sqlc.arg(lane) ORDER BY t.turn LIMIT 1), 0),
    CAST(sqlc.arg(due_at) AS BIGINT)
FROM docgen_batches b WHERE b.id = sqlc.arg(batch_id) AND b.canceled_at = 0
ON CONFLICT (batch_id, lane) DO UPDATE SET due_at = excluded.due_at;

-- name: NextTurn :one
-- NextTurn returns the next batch of a user in a lane, and moves it after the user's other batches.
UPDATE docgen_turns SET turn = turn + 1
WHERE id = (
    SELECT t.id FROM docgen_turns t WHERE t.user_id = $1 AND t.lane = $2 AND t.due_at <= $3 ORDER BY t.turn, t.id LIMIT 1
)
RETURNING *;

-- name: SetTurnDue :exec
UPDATE docgen_turns SET due_at = $2 WHERE id = $1;

-- name: ResumeTurns :many
-- ResumeTurns makes a batch due in all its lanes, whether or not its pause is over.
UPDATE docgen_turns SET due_at = 0 WHERE batch_id = $1 RETURNING lane, documents;

-- name: PauseBatch :execrows
-- PauseBatch pauses a batch, unless it is paused, because the server lacks something.
UPDATE docgen_batches SET waiting_for = $2, pauses = pauses + 1, paused_until = sqlc.arg(until) WHERE id = $1 AND paused_until <= sqlc.arg(now);

-- name: ResumeBatch :execrows
-- ResumeBatch ends the pauses of a batch.
UPDATE docgen_batches SET waiting_for = '', pauses = 0, paused_until = 0 WHERE id = $1 AND waiting_for <> '';

-- name: LeaveTurns :exec
DELETE FROM docgen_turns WHERE id = $1;

-- name: CountDueTurns :one
-- CountDueTurns returns 1 if a batch of a user is due in a lane, and 0 otherwise. The order is that of the index, so that neither database
-- reads the turns of other users.
SELECT COUNT(*) FROM (
    SELECT t.id FROM docgen_turns t WHERE t.user_id = $1 AND t.lane = $2 AND t.due_at <= $3 ORDER BY t.turn, t.id LIMIT 1
) AS next;

-- name: DocumentsInTurn :one
-- DocumentsInTurn returns the number of documents in a user's next batches in a lane.
SELECT CAST(COALESCE(SUM(next.documents), 0) AS BIGINT) AS documents FROM (
    SELECT t.documents FROM docgen_turns t WHERE t.user_id = $1 AND t.lane = $2 ORDER BY t.turn, t.id LIMIT 100
) AS next;

-- name: DocumentsOfUser :one
-- DocumentsOfUser returns the number of documents in the batches of a user that wait in any lane.
SELECT CAST(COALESCE(SUM(documents), 0) AS BIGINT) AS documents FROM docgen_turns WHERE user_id = $1;

-- name: ClaimJobs :many
-- ClaimJobs claims the next documents of a batch that are due, for one attempt of a slot. Earlier attempts can then no longer finish them.
UPDATE docgen_jobs
SET status = 'submitted', attempt = attempt + 1, waiting = FALSE, slot = $5
WHERE waiting AND id IN (
    SELECT j.id FROM docgen_jobs j WHERE j.batch_id = $1 AND j.isolated = $2 AND j.waiting AND j.due_at <= $3 ORDER BY j.due_at, j.id LIMIT $4
)
RETURNING *;

-- name: FirstDue :one
-- FirstDue returns the time at which the first waiting document of a batch is due.
SELECT due_at FROM docgen_jobs WHERE batch_id = $1 AND isolated = $2 AND waiting ORDER BY due_at LIMIT 1;

-- name: WeightAndHeld :one
-- WeightAndHeld returns the weight of a user, and the number of documents that a slot of the user holds. It is one query, because the
-- documents of other users wait for it.
SELECT users.weight, (SELECT COUNT(*) FROM docgen_jobs WHERE created_by = users.id AND slot = $2 AND slot <> '') AS held
FROM users WHERE users.id = $1;

-- name: HeldSlots :many
-- HeldSlots returns the slots that hold documents of a user.
SELECT DISTINCT slot FROM docgen_jobs WHERE created_by = $1 AND slot <> '';

-- name: ReclaimJobs :many
-- ReclaimJobs makes the documents that a slot still holds wait again, and adds to their crashes. Documents that reach the limit wait in
-- isolation.
UPDATE docgen_jobs
SET waiting = TRUE, slot = '', crashes = crashes + sqlc.arg(crashes), isolated = (isolated OR crashes + sqlc.arg(crashes) >= sqlc.arg('limit'))
WHERE created_by = $1 AND slot = $2 AND slot <> ''
RETURNING *;

-- name: ReleaseJob :execrows
-- ReleaseJob makes a document wait again if this attempt holds it.
UPDATE docgen_jobs
SET waiting = TRUE, slot = '', due_at = $3
WHERE id = $1 AND attempt = $2 AND status = 'submitted' AND slot <> '';

-- name: SetJobIsolated :execrows
-- SetJobIsolated makes a document wait in isolation if this attempt holds it.
UPDATE docgen_jobs
SET isolated = TRUE, waiting = TRUE, slot = ''
WHERE id = $1 AND attempt = $2 AND status = 'submitted' AND slot <> '';

-- name: CountFault :one
-- CountFault counts a try that ended with an error of the server, if this attempt holds the document.
UPDATE docgen_jobs SET tries = tries + 1 WHERE id = $1 AND attempt = $2 AND status = 'submitted' RETURNING tries;

-- name: RequeueOldBatch :execrows
-- RequeueOldBatch makes the documents of a batch wait that a server of an earlier release enqueued.
UPDATE docgen_jobs SET waiting = TRUE
WHERE batch_id = $1 AND status IN ('pending', 'submitted') AND NOT waiting AND slot = '';

-- name: CountWaiting :one
SELECT COUNT(*) FROM docgen_jobs WHERE batch_id = $1 AND isolated = $2 AND waiting;
