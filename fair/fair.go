// Package fair shares slots among users: the right to work on a document, a core, a LibreOffice process, an attempt to deliver.
//
// Every free slot goes to the waiting user who holds the fewest slots relative to their weight, and among equals to the one who has used
// the least. The waiters of one user are served in order of arrival. So a user with one document waits for one of the documents in
// progress, however many documents of other users are waiting.
package fair

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// interactiveRun is the number of interactive waiters that are served in a row while others wait.
	interactiveRun = 3
	// leastCharge is the minimum charge for holding a slot, so that users take turns whatever the clock says.
	leastCharge = 50 * time.Microsecond
	// mostCharge is the maximum charge for holding a slot, so that no one pays for hours after one long document.
	mostCharge = time.Second
	// manyUsers is the number of users from which on idle ones are forgotten.
	manyUsers = 1024
)

// Claimant is the user on whose behalf a slot is requested.
type Claimant struct {
	User   int64
	Weight int // relative to other weights; at least 1
	// Interactive is set if a person waits for the result. Interactive claimants are served first, but at most three in a row while
	// others wait.
	Interactive bool
}

// Config configures the number of slots.
type Config struct {
	Slots int // for any user
	Spare int // additional slots for users who hold none
	// Least is the number of slots that a user may always hold, whatever others hold. They count as held slots, which may then exceed
	// Slots and Spare. 0 means none.
	Least int
	// Most is the maximum number of slots of a user, even while others are free, and even if Least is higher. Neither weights nor Least
	// change it. 0 means no limit.
	Most int
	// Long is the time after which a held slot counts as long. While one is, there is one more slot for users who hold no long slot. 0
	// disables it.
	Long time.Duration
}

// Slots are shared among users. They are safe for concurrent use.
type Slots struct {
	cfg Config

	mu      sync.Mutex
	users   map[int64]*user
	waiting []*user // users with waiters, in no order
	held    int
	long    int           // number of slots held for longer than cfg.Long
	used    time.Duration // usage of the last served user at that time; newcomers start with it
	arrived uint64
	inARow  int // interactive waiters served in a row while others waited
}

// user is a user who has waiters or slots, or recently had some.
type user struct {
	id      int64
	weight  int
	held    int
	long    int
	used    time.Duration // time that slots were held, divided by the weight
	waiters [2][]*waiter  // by class: interactive, other
}

// The classes of waiters.
const (
	interactive = iota
	batch
)

type waiter struct {
	class   int
	arrived uint64
	hold    *hold         // set before the close of granted
	granted chan struct{} // closed when the waiter has its slot
}

// Slot is one slot, held until Release. Only one goroutine may use it at a time.
type Slot struct {
	slots    *Slots
	claimant Claimant
	hold     *hold
}

// hold is an uninterrupted time of holding a slot.
type hold struct {
	user     *user
	since    time.Time
	timer    *time.Timer // nil if slots never count as long
	isLong   bool
	released bool
}

// New returns slots that nobody holds.
func New(cfg Config) *Slots {
	return &Slots{cfg: cfg, users: map[int64]*user{}}
}

// Acquire waits for a slot. The error is the cause of ctx.
func (s *Slots) Acquire(ctx context.Context, c Claimant) (*Slot, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	w := s.enqueue(c, false)
	s.dispatch()
	s.mu.Unlock()
	held, err := s.await(ctx, c, w)
	if err != nil {
		return nil, err
	}
	return &Slot{slots: s, claimant: c, hold: held}, nil
}

// TryAcquire takes a slot if one is available to the claimant, and never waits. It does not overtake: it succeeds only if no waiter could
// have the slot.
func (s *Slots) TryAcquire(c Claimant) (slot *Slot, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.enqueue(c, false)
	s.dispatch()
	if w.hold == nil {
		s.remove(s.users[c.User], w)
		return nil, false
	}
	return &Slot{slots: s, claimant: c, hold: w.hold}, true
}

// await waits until a waiter has its slot.
func (s *Slots) await(ctx context.Context, c Claimant, w *waiter) (*hold, error) {
	select {
	case <-w.granted:
		return w.hold, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.hold != nil { // granted at the same moment
		s.release(w.hold)
	} else {
		s.remove(s.users[c.User], w)
	}
	s.dispatch()
	return nil, context.Cause(ctx)
}

// Release gives the slot to the next waiter. Releasing a slot twice has no effect.
func (slot *Slot) Release() {
	s := slot.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(slot.hold)
	s.dispatch()
}

// Yield lets another user have the slot if that user is to be served before its holder, and then waits for another slot, ahead of the
// other waiters of the same user. If no one else waits for the slot, it stays as it is. After an error, the slot is released.
func (slot *Slot) Yield(ctx context.Context) error {
	s := slot.slots
	s.mu.Lock()
	if slot.hold.released || !s.othersWait(slot.hold.user) {
		s.mu.Unlock()
		return nil
	}
	s.release(slot.hold)
	w := s.enqueue(slot.claimant, true)
	s.dispatch()
	s.mu.Unlock()
	next, err := s.await(ctx, slot.claimant, w)
	if err == nil {
		slot.hold = next
	}
	return err
}

// othersWait reports whether other users wait.
func (s *Slots) othersWait(u *user) bool {
	return slices.ContainsFunc(s.waiting, func(other *user) bool { return other != u })
}

// Waiting returns the number of waiters.
func (s *Slots) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, u := range s.waiting {
		n += len(u.waiters[interactive]) + len(u.waiters[batch])
	}
	return n
}

