-- How many jobs of a batch have ended, and when the batch has, so that lists of batches need not count jobs.

-- +goose Up
ALTER TABLE docgen_batches ADD COLUMN number BIGINT NOT NULL DEFAULT 0;          -- id of its first job: the order of batches of the same moment
ALTER TABLE docgen_batches ADD COLUMN jobs_total BIGINT NOT NULL DEFAULT 0;
ALTER TABLE docgen_batches ADD COLUMN jobs_completed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE docgen_batches ADD COLUMN jobs_incomplete BIGINT NOT NULL DEFAULT 0; -- completed_with_error
ALTER TABLE docgen_batches ADD COLUMN jobs_failed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE docgen_batches ADD COLUMN ended_at BIGINT NOT NULL DEFAULT 0;        -- when the last job, or the merged file after it, ended; 0 until then

UPDATE docgen_batches SET
    number = COALESCE((SELECT MIN(j.id) FROM docgen_jobs j WHERE j.batch_id = docgen_batches.id), 0),
    jobs_total = (SELECT COUNT(*) FROM docgen_jobs j WHERE j.batch_id = docgen_batches.id),
    jobs_completed = (SELECT COUNT(*) FROM docgen_jobs j WHERE j.batch_id = docgen_batches.id AND j.status = 'completed'),
    jobs_incomplete = (SELECT COUNT(*) FROM docgen_jobs j WHERE j.batch_id = docgen_batches.id AND j.status = 'completed_with_error'),
    jobs_failed = (SELECT COUNT(*) FROM docgen_jobs j WHERE j.batch_id = docgen_batches.id AND j.status = 'failed');
UPDATE docgen_batches SET ended_at = CASE
    WHEN COALESCE((SELECT m.finished_at FROM docgen_merges m WHERE m.batch_id = docgen_batches.id), 0)
        > COALESCE((SELECT MAX(j.finished_at) FROM docgen_jobs j WHERE j.batch_id = docgen_batches.id), 0)
    THEN (SELECT m.finished_at FROM docgen_merges m WHERE m.batch_id = docgen_batches.id)
    ELSE COALESCE((SELECT MAX(j.finished_at) FROM docgen_jobs j WHERE j.batch_id = docgen_batches.id), 0)
END
WHERE jobs_total = jobs_completed + jobs_incomplete + jobs_failed
AND NOT EXISTS (SELECT 1 FROM docgen_merges m WHERE m.batch_id = docgen_batches.id AND m.status IN ('pending', 'submitted'));

CREATE INDEX docgen_batches_list ON docgen_batches (created_by, created_at, number) WHERE removed_at = 0;
CREATE INDEX docgen_batches_of_template ON docgen_batches (created_by, template_file_id, created_at, number) WHERE removed_at = 0;
CREATE INDEX docgen_batches_in_progress ON docgen_batches (created_by, created_at, number) WHERE removed_at = 0 AND ended_at = 0;
CREATE INDEX docgen_batches_with_failures ON docgen_batches (created_by, created_at, number) WHERE removed_at = 0 AND jobs_failed > 0;
CREATE INDEX docgen_jobs_submitted ON docgen_jobs (batch_id, id) WHERE status = 'submitted';
CREATE INDEX docgen_jobs_failed ON docgen_jobs (batch_id, id) WHERE status = 'failed';

-- +goose Down
DROP INDEX docgen_jobs_failed;
DROP INDEX docgen_jobs_submitted;
DROP INDEX docgen_batches_with_failures;
DROP INDEX docgen_batches_in_progress;
DROP INDEX docgen_batches_of_template;
DROP INDEX docgen_batches_list;
ALTER TABLE docgen_batches DROP COLUMN ended_at;
ALTER TABLE docgen_batches DROP COLUMN jobs_failed;
ALTER TABLE docgen_batches DROP COLUMN jobs_incomplete;
ALTER TABLE docgen_batches DROP COLUMN jobs_completed;
ALTER TABLE docgen_batches DROP COLUMN jobs_total;
ALTER TABLE docgen_batches DROP COLUMN number;
