package docgen

import (
	"context"
	"sync"
	"time"

	"platen/fair"
	"platen/store"
)

// Requests can wait for the next event of a user's stream. While any do, one goroutine of the process reads the new events of all users:
// soon after this process has added some, and once a second, because other servers on the database add events too. So the number of reads
// does not depend on the number of requests that wait.

const (
	pollEvents = 1000 // events that are read at once
	pollChecks = 200  // events of others that are checked for users that may see them; above that, the requests end without a check
)

// polls are the requests that wait for events. The zero value is ready to use, and safe for concurrent use.
type polls struct {
	mu      sync.Mutex
	byUser  map[int64]map[*poll]bool // by the owners whose events can concern them; 0 for requests that all events can concern
	number  int
	running bool
	tail    int64         // position from which on no event was read
	idle    chan struct{} // receives a value when the last request ends
}

// poll is one request that waits.
type poll struct {
	caller  *Caller
	stream  StreamType
	owners  []int64
	from    int64         // position of the first event that ends it
	changed chan struct{} // closed when there is an event
	over    bool          // changed is closed
}

// WaitForEvents waits until a stream of the caller can have an event from a position on, at most for the given time, or until stop is
// closed. changed reports whether it can. The streams of the enterprise cannot be waited for.
func (s *Service) WaitForEvents(ctx context.Context, c *Caller, r StreamRequest, wait time.Duration, stop <-chan struct{}) (changed bool,
	err error) {
	if err := r.check(c); err != nil {
		return false, err
	}
	if r.Stream.isEnterprise() {
		return false, Invalid(invalidField("stream_type", "only all, changes, and sync can be waited for: poll /events instead"))
	}
	p, err := s.startPoll(ctx, c, r.Stream)
	if err != nil {
		return false, err
	}
	defer s.polls.remove(p)
	r.Limit = 1
	page, err := s.Events(ctx, c, r)
	if err != nil || len(page.Events) > 0 || page.more {
		return err == nil, err
	}
	over := time.NewTimer(min(wait, MaxWait))
	defer over.Stop()
	select {
	case <-p.changed:
		return true, nil
	case <-over.C:
	case <-stop:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	return false, nil
}

// startPoll makes a request wait. Events from then on end it.
func (s *Service) startPoll(ctx context.Context, c *Caller, stream StreamType) (*poll, error) {
	p := &poll{caller: c, stream: stream, changed: make(chan struct{})}
	err := s.db.Read(ctx, func(q *store.Queries) error {
		reader, err := s.eventReader(ctx, q, c, stream)
		if err == nil {
			p.owners, p.from = reader.owners, reader.horizon
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.owners == nil {
		p.owners = []int64{0, c.User.ID}
	}
	if s.polls.add(p) {
		go s.followEvents()
	}
	return p, nil
}

// add adds a request. start reports that nothing reads events: the caller must then start followEvents.
func (all *polls) add(p *poll) (start bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byUser == nil {
		all.byUser, all.idle = map[int64]map[*poll]bool{}, make(chan struct{}, 1)
	}
	for _, owner := range p.owners {
		if all.byUser[owner] == nil {
			all.byUser[owner] = map[*poll]bool{}
		}
		all.byUser[owner][p] = true
	}
	all.number++
	if start = !all.running; start {
		all.running, all.tail = true, p.from
	}
	return start
}

// remove removes a request.
func (all *polls) remove(p *poll) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, owner := range p.owners {
		if delete(all.byUser[owner], p); len(all.byUser[owner]) == 0 {
			delete(all.byUser, owner)
		}
	}
	if all.number--; all.number == 0 {
		select {
		case all.idle <- struct{}{}:
		default:
		}
	}
}

// followEvents reads events until no request waits anymore.
func (s *Service) followEvents() {
	ctx := fair.For(context.Background(), fair.Claimant{User: watching, Weight: 1})
	everyone := time.NewTicker(watchInterval)
	defer everyone.Stop()
	for {
		select {
		case <-s.db.EventsAdded():
		case <-everyone.C:
		case <-s.polls.idle:
		}
		for more := true; more; {
			tail, running := s.polls.position()
			if !running {
				return
			}
			var err error
			if more, err = s.readEvents(ctx, tail); err != nil {
				s.log.WarnContext(ctx, "cannot read the events that requests wait for; trying again", "error", err)
			}
		}
		<-time.After(watchPause) // gather events
	}
}

// position returns where to read on. running is false if no request waits: the goroutine that reads must then end.
func (all *polls) position() (tail int64, running bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.running = all.number > 0
	return all.tail, all.running
}

// readEvents reads events from a position on, and ends the requests that they concern. more reports that it must be called again.
func (s *Service) readEvents(ctx context.Context, tail int64) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	err = s.db.Read(ctx, func(q *store.Queries) error {
		horizon, err := s.db.EventHorizon(ctx, q)
		if err != nil {
			return err
		}
		rows, err := q.EventsFrom(ctx, tail, horizon, pollEvents)
		if err != nil {
			return err
		}
		readers, checks := map[*poll]*eventReader{}, 0
		for _, row := range rows {
			for _, p := range s.polls.concerned(row) {
				if checks++; checks <= pollChecks {
					if sees, err := s.sees(ctx, q, readers, p, row); err != nil {
						return err
					} else if !sees {
						continue
					}
				}
				s.polls.end(p)
			}
		}
		if more = len(rows) == pollEvents; more {
			horizon = rows[pollEvents-1].Position + 1
		}
		s.polls.setTail(horizon)
		return nil
	})
	return more, err
}

// sees reports whether the user of a waiting request may see an event.
func (s *Service) sees(ctx context.Context, q *store.Queries, readers map[*poll]*eventReader, p *poll, row store.Event) (bool, error) {
	r := readers[p]
	if r == nil {
		r = &eventReader{s: s, q: q, c: p.caller.asUserOnly(), stream: p.stream, users: userRefs{}, items: map[int64]*Item{}}
		readers[p] = r
	}
	if r.concerns(row) {
		return true, nil
	}
	item, err := r.item(ctx, row)
	return item != nil, err
}

// concerned returns the waiting requests that an event may concern.
func (all *polls) concerned(row store.Event) []*poll {
	all.mu.Lock()
	defer all.mu.Unlock()
	var found []*poll
	for _, user := range []int64{0, row.OwnerID, row.ActorID, row.AlsoID} {
		for p := range all.byUser[user] {
			if !p.over && row.Position >= p.from && p.stream.typeOf(EventType(row.Type)) != noEvent {
				found = append(found, p)
			}
		}
	}
	return found
}

// end ends the waiting of a request.
func (all *polls) end(p *poll) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if !p.over {
		p.over = true
		close(p.changed)
	}
}

func (all *polls) setTail(position int64) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.tail = position
}
