package fair_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"platen/fair"
)

// hall is a set of slots in a bubble, with a log of the claimants that were served.
type hall struct {
	t      *testing.T
	slots  *fair.Slots
	mu     sync.Mutex
	served []string
	done   sync.WaitGroup
}

// comes starts a claimant that waits for a slot, holds it for a time, and releases it. When comes returns, the claimant waits or is served.
func (h *hall) comes(name string, c fair.Claimant, hold time.Duration) {
	h.t.Helper()
	h.done.Go(func() {
		slot, err := h.slots.Acquire(context.Background(), c)
		if err != nil {
			h.t.Error(err)
			return
		}
		h.note(name)
		<-time.After(hold)
		slot.Release()
	})
	synctest.Wait()
}

func (h *hall) note(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.served = append(h.served, name)
}

// log returns the names of the claimants that were served.
func (h *hall) log() string {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.served, " ")
}

func (h *hall) want(order string) {
	h.t.Helper()
	h.done.Wait()
	if got := h.log(); got != order {
		h.t.Errorf("served %s, want %s", got, order)
	}
}

// in runs a test in a bubble, where time passes only while all goroutines wait.
func in(t *testing.T, cfg fair.Config, test func(h *hall)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(&hall{t: t, slots: fair.New(cfg)}) })
}

const moment = 100 * time.Millisecond

var a, b, c = fair.Claimant{User: 1}, fair.Claimant{User: 2}, fair.Claimant{User: 3}

func TestNewcomerIsServedNext(t *testing.T) {
	in(t, fair.Config{Slots: 1}, func(h *hall) {
		for range 5 {
			h.comes("a", a, moment)
		}
		h.comes("b", b, moment)
		h.want("a b a a a a")
	})
}

func TestUsersTakeTurns(t *testing.T) {
	in(t, fair.Config{Slots: 1}, func(h *hall) {
		for _, name := range []string{"a1", "a2", "a3"} {
			h.comes(name, a, moment)
		}
		for _, name := range []string{"b1", "b2", "b3"} {
			h.comes(name, b, moment)
		}
		h.want("a1 b1 a2 b2 a3 b3")
	})
}

func TestUsersAccumulateNoCredit(t *testing.T) {
	in(t, fair.Config{Slots: 1}, func(h *hall) {
		for range 10 {
			h.comes("a", a, moment)
		}
		h.done.Wait()
		h.served = nil
		for range 3 { // b has used nothing for a long time, but takes turns anyway
			h.comes("a", a, moment)
			h.comes("b", b, moment)
		}
		h.want("a b a b a b")
	})
}

// TestChargeIsBounded checks that a user does not wait for an hour after a document that took an hour.
func TestChargeIsBounded(t *testing.T) {
	in(t, fair.Config{Slots: 1}, func(h *hall) {
		h.comes("a", a, time.Hour)
		for range 20 {
			h.comes("b", b, moment)
		}
		h.comes("a", a, moment)
		h.done.Wait()
		if i := slices.Index(h.served[1:], "a"); i > 11 {
			t.Errorf("a was served after %d of b: %q", i, h.served)
		}
	})
}

func TestWeights(t *testing.T) {
	in(t, fair.Config{Slots: 1}, func(h *hall) {
		heavy := fair.Claimant{User: 1, Weight: 3}
		for range 40 {
			h.comes("a", heavy, moment)
			h.comes("b", b, moment)
		}
		h.done.Wait()
		n := 0
		for _, name := range h.served[:40] {
			if name == "a" {
				n++
			}
		}
		if n < 28 || n > 32 {
			t.Errorf("a user with three times the weight got %d of 40 turns, want about 30", n)
		}
	})
}

func TestSlotsAreShared(t *testing.T) {
	in(t, fair.Config{Slots: 4}, func(h *hall) {
		for range 8 {
			h.comes("a", a, moment)
		}
		for range 4 {
			h.comes("b", b, moment)
		}
		<-time.After(moment * 3 / 2)
		if got := h.log(); len(strings.Fields(got)) != 8 || strings.Count(got, "b") != 2 {
			t.Errorf("served first are %s, want two of the four slots that became free for b", got)
		}
		h.done.Wait()
	})
}

func TestInteractiveClaimantsGoFirst(t *testing.T) {
	in(t, fair.Config{Slots: 1}, func(h *hall) {
		h.comes("a", a, moment)
		for range 2 {
			h.comes("a", a, moment)
		}
		for range 5 {
			h.comes("i", fair.Claimant{User: 2, Interactive: true}, moment)
		}
		h.want("a i i i a i i a")
	})
}

