// Package webhook carries notifications to the addresses that asked for them: it signs them, dials where it may, posts, and
// judges the answers. Its one task delivers what waits for a webhook; that what it did is kept, and what comes of it, is
// docgen's.
package webhook

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"platen/docgen"
	"platen/fair"
)

// How the task of a webhook works. The queue gives it 120 s.
const (
	taskBudget    = 60 * time.Second // nothing is begun after that, and an attempt may take 30 s more
	portion       = 256              // deliveries that are read at once
	lookAgainIn   = time.Second      // while attempts are under way that take long
	oldAfter      = time.Second      // what was read is then read again: the webhook may be deleted, disabled or moved
	defaultAtOnce = 8

	untriedPatience = 24 * time.Hour // see patience
)

// ErrCrowded is returned by a task that found so many others running that it has to come back later, because most of them are
// of the same owner.
var ErrCrowded = errors.New("more webhooks of the owner are served at the same time than is fair to others")

// ErrUnfinished is returned by a task that used up its time: it is to be run again soon, and goes on where it stopped.
var ErrUnfinished = errors.New("more deliveries of the webhook are due")

// Outcomes of what was not sent.
const (
	OutcomeOwner   Outcome = "owner"   // the owner of the webhook may not see its target, or is gone
	OutcomeExpired Outcome = "expired" // given up while the receiver rested, because its time was over
)

// DefaultAttempts is how owners of webhooks share the attempts that a process makes at the same time, each with a connection
// and an answer in memory. An owner whose receivers hang fills Most at most, and no number of them keeps another from Least.
var DefaultAttempts = fair.Config{Slots: 1024, Least: 8, Most: 256}

// Config is what a Deliverer stands on.
type Config struct {
	Service     *docgen.Service
	Log         *slog.Logger
	Guard       *Guard
	Roots       *x509.CertPool // of certificate authorities besides those of the system; nil for none
	Limit       time.Duration  // for one attempt; 0 is 30 s
	Schedule    Schedule       // when a delivery is tried again; DefaultSchedule when nil
	Concurrency int            // requests to one receiver at the same time, of this process; 0 is 8
	Attempts    fair.Config    // how owners share the attempts of this process at the same time; DefaultAttempts when zero
	Tasks       int            // tasks that the queue runs at the same time, for ErrCrowded; 0 is no limit
	Metrics     prometheus.Registerer
	Now         func() time.Time // time.Now when nil
}

// Deliverer does the task of delivering what waits for webhooks. It is safe for use by many goroutines, of which each does
// the task of another webhook.
type Deliverer struct {
	service     *docgen.Service
	log         *slog.Logger
	client      *client
	receivers   *receivers
	places      *fair.Slots // an attempt holds one until it is recorded
	tasks       *tasks
	recorder    *recorder
	schedule    Schedule
	concurrency int
	metrics     *metrics
	now         func() time.Time
}

// New returns a Deliverer.
func New(cfg Config) *Deliverer {
	d := &Deliverer{service: cfg.Service, log: cfg.Log, schedule: cfg.Schedule, concurrency: cfg.Concurrency, now: cfg.Now}
	if d.now == nil {
		d.now = time.Now
	}
	if d.schedule == nil {
		d.schedule = DefaultSchedule
	}
	if d.concurrency == 0 {
		d.concurrency = defaultAtOnce
	}
	d.client = newClient(cfg.Guard, cfg.Roots, cfg.Limit)
	d.receivers = newReceivers(d.concurrency, func(receiver string, to breakerState) {
		d.log.Info("circuit breaker", "receiver", receiver, "state", to)
	})
	d.places, d.tasks = fair.New(cmp.Or(cfg.Attempts, DefaultAttempts)), newTasks(cfg.Tasks)
	d.metrics = newMetrics(cfg.Metrics, d)
	d.recorder = newRecorder(cfg.Service)
	return d
}

// Close ends the Deliverer when no task is under way any more.
func (d *Deliverer) Close() {
	d.recorder.close()
	d.client.close()
}

