package store_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/store"
	"platen/store/storetest"
)

// patience is the maximum time that a test waits for something that must happen. No wait takes so long.
const patience = 10 * time.Minute

// number is the task of most tests.
type number struct{ N int }

func (number) Kind() string { return "number" }

// other is a second kind.
type other struct{ S string }

func (other) Kind() string { return "other" }

// receive returns the next value, or fails the test if none arrives in time.
func receive[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatal("nothing happened")
		panic("unreachable")
	}
}

// quick makes retries and polling fast enough for a test.
func quick(cfg store.QueueConfig) store.QueueConfig {
	cfg.Poll = 10 * time.Millisecond
	cfg.Backoff = func(int) time.Duration { return time.Millisecond }
	if cfg.Workers == nil {
		cfg.Workers = map[string]int{store.DefaultQueue: 4}
	}
	return cfg
}

// start starts a queue and stops it after the test.
func start(t *testing.T, q *store.Queue) {
	t.Helper()
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, q) })
}

func stop(t *testing.T, q *store.Queue) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := q.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func enqueue(t *testing.T, db *store.DB, jobs ...store.Job) (ids []int64) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *store.Tx) (err error) {
		ids, err = tx.Enqueue(t.Context(), jobs...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return ids
}

func numbers(n int) []store.Job {
	jobs := make([]store.Job, n)
	for i := range jobs {
		jobs[i] = store.Job{Task: number{i}}
	}
	return jobs
}

func TestEnqueueIsPartOfTheTransaction(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		ran := make(chan int, 10)
		q := store.NewQueue(db, quick(store.QueueConfig{}))
		store.Handle(q, func(_ context.Context, n number) error {
			ran <- n.N
			return nil
		})
		start(t, q)
		boom := errors.New("boom")
		if err := db.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Enqueue(ctx, store.Job{Task: number{1}})
			return errors.Join(err, set(ctx, tx, "row", "1"), boom)
		}); !errors.Is(err, boom) {
			t.Fatal(err)
		}
		if err := db.Write(ctx, func(tx *store.Tx) error {
			if _, err := tx.Enqueue(ctx, store.Job{Task: number{2}}); err != nil {
				return err
			}
			return set(ctx, tx, "row", "2")
		}); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, ran); got != 2 {
			t.Errorf("job %d ran, although its transaction was rolled back", got)
		}
		if got := setting(t, db, "row"); got != "2" {
			t.Errorf("row = %q, want 2", got)
		}
		stop(t, q)
		if len(ran) > 0 {
			t.Errorf("job %d ran as well", <-ran)
		}
	})
}

// TestNewJobStartsWithoutPolling sets an hour between polls, so that only a notification can start the new job in time.
func TestNewJobStartsWithoutPolling(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		ran := make(chan int, 10)
		q := store.NewQueue(db, store.QueueConfig{Workers: map[string]int{"default": 1, "second": 1}, Poll: time.Hour})
		store.Handle(q, func(_ context.Context, n number) error {
			ran <- n.N
			return nil
		})
		start(t, q)
		for i := range 10 {
			enqueue(t, db, store.Job{Task: number{i}, Queue: []string{"", "second"}[i%2]})
			if got := receive(t, ran); got != i {
				t.Errorf("job %d ran, want %d", got, i)
			}
		}
	})
}

func TestEveryJobRunsOnce(t *testing.T) {
	n := 1000
	if raceEnabled {
		n = 200
	}
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		ran := make(chan int, 2*n)
		q := store.NewQueue(db, store.QueueConfig{Workers: map[string]int{store.DefaultQueue: 4}})
		store.Handle(q, func(_ context.Context, n number) error {
			ran <- n.N
			return nil
		})
		start(t, q)
		if ids := enqueue(t, db, numbers(n)...); len(ids) != n {
			t.Errorf("%d ids", len(ids))
		}
		times := make([]int, n)
		for range n {
			times[receive(t, ran)]++
		}
		stop(t, q)
		if len(ran) > 0 {
			t.Errorf("%d jobs ran again", len(ran))
		}
		for i, got := range times {
			if got != 1 {
				t.Errorf("job %d ran %d times", i, got)
			}
		}
	})
}