// TestLongDocumentsLeaveASlot checks that a user with long documents in every slot leaves one to the others and cannot take it.
func TestLongDocumentsLeaveASlot(t *testing.T) {
	for _, slots := range []int{1, 2} {
		in(t, fair.Config{Slots: slots, Long: time.Second}, func(h *hall) {
			for range slots + 1 {
				h.comes("long", a, time.Minute)
			}
			for range 3 {
				h.comes("b", b, moment)
			}
			<-time.After(2 * time.Second)
			want := "long" + strings.Repeat(" long", slots-1) + " b b b"
			if got := h.log(); got != want {
				t.Errorf("%d slots: served %s, want %s", slots, got, want)
			}
			h.comes("c", c, moment)
			if got := h.log(); got != want+" c" {
				t.Errorf("%d slots: served %s, so c waits", slots, got)
			}
			h.done.Wait()
		})
	}
}

func TestSpareSlots(t *testing.T) {
	in(t, fair.Config{Slots: 2, Spare: 1}, func(h *hall) {
		for range 4 {
			h.comes("a", a, time.Minute)
		}
		h.comes("b", b, time.Minute)
		h.comes("b", b, moment)
		h.comes("c", c, moment)
		if got := h.log(); got != "a a b" {
			t.Errorf("at once are served %s, want a a b", got)
		}
		h.done.Wait()
	})
}

func TestMost(t *testing.T) {
	for _, cfg := range []fair.Config{{Slots: 4, Most: 2}, {Slots: 4, Least: 3, Most: 2}} {
		in(t, cfg, func(h *hall) {
			for range 3 {
				h.comes("a", a, time.Minute)
			}
			if got := h.log(); got != "a a" {
				t.Errorf("%+v: served %s, want a a: nobody holds more than two", cfg, got)
			}
			h.comes("b", b, moment)
			if got := h.log(); got != "a a b" {
				t.Errorf("%+v: served %s, so b waits for a, who may have no more", cfg, got)
			}
			h.want("a a b a")
		})
	}
}

// TestLeast checks that every user gets Least slots even if others hold all slots, and no more than that while they do.
func TestLeast(t *testing.T) {
	in(t, fair.Config{Slots: 3, Least: 2}, func(h *hall) {
		for range 4 {
			h.comes("a", a, time.Minute)
		}
		for range 3 {
			h.comes("b", b, time.Hour)
		}
		h.comes("c", c, moment)
		if got := h.log(); got != "a a a b b c" {
			t.Errorf("served at once: %s, want a a a b b c", got)
		}
		<-time.After(2 * time.Minute)
		if got := h.log(); got != "a a a b b c a b" && got != "a a a b b c b a" {
			t.Errorf("served %s, want one more of a and b when a is done", got)
		}
		h.done.Wait()
	})
}

func TestTryAcquire(t *testing.T) {
	in(t, fair.Config{Slots: 1}, func(h *hall) {
		slot, ok := h.slots.TryAcquire(a)
		if !ok {
			t.Fatal("a free slot is refused")
		}
		for _, claimant := range []fair.Claimant{a, b} {
			if _, ok := h.slots.TryAcquire(claimant); ok {
				t.Errorf("user %d got a slot that is held", claimant.User)
			}
		}
		if n := h.slots.Waiting(); n != 0 {
			t.Errorf("%d claimants wait after TryAcquire", n)
		}
		h.comes("b", b, moment)
		slot.Release()
		if _, ok := h.slots.TryAcquire(a); ok {
			t.Error("a overtook b, who waits")
		}
		h.want("b")
	})
}

// TestLongHoldsLeaveAShare holds slots for very long, as receivers that hang do. Later, the user still gets an equal share.
func TestLongHoldsLeaveAShare(t *testing.T) {
	in(t, fair.Config{Slots: 8, Least: 2, Most: 8}, func(h *hall) {
		for range 80 {
			h.comes("a", a, 30*time.Second)
		}
		h.done.Wait()
		h.served = nil
		for range 100 {
			h.comes("a", a, moment)
			h.comes("b", b, moment)
		}
		<-time.After(10 * moment)
		got := strings.Fields(h.log())
		n := len(slices.DeleteFunc(slices.Clone(got), func(name string) bool { return name == "b" }))
		if n < len(got)/2-4 || n > len(got)/2+4 {
			t.Errorf("a got %d of %d slots, want half of them", n, len(got))
		}
		h.done.Wait()
	})
}