// enqueue adds a waiter, at the end or the front of those of its user and class.
func (s *Slots) enqueue(c Claimant, first bool) *waiter {
	u := s.users[c.User]
	if u == nil {
		s.forget()
		u = &user{id: c.User, used: s.used}
		s.users[c.User] = u
	}
	u.weight = max(1, c.Weight)
	if u.isIdle() { // users do not accumulate credit while they are away
		u.used = max(u.used, s.used)
	}
	if len(u.waiters[interactive])+len(u.waiters[batch]) == 0 {
		s.waiting = append(s.waiting, u)
	}
	s.arrived++
	w := &waiter{class: batch, arrived: s.arrived, granted: make(chan struct{})}
	if c.Interactive {
		w.class = interactive
	}
	at := len(u.waiters[w.class])
	if first {
		at = 0
	}
	u.waiters[w.class] = slices.Insert(u.waiters[w.class], at, w)
	return w
}

func (u *user) isIdle() bool {
	return u.held == 0 && len(u.waiters[interactive]) == 0 && len(u.waiters[batch]) == 0
}

// forget removes idle users if there are many.
func (s *Slots) forget() {
	if len(s.users) < manyUsers {
		return
	}
	for id, u := range s.users {
		if u.isIdle() {
			delete(s.users, id)
		}
	}
}

// remove removes a waiter.
func (s *Slots) remove(u *user, w *waiter) {
	i := slices.Index(u.waiters[w.class], w)
	u.waiters[w.class] = slices.Delete(u.waiters[w.class], i, i+1)
	if len(u.waiters[interactive])+len(u.waiters[batch]) == 0 {
		s.waiting = slices.DeleteFunc(s.waiting, func(other *user) bool { return other == u })
	}
}

// dispatch grants free slots to the next waiters.
func (s *Slots) dispatch() {
	for {
		w, u := s.next()
		if w == nil {
			return
		}
		s.remove(u, w)
		s.used = max(s.used, u.used)
		s.held++
		u.held++
		w.hold = &hold{user: u, since: time.Now()}
		s.watch(w.hold)
		close(w.granted)
	}
}

// next returns the next waiter and its user, or nil if there is none, or no slot for any.
func (s *Slots) next() (*waiter, *user) {
	var best [2]*user
	for _, u := range s.waiting {
		if !s.mayHave(u) {
			continue
		}
		for class := range best {
			if len(u.waiters[class]) > 0 && (best[class] == nil || u.isBefore(best[class], class)) {
				best[class] = u
			}
		}
	}
	class := batch
	if best[interactive] != nil && (best[batch] == nil || s.inARow < interactiveRun) {
		class = interactive
	}
	if best[class] == nil {
		return nil, nil
	}
	if class == interactive && best[batch] != nil {
		s.inARow++
	} else {
		s.inARow = 0
	}
	return best[class].waiters[class][0], best[class]
}

// mayHave reports whether a slot is available to a user.
func (s *Slots) mayHave(u *user) bool {
	switch {
	case s.cfg.Most > 0 && u.held >= s.cfg.Most:
		return false
	case s.held < s.cfg.Slots || u.held < s.cfg.Least:
		return true
	case s.held < s.cfg.Slots+s.cfg.Spare && u.held == 0:
		return true
	default:
		return s.long > 0 && u.long == 0 && s.held <= s.cfg.Slots+s.cfg.Spare
	}
}

// isBefore reports whether a user is served before another one.
func (u *user) isBefore(other *user, class int) bool {
	if mine, theirs := u.held*other.weight, other.held*u.weight; mine != theirs {
		return mine < theirs
	}
	if u.used != other.used {
		return u.used < other.used
	}
	return u.waiters[class][0].arrived < other.waiters[class][0].arrived
}

// watch marks a slot that has been held for long.
func (s *Slots) watch(h *hold) {
	if s.cfg.Long == 0 {
		return
	}
	h.timer = time.AfterFunc(s.cfg.Long, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if h.released {
			return
		}
		h.isLong = true
		h.user.long++
		s.long++
		s.dispatch()
	})
}

// release returns a slot and charges its user.
func (s *Slots) release(h *hold) {
	if h.released {
		return
	}
	h.released = true
	if h.timer != nil {
		h.timer.Stop()
	}
	if h.isLong {
		h.user.long--
		s.long--
	}
	s.held--
	h.user.held--
	h.user.used += min(max(time.Since(h.since), leastCharge), mostCharge) / time.Duration(h.user.weight)
}
