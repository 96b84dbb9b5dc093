package store_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/store"
	"platen/store/storetest"
)

// lockOut holds the lock of the database, as another process would, until release is called.
func lockOut(t *testing.T, cfg store.Config) (release func()) {
	t.Helper()
	conn, err := storetest.Raw(t, cfg).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	statement := "BEGIN IMMEDIATE"
	if cfg.URL != "" {
		statement = "BEGIN; LOCK TABLE settings IN ACCESS EXCLUSIVE MODE"
	}
	if _, err := conn.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if _, err := conn.ExecContext(context.WithoutCancel(t.Context()), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
			t.Error(err)
		}
	}
}

// TestWriteWaitsForAnotherProcess holds the lock of another process. Any number of writers give up after a while, without having written
// anything. Later they can write again.
func TestWriteWaitsForAnotherProcess(t *testing.T) {
	storetest.RunConfig(t, func(t *testing.T, cfg store.Config) {
		cfg.WriteWait = 50 * time.Millisecond
		db := storetest.Open(t, cfg)
		ctx := t.Context()
		release := lockOut(t, cfg)
		errs := make([]error, 8)
		var writers sync.WaitGroup
		for i := range errs {
			writers.Go(func() {
				errs[i] = db.Write(ctx, func(tx *store.Tx) error { return set(ctx, tx, "busy", "1") })
			})
		}
		writers.Wait()
		for _, err := range errs {
			if !store.IsBusy(err) || store.IsFull(err) {
				t.Errorf("error = %v, want one of a busy database", err)
			}
		}
		hurried, cancel := context.WithCancel(ctx)
		cancel()
		if err := db.Write(hurried, func(*store.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want the context's", err)
		}
		if cfg.Path != "" { // on PostgreSQL, the test has locked readers out too
			err := db.Read(ctx, func(q *store.Queries) error { _, err := q.HasVersions(ctx); return err })
			if err != nil {
				t.Errorf("readers: %v", err)
			}
		}
		release()
		if err := db.Write(ctx, func(tx *store.Tx) error { return set(ctx, tx, "busy", "2") }); err != nil {
			t.Error(err)
		}
	})
}

// TestWriteWaitsItsTurn checks that a long transaction delays others only for a limited time.
func TestWriteWaitsItsTurn(t *testing.T) {
	cfg := storetest.SQLite(t)
	cfg.WriteWait = 50 * time.Millisecond
	db := storetest.Open(t, cfg)
	ctx := t.Context()
	err := db.Write(ctx, func(*store.Tx) error {
		other := make(chan error)
		go func() { other <- db.Write(ctx, func(*store.Tx) error { return nil }) }()
		if err := <-other; !store.IsBusy(err) {
			t.Errorf("error = %v, want one of a busy database", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// watchedLog calls seen for each message.
type watchedLog struct {
	slog.Handler
	seen func(message string)
}

func (l watchedLog) Handle(_ context.Context, r slog.Record) error { l.seen(r.Message); return nil }
func (l watchedLog) Enabled(context.Context, slog.Level) bool      { return true }
func (l watchedLog) WithAttrs([]slog.Attr) slog.Handler            { return l }
func (l watchedLog) WithGroup(string) slog.Handler                 { return l }

// TestQueueSurvivesLockedDatabase completes a job while another process holds the lock. The job is marked as done once the lock is free,
// and does not run again.
func TestQueueSurvivesLockedDatabase(t *testing.T) {
	cfg := storetest.SQLite(t)
	failed := make(chan struct{})
	var once sync.Once
	cfg.Log = slog.New(watchedLog{seen: func(message string) {
		if strings.Contains(message, "Completer error") {
			once.Do(func() { close(failed) })
		}
	}})
	db := storetest.Open(t, cfg)
	running, locked, ran := make(chan struct{}), make(chan struct{}), 0
	q := store.NewQueue(db, store.QueueConfig{Workers: map[string]int{store.DefaultQueue: 1}})
	store.Handle(q, func(context.Context, number) error {
		ran++
		close(running)
		<-locked
		return nil
	})
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	enqueue(t, db, store.Job{Task: number{1}})
	receive(t, running)
	release := lockOut(t, cfg)
	close(locked)
	receive(t, failed)
	release()
	if err := q.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := states(t, db); got != "completed:1" || ran != 1 {
		t.Errorf("the job ran %d times, states %q", ran, got)
	}
}