func TestYield(t *testing.T) {
	in(t, fair.Config{Slots: 1}, func(h *hall) {
		slot, err := h.slots.Acquire(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		h.comes("a, later", a, moment)
		if err := slot.Yield(context.Background()); err != nil { // for a waiter of the same user it stays as it is
			t.Fatal(err)
		}
		h.note("a")
		h.comes("b", b, moment)
		if err := slot.Yield(context.Background()); err != nil {
			t.Fatal(err)
		}
		h.note("a again")
		slot.Release()
		slot.Release() // does nothing
		h.want("a b a again a, later")
	})
}

func TestCanceledWaitersLeaveNothing(t *testing.T) {
	in(t, fair.Config{Slots: 1}, func(h *hall) {
		slot, err := h.slots.Acquire(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		gone := errors.New("gone")
		ended := make(chan error, 2)
		go func() {
			_, err := h.slots.Acquire(ctx, b)
			ended <- err
		}()
		synctest.Wait()
		go func() { ended <- slot.Yield(ctx) }() // b is served, and c waits with a
		synctest.Wait()
		cancel(gone)
		synctest.Wait()
		for range 2 {
			if err := <-ended; err != nil && !errors.Is(err, gone) {
				t.Error(err)
			}
		}
		if n := h.slots.Waiting(); n != 0 {
			t.Errorf("%d still wait", n)
		}
		if _, err := h.slots.Acquire(ctx, a); !errors.Is(err, gone) {
			t.Errorf("Acquire after the end: %v", err)
		}
	})
}

// census counts the slots that users hold and wait for, as seen from outside.
type census struct {
	mu            sync.Mutex
	held, waiting map[int64]int
	total         int
}

func (n *census) change(user int64, held, waiting int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held[user] += held
	n.waiting[user] += waiting
	n.total += held
}

// check reports violations of the configuration. It must be called while nothing changes.
func (n *census) check(t *testing.T, cfg fair.Config) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	limit := cfg.Slots + cfg.Spare
	if cfg.Long > 0 {
		limit++
	}
	for user, held := range n.held {
		full := cfg.Most > 0 && held >= cfg.Most
		if cfg.Most > 0 && held > cfg.Most {
			t.Errorf("user %d holds %d slots, more than %d", user, held, cfg.Most)
		}
		if n.waiting[user] > 0 && !full && (held < cfg.Least || n.total < cfg.Slots || held == 0 && n.total < cfg.Slots+cfg.Spare) {
			t.Errorf("user %d waits with %d slots, while %d are held with %+v", user, held, n.total, cfg)
		}
		if held > 0 {
			limit += cfg.Least
		}
	}
	if n.total > limit {
		t.Errorf("%d slots are held with %+v", n.total, cfg)
	}
}

// TestSlotsAreNeitherLostNorInvented draws claimants in any order. It checks that no more slots are held than exist, that no slot is free
// while a claimant that may have it waits, and that every claimant is served in the end.
func TestSlotsAreNeitherLostNorInvented(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		cfg := fair.Config{
			Slots: rapid.IntRange(1, 4).Draw(r, "slots"), Spare: rapid.IntRange(0, 2).Draw(r, "spare"),
			Least: rapid.IntRange(0, 2).Draw(r, "least"), Most: rapid.IntRange(0, 3).Draw(r, "most"),
			Long: time.Duration(rapid.IntRange(0, 2).Draw(r, "long")) * time.Second,
		}
		type visit struct {
			claimant    fair.Claimant
			hold, leave time.Duration
			yields      int
			tries       bool // instead of waiting
		}
		visits := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) visit {
			return visit{
				claimant: fair.Claimant{
					User: rapid.Int64Range(1, 4).Draw(r, "user"), Weight: rapid.IntRange(0, 3).Draw(r, "weight"),
					Interactive: rapid.Bool().Draw(r, "interactive"),
				},
				hold:   time.Duration(rapid.IntRange(0, 3000).Draw(r, "hold")) * time.Millisecond,
				leave:  time.Duration(rapid.IntRange(0, 9000).Draw(r, "leave")) * time.Millisecond,
				yields: rapid.IntRange(0, 2).Draw(r, "yields"),
				tries:  rapid.Bool().Draw(r, "tries"),
			}
		}), 1, 30).Draw(r, "visits")
		synctest.Test(t, func(t *testing.T) {
			slots := fair.New(cfg)
			count := &census{held: map[int64]int{}, waiting: map[int64]int{}}
			var all sync.WaitGroup
			for _, v := range visits {
				all.Go(func() {
					user := v.claimant.User
					ctx, cancel := context.WithTimeout(context.Background(), v.leave)
					defer cancel()
					slot, ok := slots.TryAcquire(v.claimant)
					if !ok {
						if v.tries {
							return
						}
						count.change(user, 0, 1)
						var err error
						slot, err = slots.Acquire(ctx, v.claimant)
						count.change(user, 0, -1)
						if err != nil {
							return
						}
					}
					count.change(user, 1, 0)
					for range v.yields {
						time.Sleep(v.hold)
						count.change(user, -1, 1)
						if err := slot.Yield(ctx); err != nil {
							count.change(user, 0, -1)
							return
						}
						count.change(user, 1, -1)
					}
					time.Sleep(v.hold)
					count.change(user, -1, 0)
					slot.Release()
				})
			}
			for range 150 {
				synctest.Wait()
				count.check(t, cfg)
				time.Sleep(500 * time.Millisecond)
			}
			all.Wait()
			if count.total != 0 || slots.Waiting() != 0 {
				t.Errorf("in the end, %d slots are held, and %d claimants wait", count.total, slots.Waiting())
			}
			for user := range int64(4) { // all slots are available again
				slot, err := slots.Acquire(context.Background(), fair.Claimant{User: user})
				if err != nil {
					t.Fatal(err)
				}
				slot.Release()
			}
		})
	})
}
