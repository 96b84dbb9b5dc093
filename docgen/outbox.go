package docgen

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"platen/fair"
	"platen/store"
)

// One task at a time delivers the pending notifications of a webhook. Adding a delivery also adds the task, unless it
// exists; the task ends in the transaction in which it finds nothing that is due. Another task runs every few seconds
// and finds what has become due.

// DeliverNotifications is the task that delivers the pending notifications of a webhook.
type DeliverNotifications struct {
	WebhookID int64 `json:"webhook_id"`
}

// Kind names the task.
func (DeliverNotifications) Kind() string { return "deliver_notifications" }

// DeliveryQueue is the queue of the task, which mostly waits for receivers.
const DeliveryQueue = "delivery"

// deliveryTries is the number of tries of this task, and of the task that finds due deliveries. Problems of a receiver
// are not failures of these tasks; they fail if the database fails or the server is killed.
const deliveryTries = 10_000

// wake enqueues the tasks of webhooks. On PostgreSQL, other transactions that wake one of them wait until this transaction ends, so wake
// enqueues them in the order of their ids.
func wake(ctx context.Context, tx *store.Tx, webhookIDs []int64) error {
	slices.Sort(webhookIDs)
	var jobs []store.Job
	for _, id := range slices.Compact(webhookIDs) {
		jobs = append(jobs, store.Job{Task: DeliverNotifications{id}, Queue: DeliveryQueue, Unique: true, Tries: deliveryTries})
	}
	_, err := tx.Enqueue(ctx, jobs...)
	return err
}

// WakeWebhooks is the task that finds deliveries that have become due.
type WakeWebhooks struct{}

// Kind names the task.
func (WakeWebhooks) Kind() string { return "wake_webhooks" }

// ScheduleDeliveries schedules the search for due deliveries, now and for as long as the task is snoozed.
func (s *Service) ScheduleDeliveries(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx, store.Job{Task: WakeWebhooks{}, Queue: DeliveryQueue, Unique: true, Tries: deliveryTries})
		return err
	})
}

// WakeWebhooks starts the delivery of everything that is due, except for served webhooks. Their task runs in this process, and finds due
// deliveries before it ends. Skipping them saves a write for each of possibly hundreds of hanging receivers.
func (s *Service) WakeWebhooks(ctx context.Context, served func(webhookID int64) bool) error {
	var due []int64
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		due, err = q.WebhooksDue(ctx, s.micros())
		return err
	})
	if err != nil {
		return err
	}
	due = slices.DeleteFunc(due, served)
	for some := range slices.Chunk(due, wakePortion) {
		if err := s.db.WriteAsync(ctx, func(tx *store.Tx) error { return wake(ctx, tx, some) }); err != nil {
			return err
		}
	}
	return nil
}

// wakePortion is the number of webhooks that one transaction wakes, so that other writers do not wait long if many are due.
const wakePortion = 64

// Backlog is the number and delay of pending deliveries, of all webhooks.
type Backlog struct {
	Late     time.Duration // time since the oldest due delivery became due; 0 if none is due
	Pending  int64         // number of pending deliveries, due or not, up to CountedBacklog
	Active   int64         // number of active webhooks
	Disabled int64         // number of disabled webhooks
}

// CountedBacklog is the maximum number of deliveries that are counted, because monitoring must stay cheap.
const CountedBacklog = 100_000

// Backlog returns the backlog of pending deliveries.
func (s *Service) Backlog(ctx context.Context) (Backlog, error) {
	var b Backlog
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		row, err := q.Backlog(ctx, CountedBacklog)
		b = Backlog{Pending: row.Pending, Active: row.Active, Disabled: row.Disabled}
		if row.FirstDue != 0 {
			b.Late = max(0, s.now().Sub(timeOf(row.FirstDue)))
		}
		return err
	})
	return b, err
}

