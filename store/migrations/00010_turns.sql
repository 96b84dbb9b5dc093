-- Documents are generated in turn: by user, then by batch. Tasks of the queue only wake; what is to be done is in these rows.

-- +goose Up
ALTER TABLE users ADD COLUMN weight BIGINT NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 100); -- share of the machine, compared with other users

ALTER TABLE docgen_jobs ADD COLUMN waiting BOOLEAN NOT NULL DEFAULT FALSE; -- has not ended, and no slot holds it
ALTER TABLE docgen_jobs ADD COLUMN slot TEXT NOT NULL DEFAULT '';          -- lane and number of the slot that holds it; empty when none does
ALTER TABLE docgen_jobs ADD COLUMN due_at BIGINT NOT NULL DEFAULT 0;       -- when it is tried again after an error of the server
ALTER TABLE docgen_jobs ADD COLUMN tries BIGINT NOT NULL DEFAULT 0;        -- that ended with an error of the server
ALTER TABLE docgen_jobs ADD COLUMN crashes BIGINT NOT NULL DEFAULT 0;      -- of servers, while they held it
UPDATE docgen_jobs SET waiting = TRUE WHERE status IN ('pending', 'submitted');
CREATE INDEX docgen_jobs_waiting ON docgen_jobs (batch_id, apart, due_at, id) WHERE waiting;
CREATE INDEX docgen_jobs_held ON docgen_jobs (created_by, slot) WHERE slot <> '';

-- The batches with documents that wait, in each lane in which they do.
CREATE TABLE docgen_turns (
    id        BIGINT NOT NULL PRIMARY KEY,
    user_id   BIGINT NOT NULL REFERENCES users (id),
    lane      TEXT   NOT NULL CHECK (lane IN ('docx', 'pdf', 'isolated')),
    batch_id  TEXT   NOT NULL REFERENCES docgen_batches (id),
    documents BIGINT NOT NULL, -- of the batch in the lane, at first
    turn      BIGINT NOT NULL, -- grows with every claim; the smallest of a user and lane is next
    due_at    BIGINT NOT NULL, -- when the first document that waits is due
    UNIQUE (batch_id, lane)
);
INSERT INTO docgen_turns (id, user_id, lane, batch_id, documents, turn, due_at)
SELECT MIN(docgen_jobs.id), docgen_batches.created_by, CASE WHEN docgen_jobs.apart THEN 'isolated' ELSE docgen_batches.output_type END,
    docgen_batches.id, COUNT(*), 0, 0
FROM docgen_jobs JOIN docgen_batches ON docgen_batches.id = docgen_jobs.batch_id
WHERE docgen_jobs.waiting
GROUP BY docgen_batches.id, docgen_batches.created_by, docgen_batches.output_type, docgen_jobs.apart;
CREATE INDEX docgen_turns_next ON docgen_turns (user_id, lane, turn, id);
CREATE INDEX docgen_turns_oldest ON docgen_turns (lane, id);

-- +goose Down
DROP TABLE docgen_turns;
DROP INDEX docgen_jobs_held;
DROP INDEX docgen_jobs_waiting;
ALTER TABLE docgen_jobs DROP COLUMN crashes;
ALTER TABLE docgen_jobs DROP COLUMN tries;
ALTER TABLE docgen_jobs DROP COLUMN due_at;
ALTER TABLE docgen_jobs DROP COLUMN slot;
ALTER TABLE docgen_jobs DROP COLUMN waiting;
ALTER TABLE users DROP COLUMN weight;
