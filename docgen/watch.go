package docgen

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"platen/fair"
	"platen/store"
)

// Requests can wait for a batch or a job. While any do, one goroutine of the process reads the state of everything that is watched: what
// this process has changed at once, and all of it once a second, because other servers on the database change batches too. So the number
// of reads does not depend on the number of requests that watch the same batch.

const (
	watchInterval = time.Second           // between reads of everything that is watched
	watchPause    = 50 * time.Millisecond // between reads of what this process changed
	watchTimeout  = 30 * time.Second      // for one read
)

// watching is the claimant for the reads of what is watched.
const watching = -2

// MaxWait is the maximum time that a request can wait for a batch or a job.
const MaxWait = 60 * time.Second

// Progress is what changes in a batch while it runs.
type Progress struct {
	Jobs       JobCounts
	CanceledAt time.Time // zero unless it was canceled
	EndedAt    time.Time // zero until it has ended
	Gone       bool      // it was deleted
}

// JobCounts are the numbers of jobs of a batch. Canceled jobs do not count as failed.
type JobCounts struct{ Pending, Submitted, Completed, CompletedWithError, Failed, Canceled int }

// Ended returns the number of jobs that have ended.
func (c JobCounts) Ended() int { return c.Completed + c.CompletedWithError + c.Failed + c.Canceled }

// Unfinished returns the number of jobs that have not ended.
func (c JobCounts) Unfinished() int { return c.Pending + c.Submitted }

func progressOf(row store.BatchProgress) Progress {
	return Progress{
		Jobs: JobCounts{
			Pending:   int(row.Total - row.Submitted - row.Completed - row.Incomplete - row.Failed - row.Canceled),
			Submitted: int(row.Submitted), Completed: int(row.Completed), CompletedWithError: int(row.Incomplete), Failed: int(row.Failed),
			Canceled: int(row.Canceled),
		},
		CanceledAt: timeOf(row.CanceledAt), EndedAt: timeOf(row.EndedAt),
	}
}

// watchKey is a batch or a job.
type watchKey struct {
	batch string
	job   int64
}

// watches are the batches and jobs that requests watch. The zero value is ready to use, and safe for concurrent use.
type watches struct {
	number atomic.Int64 // of entries in known
	wake   chan struct{}

	mu      sync.Mutex
	known   map[watchKey]*watched
	running bool
}

// watched is the last known state of a batch or a job.
type watched struct {
	watchers int
	dirty    bool          // this process has changed it since it was read
	progress Progress      // of a job that has ended, only Gone is set
	changed  chan struct{} // closed when the state changes
}

// Watch watches a batch or a job until Close.
type Watch struct {
	service *Service
	key     watchKey
}

// watch begins to watch a batch or a job.
func (s *Service) watch(key watchKey) *Watch {
	w := &s.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil {
		w.known, w.wake = map[watchKey]*watched{}, make(chan struct{}, 1)
	}
	if w.known[key] == nil {
		w.known[key] = &watched{changed: make(chan struct{})}
		w.number.Add(1)
	}
	w.known[key].watchers++
	w.known[key].dirty = true
	if !w.running {
		w.running = true
		go s.readWatched()
	}
	w.ring()
	return &Watch{service: s, key: key}
}

// Close ends the watch.
func (w *Watch) Close() {
	all := &w.service.watches
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.known[w.key].watchers--; all.known[w.key].watchers == 0 {
		delete(all.known, w.key)
		all.number.Add(-1)
	}
	if len(all.known) == 0 {
		all.ring() // so that the goroutine that reads ends
	}
}

// Progress returns the last known state, and a channel that is closed when it changes. The first state, before it was read, is zero.
func (w *Watch) Progress() (Progress, <-chan struct{}) {
	all := &w.service.watches
	all.mu.Lock()
	defer all.mu.Unlock()
	known := all.known[w.key]
	return known.progress, known.changed
}

// noteChange makes the state of a batch and of its jobs be read soon, if anything watches them. Call it after the commit of a change.
func (s *Service) noteChange(batchID string, jobs ...ClaimedJob) {
	w := &s.watches
	if w.number.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(watchKey{batch: batchID})
	for _, job := range jobs {
		w.note(watchKey{job: job.ID})
	}
}

// note marks what is watched as changed. The caller holds the lock.
func (w *watches) note(key watchKey) {
	if known := w.known[key]; known != nil {
		known.dirty = true
		w.ring()
	}
}

// ring wakes the goroutine that reads.
func (w *watches) ring() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// readWatched reads what is watched until nothing is.
func (s *Service) readWatched() {
	ctx := fair.For(context.Background(), fair.Claimant{User: watching, Weight: 1})
	all := time.NewTicker(watchInterval)
	defer all.Stop()
	for {
		everything := false
		select {
		case <-s.watches.wake:
		case <-all.C:
			everything = true
		}
		batches, jobs, running := s.watches.due(everything)
		if !running {
			return
		}
		if err := s.readProgress(ctx, batches, jobs); err != nil {
			s.log.WarnContext(ctx, "cannot read the progress of batches that requests wait for; trying again", "error", err)
		}
		<-time.After(watchPause) // gather changes
	}
}

// due returns what is to be read. running is false if nothing is watched anymore: the goroutine that reads must then end.
func (w *watches) due(everything bool) (batches []string, jobs []int64, running bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = len(w.known) > 0
	for key, known := range w.known {
		if !everything && !known.dirty {
			continue
		}
		known.dirty = false
		if key.job != 0 {
			jobs = append(jobs, key.job)
		} else {
			batches = append(batches, key.batch)
		}
	}
	return batches, jobs, w.running
}