func TestPriorityBeforeAge(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		ran := make(chan int, 10)
		q := store.NewQueue(db, store.QueueConfig{Workers: map[string]int{"default": 1}})
		store.Handle(q, func(_ context.Context, n number) error {
			ran <- n.N
			return nil
		})
		enqueue(t, db,
			store.Job{Task: number{4}, Priority: 4}, store.Job{Task: number{3}, Priority: 3},
			store.Job{Task: number{2}, Priority: 2}, store.Job{Task: number{1}},
			store.Job{Task: number{5}, Priority: 4})
		start(t, q)
		var order []int
		for range 5 {
			order = append(order, receive(t, ran))
		}
		if want := []int{1, 2, 3, 4, 5}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

func TestQueuesAreIndependent(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		ran, release := make(chan string, 10), make(chan struct{})
		q := store.NewQueue(db, quick(store.QueueConfig{Workers: map[string]int{"default": 1, "slow": 1}}))
		store.Handle(q, func(ctx context.Context, n number) error {
			<-release
			return nil
		})
		store.Handle(q, func(_ context.Context, o other) error {
			ran <- o.S
			return nil
		})
		start(t, q)
		defer close(release)
		enqueue(t, db, store.Job{Task: number{1}, Queue: "slow"}, store.Job{Task: number{2}, Queue: "slow"})
		enqueue(t, db, store.Job{Task: other{"quick"}})
		receive(t, ran)
	})
}

func TestUniqueJob(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		ran, release := make(chan int, 10), make(chan struct{})
		q := store.NewQueue(db, quick(store.QueueConfig{}))
		store.Handle(q, func(_ context.Context, n number) error {
			ran <- n.N
			<-release
			return nil
		})
		unique := store.Job{Task: number{7}, Unique: true}
		first := enqueue(t, db, unique)
		second := enqueue(t, db, unique)
		differs := enqueue(t, db, store.Job{Task: number{8}, Unique: true})
		if first[0] != second[0] || first[0] == differs[0] {
			t.Errorf("ids %v, %v, and with other data %v", first, second, differs)
		}
		start(t, q)
		got := []int{receive(t, ran), receive(t, ran)}
		if slices.Sort(got); !slices.Equal(got, []int{7, 8}) {
			t.Errorf("%v ran", got)
		}
		if running := enqueue(t, db, unique); running[0] != first[0] {
			t.Errorf("id while it runs: %v, want %v", running, first)
		}
		close(release)
		stop(t, q)
		if after := enqueue(t, db, unique); after[0] == first[0] {
			t.Error("a job that is done prevents the next one")
		}
	})
}

func TestJobWithAStartTime(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		ran := make(chan int, 10)
		q := store.NewQueue(db, quick(store.QueueConfig{}))
		store.Handle(q, func(_ context.Context, n number) error {
			ran <- n.N
			return nil
		})
		enqueue(t, db,
			store.Job{Task: number{1}, At: time.Now().Add(time.Hour)},
			store.Job{Task: number{2}, At: time.Now().Add(-time.Hour)})
		start(t, q)
		if got := receive(t, ran); got != 2 {
			t.Errorf("job %d ran", got)
		}
		stop(t, q)
		if len(ran) > 0 {
			t.Error("the job of the next hour ran")
		}
	})
}

// TestJobScheduledByWrongClock schedules a job with a clock that is a year ahead. The next start runs the job.
func TestJobScheduledByWrongClock(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		ran := make(chan int, 10)
		q := store.NewQueue(db, quick(store.QueueConfig{}))
		store.Handle(q, func(_ context.Context, n number) error {
			ran <- n.N
			return nil
		})
		enqueue(t, db, store.Job{Task: number{1}, At: time.Now().AddDate(1, 0, 0)})
		start(t, q)
		receive(t, ran)
		stop(t, q)
	})
}

// exhausted records one call of QueueConfig.Exhausted.
type exhausted struct {
	kind, args string
	err        error
}

