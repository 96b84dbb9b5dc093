package docgen

import (
	"fmt"
	"maps"
	"sync"
	"time"
)

// Failed attempts to sign in are counted in memory, by each server. Three counts limit how fast anyone can guess, and none lets anyone lock
// another person out for good:
//
//   - of a login from an address. Only that address rests.
//   - of an address, for any logins.
//   - of a login, from anywhere. It does not apply to addresses from which the person is signed in, and an invitation always works.
//
// Logins that do not exist count like others, so that the limits do not tell who does.
const (
	attemptPeriod   = 15 * time.Minute
	maxPairFailures = 5      // of a login from an address in a period
	maxLoginFails   = 50     // of a login in a period, from addresses where its user is not signed in
	maxAddressFails = 50     // of an address in a period
	maxAttemptKeys  = 50_000 // counts in memory; with more, those that have ended are forgotten, then any
	attemptSweep    = time.Minute
)

// SignInLimitError is returned for an attempt to sign in that is not even checked.
type SignInLimitError struct{ Wait time.Duration }

func (e *SignInLimitError) Error() string {
	return fmt.Sprintf("too many failed attempts to sign in; try again in %s", e.Wait)
}

// attempts counts failed attempts. It is safe for concurrent use.
type attempts struct {
	mu     sync.Mutex
	counts map[string]attemptCount
	swept  time.Time // when counts that had ended were last forgotten
}

// attemptCount is the number of failures in a period, which begins with the first one.
type attemptCount struct {
	failures int
	ends     time.Time
}

// attempt is an attempt to sign in.
type attempt struct {
	login, address string // the folded login, and the address or its network
	known          bool   // the user of the login is signed in from the address
}

// limits returns the keys of the counts that apply to an attempt, with their limits.
func (a attempt) limits() map[string]int {
	limits := map[string]int{"pair " + a.address + " " + a.login: maxPairFailures, "address " + a.address: maxAddressFails}
	if !a.known {
		limits["login "+a.login] = maxLoginFails
	}
	return limits
}

// begin counts an attempt as failed, or returns a *SignInLimitError. Attempts count from their beginning, so that many at once do not pass
// a limit. Call succeeded if it did not fail.
func (a *attempts) begin(try attempt, now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	limits := try.limits()
	var wait time.Duration
	for key, limit := range limits {
		if c := a.counts[key]; c.failures >= limit && c.ends.After(now) {
			wait = max(wait, c.ends.Sub(now))
		}
	}
	if wait > 0 {
		return &SignInLimitError{Wait: wait}
	}
	if a.counts == nil {
		a.counts = map[string]attemptCount{}
	}
	for key := range limits {
		c := a.counts[key]
		if !c.ends.After(now) {
			a.makeRoom(now)
			c = attemptCount{ends: now.Add(attemptPeriod)}
		}
		c.failures++
		a.counts[key] = c
	}
	return nil
}

// makeRoom forgets counts if there are too many: those that have ended, which it looks for once a minute, and then any.
func (a *attempts) makeRoom(now time.Time) {
	if len(a.counts) < maxAttemptKeys {
		return
	}
	if now.Sub(a.swept) >= attemptSweep {
		a.swept = now
		maps.DeleteFunc(a.counts, func(_ string, c attemptCount) bool { return !c.ends.After(now) })
	}
	for key := range a.counts {
		if len(a.counts) < maxAttemptKeys {
			return
		}
		delete(a.counts, key)
	}
}

// undo takes an attempt back that did not fail: it succeeded, or an error of the server interrupted it.
func (a *attempts) undo(try attempt, succeeded bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key := range try.limits() {
		if c, counted := a.counts[key]; counted && c.failures > 0 {
			c.failures--
			a.counts[key] = c
		}
	}
	if succeeded {
		delete(a.counts, "pair "+try.address+" "+try.login)
	}
}