// Deliver sends what waits for a webhook and is due, a few at a time, until nothing is. What fails is tried again as the
// schedule says, and given up at its end. ErrUnfinished asks for another run, ErrCrowded for one in a few seconds.
func (d *Deliverer) Deliver(ctx context.Context, task docgen.DeliverNotifications) error {
	owner, err := d.service.WebhookOwner(ctx, task.WebhookID)
	if err != nil {
		return err
	}
	leave, ok := d.tasks.enter(owner.User, task.WebhookID)
	if !ok {
		return ErrCrowded
	}
	defer leave()
	return newRun(d, task.WebhookID, owner).deliver(fair.For(ctx, owner))
}

// Serves reports whether a task of a webhook runs in this process.
func (d *Deliverer) Serves(webhookID int64) bool { return d.tasks.serves(webhookID) }

// try makes one attempt.
func (d *Deliverer) try(ctx context.Context, box *docgen.Outbox, delivery docgen.Due) tried {
	if box.Problem != "" {
		return d.decide(box, delivery, docgen.Attempt{BegunAt: d.now()}, verdict{outcome: OutcomeOwner, reason: box.Problem})
	}
	receiver := d.receivers.of(box.Address)
	release, err := receiver.enter(ctx)
	if err != nil {
		return tried{id: delivery.ID}
	}
	defer release()
	done, wait := receiver.allow()
	if done == nil {
		return tried{id: delivery.ID, rest: wait}
	}
	message := Message{ID: delivery.EventID, Delivery: uuid.NewString(), Time: d.now().UTC(), Body: delivery.Body}
	header := Sign(message, KeysOf(box.Keys))
	answer := d.client.post(ctx, box.Address, header, delivery.Body)
	v := judge(answer, d.now())
	done(v.healthy || v.outcome == OutcomeStopped)
	if v.outcome == OutcomeStopped {
		return tried{id: delivery.ID}
	}
	if v.pause > 0 {
		receiver.pause(v.pause)
	}
	return d.decide(box, delivery, attemptOf(message, header, answer), v)
}

// KeysOf are the keys of an application for Sign, as docgen lists them.
func KeysOf(keys []docgen.SigningKey) Keys {
	var k Keys
	for _, key := range keys {
		switch key.Slot {
		case docgen.KeyPrimary:
			k.Primary = key.Secret
		case docgen.KeySecondary:
			k.Secondary = key.Secret
		default:
			k.Retired = append(k.Retired, key.Secret)
		}
	}
	return k
}

func attemptOf(m Message, sent http.Header, a answer) docgen.Attempt {
	return docgen.Attempt{
		Name: m.Delivery, BegunAt: a.began, Duration: a.took, Status: a.status, RequestHeaders: sent,
		ResponseHeaders: a.header, ResponseBody: string(a.body), Truncated: a.truncated,
	}
}

// decide says what becomes of a delivery after an attempt.
func (d *Deliverer) decide(box *docgen.Outbox, delivery docgen.Due, attempt docgen.Attempt, v verdict) tried {
	attempt.DeliveryID, attempt.Outcome, attempt.Reason = delivery.ID, string(v.outcome), v.reason
	try := docgen.AttemptResult{Attempt: attempt, Delivered: v.outcome == OutcomeDelivered}
	if try.Delivered {
		try.Reason = ""
	}
	state := docgen.DeliveryDelivered
	if !try.Delivered {
		state = docgen.DeliveryFailed
		if pause, more := d.schedule.after(delivery.Tries + 1); more && !v.gone {
			state, try.Again = docgen.DeliveryPending, d.now().Add(max(pause, v.pause))
		}
		d.log.Info("notification not delivered", "webhook", box.WebhookID, "delivery", delivery.ID, "try", delivery.Tries+1, "outcome", v.outcome,
			"reason", v.reason, "state", state)
	}
	d.metrics.tried(v.outcome, state, attempt.Duration)
	if try.Delivered {
		d.metrics.delivered(d.now().Sub(delivery.BegunAt))
	}
	result := tried{id: delivery.ID, try: &try}
	if v.gone {
		result.gone = v.reason
	}
	return result
}
