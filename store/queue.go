package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// DefaultTries is the default number of attempts of a job.
const DefaultTries = 5

// lostTries is the number of attempts that River may make in addition to a job's own. If a process dies during a job's last attempt, the
// job comes back on one of them. It is then not run again, but reported to [QueueConfig].Exhausted. The others are for repeating a report
// that fails. River itself would drop such a job silently.
const lostTries = 20

// A Task is the work of a job: data that is encoded as JSON, and decoded into the same type for the handler of its kind.
type Task interface {
	// Kind names the type of task: [a-z0-9_]. It is stored with the job, so it must be the same in all versions, and it must not depend on
	// the value.
	Kind() string
}

// Job is a task with the conditions under which it runs. The zero value of every field except Task is a good default.
type Job struct {
	Task Task
	// Queue is one of the names in [QueueConfig].Workers. "" means "default".
	Queue string
	// Priority is 1 (first) to 4 (last). Within a queue, no job starts while one with a smaller number waits. 0 means 1.
	Priority int
	// Tries is the maximum number of attempts. 0 means DefaultTries. An attempt counts if it fails, panics, times out, or loses its
	// process. It does not count if the handler snoozes or the queue is stopped.
	Tries int
	// At is the earliest start, to within seconds. The zero time means now.
	At time.Time
	// Unique drops the job if one of the same kind with the same data is waiting or running. Enqueue then returns the id of that job.
	Unique bool
}

// queueDriver is the part of the queue that differs between the two databases.
type queueDriver interface {
	// insert inserts jobs within tx.
	insert(ctx context.Context, tx *Tx, params []river.InsertManyParams) ([]*rivertype.JobInsertResult, error)
	// committed is called after jobs that are due were committed to these queues.
	committed(queues map[string]bool)
	// complete marks a job as done within tx.
	complete(ctx context.Context, tx *Tx, job *river.Job[rawTask]) error
	// cancel cancels one job, running or not.
	cancel(ctx context.Context, id int64) error
	// newClient returns a client that works jobs, not yet started.
	newClient(cfg *river.Config) (queueClient, error)
	// claim makes sure that this process may work on the queue, and takes back the jobs that a killed process left running. release gives
	// up the claim.
	claim(ctx context.Context) (release func() error, err error)
}

// queueClient is a *river.Client, whose type differs between the databases.
type queueClient interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
}

// CancelJobs prevents the jobs with these ids from running again, and cancels the contexts of those that are running, in any process. It
// skips jobs that have ended and ids that do not exist. It does not report the jobs to [QueueConfig].Exhausted.
func (db *DB) CancelJobs(ctx context.Context, ids ...int64) error {
	for _, id := range ids {
		if err := db.queue.cancel(ctx, id); err != nil && !errors.Is(err, river.ErrNotFound) {
			return fmt.Errorf("cancel job %d: %w", id, err)
		}
	}
	return nil
}

// Snooze returns an error for a handler that needs more time: the job runs again after d, and this attempt does not count.
func Snooze(d time.Duration) error { return river.JobSnooze(d) }

// Permanent wraps the error of a handler that cannot ever succeed. The job is given up at once, as after its last attempt.
func Permanent(err error) error { return &permanentError{err} }

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// rawTask is a task of any kind as River stores it. Platen decodes it, so that a task that cannot be decoded is given up like any other
// failure.
type rawTask struct {
	kind string
	args json.RawMessage
}

func (t rawTask) Kind() string                 { return t.kind }
func (t rawTask) MarshalJSON() ([]byte, error) { return t.args, nil }

func (t *rawTask) UnmarshalJSON(data []byte) error {
	t.args = append(t.args[:0], data...)
	return nil
}
