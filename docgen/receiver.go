package docgen

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"platen/store"
)

// Health says whether the receiver of a webhook works, as an attempt found it. Each server has its own circuit breakers in memory, but one
// server at a time delivers for a webhook. So what the last attempt found is stored, and all servers show it.
type Health string

// The healths. The zero value says nothing, because nothing was sent.
const (
	Healthy   Health = "healthy" // it responds, even if it rejects notifications
	Unhealthy Health = "unhealthy"
)

// noteReceivers records what attempts found of receivers. Successes come first: a receiver of which both happened has just failed.
func (s *Service) noteReceivers(ctx context.Context, tx *store.Tx, tries []AttemptResult) error {
	var healthy []int64
	for _, try := range tries {
		if try.Delivered || try.Health == Healthy {
			healthy = append(healthy, try.DeliveryID)
		}
	}
	if err := tx.NoteReceiversHealthy(ctx, healthy); err != nil {
		return err
	}
	for _, try := range tries {
		if try.Health != Unhealthy || try.Delivered {
			continue
		}
		err := tx.NoteReceiverFailure(ctx, store.NoteReceiverFailureParams{
			DeliveryID: try.DeliveryID, FailedAt: s.micros(), RestingUntil: microsOf(try.RestingUntil, 0), Status: int64(try.Status),
			RetryAfter: try.RetryAfter.Microseconds(), Reason: readable(try.Reason),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// The states of a receiver.
const (
	ReceiverWorking = "working"
	ReceiverFailing = "failing" // the last attempt failed, but nothing keeps the next one waiting
	ReceiverResting = "resting" // nothing is sent for a while
)

// Receiver is the state of the receiver of a webhook.
type Receiver struct {
	WebhookID    int64
	State        string // one of the states
	RestingUntil time.Time
	Failures     int64 // in a row; 0 if it works
	FailingSince time.Time
	LastFailure  *ReceiverFailure // nil if it works
	Pending      int64            // deliveries that wait, up to CountedBacklog
	NextAt       time.Time        // when the next attempt is due; zero if nothing waits
}

// ReceiverFailure is a failed attempt to notify a receiver.
type ReceiverFailure struct {
	At         time.Time
	Status     int           // 0 if there was no response
	RetryAfter time.Duration // the pause that the receiver asked for; 0 if it did not
	Reason     string        // a sentence without a capital
}

// Receiver returns the state of the receiver of a webhook.
func (s *Service) Receiver(ctx context.Context, c *Caller, webhookID int64) (Receiver, error) {
	if err := c.require(ScopeWebhooks); err != nil {
		return Receiver{}, err
	}
	var found Receiver
	err := s.db.Read(ctx, func(q *store.Queries) error {
		if _, err := s.webhookRow(ctx, q, c, webhookID); err != nil {
			return err
		}
		waiting, err := q.PendingOfWebhook(ctx, webhookID, CountedBacklog)
		if err != nil {
			return err
		}
		row, err := q.Receiver(ctx, webhookID)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		found = s.receiverOf(webhookID, row)
		found.Pending, found.NextAt = waiting.Pending, timeOf(waiting.FirstDue)
		return err
	})
	return found, err
}

// receiverOf converts a row, which is zero for a receiver that works.
func (s *Service) receiverOf(webhookID int64, row store.WebhookReceiver) Receiver {
	r := Receiver{WebhookID: webhookID, State: ReceiverWorking}
	if row.Failures == 0 {
		return r
	}
	r.State, r.Failures, r.FailingSince = ReceiverFailing, row.Failures, timeOf(row.FailingSince)
	r.LastFailure = &ReceiverFailure{
		At: timeOf(row.FailedAt), Status: int(row.Status), RetryAfter: time.Duration(row.RetryAfter) * time.Microsecond, Reason: row.Reason,
	}
	if row.RestingUntil > s.micros() {
		r.State, r.RestingUntil = ReceiverResting, timeOf(row.RestingUntil)
	}
	return r
}
