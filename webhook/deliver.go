// Package webhook delivers notifications to the addresses of webhooks. It signs them, connects only to permitted addresses,
// posts them, and judges the responses. Its one kind of task delivers the notifications that are due for a webhook; package
// docgen stores the deliveries and records the attempts.
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

// Settings of a task. The queue allows it 120 seconds.
const (
	taskBudget         = 60 * time.Second // no attempt starts after that; one in flight can take 30 seconds more
	batchSize          = 256              // deliveries read at once
	pollInterval       = time.Second      // looks for more due deliveries during slow attempts
	staleAfter         = time.Second      // deliveries are then read again: the webhook may be deleted, disabled, or changed
	defaultConcurrency = 8

	untriedPatience = 24 * time.Hour // see run.patience
)

// ErrCrowded is returned by Deliver if the queue is nearly full and the owner of the webhook uses more than an equal share of
// it. Run the task again in a few seconds.
var ErrCrowded = errors.New("more webhooks of the owner are served at the same time than is fair to others")

// ErrUnfinished is returned by Deliver if its time is used up. Run the task again soon; it continues where it stopped.
var ErrUnfinished = errors.New("more deliveries of the webhook are due")

// Outcomes of deliveries that were not sent.
const (
	OutcomeOwner   Outcome = "owner"   // the owner of the webhook may not see its target, or was deleted
	OutcomeExpired Outcome = "expired" // given up while the receiver was paused
)

// DefaultAttempts limits the concurrent attempts of a process, each with a connection and a response in memory. An owner whose
// receivers hang uses Most of them at most, and every owner can always make Least.
var DefaultAttempts = fair.Config{Slots: 1024, Least: 8, Most: 256}

// Config configures a Deliverer.
type Config struct {
	Service     *docgen.Service
	Log         *slog.Logger
	Guard       *Guard
	Roots       *x509.CertPool        // trusted certificate authorities; nil for those of the system
	Limit       time.Duration         // time limit of one attempt; 0 means 30 seconds
	Schedule    Schedule              // pauses between attempts; nil means DefaultSchedule
	Concurrency int                   // concurrent requests of this process to one receiver; 0 means 8
	Attempts    fair.Config           // limits of concurrent attempts of this process; zero means DefaultAttempts
	Tasks       int                   // number of tasks that the queue runs concurrently, for ErrCrowded; 0 means no limit
	Metrics     prometheus.Registerer // nil for none
	Now         func() time.Time      // nil means time.Now
}

// Deliverer runs the tasks that deliver notifications. It is safe for concurrent use, as long as no two goroutines deliver for
// the same webhook.
type Deliverer struct {
	service     *docgen.Service
	log         *slog.Logger
	client      *client
	receivers   *receivers
	slots       *fair.Slots // an attempt holds one until it is recorded
	tasks       *tasks
	recorder    *recorder
	schedule    Schedule
	concurrency int
	metrics     *metrics
	now         func() time.Time
}

// New returns a Deliverer. Close it when it is no longer needed.
func New(cfg Config) *Deliverer {
	d := &Deliverer{service: cfg.Service, log: cfg.Log, schedule: cfg.Schedule, concurrency: cfg.Concurrency, now: cfg.Now}
	if d.now == nil {
		d.now = time.Now
	}
	if d.schedule == nil {
		d.schedule = DefaultSchedule
	}
	if d.concurrency == 0 {
		d.concurrency = defaultConcurrency
	}
	d.client = newClient(cfg.Guard, cfg.Roots, cfg.Limit)
	d.receivers = newReceivers(d.concurrency, func(receiver string, to breakerState) {
		d.log.Info("circuit breaker", "receiver", receiver, "state", to)
	})
	d.slots, d.tasks = fair.New(cmp.Or(cfg.Attempts, DefaultAttempts)), newTasks(cfg.Tasks)
	d.metrics = newMetrics(cfg.Metrics, d)
	d.recorder = newRecorder(cfg.Service)
	return d
}

// Close releases the resources of the Deliverer. No task may be running.
func (d *Deliverer) Close() {
	d.recorder.close()
	d.client.close()
}

// Deliver sends the due notifications of a webhook, a few at a time, until none is due. It reschedules those that fail, and
// gives them up at the end of the schedule. It returns ErrUnfinished to be run again soon, and ErrCrowded to be run again in a
// few seconds.
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

// try makes one attempt. The result has no attempt if ctx is done or the receiver is paused.
func (d *Deliverer) try(ctx context.Context, box *docgen.Outbox, delivery docgen.Due) result {
	if box.Problem != "" {
		return d.decide(box, delivery, docgen.Attempt{BegunAt: d.now()}, verdict{outcome: OutcomeOwner, reason: box.Problem})
	}
	receiver := d.receivers.of(box.Address)
	release, err := receiver.enter(ctx)
	if err != nil {
		return result{id: delivery.ID}
	}
	defer release()
	done, wait := receiver.allow()
	if done == nil {
		return result{id: delivery.ID, rest: wait}
	}
	message := Message{ID: delivery.EventID, Delivery: uuid.NewString(), Time: d.now().UTC(), Body: delivery.Body}
	header := Sign(message, KeysOf(box.Keys))
	answer := d.client.post(ctx, box.Address, header, delivery.Body)
	v := judge(answer, d.now())
	done(v.healthy || v.outcome == OutcomeStopped)
	if v.outcome == OutcomeStopped {
		return result{id: delivery.ID}
	}
	if v.pause > 0 {
		receiver.pause(v.pause)
	}
	made := d.decide(box, delivery, attemptOf(message, header, answer), v)
	made.try.Health, made.try.RetryAfter = docgen.Healthy, v.pause
	if !v.healthy {
		made.try.Health, made.try.RestingUntil = docgen.Unhealthy, receiver.resting()
	}
	return made
}

// KeysOf converts the signing keys of an application, as package docgen lists them, to the form that Sign uses.
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

// decide returns the state of a delivery after an attempt: delivered, due again later, or failed.
func (d *Deliverer) decide(box *docgen.Outbox, delivery docgen.Due, attempt docgen.Attempt, v verdict) result {
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
		d.log.Info("notification not delivered", "webhook", box.WebhookID, "delivery", delivery.ID, "try", delivery.Tries+1,
			"outcome", v.outcome, "reason", v.reason, "state", state)
	}
	d.metrics.tried(v.outcome, state, attempt.Duration)
	if try.Delivered {
		d.metrics.delivered(d.now().Sub(delivery.BegunAt))
	}
	made := result{id: delivery.ID, try: &try}
	if v.gone {
		made.gone = v.reason
	}
	return made
}
