package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// The timing of the queue.
const (
	defaultJobTimeout = 120 * time.Second
	defaultPoll       = time.Second
	firstBackoff      = time.Second
	maxBackoff        = time.Minute

	// fetchCooldown is the minimum time between two fetches. With River's default of 100 ms, 8 workers would run at most 80 short jobs a
	// second.
	fetchCooldown = 10 * time.Millisecond
	// rescueAfter is the age at which a running job counts as lost with its process. River has no heartbeat, only this limit.
	rescueAfter = 5 * time.Minute
	// cancelGrace is the time that Stop waits for jobs to return after it cancels their contexts.
	cancelGrace = 15 * time.Second
)

// DefaultQueue is the queue of jobs that do not name one.
const DefaultQueue = river.QueueDefault

// ErrLost is the reason for giving up a job whose process died or was killed during its last attempt.
var ErrLost = errors.New("the process working on the job ended during its last try")

// QueueConfig configures a queue.
type QueueConfig struct {
	// Workers is the number of jobs that run at the same time in this process, by queue. With separate queues, slow jobs of one kind do not
	// delay others.
	Workers map[string]int
	// JobTimeout is the time after which the context of an attempt is canceled, unless its handler has a timeout of its own. 0 means 120 s.
	JobTimeout time.Duration
	// Exhausted, if set, is called when a job is given up: its last attempt failed, its error was [Permanent], or its process died during
	// the last attempt ([ErrLost]). It is called at least once for such a job, even after a crash. If it fails, it is called again later.
	Exhausted func(ctx context.Context, kind string, args json.RawMessage, err error) error
	// Backoff returns the pause after the n-th failed attempt, where n is at least 1. nil means 1 s, 2 s, 4 s, … up to a minute, ±20 %.
	Backoff func(n int) time.Duration
	// Poll is the interval at which the queue looks for jobs without a notification: retries, snoozed jobs, and jobs of other processes. 0
	// means 1 s.
	Poll time.Duration
}

// Queue runs jobs. Register a handler for every kind with [Handle], then call Start.
type Queue struct {
	db      *DB
	cfg     QueueConfig
	workers *river.Workers
	client  queueClient
	release func() error
}

// NewQueue returns a queue that has not been started.
func NewQueue(db *DB, cfg QueueConfig) *Queue {
	if cfg.JobTimeout == 0 {
		cfg.JobTimeout = defaultJobTimeout
	}
	if cfg.Backoff == nil {
		cfg.Backoff = exponentialBackoff
	}
	if cfg.Poll == 0 {
		cfg.Poll = defaultPoll
	}
	return &Queue{db: db, cfg: cfg, workers: river.NewWorkers()}
}

// Handle registers the handler of tasks of type T. Call it before Start, once for each kind. A job is done when fn returns nil. fn may run
// again even after that, so it must be idempotent. If it fails, panics, or exceeds the job timeout, the job is tried again: see [Snooze],
// [Permanent], and [Job]. fn must return soon after ctx is done.
func Handle[T Task](q *Queue, fn func(ctx context.Context, task T) error) {
	HandleWithin(q, q.cfg.JobTimeout, fn)
}

// HandleWithin is [Handle] for tasks with a timeout of their own. After a process is killed, its tasks come back no sooner than after that
// timeout.
func HandleWithin[T Task](q *Queue, timeout time.Duration, fn func(ctx context.Context, task T) error) {
	var zero T
	w := &worker{timeout: timeout}
	w.work = func(ctx context.Context, job *river.Job[rawTask]) error {
		return q.work(ctx, job, timeout, func(ctx context.Context) error {
			var task T
			if err := json.Unmarshal(job.EncodedArgs, &task); err != nil {
				return Permanent(fmt.Errorf("decode task: %w", err))
			}
			return fn(ctx, task)
		})
	}
	river.AddWorkerArgs(q.workers, rawTask{kind: zero.Kind()}, w)
}

// worker is a handler in the form that River calls.
type worker struct {
	river.WorkerDefaults[rawTask]
	timeout time.Duration
	work    func(ctx context.Context, job *river.Job[rawTask]) error
}

