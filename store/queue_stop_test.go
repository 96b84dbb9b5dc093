package store_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"platen/store"
	"platen/store/storetest"
)

func TestStopWaitsForRunningJobs(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		running, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		q := store.NewQueue(db, quick(store.QueueConfig{}))
		store.Handle(q, func(ctx context.Context, _ number) error {
			close(running)
			<-release
			ended <- ctx.Err()
			return nil
		})
		start(t, q)
		enqueue(t, db, store.Job{Task: number{1}})
		receive(t, running)
		stopped := make(chan error, 1)
		go func() { stopped <- q.Stop(context.Background()) }()
		close(release)
		if err := receive(t, stopped); err != nil {
			t.Error(err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("its context was canceled: %v", err)
			}
		default:
			t.Error("Stop did not wait")
		}
		if got := states(t, db); got != "completed:1" {
			t.Errorf("states %q, want completed:1", got)
		}
	})
}

func TestStopCancelsAfterDeadline(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		running := make(chan struct{}, 2)
		given := make(chan error, 1)
		cfg := quick(store.QueueConfig{Exhausted: func(_ context.Context, _ string, _ json.RawMessage, err error) error {
			given <- err
			return nil
		}})
		interrupted := store.NewQueue(db, cfg)
		store.Handle(interrupted, func(ctx context.Context, _ number) error {
			running <- struct{}{}
			<-ctx.Done()
			return errors.New("the converter was killed") // any error that a handler may return after its context is canceled
		})
		start(t, interrupted)
		enqueue(t, db, store.Job{Task: number{1}, Tries: 1}) // its only attempt must not be lost
		receive(t, running)
		now, cancel := context.WithCancel(t.Context())
		cancel()
		if err := interrupted.Stop(now); err != nil {
			t.Fatal(err)
		}
		again := store.NewQueue(db, cfg)
		store.Handle(again, func(context.Context, number) error {
			running <- struct{}{}
			return nil
		})
		start(t, again)
		receive(t, running)
		stop(t, again)
		if len(given) > 0 {
			t.Errorf("given up: %v", <-given)
		}
	})
}

func TestCancelJobs(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		running, cause := make(chan struct{}), make(chan error, 10)
		given := make(chan error, 1)
		cfg := quick(store.QueueConfig{Exhausted: func(_ context.Context, _ string, _ json.RawMessage, err error) error {
			given <- err
			return nil
		}})
		cfg.Workers = map[string]int{store.DefaultQueue: 1}
		q := store.NewQueue(db, cfg)
		store.Handle(q, func(ctx context.Context, n number) error {
			if n.N == 0 {
				close(running)
				<-ctx.Done()
			}
			cause <- context.Cause(ctx)
			return ctx.Err()
		})
		start(t, q)
		ids := enqueue(t, db, numbers(2)...) // 0 runs, 1 waits for the only worker
		receive(t, running)
		if err := db.CancelJobs(t.Context(), ids[1], ids[0], 1<<40); err != nil {
			t.Fatal(err)
		}
		if err := receive(t, cause); err == nil {
			t.Error("the running job's context was not canceled")
		}
		stop(t, q)
		if len(cause) > 0 {
			t.Error("the waiting job ran")
		}
		if len(given) > 0 {
			t.Errorf("given up: %v", <-given)
		}
		if got := states(t, db); got != "cancelled:2" {
			t.Errorf("states %q, want cancelled:2", got)
		}
	})
}

