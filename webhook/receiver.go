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
	// tripAfter is how many unhealthy answers in a row open a breaker: fewer could be one restart of the receiver.
	tripAfter = 5
	// An open breaker lets one attempt through after openFor, which is about what a restart takes; each one that fails doubles
	// the time, up to openMost, so that a receiver that is away for long costs little and is found again within minutes.
	openFor, openMost = 30 * time.Second, 5 * time.Minute
	// probeWait is how long others wait while that one attempt is under way.
	probeWait = 5 * time.Second
	// A receiver that nobody used for closedIdle, and whose breaker is closed, is forgotten; any other after idleMost, which is
	// longer than a breaker is open and than a receiver may ask to be left alone.
	closedIdle, idleMost = 5 * time.Minute, 2 * time.Hour
	// sweepEvery is how often that is looked for.
	sweepEvery = time.Minute
	// maxReceivers is how many receivers are known at most: a webhook may get a new address at any time. One more replaces one
	// of evictAmong that is not in use, the one that was not used for longest.
	maxReceivers, evictAmong = 20_000, 16
)

// breakerState is what a breaker does: let all through, none, or one to see.
type breakerState string

// The states of breakers, as metrics name them.
const (
	stateClosed   breakerState = "closed"
	stateHalfOpen breakerState = "half-open"
	stateOpen     breakerState = "open"
)

var stateNames = map[gobreaker.State]breakerState{
	gobreaker.StateClosed: stateClosed, gobreaker.StateHalfOpen: stateHalfOpen, gobreaker.StateOpen: stateOpen,
}

// receivers are those that this process has posted to of late, each with a limit of requests at the same time and with a
// breaker, so that one that is slow or dead holds up no other. It is safe for use by many goroutines.
type receivers struct {
	concurrency int
	changed     func(receiver string, to breakerState)

	mu    sync.Mutex
	known map[[sha256.Size]byte]*receiver // addresses may be secret, and long
	swept time.Time
}

// newReceivers returns none yet. So many requests go to one of them at the same time; changed, unless it is nil, is told when
// a breaker changes its state. It must not call back.
func newReceivers(concurrency int, changed func(receiver string, to breakerState)) *receivers {
	if changed == nil {
		changed = func(string, breakerState) {}
	}
	return &receivers{concurrency: concurrency, changed: changed, known: map[[sha256.Size]byte]*receiver{}, swept: time.Now()}
}

// of returns the receiver at an address. It is to be asked for with every delivery and not to be kept: one that is not asked
// for is forgotten.
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
		if r.forgettable(now) {
			delete(rs.known, key)
		}
	}
}

// evict forgets one of a few receivers, chosen at random, that no request is under way to. What is lost with it is at most
// that it failed of late.
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

// states counts the receivers by the states of their breakers.
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

// receiver is one address that notifications go to.
type receiver struct {
	name    string // for logs: it does not tell the address
	slots   chan struct{}
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]

	mu     sync.Mutex // is taken after that of the breaker
	state  breakerState
	opened int       // times in a row, without a healthy answer in between
	until  time.Time // nothing is to be sent before
	used   time.Time
}

func newReceiver(name string, concurrency int, changed func(string, breakerState)) *receiver {
	r := &receiver{name: name, slots: make(chan struct{}, concurrency), state: stateClosed}
	r.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests: 1, Timeout: openFor - time.Second, // what is held until then rules
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tripAfter },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			r.enterState(stateNames[to])
			changed(r.name, stateNames[to])
		},
	})
	return r
}

// enterState notes what the breaker does. It opens for a fixed time; that this grows is ours.
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

// hold puts off what is to be sent, and never to an earlier time.
func (r *receiver) hold(d time.Duration) {
	if until := time.Now().Add(d); until.After(r.until) {
		r.until = until
	}
}

// pause leaves the receiver alone for so long, as it asked.
func (r *receiver) pause(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold(d)
}

func (r *receiver) touch(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = now
}

// enter waits for one of the requests that may go to the receiver at the same time. The release is to be called once.
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

// errUnhealthy is what a breaker counts.
var errUnhealthy = errors.New("unhealthy")

// allow tells whether an attempt may be made now. If so, done is to be called once with whether the receiver was healthy,
// whatever happens: a breaker that has let one through waits for it. If not, done is nil, and it may be asked again after
// wait.
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

// held returns how long nothing is to be sent yet.
func (r *receiver) held() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Until(r.until)
}

// forgettable tells whether nothing is lost with the receiver.
func (r *receiver) forgettable(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	idle := now.Sub(r.used)
	calm := r.state == stateClosed && !now.Before(r.until)
	return len(r.slots) == 0 && (idle >= idleMost || calm && idle >= closedIdle)
}