// outcome runs one task of kind number. It returns the number of attempts, and the report that the task was given up.
func outcome(t *testing.T, db *store.DB, job store.Job, cfg store.QueueConfig, handle func(context.Context, int) error) (int, exhausted) {
	t.Helper()
	reports := make(chan exhausted, 10)
	cfg = quick(cfg)
	cfg.Exhausted = func(_ context.Context, kind string, args json.RawMessage, err error) error {
		reports <- exhausted{kind, string(args), err}
		return nil
	}
	var mu sync.Mutex
	tries := 0
	q := store.NewQueue(db, cfg)
	store.Handle(q, func(ctx context.Context, n number) error {
		mu.Lock()
		tries++
		try := tries
		mu.Unlock()
		return handle(ctx, try)
	})
	enqueue(t, db, job)
	start(t, q)
	report := receive(t, reports)
	stop(t, q)
	if len(reports) > 0 {
		t.Errorf("reported again: %v", <-reports)
	}
	report.args = strings.ReplaceAll(report.args, " ", "") // PostgreSQL's jsonb adds spaces
	return tries, report
}

func TestGivingUp(t *testing.T) {
	boom := errors.New("boom")
	for _, test := range []struct {
		name   string
		job    store.Job
		cfg    store.QueueConfig
		handle func(ctx context.Context, try int) error
		tries  int
		is     error
		says   string
	}{
		{name: "after the last try", job: store.Job{Task: number{1}, Tries: 3}, tries: 3, is: boom,
			handle: func(context.Context, int) error { return boom }},
		{name: "after five tries by default", job: store.Job{Task: number{1}}, tries: 5, is: boom,
			handle: func(context.Context, int) error { return boom }},
		{name: "at once after a permanent error", job: store.Job{Task: number{1}}, tries: 1, is: boom,
			handle: func(context.Context, int) error { return fmt.Errorf("first: %w", store.Permanent(boom)) }},
		{name: "after panics", job: store.Job{Task: number{1}, Tries: 2}, tries: 2, says: "panic: boom",
			handle: func(context.Context, int) error { panic(boom) }},
		{name: "after timeouts", job: store.Job{Task: number{1}, Tries: 2}, tries: 2, is: context.DeadlineExceeded, says: "not done within 20ms",
			cfg: store.QueueConfig{JobTimeout: 20 * time.Millisecond},
			handle: func(ctx context.Context, _ int) error {
				<-ctx.Done()
				return ctx.Err()
			}},
		{name: "not counting snoozes", job: store.Job{Task: number{1}, Tries: 2}, tries: 6, is: boom,
			handle: func(_ context.Context, try int) error {
				if try < 5 {
					return store.Snooze(time.Millisecond)
				}
				return boom
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, db *store.DB) {
				tries, report := outcome(t, db, test.job, test.cfg, test.handle)
				if tries != test.tries {
					t.Errorf("%d tries, want %d", tries, test.tries)
				}
				if report.kind != "number" || report.args != `{"N":1}` {
					t.Errorf("reported %s %s", report.kind, report.args)
				}
				if test.is != nil && !errors.Is(report.err, test.is) || !strings.Contains(report.err.Error(), test.says) {
					t.Errorf("reported %v, want %v %q", report.err, test.is, test.says)
				}
			})
		})
	}
}

// TestHandleWithin checks that a handler may have another timeout than the queue.
func TestHandleWithin(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		left := make(chan time.Duration, 1)
		q := store.NewQueue(db, quick(store.QueueConfig{JobTimeout: time.Second}))
		store.HandleWithin(q, time.Hour, func(ctx context.Context, _ number) error {
			deadline, _ := ctx.Deadline()
			left <- time.Until(deadline)
			return nil
		})
		enqueue(t, db, store.Job{Task: number{1}})
		start(t, q)
		if has := receive(t, left); has < time.Minute || has > time.Hour {
			t.Errorf("the deadline is in %v, want about an hour", has)
		}
	})
}