// WebhookOwner returns the user who owns a webhook, as the claimant of the resources for its deliveries. If the
// webhook no longer exists, it is user 0, who does not exist.
func (s *Service) WebhookOwner(ctx context.Context, webhookID int64) (owner fair.Claimant, err error) {
	err = s.db.ReadOne(ctx, func(q *store.Queries) error {
		row, err := q.Webhook(ctx, webhookID)
		owner = fair.Claimant{User: row.Webhook.CreatedBy, Weight: int(row.User.Weight)}
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return fair.Claimant{Weight: 1}, nil
	}
	return owner, err
}

// Outbox holds the due deliveries of a webhook.
type Outbox struct {
	WebhookID  int64
	Address    string
	Keys       []SigningKey // the current signing keys: primary, secondary, then retired ones
	Problem    string       // why nothing may be sent, for people; empty if sending is allowed
	Deliveries []Due        // in the order in which they became due
}

// Due is a delivery with the data for sending it.
type Due struct {
	ID      int64
	EventID string
	BegunAt time.Time // when the current tries began
	Tries   int       // failed tries since then
	Body    []byte
}

// Outbox returns the due deliveries of a webhook, at most limit.
func (s *Service) Outbox(ctx context.Context, webhookID int64, limit int) (*Outbox, error) {
	var box *Outbox
	var ended string // why nothing is sent anymore
	err := s.db.Read(ctx, func(q *store.Queries) error {
		row, err := q.Webhook(ctx, webhookID)
		if errors.Is(err, sql.ErrNoRows) { // deleted long ago, without any rows left
			box = &Outbox{WebhookID: webhookID}
			return nil
		}
		if err != nil {
			return err
		}
		box, ended = &Outbox{WebhookID: webhookID, Address: row.Webhook.Address}, ""
		if status := row.Webhook.Status; status == webhookDeleted || status == WebhookDisabled {
			ended = row.Webhook.Reason
			return nil
		}
		rows, err := q.DueDeliveries(ctx, webhookID, s.micros(), int32(limit))
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			box.Deliveries = append(box.Deliveries, Due{
				ID: row.ID, EventID: row.EventID, BegunAt: timeOf(row.BegunAt), Tries: int(row.Tries), Body: []byte(row.Body),
			})
		}
		if box.Problem, err = s.ownerProblem(ctx, q, row); err != nil {
			return err
		}
		box.Keys, err = s.signingKeys(ctx, q, row.Webhook.ApplicationID)
		return err
	})
	if err != nil || ended == "" {
		return box, err
	}
	return box, s.db.WriteAsync(ctx, func(tx *store.Tx) error { // added by a request that did not know yet that the webhook had ended
		return tx.CancelDeliveries(ctx, webhookID, s.micros(), ended)
	})
}

// ownerProblem returns why the owner of a webhook prevents notifications: the owner was deleted, or can no longer see
// the target. A deleted target is not a reason, because its webhooks are notified of the deletion.
func (s *Service) ownerProblem(ctx context.Context, q *store.Queries, row store.WebhookRow) (string, error) {
	switch {
	case row.User.DeletedAt != 0:
		return "The owner of the webhook was deleted, and has no access to any content. Create the webhook again as a service account, " +
			"or as another user.", nil
	case !isActive(row.User):
		return "The owner of the webhook is inactive, and has no access to any content. Make the user active, or make the webhook " +
			"again as another one.", nil
	case row.Webhook.Status == webhookGone:
		return "", nil
	}
	owner := callerOf(row.User, row.Webhook.GlobalContent)
	_, err := s.findWhere(ctx, q, owner, Kind(row.Webhook.TargetKind), row.Webhook.TargetID, MaySee, anywhere)
	if _, hidden := errors.AsType[*Error](err); hidden {
		return "The owner of the webhook can no longer see its target. Share the target with the owner again, or delete the webhook.", nil
	}
	return "", err
}

// AttemptResult is an attempt with the resulting state of its delivery.
type AttemptResult struct {
	Attempt
	Delivered bool
	Again     time.Time // of the next attempt, if this one failed; zero if there is none

	Health       Health        // of the receiver
	RestingUntil time.Time     // when the receiver is tried again if it is unhealthy; zero if it does not rest
	RetryAfter   time.Duration // the pause that the receiver asked for; 0 for none
}

// state returns the state of the delivery after the attempt.
func (t AttemptResult) state() DeliveryState {
	switch {
	case t.Delivered:
		return DeliveryDelivered
	case t.Again.IsZero():
		return DeliveryFailed
	}
	return DeliveryPending
}

// RecordAttempts records the results of attempts. A loss of power may undo this. The notifications are then sent again.
func (s *Service) RecordAttempts(ctx context.Context, tries []AttemptResult) error {
	rows := make([]store.WebhookAttempt, len(tries))
	for i, try := range tries {
		var err error
		if rows[i], err = s.attemptRow(try.Attempt); err != nil {
			return err
		}
	}
	err := s.recordTries(ctx, rows, tries, s.setTogether)
	if errors.Is(err, errEndedBefore) {
		err = s.recordTries(ctx, rows, tries, s.setOneByOne)
	}
	return err
}

func (s *Service) recordTries(ctx context.Context, rows []store.WebhookAttempt, tries []AttemptResult,
	set func(context.Context, *store.Tx, []AttemptResult) error) error {
	return s.db.WriteAsync(ctx, func(tx *store.Tx) error {
		if err := tx.InsertAttempts(ctx, rows); err != nil {
			return err
		}
		if err := set(ctx, tx, tries); err != nil {
			return err
		}
		return s.noteReceivers(ctx, tx, tries)
	})
}

