package webhook

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"platen/docgen"
	"platen/fair"
)

// run is one run of the task of a webhook. It belongs to one goroutine; the attempts have goroutines of their own, and tell
// it what came of them.
type run struct {
	*Deliverer
	webhook int64
	owner   fair.Claimant
	begun   time.Time

	box     *docgen.Outbox // where deliveries go, as last read
	queue   []docgen.Due   // read and not begun
	readAt  time.Time
	drained bool // whether that was all that was due when it was read

	spare *fair.Slot // a place for the next attempt; nil when none is held

	busy      map[int64]*fair.Slot // begun and not recorded, with their places; nil for one without
	running   int                  // attempts that are under way
	tried     chan tried
	recording int // attempts that are being recorded
	recorded  chan recorded

	gone string    // why the receiver wants no more; empty where it does not say so
	rest time.Time // until when it is to be left alone
}

// tried is what came of an attempt. One that was not made, or broken off, has no try.
type tried struct {
	id   int64
	try  *docgen.AttemptResult
	gone string        // why the receiver wants no more
	rest time.Duration // how long the receiver is to be left alone instead
	err  error         // a fault of ours
}

func newRun(d *Deliverer, webhookID int64, owner fair.Claimant) *run {
	return &run{
		Deliverer: d, webhook: webhookID, owner: owner, begun: d.now(), busy: map[int64]*fair.Slot{},
		tried: make(chan tried, d.concurrency), recorded: make(chan recorded, d.unrecorded()),
	}
}

// unrecorded is how many attempts of a run may wait to be recorded.
func (d *Deliverer) unrecorded() int { return 8 * d.concurrency }

func (r *run) deliver(ctx context.Context) error {
	defer r.finish()
	look := time.NewTicker(lookAgainIn)
	defer look.Stop()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.reserve(ctx); err != nil {
			return err
		}
		if r.mayRead() && (len(r.queue) == 0 && !r.drained || r.isOld() && r.running < r.concurrency) {
			if err := r.read(ctx); err != nil {
				return err
			}
		}
		r.start(ctx)
		if r.running+r.recording > 0 {
			if err := r.wait(ctx, look.C); err != nil {
				return err
			}
			continue
		}
		switch ended, err := r.settle(ctx); {
		case err != nil || ended:
			return err
		case r.isOver():
			return ErrUnfinished
		}
		r.drained = false
	}
}

// finish waits for the attempts that are under way, records them, and gives all places back.
func (r *run) finish() {
	r.returnSpare()
	for r.running+r.recording > 0 {
		select {
		case t := <-r.tried:
			r.take(t)
		case done := <-r.recorded: // its error was returned before, or will be by the next run
			r.recording--
			r.settled(done.id)
		}
	}
}

// reserve takes a place for the next attempt where none is under way, and waits for one where nothing is being recorded either,
// until the time of the task is used up. It comes before reading, so that a webhook that has to wait costs nothing but its task.
func (r *run) reserve(ctx context.Context) error {
	if r.running > 0 || r.tryReserve() || r.recording > 0 {
		return nil
	}
	waiting, cancel := context.WithTimeoutCause(ctx, taskBudget-r.now().Sub(r.begun), ErrUnfinished)
	defer cancel()
	place, err := r.places.Acquire(waiting, r.owner)
	r.spare = place
	return err
}

// tryReserve takes a place for the next attempt if there is one, unless one is held. It reports whether one is held then.
func (r *run) tryReserve() bool {
	if r.spare == nil {
		r.spare, _ = r.places.TryAcquire(r.owner)
	}
	return r.spare != nil
}

func (r *run) returnSpare() {
	if r.spare != nil {
		r.spare.Release()
		r.spare = nil
	}
}

// mayRead reports whether what is read can be begun soon.
func (r *run) mayRead() bool { return r.spare != nil || r.running > 0 }

// settled forgets a delivery that is not under way any more, and gives its place back.
func (r *run) settled(id int64) {
	if place := r.busy[id]; place != nil {
		place.Release()
	}
	delete(r.busy, id)
}

// isOver reports whether the time of the task is used up.
func (r *run) isOver() bool { return r.now().Sub(r.begun) > taskBudget }

// read fills the queue with what is due and not busy.
func (r *run) read(ctx context.Context) error {
	limit := portion + len(r.busy)
	box, err := r.service.Outbox(ctx, r.webhook, limit)
	if err != nil {
		return err
	}
	r.box, r.queue, r.readAt, r.drained = box, nil, r.now(), len(box.Deliveries) < limit
	for _, delivery := range box.Deliveries {
		if _, busy := r.busy[delivery.ID]; !busy {
			r.queue = append(r.queue, delivery)
		}
	}
	return nil
}

