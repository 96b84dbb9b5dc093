package store_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"platen/fair"
	"platen/store"
	"platen/store/storetest"
)

// queueUp makes operations of two users wait for their turn: many of the first user, then one of the second.
type queueUp struct {
	t      *testing.T
	db     *store.DB
	mu     sync.Mutex
	done   int // operations of the first user
	passed int // operations of the first user that were done before that of the second
	all    sync.WaitGroup
}

const (
	busyUser  = 1
	otherUser = 2
	crowd     = 40
)

// add starts an operation, and returns when the operation is waiting.
func (q *queueUp) add(user int64, operation func(context.Context, func()) error) {
	q.t.Helper()
	ctx := fair.For(q.t.Context(), fair.Claimant{User: user, Weight: 1})
	waiting := q.db.Waiting()
	q.all.Go(func() {
		err := operation(ctx, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			if user == busyUser {
				q.done++
			} else {
				q.passed = q.done
			}
		})
		if err != nil {
			q.t.Error(err)
		}
	})
	for q.db.Waiting() == waiting {
		runtime.Gosched()
	}
}

// TestUsersTakeTurnsToWrite checks that a user with one transaction waits for at most one of another user, who enqueued many before.
func TestUsersTakeTurnsToWrite(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	q := &queueUp{t: t, db: db}
	write := func(ctx context.Context, note func()) error {
		return db.Write(ctx, func(*store.Tx) error { note(); return nil })
	}
	busy := fair.For(t.Context(), fair.Claimant{User: busyUser, Weight: 1})
	err := db.Write(busy, func(*store.Tx) error {
		for range crowd {
			q.add(busyUser, write)
		}
		q.add(otherUser, write)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	q.all.Wait()
	if q.passed > 1 {
		t.Errorf("%d transactions of a busy user preceded the only one of another, want at most 1 of %d", q.passed, q.done)
	}
}

// TestLongReadsLeaveAConnection checks that a user who reads on all available connections leaves one to another user.
func TestLongReadsLeaveAConnection(t *testing.T) {
	storetest.RunConfig(t, func(t *testing.T, cfg store.Config) {
		db := storetest.Open(t, cfg)
		busy := fair.For(t.Context(), fair.Claimant{User: busyUser, Weight: 1})
		other := fair.For(t.Context(), fair.Claimant{User: otherUser, Weight: 1})
		letGo := make(chan struct{})
		var readers sync.WaitGroup
		for range crowd {
			readers.Go(func() {
				err := db.Read(busy, func(q *store.Queries) error {
					<-letGo
					_, err := q.HasVersions(busy)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		for db.Waiting() == 0 { // the user now has as many connections as one user may have
			runtime.Gosched()
		}
		if err := db.Read(other, func(q *store.Queries) error { _, err := q.HasVersions(other); return err }); err != nil {
			t.Error(err)
		}
		close(letGo)
		readers.Wait()
	})
}
