package store_test

import (
	"context"
	"errors"
	"testing"

	"platen/store"
	"platen/store/storetest"
)

// TestRiverJoinsTheTransaction checks that River takes part in a transaction of database/sql. The transaction sees River's changes before
// the commit and undoes them with a rollback. Its connection can be used afterward.
func TestRiverJoinsTheTransaction(t *testing.T) {
	ctx := t.Context()
	db := storetest.Open(t, storetest.Postgres(t))
	boom := errors.New("boom")
	for range 3 {
		err := db.Write(ctx, func(tx *store.Tx) error {
			if err := set(ctx, tx, "before", "1"); err != nil {
				return err
			}
			if _, err := tx.Enqueue(ctx, numbers(100)...); err != nil {
				return err
			}
			if n, err := tx.CountRiverJobs(ctx); n != 100 || err != nil {
				t.Errorf("the transaction sees %d jobs, %v", n, err)
			}
			if err := set(ctx, tx, "after", "1"); err != nil {
				return err
			}
			return boom
		})
		if !errors.Is(err, boom) {
			t.Fatal(err)
		}
	}
	if got := states(t, db); got != "" {
		t.Errorf("states after the rollback: %q", got)
	}
	enqueue(t, db, numbers(100)...)
	if got := states(t, db); got != "available:100" {
		t.Errorf("states after the commit: %q", got)
	}
}

// TestRiverErrorKeepsConnection checks that an error of River does not cost the connection. Otherwise every bad job would cost one.
func TestRiverErrorKeepsConnection(t *testing.T) {
	ctx := t.Context()
	db := storetest.Open(t, storetest.Postgres(t))
	backend := func() (pid int) {
		if err := db.Reader().QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	before := backend()
	err := db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx, store.Job{Task: number{1}, Priority: 9})
		return err
	})
	if err == nil {
		t.Error("a priority of 9 was accepted")
	}
	if after := backend(); after != before {
		t.Errorf("connection %d was replaced by %d", before, after)
	}
}

func TestRiverCannotEndTransaction(t *testing.T) {
	tx := store.JoinedTx{}
	if _, err := tx.Begin(context.Background()); err == nil {
		t.Error("Begin succeeded")
	}
	if tx.Commit(context.Background()) == nil || tx.Rollback(context.Background()) == nil {
		t.Error("Commit or Rollback succeeded")
	}
}
