package webhook

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"platen/docgen"
	"platen/fair"
)

// run is one run of the task of a webhook. One goroutine owns it. Each attempt has its own goroutine, which sends its result to
// results.
type run struct {
	*Deliverer
	webhook int64
	owner   fair.Claimant
	begun   time.Time

	box     *docgen.Outbox // the webhook's address and keys, as last read
	queue   []docgen.Due   // deliveries read and not started
	readAt  time.Time
	drained bool // whether the last read returned all due deliveries

	spare *fair.Slot // for the next attempt; nil if none is held

	busy      map[int64]*fair.Slot // the slots of deliveries started and not recorded; nil for a delivery without one
	running   int                  // attempts in flight
	results   chan result
	recording int // attempts being recorded
	recorded  chan recorded

	gone string    // why the receiver wants no more notifications; empty if it does
	rest time.Time // end of the receiver's pause
}

// result is the result of an attempt. try is nil if no attempt was made, or it was canceled.
type result struct {
	id   int64 // of the delivery
	try  *docgen.AttemptResult
	gone string        // why the receiver wants no more notifications
	rest time.Duration // the receiver's remaining pause, because of which no attempt was made
	err  error         // an internal error
}

func newRun(d *Deliverer, webhookID int64, owner fair.Claimant) *run {
	return &run{
		Deliverer: d, webhook: webhookID, owner: owner, begun: d.now(), busy: map[int64]*fair.Slot{},
		results: make(chan result, d.concurrency), recorded: make(chan recorded, d.unrecorded()),
	}
}

// unrecorded returns the maximum number of attempts of a run that are in flight or being recorded.
func (d *Deliverer) unrecorded() int { return 8 * d.concurrency }

