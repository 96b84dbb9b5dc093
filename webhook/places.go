package webhook

import "sync"

// Attempts that this process makes at the same time, each with a connection and an answer in memory. An attempt holds its
// place until it is recorded.
const (
	alwaysPlaces = 8    // an owner always gets as many, whatever others hold
	mostPlaces   = 256  // an owner gets at most as many
	sharedPlaces = 1024 // above this number, owners get no more than alwaysPlaces
)

// places shares the attempts of this process among the owners of webhooks. An owner whose receivers hang fills mostPlaces
// at most, and no number of them keeps another owner from alwaysPlaces. It is safe for concurrent use.
type places struct {
	always, most, shared int
	tasks                int // that may run at the same time; see enter

	mu      sync.Mutex
	held    int
	running int // tasks
	asked   uint64
	owners  map[int64]*owner // with a task or a place
	served  map[int64]int    // tasks, by webhook
}

// owner is one owner's share.
type owner struct {
	held    int
	tasks   int
	waiting []*ticket // in the order in which they asked
}

// ticket is a request for a place.
type ticket struct {
	owner   int64
	number  uint64        // grows with every request
	granted chan struct{} // is closed when the place is given
}

// newPlaces returns places of which none is held. most and tasks of zero stand for mostPlaces and for no limit.
func newPlaces(most, tasks int) *places {
	p := &places{always: alwaysPlaces, most: most, shared: sharedPlaces, tasks: tasks, owners: map[int64]*owner{}, served: map[int64]int{}}
	if p.most == 0 {
		p.most = mostPlaces
	}
	p.always = min(p.always, p.most)
	return p
}

// enter counts a task of a webhook, by its owner. When four of five tasks that the queue can run are running, an owner with more than an
// equal share of them is refused, so that the queue always has room for the tasks of others. leave must be called once.
func (p *places) enter(id, webhookID int64) (leave func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.of(id)
	if p.tasks > 0 && p.running >= p.tasks/5*4 && o.tasks*len(p.owners) >= p.running {
		p.forget(id, o)
		return nil, false
	}
	o.tasks++
	p.running++
	p.served[webhookID]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		o.tasks--
		p.running--
		if p.served[webhookID]--; p.served[webhookID] == 0 {
			delete(p.served, webhookID)
		}
		p.forget(id, o)
	}, true
}

// serves reports whether a task of a webhook runs.
func (p *places) serves(webhookID int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.served[webhookID] > 0
}

// of returns the share of an owner. The caller holds the lock.
func (p *places) of(id int64) *owner {
	o := p.owners[id]
	if o == nil {
		o = &owner{}
		p.owners[id] = o
	}
	return o
}

// forget removes an owner who has nothing. The caller holds the lock.
func (p *places) forget(id int64, o *owner) {
	if o.held+o.tasks+len(o.waiting) == 0 {
		delete(p.owners, id)
	}
}

// mayHold reports whether an owner may have one more place. The caller holds the lock.
func (p *places) mayHold(o *owner) bool {
	return o.held < p.always || o.held < p.most && p.held < p.shared
}

// take takes a place for an owner if there is one and none of the owner's tasks waits for it.
func (p *places) take(id int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.of(id)
	if len(o.waiting) > 0 || !p.mayHold(o) {
		p.forget(id, o)
		return false
	}
	o.held++
	p.held++
	return true
}

// ask waits in line for a place. The caller either receives from granted and releases the place later, or cancels.
func (p *places) ask(id int64) *ticket {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	t := &ticket{owner: id, number: p.asked, granted: make(chan struct{})}
	o := p.of(id)
	o.waiting = append(o.waiting, t)
	p.grant() // a place may have been released since take
	return t
}

// cancel gives up a request, and the place if it was granted.
func (p *places) cancel(t *ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.of(t.owner)
	for i, other := range o.waiting {
		if other == t {
			o.waiting = append(o.waiting[:i:i], o.waiting[i+1:]...)
			p.forget(t.owner, o)
			return
		}
	}
	p.put(t.owner, o)
}

// release gives a place back.
func (p *places) release(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(id, p.of(id))
}

func (p *places) put(id int64, o *owner) {
	o.held--
	p.held--
	p.grant()
	p.forget(id, o)
}

// grant gives free places away: to the owner who holds the fewest, and among those to the one who asked first. The caller
// holds the lock.
func (p *places) grant() {
	for {
		var next *owner
		for _, o := range p.owners {
			if len(o.waiting) == 0 || !p.mayHold(o) {
				continue
			}
			if next == nil || o.held < next.held || o.held == next.held && o.waiting[0].number < next.waiting[0].number {
				next = o
			}
		}
		if next == nil {
			return
		}
		t := next.waiting[0]
		next.waiting = next.waiting[1:]
		next.held++
		p.held++
		close(t.granted)
	}
}
