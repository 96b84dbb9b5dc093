-- name: TemplateUse :one
-- TemplateUse returns whether a template's versions must pass its samples before batches use them, and the version that batches use then.
SELECT samples_required, used_version_id FROM docgen_templates WHERE file_id = $1;

-- name: SetTemplateUse :exec
UPDATE docgen_templates SET samples_required = $2, used_version_id = $3 WHERE file_id = $1;

-- name: Sample :one
SELECT * FROM docgen_samples WHERE file_id = $1 AND name = $2;

-- name: SampleNames :many
SELECT name FROM docgen_samples WHERE file_id = $1 ORDER BY name;

-- name: SampleSpace :one
-- SampleSpace returns the number and the size of the samples of a template.
SELECT COUNT(*) AS samples, CAST(COALESCE(SUM(size), 0) AS BIGINT) AS bytes FROM docgen_samples WHERE file_id = $1;

-- name: SampleBytes :one
-- SampleBytes returns the size of all samples of an owner's templates, including those in the trash.
SELECT CAST(COALESCE(SUM(docgen_samples.size), 0) AS BIGINT) FROM docgen_templates
JOIN docgen_samples ON docgen_samples.file_id = docgen_templates.file_id
WHERE docgen_templates.owner_id = $1;

-- name: SaveSample :exec
INSERT INTO docgen_samples (file_id, name, input, options, expectations, golden_id, present_at, size, saved_at, saved_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (file_id, name) DO UPDATE SET input = excluded.input, options = excluded.options, expectations = excluded.expectations,
    golden_id = excluded.golden_id, present_at = excluded.present_at, size = excluded.size, saved_at = excluded.saved_at, saved_by = excluded.saved_by;

-- name: DeleteSample :execrows
DELETE FROM docgen_samples WHERE file_id = $1 AND name = $2;

-- name: DeleteSamplesOf :exec
-- DeleteSamplesOf deletes the samples of a template, for a file that is no longer one.
DELETE FROM docgen_samples WHERE file_id = $1;

-- name: SampleResults :many
SELECT * FROM docgen_sample_results WHERE version_id = $1 ORDER BY name;

-- name: CountSamples :one
-- CountSamples returns the number of a template's samples, and the results of a version with them, by state.
SELECT (SELECT COUNT(*) FROM docgen_samples s WHERE s.file_id = sqlc.arg(file_id)) AS samples,
    (SELECT COUNT(*) FROM docgen_sample_results r WHERE r.version_id = sqlc.arg(version_id) AND r.state = 'passed') AS passed,
    (SELECT COUNT(*) FROM docgen_sample_results r WHERE r.version_id = sqlc.arg(version_id) AND r.state = 'failed') AS failed,
    (SELECT COUNT(*) FROM docgen_sample_results r WHERE r.version_id = sqlc.arg(version_id) AND r.state = 'waiting') AS waiting;

-- name: RequestSampleResults :execrows
-- RequestSampleResults makes a version be checked with one sample of a template, or with all of them if the name is empty; again if it was
-- before. The round must be new: results of other rounds are not stored.
INSERT INTO docgen_sample_results (version_id, name, state, round, tries, findings, includes, ended_at, requested_by)
SELECT CAST(sqlc.arg(version_id) AS BIGINT), docgen_samples.name, 'waiting', CAST(sqlc.arg(round) AS BIGINT), 0, '', '', 0,
    CAST(sqlc.arg(requested_by) AS BIGINT)
FROM docgen_samples
WHERE docgen_samples.file_id = sqlc.arg(file_id) AND (CAST(sqlc.arg(name) AS TEXT) = '' OR docgen_samples.name = sqlc.arg(name))
ON CONFLICT (version_id, name) DO UPDATE SET state = 'waiting', round = excluded.round, tries = 0, findings = '', includes = '',
    golden_version_id = 0, ended_at = 0, requested_by = excluded.requested_by;

-- name: NextSampleResult :one
SELECT * FROM docgen_sample_results WHERE requested_by = $1 AND state = 'waiting' ORDER BY version_id, name LIMIT 1;

-- name: BeginSampleResult :execrows
UPDATE docgen_sample_results SET tries = tries + 1 WHERE version_id = $1 AND name = $2 AND state = 'waiting';

-- name: EndSampleResult :execrows
-- EndSampleResult stores the result of a check, unless the check was requested again meanwhile.
UPDATE docgen_sample_results SET state = $3, findings = $4, includes = $5, golden_version_id = $6, ended_at = $7
WHERE version_id = $1 AND name = $2 AND state = 'waiting' AND round = $8;

-- name: DeleteSampleResults :exec
DELETE FROM docgen_sample_results WHERE version_id = $1;

-- name: DeleteResultsOfSample :exec
-- DeleteResultsOfSample deletes the results of a sample, except that of one version; 0 for none.
DELETE FROM docgen_sample_results WHERE docgen_sample_results.name = sqlc.arg(name)
    AND docgen_sample_results.version_id IN (SELECT id FROM file_versions WHERE file_versions.file_id = sqlc.arg(file_id))
    AND docgen_sample_results.version_id <> sqlc.arg(kept);

-- name: DeleteOldSampleResults :exec
-- DeleteOldSampleResults deletes the results of the versions of a file, except of the newest ones.
DELETE FROM docgen_sample_results WHERE docgen_sample_results.version_id IN (
    SELECT id FROM file_versions WHERE file_versions.file_id = sqlc.arg(file_id) ORDER BY id DESC LIMIT 1000000 OFFSET sqlc.arg(kept)
);

-- name: DeleteSampleResult :exec
DELETE FROM docgen_sample_results WHERE version_id = $1 AND name = $2;

-- name: ReleaseSampleResult :exec
-- ReleaseSampleResult does not count the last try.
UPDATE docgen_sample_results SET tries = tries - 1 WHERE version_id = $1 AND name = $2 AND round = $3 AND state = 'waiting' AND tries > 0;