func (r *run) deliver(ctx context.Context) error {
	defer r.finish()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.reserve(ctx); err != nil {
			return err
		}
		if r.mayRead() && (len(r.queue) == 0 && !r.drained || r.isStale() && r.running < r.concurrency) {
			if err := r.read(ctx); err != nil {
				return err
			}
		}
		r.start(ctx)
		if r.running+r.recording > 0 {
			if err := r.wait(ctx, poll.C); err != nil {
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

// finish waits for the attempts in flight, records them, and releases all slots.
func (r *run) finish() {
	r.returnSpare()
	for r.running+r.recording > 0 {
		select {
		case made := <-r.results:
			r.take(made)
		case done := <-r.recorded: // deliver already returned the error, or the next run will
			r.recording--
			r.settled(done.id)
		}
	}
}

// reserve acquires a slot for the next attempt unless one is in flight. It waits for a slot only if nothing is being recorded
// either, and returns ErrUnfinished if the time of the task is used up. It is called before reading, so that a waiting webhook
// costs nothing but its task.
func (r *run) reserve(ctx context.Context) error {
	if r.running > 0 || r.tryReserve() || r.recording > 0 {
		return nil
	}
	waiting, cancel := context.WithTimeoutCause(ctx, taskBudget-r.now().Sub(r.begun), ErrUnfinished)
	defer cancel()
	slot, err := r.slots.Acquire(waiting, r.owner)
	r.spare = slot
	return err
}

// tryReserve acquires a slot for the next attempt without waiting, unless one is held. It reports whether one is held now.
func (r *run) tryReserve() bool {
	if r.spare == nil {
		r.spare, _ = r.slots.TryAcquire(r.owner)
	}
	return r.spare != nil
}

func (r *run) returnSpare() {
	if r.spare != nil {
		r.spare.Release()
		r.spare = nil
	}
}

// mayRead reports whether deliveries that are read now can start soon.
func (r *run) mayRead() bool { return r.spare != nil || r.running > 0 }

// settled removes a delivery from busy, and releases its slot.
func (r *run) settled(id int64) {
	if slot := r.busy[id]; slot != nil {
		slot.Release()
	}
	delete(r.busy, id)
}

// isOver reports whether the time of the task is used up.
func (r *run) isOver() bool { return r.now().Sub(r.begun) > taskBudget }

// read fills the queue with due deliveries that are not busy.
func (r *run) read(ctx context.Context) error {
	limit := batchSize + len(r.busy)
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

// isStale reports whether the webhook and its queue must be read again before the next attempt.
func (r *run) isStale() bool { return r.now().Sub(r.readAt) > staleAfter }

// start starts as many attempts as the limits permit. It keeps a spare slot only if no attempt is in flight or being recorded.
func (r *run) start(ctx context.Context) {
	for len(r.queue) > 0 && r.running < r.concurrency && r.running+r.recording < r.unrecorded() && r.mayStart() && r.tryReserve() {
		box, delivery := r.box, r.queue[0]
		r.queue = r.queue[1:]
		r.busy[delivery.ID], r.spare = r.spare, nil
		r.running++
		go func() { r.results <- r.safely(ctx, box, delivery) }()
	}
	if r.running+r.recording > 0 {
		r.returnSpare()
	}
}

// safely calls try, and turns a panic into an error. In a goroutine, a panic would end the process.
func (r *run) safely(ctx context.Context, box *docgen.Outbox, delivery docgen.Due) (made result) {
	defer func() {
		if p := recover(); p != nil {
			made = result{id: delivery.ID, err: fmt.Errorf("deliver %d: panic: %v\n%s", delivery.ID, p, debug.Stack())}
		}
	}()
	return r.try(ctx, box, delivery)
}

func (r *run) mayStart() bool {
	return r.gone == "" && !r.isStale() && !r.rest.After(r.now()) && !r.isOver()
}

// wait waits until an attempt ends or is recorded, or poll fires, which is the time to look for more due deliveries.
func (r *run) wait(ctx context.Context, poll <-chan time.Time) error {
	select {
	case made := <-r.results:
		r.take(made)
		return made.err
	case done := <-r.recorded:
		r.recording--
		r.settled(done.id)
		return done.err
	case <-poll:
		r.drained = false
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// take applies the result of an attempt to the run, and queues the attempt for recording.
func (r *run) take(made result) {
	r.running--
	if made.rest > 0 {
		r.rest = r.now().Add(made.rest)
	}
	if made.gone != "" {
		r.gone = made.gone
	}
	if made.try == nil {
		r.settled(made.id)
		return
	}
	r.record(*made.try)
}

func (r *run) record(try docgen.AttemptResult) {
	r.recording++
	r.recorder.record(try, r.recorded)
}

// settle takes the next step if no attempt is in flight. It disables the webhook if the receiver wants no more notifications,
// postpones the queue if the receiver is paused, or ends the task if nothing is due. It reports whether the task has ended.
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
	if len(r.queue) > 0 { // the time is used up, or the queue is stale
		return false, nil
	}
	return r.service.EndDeliveries(ctx, r.webhook)
}

// postpone postpones the queue until the end of the receiver's pause. First, it gives up deliveries that cannot wait that long;
// the run calls it again until none is left.
func (r *run) postpone(ctx context.Context) error {
	const paused = "the receiver is paused for a while because it failed repeatedly, or asked for a pause"
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
	return r.service.PostponeDeliveries(ctx, r.webhook, until, paused)
}

// expired returns the record of a delivery that is given up during a pause of the receiver.
func (r *run) expired(delivery docgen.Due) docgen.AttemptResult {
	r.metrics.tried(OutcomeExpired, docgen.DeliveryFailed, 0)
	return docgen.AttemptResult{Attempt: docgen.Attempt{
		DeliveryID: delivery.ID, BegunAt: r.now(), Outcome: string(OutcomeExpired),
		Reason: "given up without another attempt: its time ran out while the receiver was paused",
	}}
}

// patience returns the time since its event for which a delivery waits for a paused receiver: the length of the schedule, but at
// least a day if it has not been tried.
func (r *run) patience(delivery docgen.Due) time.Duration {
	length := r.schedule.Length()
	length += time.Duration(float64(length) * jitter)
	if delivery.Tries == 0 {
		return max(length, untriedPatience)
	}
	return length
}