// states counts River's jobs by state.
func states(t *testing.T, db *store.DB) string {
	t.Helper()
	rows, err := db.Reader().QueryContext(t.Context(), "SELECT CAST(state AS TEXT), COUNT(*) FROM river_job GROUP BY state ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var state string
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s:%d", state, n))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

// TestQueueTimes checks that a job cannot be rescued while it runs, because River recognizes lost jobs only by their age. It also checks
// the cooldown, because River's default would make the queue slow.
func TestQueueTimes(t *testing.T) {
	for _, timeout := range []time.Duration{0, 10 * time.Minute} {
		cfg := store.NewQueue(storetest.Open(t, storetest.SQLite(t)), store.QueueConfig{JobTimeout: timeout}).RiverConfig()
		if cfg.RescueStuckJobsAfter < 5*time.Minute || cfg.RescueStuckJobsAfter < 2*cfg.JobTimeout {
			t.Errorf("jobs of %v are rescued after %v", cfg.JobTimeout, cfg.RescueStuckJobsAfter)
		}
		if cfg.FetchCooldown > 20*time.Millisecond {
			t.Errorf("FetchCooldown = %v", cfg.FetchCooldown)
		}
		if timeout == 0 && cfg.JobTimeout != 2*time.Minute {
			t.Errorf("JobTimeout = %v", cfg.JobTimeout)
		}
	}
}

func TestSQLiteQueueAllowsOneProcess(t *testing.T) {
	cfg := storetest.SQLite(t)
	first := store.NewQueue(storetest.Open(t, cfg), quick(store.QueueConfig{}))
	store.Handle(first, func(context.Context, number) error { return nil })
	second := store.NewQueue(storetest.Open(t, cfg), quick(store.QueueConfig{}))
	store.Handle(second, func(context.Context, number) error { return nil })
	start(t, first)
	if err := second.Start(t.Context()); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("Start = %v, want ErrLocked", err)
	}
	stop(t, first)
	start(t, second)
}

func TestPostgresQueueAllowsManyProcesses(t *testing.T) {
	const n = 200
	cfg := storetest.Postgres(t)
	ran := make(chan int, 2*n)
	var queues []*store.Queue
	for range 3 {
		q := store.NewQueue(storetest.Open(t, cfg), quick(store.QueueConfig{}))
		store.Handle(q, func(_ context.Context, n number) error {
			ran <- n.N
			return nil
		})
		start(t, q)
		queues = append(queues, q)
	}
	enqueue(t, storetest.Open(t, cfg), numbers(n)...)
	times := make([]int, n)
	for range n {
		times[receive(t, ran)]++
	}
	for _, q := range queues {
		stop(t, q)
	}
	for i, got := range times {
		if got != 1 || len(ran) > 0 {
			t.Errorf("job %d ran %d times", i, got)
		}
	}
}

// TestSQLiteQueueWritesNoNotifications checks that the queue does not use River's table of notifications, which is written for every job
// and read 20 times a second.
func TestSQLiteQueueWritesNoNotifications(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	enqueue(t, db, numbers(3)...)
	var n int
	if err := db.Reader().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM river_notification").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d notifications, %v", n, err)
	}
}

func TestJobLostInLastAttemptIsGivenUp(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	ids := enqueue(t, db, store.Job{Task: number{1}, Tries: 2})
	// This is the state after a process was killed during the second attempt.
	if _, err := db.Writer().ExecContext(t.Context(), "UPDATE river_job SET state = 'running', attempt = 2 WHERE id = ?", ids[0]); err != nil {
		t.Fatal(err)
	}
	reports := make(chan error, 1)
	q := store.NewQueue(db, quick(store.QueueConfig{Exhausted: func(_ context.Context, _ string, _ json.RawMessage, err error) error {
		reports <- err
		return nil
	}}))
	store.Handle(q, func(context.Context, number) error { return errors.New("ran a third time") })
	start(t, q)
	if err := receive(t, reports); !errors.Is(err, store.ErrLost) {
		t.Errorf("reported %v, want ErrLost", err)
	}
}

// victimPath is an environment variable of a process that a test starts. It names the database whose queue the process works on until it is
// killed.
const victimPath = "PLATEN_TEST_VICTIM"

// victim starts jobs that never end, and reports each on standard output when it runs.
func victim(path string) error {
	ctx := context.Background()
	db, err := store.Open(ctx, store.Config{Path: path})
	if err != nil {
		return err
	}
	q := store.NewQueue(db, store.QueueConfig{Workers: map[string]int{store.DefaultQueue: 4}})
	store.Handle(q, func(context.Context, number) error {
		fmt.Println("running")
		select {}
	})
	if err := q.Start(ctx); err != nil {
		return err
	}
	select {}
}

func TestJobsOfAKilledProcessRunAgain(t *testing.T) {
	const n = 10
	cfg := storetest.SQLite(t)
	db := storetest.Open(t, cfg)
	enqueue(t, db, numbers(n)...)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), victimPath+"="+cfg.Path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range 4 {
		if !lines.Scan() {
			t.Fatal("the process to be killed has ended")
		}
	}
	ran := make(chan int, 2*n)
	q := store.NewQueue(db, quick(store.QueueConfig{}))
	store.Handle(q, func(_ context.Context, n number) error {
		ran <- n.N
		return nil
	})
	if err := q.Start(t.Context()); !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint(cmd.Process.Pid)) {
		t.Errorf("Start next to a running process = %v, want ErrLocked with its pid %d", err, cmd.Process.Pid)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // signal: killed
	start(t, q)
	times := make([]int, n)
	for range n {
		times[receive(t, ran)]++
	}
	for i, got := range times {
		if got != 1 {
			t.Errorf("job %d ran %d times", i, got)
		}
	}
}
