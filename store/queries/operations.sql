-- name: AddToPeriod :exec
-- AddToPeriod adds to the number of documents that ended in a period.
INSERT INTO docgen_periods (period, shard, outcome, reason, documents) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (period, shard, outcome, reason) DO UPDATE SET documents = docgen_periods.documents + excluded.documents;

-- name: SumPeriods :many
-- SumPeriods returns the numbers of documents that ended, by period, outcome, and reason.
SELECT period, outcome, reason, CAST(SUM(documents) AS BIGINT) AS documents FROM docgen_periods
WHERE period >= $1 GROUP BY period, outcome, reason ORDER BY period, outcome, reason;

-- name: DeletePeriodsBefore :execrows
DELETE FROM docgen_periods WHERE period < $1;

-- name: CountBatchesInProgress :one
-- CountBatchesInProgress returns the number of batches that have not ended, up to a limit.
SELECT COUNT(*) FROM (SELECT 1 FROM docgen_batches WHERE removed_at = 0 AND ended_at = 0 LIMIT $1) AS counted;

-- name: ShortagesOfBatches :many
-- ShortagesOfBatches returns what the server lacks for documents.
SELECT DISTINCT waiting_for FROM docgen_batches WHERE waiting_for <> '';
