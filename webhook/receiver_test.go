package webhook

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const hook = "https://hooks.example.com/secret"

// fail makes an attempt, which the breaker must allow, and reports the receiver as unhealthy.
func fail(t *testing.T, r *receiver) {
	t.Helper()
	done, wait := r.allow()
	if done == nil {
		t.Fatalf("no attempt is allowed for %v", wait)
	}
	done(false)
}

// heldFor checks that no attempt is allowed, and the time to wait.
func heldFor(t *testing.T, r *receiver, want time.Duration) {
	t.Helper()
	if done, wait := r.allow(); done != nil || wait != want {
		t.Fatalf("allowed %v, to wait %v, want %v", done != nil, wait, want)
	}
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []string
		rs := newReceivers(1, func(name string, to breakerState) { changes = append(changes, name+" "+string(to)) })
		r := rs.of(hook)
		for range tripAfter - 1 {
			fail(t, r)
		}
		done, _ := r.allow()
		done(true) // resets the count
		for range tripAfter - 1 {
			fail(t, r)
		}
		if len(changes) > 0 {
			t.Fatalf("the breaker changed: %q", changes)
		}
		fail(t, r)
		for _, minutes := range []float64{.5, 1, 2, 4, 5, 5} { // each ends with a failed probe
			open := time.Duration(minutes * float64(time.Minute))
			heldFor(t, r, open)
			time.Sleep(open - time.Millisecond)
			heldFor(t, r, time.Millisecond)
			time.Sleep(time.Millisecond)
			fail(t, r)
		}
		time.Sleep(openMost)
		done, _ = r.allow()
		heldFor(t, r, probeWait) // while the probe is in flight
		if got := rs.states(); got[stateHalfOpen] != 1 {
			t.Errorf("states %v during a probe", got)
		}
		done(true)
		for range tripAfter {
			fail(t, r)
		}
		heldFor(t, r, openFor) // starts from the beginning
		want := slices.Concat([]string{"open"}, slices.Repeat([]string{"half-open", "open"}, 6), []string{"half-open", "closed", "open"})
		for i, state := range want {
			if i >= len(changes) || changes[i] != r.name+" "+state {
				t.Fatalf("changes %q, want %q of %s", changes, want, r.name)
			}
		}
		if len(changes) != len(want) || strings.Contains(r.name, "hooks") {
			t.Errorf("changes %q of %s", changes, r.name)
		}
	})
}

// TestLateAnswers checks that answers to requests sent before the breaker opened do not count for the probe.
func TestLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceivers(10, nil).of(hook)
		var late []func(bool)
		for range 4 {
			done, _ := r.allow()
			late = append(late, done)
		}
		for range tripAfter {
			fail(t, r)
		}
		late[0](true)
		late[1](false)
		heldFor(t, r, openFor)
		time.Sleep(openFor)
		probe, _ := r.allow()
		late[2](true)
		heldFor(t, r, probeWait)
		late[3](false)
		heldFor(t, r, probeWait)
		probe(true)
		fail(t, r)
	})
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := newReceivers(1, nil)
		r := rs.of(hook)
		r.pause(time.Minute)
		r.pause(time.Second) // does not shorten the pause
		heldFor(t, r, time.Minute)
		if done, _ := rs.of(hook + "2").allow(); done == nil {
			t.Error("another receiver is also paused")
		}
		time.Sleep(time.Minute)
		for range tripAfter {
			fail(t, r)
		}
		r.pause(time.Hour)
		heldFor(t, r, time.Hour)
		time.Sleep(time.Hour)
		done, _ := r.allow()
		done(true)
		if got := rs.states(); got[stateClosed] != 2 {
			t.Errorf("states %v, want two closed", got)
		}
	})
}

func TestConcurrentRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceivers(3, nil).of(hook)
		var now, most, made atomic.Int32
		for range 20 {
			go func() {
				release, err := r.enter(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				defer release()
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				made.Add(1)
			}()
		}
		time.Sleep(500 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		for range 2 { // once while it waits, and once with a context that is already done
			if _, err := r.enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want that of the context", err)
			}
		}
		time.Sleep(7 * time.Second)
		if made.Load() != 20 || most.Load() != 3 {
			t.Errorf("%d requests were made, at most %d concurrently, want 20 and 3", made.Load(), most.Load())
		}
	})
}

func TestIdleReceiversAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := newReceivers(1, nil)
		for i := range 1000 {
			done, _ := rs.of(fmt.Sprint(hook, i)).allow()
			done(true)
		}
		broken, paused, busy := rs.of("https://broken.example.com/"), rs.of("https://paused.example.com/"), rs.of("https://busy.example.com/")
		for range tripAfter {
			fail(t, broken)
		}
		paused.pause(maxPause)
		release, err := busy.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		left := func(wait time.Duration) map[breakerState]int {
			time.Sleep(wait)
			if rs.of(hook) == nil {
				t.Fatal("no receiver")
			}
			return rs.states()
		}
		if got := left(closedIdle - time.Second); got[stateClosed] != 1003 {
			t.Errorf("states %v before closedIdle", got)
		}
		if got, want := left(sweepEvery), map[breakerState]int{stateClosed: 3, stateOpen: 1, stateHalfOpen: 0}; !maps.Equal(got, want) {
			t.Errorf("states %v, want %v", got, want)
		}
		if rs.of("https://paused.example.com/") != paused || rs.of("https://broken.example.com/") != broken {
			t.Error("a receiver with an open breaker was removed")
		}
		if got, want := left(idleMost), map[breakerState]int{stateClosed: 2, stateOpen: 0, stateHalfOpen: 0}; !maps.Equal(got, want) {
			t.Errorf("states %v, want %v: the receiver in use, and the one asked for", got, want)
		}
		release()
		if got := left(closedIdle); got[stateClosed] != 1 {
			t.Errorf("states %v, want one", got)
		}
	})
}

// TestReceiversAreBounded checks that at most maxReceivers are in memory, and that those in use are not removed.
func TestReceiversAreBounded(t *testing.T) {
	rs := newReceivers(1, nil)
	busy := rs.of(hook)
	release, err := busy.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for i := range 2 * maxReceivers {
		rs.of(fmt.Sprint(hook, i))
	}
	if len(rs.known) != maxReceivers || rs.of(hook) != busy {
		t.Errorf("%d receivers are in memory, including the one in use: %t", len(rs.known), rs.of(hook) == busy)
	}
}
