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

// The pace of the queue.
const (
	defaultJobTimeout = 120 * time.Second
	defaultPoll       = time.Second
	firstBackoff      = time.Second
	maxBackoff        = time.Minute

	// fetchCooldown is the least time between two fetches. River's own 100 ms would cap 8 workers at 80 short jobs a second.
	fetchCooldown = 10 * time.Millisecond
	// rescueAfter is when a running job counts as lost with its process. River sees no heartbeat, only this time.
	rescueAfter = 5 * time.Minute
	// cancelGrace is how long Stop waits for jobs to return whose contexts it has canceled.
	cancelGrace = 15 * time.Second
)

// DefaultQueue is where a job goes that names no queue.
const DefaultQueue = river.QueueDefault

// ErrLost is why a job was given up whose process died, or was killed, during its last try.
var ErrLost = errors.New("the process working on the job ended during its last try")

// QueueConfig says how a queue is worked.
type QueueConfig struct {
	// Workers is the number of jobs of each queue that run at the same time in this process. Queues keep slow jobs of one
	// kind from holding up others.
	Workers map[string]int
	// JobTimeout cancels the context of a try, unless its handler has another timeout; 0 is 120 s.
	JobTimeout time.Duration
	// Exhausted, when set, is called when a job is given up: its last try has failed, or the error was [Permanent], or its
	// process died during the last try ([ErrLost]). It is called at least once for such a job, also after a crash; when it
	// fails it is called again later.
	Exhausted func(ctx context.Context, kind string, args json.RawMessage, err error) error
	// Backoff is the pause after the n-th failed try, n from 1; nil is 1 s, 2 s, 4 s, … at most a minute, give or take 20 %.
	Backoff func(n int) time.Duration
	// Poll is the interval at which the queue searches for jobs without a notification: retries, snoozed jobs, jobs of other processes; 0
	// is 1 s.
	Poll time.Duration
}

// Queue works jobs: register a handler for every kind with [Handle], then Start.
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

// Handle registers the handler of tasks of type T, before Start and once per kind. A job is done when fn returns nil. It
// may run more than once, even after it has been done: what fn does must be idempotent. When fn fails, panics or outlives
// the job timeout it is tried again, see [Snooze], [Permanent] and [Job]. fn must return soon after ctx is done.
func Handle[T Task](q *Queue, fn func(ctx context.Context, task T) error) {
	HandleWithin(q, q.cfg.JobTimeout, fn)
}

// HandleWithin is [Handle] for tasks whose tries have another timeout. Those of a killed process come back no sooner than after that.
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

// worker is a handler as River calls it.
type worker struct {
	river.WorkerDefaults[rawTask]
	timeout time.Duration
	work    func(ctx context.Context, job *river.Job[rawTask]) error
}

func (w *worker) Work(ctx context.Context, job *river.Job[rawTask]) error { return w.work(ctx, job) }
func (w *worker) Timeout(*river.Job[rawTask]) time.Duration               { return w.timeout }

// Start begins to work jobs and returns. Canceling ctx cancels the jobs; [Queue.Stop] is the gentle way. On SQLite one
// process alone may work the queue of a file: Start fails when another one does, and puts jobs back that a killed process
// left running. On PostgreSQL many processes share the work, and the jobs of a killed one come back after five minutes.
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

// Stop takes no more jobs and waits for the running ones. When ctx ends first it cancels their contexts and waits a little
// more; a job interrupted so runs again after the next start without having lost a try. An error says that jobs may still
// be running.
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

// work runs one try of a job and handles its result.
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
		return cause // the queue is stopping or the job was canceled: no fault of the job, whatever it makes of it
	}
	if _, ok := errors.AsType[*permanentError](err); ok || job.Attempt == tries {
		return q.giveUp(ctx, job, err)
	}
	q.db.log.WarnContext(ctx, "job failed, will be tried again", attributes(job, err)...)
	return err
}

// jobKey finds the job in the context of its handler.
type jobKey struct{}

// Done marks the job whose handler runs with ctx as done in this transaction, so that the job ends together with what its
// handler did, or not at all: the handler returns nil then. From here to the end of the transaction nobody else adds an
// equal [Job.Unique] job, and what they added it for before has been committed: a handler that looks after Done what there
// is left to do, and rolls back where there is something, overlooks nothing. Outside of a handler it does nothing.
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

// attributes tells the log which try failed, and how.
func attributes(job *river.Job[rawTask], err error) []any {
	attrs := []any{"kind", job.Kind, "job", job.ID, "try", job.Attempt, "of", job.MaxAttempts - lostTries, "error", err}
	if p, ok := errors.AsType[*panicError](err); ok {
		attrs = append(attrs, "stack", string(p.stack))
	}
	return attrs
}

// giveUp reports that a job will not be tried again. Where that fails the report itself is tried again.
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

// retryPolicy tells River when to try again.
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

// riverLogger lets River speak through log, one level lower than it would: its news is our debugging.
func riverLogger(log *slog.Logger) *slog.Logger {
	return slog.New(quieter{log.Handler(), new(lastLogged)}).With("component", "queue")
}

type quieter struct {
	slog.Handler
	fetches *lastLogged
}

// lastLogged is when something was logged last.
type lastLogged struct {
	mu sync.Mutex
	at time.Time
}

// again reports whether it is to be logged again.
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

// electorErrors begins what River says at the level of errors when it cannot become or stay the leader in time, as on a
// busy machine. It tries again by itself, and no job waits for a leader, so Platen logs it as a warning.
const electorErrors = "leadership.Elector: Error"

// fetchErrors is the end of the message that River logs every second for each queue while the database is not available. It is logged
// once in logInterval.
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