func TestFailedTriesAreForgottenOnSuccess(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		done, given := make(chan int, 1), make(chan error, 1)
		cfg := quick(store.QueueConfig{Exhausted: func(_ context.Context, _ string, _ json.RawMessage, err error) error {
			given <- err
			return nil
		}})
		cfg.Workers = map[string]int{store.DefaultQueue: 1}
		q := store.NewQueue(db, cfg)
		tries := 0
		store.Handle(q, func(context.Context, number) error {
			if tries++; tries < 3 {
				return errors.New("not yet")
			}
			done <- tries
			return nil
		})
		enqueue(t, db, store.Job{Task: number{1}, Tries: 3})
		start(t, q)
		if got := receive(t, done); got != 3 {
			t.Errorf("done at try %d, want 3", got)
		}
		stop(t, q)
		if len(given) > 0 {
			t.Errorf("given up: %v", <-given)
		}
	})
}

func TestFailedReportIsRepeated(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		reports := make(chan error, 10)
		var mu sync.Mutex
		calls, tries := 0, 0
		q := store.NewQueue(db, quick(store.QueueConfig{Exhausted: func(_ context.Context, _ string, _ json.RawMessage, err error) error {
			mu.Lock()
			defer mu.Unlock()
			if calls++; calls < 3 {
				return errors.New("the database is away")
			}
			reports <- err
			return nil
		}}))
		store.Handle(q, func(context.Context, number) error {
			mu.Lock()
			defer mu.Unlock()
			tries++
			return errors.New("boom")
		})
		enqueue(t, db, store.Job{Task: number{1}, Tries: 1})
		start(t, q)
		if err := receive(t, reports); err == nil {
			t.Error("the report does not say why the job was given up")
		}
		stop(t, q)
		if tries != 1 || calls != 3 {
			t.Errorf("%d tries, %d reports; want 1 and 3", tries, calls)
		}
	})
}

func TestUndecodableTaskIsGivenUp(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		reports := make(chan error, 1)
		q := store.NewQueue(db, quick(store.QueueConfig{Exhausted: func(_ context.Context, _ string, _ json.RawMessage, err error) error {
			reports <- err
			return nil
		}}))
		store.Handle(q, func(_ context.Context, n number) error { return fmt.Errorf("ran with %v", n) })
		enqueue(t, db, store.Job{Task: misnamed{"text"}})
		start(t, q)
		if err := receive(t, reports); !strings.Contains(err.Error(), "decode task") {
			t.Errorf("reported %v", err)
		}
	})
}

// misnamed is a task that another version stored under the kind of number.
type misnamed struct{ N string }

func (misnamed) Kind() string { return "number" }

// A unique job that is added while the handler of an equal job ends is either handled by it or stays in the queue: none is lost.
func TestDoneMissesNoWork(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		const writers, each = 8, 50
		name := func(i int) string { return fmt.Sprint("piece ", i) }
		q := store.NewQueue(db, store.QueueConfig{Workers: map[string]int{store.DefaultQueue: 4}})
		taken := make([]bool, writers*each) // by one handler at a time
		left := len(taken)
		ended := make(chan struct{})
		errMore := errors.New("there is more")
		store.Handle(q, func(ctx context.Context, _ number) error {
			for {
				var found []int
				err := db.WriteAsync(ctx, func(tx *store.Tx) error {
					found = nil
					if err := tx.Done(ctx); err != nil {
						return err
					}
					for i := range taken {
						if taken[i] {
							continue
						}
						if _, err := tx.Setting(ctx, name(i)); err == nil {
							found = append(found, i)
						} else if !errors.Is(err, sql.ErrNoRows) {
							return err
						}
					}
					if len(found) > 0 {
						return errMore
					}
					return nil
				})
				for _, i := range found {
					taken[i] = true
				}
				if left -= len(found); left == 0 && len(found) > 0 {
					close(ended)
				}
				if !errors.Is(err, errMore) {
					return err
				}
			}
		})
		start(t, q)
		var writing sync.WaitGroup
		for w := range writers {
			writing.Go(func() {
				for i := range each {
					if err := db.WriteAsync(t.Context(), func(tx *store.Tx) error {
						if _, err := tx.InsertSetting(t.Context(), name(w*each+i), ""); err != nil {
							return err
						}
						_, err := tx.Enqueue(t.Context(), store.Job{Task: number{1}, Unique: true})
						return err
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		writing.Wait()
		receive(t, ended)
	})
}