// readProgress reads batches and jobs, and notifies their watchers.
func (s *Service) readProgress(ctx context.Context, batches []string, jobs []int64) error {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	found, unfinished := map[string]Progress{}, map[int64]bool{}
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		rows, err := q.BatchesProgress(ctx, batches)
		if err != nil {
			return err
		}
		for _, row := range rows {
			found[row.ID] = progressOf(row)
		}
		left, err := q.UnfinishedJobs(ctx, jobs)
		for _, id := range left {
			unfinished[id] = true
		}
		return err
	})
	if err != nil {
		return err
	}
	w := &s.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range batches {
		progress, exists := found[id]
		progress.Gone = !exists
		w.set(watchKey{batch: id}, progress)
	}
	for _, id := range jobs {
		w.set(watchKey{job: id}, Progress{Gone: !unfinished[id]})
	}
	return nil
}

// set sets the state of what is watched. The caller holds the lock.
func (w *watches) set(key watchKey, progress Progress) {
	if known := w.known[key]; known != nil && known.progress != progress {
		known.progress = progress
		close(known.changed)
		known.changed = make(chan struct{})
	}
}

// WatchBatch watches a batch that the caller created. It returns the state at the moment.
func (s *Service) WatchBatch(ctx context.Context, c *Caller, id string) (*Watch, Progress, error) {
	if err := s.CheckBatch(ctx, c, id); err != nil {
		return nil, Progress{}, err
	}
	var now Progress
	w := s.watch(watchKey{batch: id})
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		rows, err := q.BatchesProgress(ctx, []string{id})
		if err == nil && len(rows) == 0 {
			err = NotFound("docgen_batch", id)
		}
		if err == nil {
			now = progressOf(rows[0])
		}
		return err
	})
	if err != nil {
		w.Close()
		return nil, now, err
	}
	return w, now, nil
}

// CheckBatch returns an Error if the caller may not see a batch.
func (s *Service) CheckBatch(ctx context.Context, c *Caller, id string) error {
	if err := c.require(ScopeDocGen); err != nil {
		return err
	}
	return s.db.ReadOne(ctx, func(q *store.Queries) error {
		_, err := findBatch(ctx, q, c, id)
		return err
	})
}

// WaitForBatch returns a batch that the caller created as soon as it has ended, at most wait and MaxWait later, or when stop is closed.
func (s *Service) WaitForBatch(ctx context.Context, c *Caller, id string, wait time.Duration, stop <-chan struct{}) (Batch, error) {
	if err := s.CheckBatch(ctx, c, id); err != nil { // only ids that exist are watched
		return Batch{}, err
	}
	w := s.watch(watchKey{batch: id})
	defer w.Close()
	b, err := s.Batch(ctx, c, id)
	if err != nil || !b.EndedAt.IsZero() {
		return b, err
	}
	if err := w.wait(ctx, wait, stop, func(p Progress) bool { return p.Gone || !p.EndedAt.IsZero() }); err != nil {
		return Batch{}, err
	}
	return s.Batch(ctx, c, id)
}

// WaitForJob is WaitForBatch for a job.
func (s *Service) WaitForJob(ctx context.Context, c *Caller, id int64, wait time.Duration, stop <-chan struct{}) (Job, error) {
	w := s.watch(watchKey{job: id})
	defer w.Close()
	j, err := s.Job(ctx, c, id)
	if err != nil || j.Status != StatusPending && j.Status != StatusSubmitted {
		return j, err
	}
	if err := w.wait(ctx, wait, stop, func(p Progress) bool { return p.Gone }); err != nil {
		return Job{}, err
	}
	return s.Job(ctx, c, id)
}

// wait waits until the state is the expected one, the time is up, or stop is closed. An error is that of ctx.
func (w *Watch) wait(ctx context.Context, wait time.Duration, stop <-chan struct{}, expected func(Progress) bool) error {
	over := time.NewTimer(min(wait, MaxWait))
	defer over.Stop()
	for {
		progress, changed := w.Progress()
		if expected(progress) {
			return nil
		}
		select {
		case <-changed:
		case <-over.C:
			return nil
		case <-stop:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Pace estimates how fast the jobs of a batch end, from the last paceSpan to twice paceSpan. The zero value is ready to use.
type Pace struct{ older, newer paceMark }

type paceMark struct {
	at    time.Time
	ended int
}

// paceSpan is the time after which a mark is replaced.
const paceSpan = 10 * time.Second

// Add adds a state, and returns the number of jobs that end per second and the estimated time until all have ended. known is false while
// there is no estimate.
func (p *Pace) Add(now time.Time, jobs JobCounts) (perSecond float64, left time.Duration, known bool) {
	mark := paceMark{now, jobs.Ended()}
	if p.older.at.IsZero() {
		p.older, p.newer = mark, mark
	}
	if now.Sub(p.newer.at) >= paceSpan {
		p.older, p.newer = p.newer, mark
	}
	took := now.Sub(p.older.at)
	if took < time.Second || mark.ended <= p.older.ended {
		return 0, 0, false
	}
	perSecond = float64(mark.ended-p.older.ended) / took.Seconds()
	return perSecond, time.Duration(float64(jobs.Unfinished()) / perSecond * float64(time.Second)), true
}