// isOld tells that what was read may not hold any more.
func (r *run) isOld() bool { return r.now().Sub(r.readAt) > oldAfter }

// start begins as many attempts as there may be at the same time. While any is under way, no place is kept for the next.
func (r *run) start(ctx context.Context) {
	for len(r.queue) > 0 && r.running < r.concurrency && r.running+r.recording < r.unrecorded() && r.mayStart() && r.tryReserve() {
		box, delivery := r.box, r.queue[0]
		r.queue = r.queue[1:]
		r.busy[delivery.ID], r.spare = r.spare, nil
		r.running++
		go func() { r.tried <- r.safely(ctx, box, delivery) }()
	}
	if r.running+r.recording > 0 {
		r.returnSpare()
	}
}

// safely is try for a goroutine of its own, where a panic would end the process.
func (r *run) safely(ctx context.Context, box *docgen.Outbox, delivery docgen.Due) (t tried) {
	defer func() {
		if p := recover(); p != nil {
			t = tried{id: delivery.ID, err: fmt.Errorf("deliver %d: panic: %v\n%s", delivery.ID, p, debug.Stack())}
		}
	}()
	return r.try(ctx, box, delivery)
}

func (r *run) mayStart() bool {
	return r.gone == "" && !r.isOld() && !r.rest.After(r.now()) && !r.isOver()
}

// wait waits until something has come of an attempt, or it is time to look for what else is due.
func (r *run) wait(ctx context.Context, look <-chan time.Time) error {
	select {
	case t := <-r.tried:
		r.take(t)
		return t.err
	case done := <-r.recorded:
		r.recording--
		r.settled(done.id)
		return done.err
	case <-look:
		r.drained = false
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// take notes what came of an attempt, and has it recorded.
func (r *run) take(t tried) {
	r.running--
	if t.rest > 0 {
		r.rest = r.now().Add(t.rest)
	}
	if t.gone != "" {
		r.gone = t.gone
	}
	if t.try == nil {
		r.settled(t.id)
		return
	}
	r.record(*t.try)
}

func (r *run) record(try docgen.AttemptResult) {
	r.recording++
	r.recorder.record(try, r.recorded)
}

// settle does what is to be done while no attempt is under way: it disables a webhook whose receiver wants no more, has what
// waits postponed where the receiver is to be left alone, and ends the task where nothing is due.
func (r *run) settle(ctx context.Context) (ended bool, err error) {
	if r.gone != "" {
		r.log.WarnContext(ctx, "webhook disabled", "webhook", r.webhook, "reason", r.gone)
		reason := r.gone
		r.gone, r.queue = "", nil
		return false, r.service.DisableWebhook(ctx, r.webhook, reason)
	}
	if r.rest.After(r.now()) {
		return false, r.postpone(ctx)
	}
	if len(r.queue) > 0 { // there was no more time
		return false, nil
	}
	return r.service.EndDeliveries(ctx, r.webhook)
}

// postpone has what waits tried when the receiver has rested, and gives up what has no time left for that. It is called
// again until there is none of the latter.
func (r *run) postpone(ctx context.Context) error {
	const resting = "the receiver is left alone for a while, because it did not answer well or asked for it"
	expired := 0
	for _, delivery := range r.queue {
		if r.rest.Sub(delivery.BegunAt) > r.patience(delivery) && r.recording < r.unrecorded() {
			r.busy[delivery.ID] = nil
			r.record(r.expired(delivery))
			expired++
		}
	}
	r.queue = nil
	if expired > 0 {
		return nil
	}
	until := r.rest
	r.rest = time.Time{}
	return r.service.PostponeDeliveries(ctx, r.webhook, until, resting)
}

// expired gives a delivery up.
func (r *run) expired(delivery docgen.Due) docgen.AttemptResult {
	r.metrics.tried(OutcomeExpired, docgen.DeliveryFailed, 0)
	return docgen.AttemptResult{Attempt: docgen.Attempt{
		DeliveryID: delivery.ID, BegunAt: r.now(), Outcome: string(OutcomeExpired),
		Reason: "given up without another try: its time was over while the receiver did not answer well",
	}}
}

// patience is how long a delivery waits for a receiver that is left alone: as long as it would be tried, and for a day where it
// has not been tried at all.
func (r *run) patience(delivery docgen.Due) time.Duration {
	length := r.schedule.Length()
	length += time.Duration(float64(length) * jitter)
	if delivery.Tries == 0 {
		return max(length, untriedPatience)
	}
	return length
}
