package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
)

const (
	// tripAfter is the number of consecutive failures that open a circuit breaker. A restart of a receiver may cause fewer.
	tripAfter = 5
	// openFor is the time before an open breaker permits a probe, about as long as a restart of a receiver takes. Each failed
	// probe doubles it, up to openMost. A receiver that is down for long then costs little, and is found again within minutes.
	openFor, openMost = 30 * time.Second, 5 * time.Minute
	// probeWait is the time other attempts wait while a probe is in flight.
	probeWait = 5 * time.Second
	// A receiver is removed from memory if it was not used for closedIdle and its breaker is closed, or was not used for
	// idleMost. The latter is longer than a breaker stays open, and than maxPause.
	closedIdle, idleMost = 5 * time.Minute, 2 * time.Hour
	// sweepEvery is the interval of looking for such receivers.
	sweepEvery = time.Minute
	// maxReceivers is the maximum number of receivers in memory. A further one replaces the least recently used of evictAmong
	// random receivers that are not in use.
	maxReceivers, evictAmong = 20_000, 16
)

// breakerState is the state of a circuit breaker: closed permits all attempts, open none, and half-open one probe.
type breakerState string

// The states of circuit breakers, as metrics name them.
const (
	stateClosed   breakerState = "closed"
	stateHalfOpen breakerState = "half-open"
	stateOpen     breakerState = "open"
)

var stateNames = map[gobreaker.State]breakerState{
	gobreaker.StateClosed: stateClosed, gobreaker.StateHalfOpen: stateHalfOpen, gobreaker.StateOpen: stateOpen,
}

// receivers holds the receivers that this process has recently posted to. Each has a limit on concurrent requests and a circuit
// breaker, so that a slow or dead one does not delay the others. It is safe for concurrent use.
type receivers struct {
	concurrency int
	changed     func(receiver string, to breakerState)

	mu    sync.Mutex
	known map[[sha256.Size]byte]*receiver // by the hash of the address, which may be long and secret
	swept time.Time
}

// newReceivers returns an empty set of receivers. concurrency is the maximum number of concurrent requests to each. If changed is
// not nil, it is called when a breaker changes its state; it must not call methods of the receivers.
func newReceivers(concurrency int, changed func(receiver string, to breakerState)) *receivers {
	if changed == nil {
		changed = func(string, breakerState) {}
	}
	return &receivers{concurrency: concurrency, changed: changed, known: map[[sha256.Size]byte]*receiver{}, swept: time.Now()}
}

// of returns the receiver at an address. Call it for every delivery, and do not keep the result: a receiver that is not asked for
// is removed from memory.
func (rs *receivers) of(address string) *receiver {
	key := sha256.Sum256([]byte(address))
	now := time.Now()
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if now.Sub(rs.swept) >= sweepEvery {
		rs.sweep(now)
	}
	r := rs.known[key]
	if r == nil {
		if len(rs.known) >= maxReceivers {
			rs.evict()
		}
		r = newReceiver(hex.EncodeToString(key[:4]), rs.concurrency, rs.changed)
		rs.known[key] = r
	}
	r.touch(now)
	return r
}

func (rs *receivers) sweep(now time.Time) {
	rs.swept = now
	for key, r := range rs.known {
		if r.removable(now) {
			delete(rs.known, key)
		}
	}
}

// evict removes the least recently used of a few random receivers that are not in use. At worst, this forgets recent failures
// of that receiver.
func (rs *receivers) evict() {
	var oldest [sha256.Size]byte
	var used time.Time
	looked := 0
	for key, r := range rs.known {
		if len(r.slots) > 0 {
			continue
		}
		r.mu.Lock()
		if looked == 0 || r.used.Before(used) {
			oldest, used = key, r.used
		}
		r.mu.Unlock()
		if looked++; looked == evictAmong {
			break
		}
	}
	if looked > 0 {
		delete(rs.known, oldest)
	}
}

// states returns the number of receivers by the state of their breakers.
func (rs *receivers) states() map[breakerState]int {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	counts := map[breakerState]int{stateClosed: 0, stateHalfOpen: 0, stateOpen: 0}
	for _, r := range rs.known {
		r.mu.Lock()
		counts[r.state]++
		r.mu.Unlock()
	}
	return counts
}

// receiver is an address that notifications are sent to.
type receiver struct {
	name    string        // for logs; it does not reveal the address
	slots   chan struct{} // holds an element for each request in flight
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]

	mu     sync.Mutex // acquired after the breaker's own mutex
	state  breakerState
	opened int       // number of times the breaker opened since it was last closed
	until  time.Time // nothing is sent before
	used   time.Time // last use
}

func newReceiver(name string, concurrency int, changed func(string, breakerState)) *receiver {
	r := &receiver{name: name, slots: make(chan struct{}, concurrency), state: stateClosed}
	r.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests: 1, Timeout: openFor - time.Second, // receiver.until is always later, and decides
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tripAfter },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			r.enterState(stateNames[to])
			changed(r.name, stateNames[to])
		},
	})
	return r
}

// enterState records a change of the breaker's state. The breaker itself always opens for the same time; enterState makes this
// longer with each failed probe.
func (r *receiver) enterState(to breakerState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = to
	if to == stateOpen {
		r.hold(min(openFor<<min(r.opened, 10), openMost))
		r.opened++
	}
	if to == stateClosed {
		r.opened = 0
	}
}

// hold postpones the next attempt to d from now, unless it is already later. r.mu must be held.
func (r *receiver) hold(d time.Duration) {
	if until := time.Now().Add(d); until.After(r.until) {
		r.until = until
	}
}

// pause postpones the next attempt to d from now, as the receiver asked.
func (r *receiver) pause(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold(d)
}

// resting returns until when nothing is sent, or the zero time.
func (r *receiver) resting() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.until.After(time.Now()) {
		return time.Time{}
	}
	return r.until
}

func (r *receiver) touch(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = now
}

// enter waits until another request may be sent to the receiver, or ctx is done. The caller must call release once.
func (r *receiver) enter(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case r.slots <- struct{}{}:
		return func() {
			r.touch(time.Now())
			<-r.slots
		}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// errUnhealthy reports a failure to a breaker.
var errUnhealthy = errors.New("unhealthy")

// allow returns a function if an attempt may be made now. The caller must call it once, in any case, and report whether the
// receiver was healthy: the breaker waits for the result of a probe. If no attempt may be made, done is nil, and wait is the
// time to the next call of allow.
func (r *receiver) allow() (done func(healthy bool), wait time.Duration) {
	if wait := r.held(); wait > 0 {
		return nil, wait
	}
	answered, err := r.breaker.Allow()
	if err != nil {
		return nil, max(probeWait, r.held())
	}
	return func(healthy bool) {
		if healthy {
			answered(nil)
			return
		}
		answered(errUnhealthy)
	}, 0
}

// held returns the time until something may be sent; it is not positive if that is now.
func (r *receiver) held() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Until(r.until)
}

// removable reports whether the receiver has no state that is worth keeping.
func (r *receiver) removable(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	idle := now.Sub(r.used)
	calm := r.state == stateClosed && !now.Before(r.until)
	return len(r.slots) == 0 && (idle >= idleMost || calm && idle >= closedIdle)
}
