package docgen

import (
	"context"
	"strconv"
	"sync"
	"time"

	"platen/store"
)

// Denied requests are counted in memory, and written to the audit log about twice a minute, in a few rows for each actor. No user can fill
// the log with denied requests, or hide those of others.

// Limits of the counts between two calls of RecordDenials. Other denials are counted as various.
const (
	maxDenials      = 100 // different denials of all callers
	maxUserDenials  = 10  // different denials of one user
	maxGuestDenials = 50  // different denials of all guests
)

// denial identifies denials that are counted together: the actor, the operation, and the reason.
type denial struct {
	actor, user, app, token int64
	address, operation      string
	code                    string
}

const variousDenials = "various"

// various returns the denial that represents several different ones of an actor.
func various(actor int64) denial { return denial{actor: actor, user: actor, code: variousDenials} }

// denials counts denials since the last RecordDenials. It is safe for concurrent use.
type denials struct {
	mu     sync.Mutex
	counts map[denial]int
	kinds  map[int64]int // number of different denials without various, by actor; 0 for guests
}

func (d *denials) note(of denial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.counts == nil {
		d.counts, d.kinds = map[denial]int{}, map[int64]int{}
	}
	d.counts[d.admit(of)]++
}

// admit returns the denial as which a denial is counted: itself, or various.
func (d *denials) admit(of denial) denial {
	most := maxUserDenials
	if of.actor == 0 {
		most = maxGuestDenials
	}
	if d.counts[of] == 0 && d.kinds[of.actor] >= most {
		of = various(of.actor)
	}
	if d.counts[of] > 0 {
		return of
	}
	for len(d.counts) >= maxDenials {
		if !d.merge() {
			return various(0)
		}
	}
	if of.code != variousDenials {
		d.kinds[of.actor]++
	}
	return of
}

// merge counts a denial of the actor with the most different ones as various. It reports false if each actor has only
// one.
func (d *denials) merge() bool {
	actor, most := int64(0), 1
	for a, kinds := range d.kinds {
		if kinds > 0 && d.counts[various(a)] > 0 {
			kinds++
		}
		if kinds > most {
			actor, most = a, kinds
		}
	}
	if most == 1 {
		return false
	}
	for of, count := range d.counts {
		if of.actor == actor && of.code != variousDenials {
			delete(d.counts, of)
			d.kinds[actor]--
			d.counts[various(actor)] += count
			break
		}
	}
	return true
}

func (d *denials) take() map[denial]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts := d.counts
	d.counts, d.kinds = nil, nil
	return counts
}

// NoteDenied counts a denied request for the audit log: of a caller or, if c is nil, of a guest with invalid credentials. RecordDenials
// writes the counts.
func (s *Service) NoteDenied(ctx context.Context, c *Caller, operation, code string) {
	from, _ := ctx.Value(originKey{}).(Origin)
	of := denial{address: from.Address, operation: operation, code: code}
	if c != nil {
		of.actor, of.user, of.app, of.token = c.ActorID, c.User.ID, c.ApplicationID, c.TokenID
	}
	s.denials.note(of)
}

// RecordDenials writes the denials since the last call to the audit log. Call it about twice a minute, and when the server stops. Denials
// that cannot be written are lost.
func (s *Service) RecordDenials(ctx context.Context) error {
	counts := s.denials.take()
	if len(counts) == 0 {
		return nil
	}
	return s.db.WriteAsync(ctx, func(tx *store.Tx) error {
		for of, count := range counts {
			c := &Caller{User: User{ID: of.user}, ActorID: of.actor, ApplicationID: of.app, TokenID: of.token}
			err := s.insertAudit(WithOrigin(ctx, Origin{Address: of.address}), tx, c, AuditDenied, AuditRefused,
				auditTarget{"operation", of.operation},
				"reason", of.code, "count", strconv.Itoa(count))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// How acting for other users is recorded.
const (
	actingPeriod = time.Hour
	maxActing    = 10_000 // maximum number of remembered pairs; above it, all are forgotten and recorded again
)

// acting remembers which tokens have acted for which users.
type acting struct {
	mu   sync.Mutex
	last map[[2]int64]int64 // time in microseconds, by token and user
}

// due reports whether acting for a user must be recorded, and remembers that.
func (a *acting) due(token, user, now int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	pair := [2]int64{token, user}
	if last, known := a.last[pair]; known && now-last < actingPeriod.Microseconds() {
		return false
	}
	if a.last == nil || len(a.last) >= maxActing {
		a.last = map[[2]int64]int64{}
	}
	a.last[pair] = now
	return true
}

// forget forgets a pair that could not be recorded, so that its next use is.
func (a *acting) forget(token, user int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, [2]int64{token, user})
}

// recordActing adds an entry to the audit log when a caller acts for another user, at most once an hour.
func (s *Service) recordActing(ctx context.Context, as *Caller) error {
	if !s.acting.due(as.TokenID, as.User.ID, s.micros()) {
		return nil
	}
	err := s.db.WriteAsync(ctx, func(tx *store.Tx) error {
		return s.audit(ctx, tx, as, AuditActedAs, auditOf("user", as.User.ID))
	})
	if err != nil {
		s.acting.forget(as.TokenID, as.User.ID)
	}
	return err
}