func (w *worker) Work(ctx context.Context, job *river.Job[rawTask]) error { return w.work(ctx, job) }
func (w *worker) Timeout(*river.Job[rawTask]) time.Duration               { return w.timeout }

// Start starts to run jobs, and returns. Canceling ctx cancels the jobs, while [Queue.Stop] lets them finish. On SQLite, only one process
// at a time may work on the queue of a file: Start fails while another one does, and makes jobs available that a killed process left
// running. On PostgreSQL, many processes share the work, and the jobs of a killed one come back after five minutes.
func (q *Queue) Start(ctx context.Context) error {
	client, err := q.db.queue.newClient(q.riverConfig())
	if err != nil {
		return fmt.Errorf("start queue: %w", err)
	}
	release, err := q.db.queue.claim(ctx)
	if err != nil {
		return fmt.Errorf("start queue: %w", err)
	}
	if err := client.Start(ctx); err != nil {
		return errors.Join(fmt.Errorf("start queue: %w", err), release())
	}
	q.client, q.release = client, release
	return nil
}

// Stop starts no more jobs, and waits for the running ones. If ctx ends first, it cancels their contexts and waits a little longer. An
// interrupted job runs again after the next start, and its attempt does not count. An error means that jobs may still be running.
func (q *Queue) Stop(ctx context.Context) error {
	if q.client == nil {
		return nil
	}
	if err := q.client.Stop(ctx); err != nil {
		hard, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelGrace)
		defer cancel()
		if err := q.client.StopAndCancel(hard); err != nil {
			return fmt.Errorf("stop queue: jobs ignore their canceled contexts: %w", err)
		}
	}
	q.client = nil
	if err := q.release(); err != nil {
		return fmt.Errorf("stop queue: %w", err)
	}
	return nil
}

func (q *Queue) riverConfig() *river.Config {
	queues := make(map[string]river.QueueConfig, len(q.cfg.Workers))
	for name, n := range q.cfg.Workers {
		queues[name] = river.QueueConfig{MaxWorkers: n}
	}
	return &river.Config{
		Queues:               queues,
		Workers:              q.workers,
		Logger:               riverLogger(q.db.log),
		FetchCooldown:        fetchCooldown,
		FetchPollInterval:    max(q.cfg.Poll, fetchCooldown),
		JobTimeout:           q.cfg.JobTimeout,
		RescueStuckJobsAfter: max(rescueAfter, 2*q.cfg.JobTimeout),
		RetryPolicy:          retryPolicy(q.cfg.Backoff),
	}
}

// work makes one attempt at a job and handles its result.
func (q *Queue) work(ctx context.Context, job *river.Job[rawTask], timeout time.Duration, fn func(context.Context) error) error {
	tries := job.MaxAttempts - lostTries
	if job.Attempt > tries {
		return q.giveUp(ctx, job, ErrLost)
	}
	err := recovered(context.WithValue(ctx, jobKey{}, job), fn)
	var snooze *rivertype.JobSnoozeError
	if err == nil || errors.As(err, &snooze) {
		return err
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		err = fmt.Errorf("not done within %v: %w", timeout, err)
	case cause != nil:
		return cause // the queue is stopping or the job was canceled: whatever the job returns is not its fault
	}
	if _, ok := errors.AsType[*permanentError](err); ok || job.Attempt == tries {
		return q.giveUp(ctx, job, err)
	}
	q.db.log.WarnContext(ctx, "job failed, will be tried again", attributes(job, err)...)
	return err
}

// jobKey is the key of the job in the context of its handler.
type jobKey struct{}

// Done marks the job whose handler runs with ctx as done in this transaction, so that the job and the effects of its handler are committed
// together or not at all. The handler then returns nil. From this call to the end of the transaction, no other transaction adds an equal
// [Job.Unique] job, and all rows that such jobs were added for earlier have been committed. So a handler misses nothing if it looks for
// more work after Done and rolls back if it finds some. Outside a handler, Done does nothing.
func (tx *Tx) Done(ctx context.Context) error {
	job, ok := ctx.Value(jobKey{}).(*river.Job[rawTask])
	if !ok {
		return nil
	}
	if err := tx.db.queue.complete(ctx, tx, job); err != nil {
		return fmt.Errorf("end job %d: %w", job.ID, err)
	}
	return nil
}

