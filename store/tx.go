package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Tx is one transaction that writes. It offers all queries, and enqueues jobs.
type Tx struct {
	*Queries
	db     *DB
	conn   *sql.Conn
	sqlTx  *sql.Tx
	queues map[string]bool // queues with a job that is due when the transaction is committed
	events int             // number of events added to the stream
}

// Enqueue adds jobs in this transaction, and returns their ids in the same order, for [DB.CancelJobs]. The jobs start after the transaction
// is committed. If it is rolled back, they never existed. On PostgreSQL, no rows of another query of this transaction may still be open.
func (tx *Tx) Enqueue(ctx context.Context, jobs ...Job) ([]int64, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	params := make([]river.InsertManyParams, len(jobs))
	for i, job := range jobs {
		var err error
		if params[i], err = job.insertParams(); err != nil {
			return nil, err
		}
	}
	results, err := tx.db.queue.insert(ctx, tx, params)
	if err != nil {
		return nil, fmt.Errorf("enqueue %d jobs: %w", len(jobs), err)
	}
	ids := make([]int64, len(results))
	for i, result := range results {
		ids[i] = result.Job.ID
		tx.wake(result.Job)
	}
	return ids, nil
}

func (tx *Tx) wake(job *rivertype.JobRow) {
	if job.State != rivertype.JobStateAvailable {
		return
	}
	if tx.queues == nil {
		tx.queues = map[string]bool{}
	}
	tx.queues[job.Queue] = true
}

// insertParams returns the job in River's form.
func (j Job) insertParams() (river.InsertManyParams, error) {
	args, err := json.Marshal(j.Task)
	if err != nil {
		return river.InsertManyParams{}, fmt.Errorf("encode job %s: %w", j.Task.Kind(), err)
	}
	tries := j.Tries
	if tries == 0 {
		tries = DefaultTries
	}
	opts := &river.InsertOpts{
		MaxAttempts: tries + lostTries,
		Priority:    j.Priority,
		Queue:       j.Queue,
	}
	if j.At.After(time.Now()) {
		opts.ScheduledAt = j.At
	}
	if j.Unique {
		opts.UniqueOpts = river.UniqueOpts{ByArgs: true, ByState: unfinished()}
	}
	return river.InsertManyParams{Args: rawTask{kind: j.Task.Kind(), args: args}, InsertOpts: opts}, nil
}

// unfinished lists the states of jobs that are waiting or running.
func unfinished() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
		rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}
}