// errMoreIsDue makes endTask roll its transaction back.
var errMoreIsDue = errors.New("more is due for the task")

// endTask marks the task that ctx belongs to as done in this transaction, or returns errMoreIsDue if there is work left
// for it. It calls left after [store.Tx.Done], so that nothing added for the task is overlooked.
func endTask(ctx context.Context, tx *store.Tx, left func() (bool, error)) error {
	if err := tx.Done(ctx); err != nil {
		return err
	}
	more, err := left()
	if err == nil && more {
		err = errMoreIsDue
	}
	return err
}

// endUnlessDue ends the task that ctx belongs to in its own transaction, unless more is due for it.
func (s *Service) endUnlessDue(ctx context.Context, due func(tx *store.Tx) (bool, error)) (more bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		return endTask(ctx, tx, func() (bool, error) { return due(tx) })
	})
	if errors.Is(err, errMoreIsDue) {
		return true, nil
	}
	return false, err
}

// EndDeliveries ends the task of a webhook that ctx belongs to, unless a delivery is due. ended reports whether it did.
func (s *Service) EndDeliveries(ctx context.Context, webhookID int64) (ended bool, err error) {
	err = s.db.WriteAsync(ctx, func(tx *store.Tx) error {
		return endTask(ctx, tx, func() (bool, error) { return tx.IsDeliveryDue(ctx, webhookID, s.micros()) })
	})
	if errors.Is(err, errMoreIsDue) {
		return false, nil
	}
	return err == nil, err
}

// errEndedBefore makes RecordAttempts update tries one by one: a delivery was canceled while it was in progress.
var errEndedBefore = errors.New("a delivery ended before")

// setTogether records the states of deliveries after their attempts. Successful ones, which are the most frequent, take few statements.
func (s *Service) setTogether(ctx context.Context, tx *store.Tx, tries []AttemptResult) error {
	var delivered []int64
	var others []AttemptResult
	for _, try := range tries {
		if try.Delivered {
			delivered = append(delivered, try.DeliveryID)
		} else {
			others = append(others, try)
		}
	}
	ended, err := tx.SetDelivered(ctx, s.micros(), delivered)
	if err == nil && ended < int64(len(delivered)) {
		err = errEndedBefore
	}
	if err != nil {
		return err
	}
	return s.setOneByOne(ctx, tx, others)
}

func (s *Service) setOneByOne(ctx context.Context, tx *store.Tx, tries []AttemptResult) error {
	for _, try := range tries {
		if err := s.recordAttempt(ctx, tx, try); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) recordAttempt(ctx context.Context, tx *store.Tx, try AttemptResult) error {
	row := store.RecordAttemptParams{ID: try.DeliveryID, State: string(try.state()), Reason: try.Reason}
	if try.state() == DeliveryPending {
		row.DueAt = try.Again.UnixMicro()
	} else {
		row.EndedAt = s.micros()
	}
	held, err := tx.RecordAttempt(ctx, row)
	if err != nil || held > 0 {
		return err
	}
	return tx.CountTry(ctx, try.DeliveryID) // canceled while it was in progress
}

func (s *Service) attemptRow(a Attempt) (store.WebhookAttempt, error) {
	record, err := json.Marshal(attemptRecord{
		Name: a.Name, Reason: a.Reason, Sent: a.RequestHeaders, Answered: a.ResponseHeaders, Body: readable(a.ResponseBody),
		Truncated: a.Truncated,
	})
	return store.WebhookAttempt{
		DeliveryID: a.DeliveryID, ID: s.newID(), BegunAt: a.BegunAt.UnixMicro(), Duration: a.Duration.Microseconds(),
		Outcome: a.Outcome, Status: int64(a.Status), Record: string(record),
	}, err
}

// readable returns a text from outside in a form that can be stored.
func readable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// PostponeDeliveries postpones the pending deliveries of a webhook to a time, for a reason. This does not count as a
// try.
func (s *Service) PostponeDeliveries(ctx context.Context, webhookID int64, until time.Time, reason string) error {
	return s.db.WriteAsync(ctx, func(tx *store.Tx) error {
		return tx.PostponeDeliveries(ctx, webhookID, until.UnixMicro(), reason)
	})
}

// DisableWebhook disables a webhook whose receiver has asked for it, and cancels its pending deliveries.
func (s *Service) DisableWebhook(ctx context.Context, webhookID int64, reason string) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.DisableWebhook(ctx, webhookID, reason); err != nil {
			return err
		}
		return tx.CancelDeliveries(ctx, webhookID, s.micros(), reason)
	})
}