// attributes returns the log attributes of a failed attempt.
func attributes(job *river.Job[rawTask], err error) []any {
	attrs := []any{"kind", job.Kind, "job", job.ID, "try", job.Attempt, "of", job.MaxAttempts - lostTries, "error", err}
	if p, ok := errors.AsType[*panicError](err); ok {
		attrs = append(attrs, "stack", string(p.stack))
	}
	return attrs
}

// giveUp reports that a job will not be tried again. If the report fails, it is repeated later.
func (q *Queue) giveUp(ctx context.Context, job *river.Job[rawTask], err error) error {
	q.db.log.ErrorContext(ctx, "job given up", attributes(job, err)...)
	if q.cfg.Exhausted != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), defaultJobTimeout)
		defer cancel()
		report := func(ctx context.Context) error { return q.cfg.Exhausted(ctx, job.Kind, job.EncodedArgs, err) }
		if reportErr := recovered(ctx, report); reportErr != nil {
			return fmt.Errorf("report that the job was given up: %w", reportErr)
		}
	}
	return river.JobCancel(err)
}

// recovered calls fn and turns a panic into an error.
func recovered(ctx context.Context, fn func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{value: p, stack: debug.Stack()}
		}
	}()
	return fn(ctx)
}

type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprint("panic: ", e.value) }

// retryPolicy gives River the pause before the next attempt.
type retryPolicy func(n int) time.Duration

func (p retryPolicy) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().Add(p(job.Attempt))
}

func exponentialBackoff(n int) time.Duration {
	pause := maxBackoff
	if n < 7 { // 2⁶ s is over a minute
		pause = firstBackoff << (n - 1)
	}
	return pause*4/5 + rand.N(pause*2/5)
}

// riverLogger returns a logger for River that logs one level lower, because River's information is debugging information for Platen.
func riverLogger(log *slog.Logger) *slog.Logger {
	return slog.New(quieter{log.Handler(), new(lastLogged)}).With("component", "queue")
}

type quieter struct {
	slog.Handler
	fetches *lastLogged
}

// lastLogged is the time at which a message was last logged.
type lastLogged struct {
	mu sync.Mutex
	at time.Time
}

// again reports whether enough time has passed to log the message again. If so, it records now as the last time.
func (l *lastLogged) again(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ago := now.Sub(l.at); ago >= 0 && ago < logInterval {
		return false
	}
	l.at = now
	return true
}

func (h quieter) lower(level slog.Level) slog.Level {
	if level >= slog.LevelWarn {
		return level
	}
	return level - 4
}

func (h quieter) Enabled(ctx context.Context, level slog.Level) bool {
	return h.Handler.Enabled(ctx, h.lower(level))
}

// electorErrors is the beginning of the errors that River logs when it cannot become or stay the leader in time, for example on a busy
// machine. River retries, and no job waits for a leader, so Platen logs them as warnings.
const electorErrors = "leadership.Elector: Error"

// fetchErrors is the end of the message that River logs every second for each queue while the database is not available. Platen logs it
// once per logInterval.
const (
	fetchErrors = "Error fetching jobs"
	logInterval = time.Minute
)

func (h quieter) Handle(ctx context.Context, r slog.Record) error {
	r.Level = h.lower(r.Level)
	if strings.HasPrefix(r.Message, electorErrors) {
		r.Level = min(r.Level, slog.LevelWarn)
	}
	if strings.HasSuffix(r.Message, fetchErrors) && !h.fetches.again(r.Time) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h quieter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quieter{h.Handler.WithAttrs(attrs), h.fetches}
}
func (h quieter) WithGroup(name string) slog.Handler {
	return quieter{h.Handler.WithGroup(name), h.fetches}
}
