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

// DefaultTries is the default number of tries of a job.
const DefaultTries = 5

// lostTries is the number of tries that River gets in addition to a job's own. A job whose process died during its last try comes back
// with one of them, and instead of running again it is reported to [QueueConfig].Exhausted; the rest are for that report to be repeated
// when it fails. River itself would drop such a job without a word.
const lostTries = 20

// A Task is what a job has to do: JSON-encodable data, decoded again into the same type for the handler of its kind.
type Task interface {
	// Kind names the type of task: [a-z0-9_]. It is stored with the job, so it must not change between versions, and it
	// must not depend on the value.
	Kind() string
}

// Job is a task with the conditions under which it runs. The zero value of every field but Task is a good default.
type Job struct {
	Task Task
	// Queue is one of the names in [QueueConfig].Workers; empty is "default".
	Queue string
	// Priority is 1 (first) to 4 (last): within a queue no job starts while one of a smaller number waits. 0 is 1.
	Priority int
	// Tries bounds the number of attempts; 0 is DefaultTries. A try counts when it fails, panics, times out or loses its
	// process; not when the handler snoozes or the queue is stopped.
	Tries int
	// At is the earliest start, kept to within seconds; the zero time is now.
	At time.Time
	// Unique drops the job where one of the same kind and data still waits, or is running. Its id is then that one's.
	Unique bool
}

// queueDriver is what the queue does differently on the two databases.
type queueDriver interface {
	// insert adds jobs within tx.
	insert(ctx context.Context, tx *Tx, params []river.InsertManyParams) ([]*rivertype.JobInsertResult, error)
	// committed is called once jobs that are due have been committed to the queues.
	committed(queues map[string]bool)
	// complete marks a job as done within tx.
	complete(ctx context.Context, tx *Tx, job *river.Job[rawTask]) error
	// cancel cancels one job, running or not.
	cancel(ctx context.Context, id int64) error
	// newClient returns a client that works jobs, not yet started.
	newClient(cfg *river.Config) (queueClient, error)
	// claim makes sure that this process may work the queue, takes back what a killed process left running, and returns
	// what gives the right up again.
	claim(ctx context.Context) (release func() error, err error)
}

// queueClient is a *river.Client, which is of another type for each database.
type queueClient interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
}

// CancelJobs sees to it that the jobs with these ids do not run again, and cancels the contexts of those running now, in
// whichever process. Jobs that have ended, and ids that do not exist, are passed over. No job is reported to
// [QueueConfig].Exhausted for it.
func (db *DB) CancelJobs(ctx context.Context, ids ...int64) error {
	for _, id := range ids {
		if err := db.queue.cancel(ctx, id); err != nil && !errors.Is(err, river.ErrNotFound) {
			return fmt.Errorf("cancel job %d: %w", id, err)
		}
	}
	return nil
}

// Snooze is returned by a handler that is not done yet: the job runs again after d, and this try does not count.
func Snooze(d time.Duration) error { return river.JobSnooze(d) }

// Permanent is returned by a handler that will never succeed: the job is given up at once, as after its last try.
func Permanent(err error) error { return &permanentError{err} }

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// rawTask is a task of any kind as River carries it, so that decoding is ours and a task that cannot be decoded is given
// up like any other that cannot be done.
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
