package docgen

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"platen/store"
)

// A listener is a webhook without a URL: its owner polls for events. It is for developers whose programs are not
// reachable from the server. It expires if it is not polled for a while.

// Listener is a listener of the caller's.
type Listener struct {
	ID         int64
	TargetKind Kind
	TargetID   int64 // 0 is the caller's root folder
	Triggers   []Trigger
	CreatedAt  time.Time
	ExpiresAt  time.Time // unless it is polled before
}

// Limits of listeners.
const (
	ListenerTimeout = 2 * time.Minute // time after the last poll after which a listener ends
	maxListeners    = 10              // per application and user
	maxPolled       = 100             // events per poll, fetched or accepted
	MaxPollWait     = 30 * time.Second
	pollInterval    = 250 * time.Millisecond // interval between reads of the database
)

// CreateListener creates a listener on a file or folder, which may be the caller's root folder. Without triggers, it subscribes to all
// that are valid for the target.
func (s *Service) CreateListener(ctx context.Context, c *Caller, target WebhookTarget, triggers []Trigger) (Listener, error) {
	if err := c.require(ScopeWebhooks); err != nil {
		return Listener{}, err
	}
	if len(triggers) == 0 {
		triggers = triggersFor(target.Kind)
	}
	if err := Invalid(target.triggerProblems(triggers)...); err != nil {
		return Listener{}, err
	}
	var made Listener
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := s.find(ctx, tx.Queries, c, target.Kind, target.ID, MaySee); err != nil {
			return err
		}
		if _, err := tx.LockUser(ctx, c.User.ID); err != nil {
			return err
		}
		if err := s.endListeners(ctx, tx); err != nil {
			return err
		}
		count, err := tx.CountListeners(ctx, c.ApplicationID, c.User.ID)
		if err != nil {
			return err
		}
		if count >= maxListeners {
			return failf(CodeConflict, "This user and application already have %d listeners, the maximum. Delete one, or wait until it "+
				"expires.", count)
		}
		if err := s.firstKeys(ctx, tx, c.ApplicationID); err != nil {
			return err
		}
		row := store.InsertWebhookParams{
			ID: s.newID(), ApplicationID: c.ApplicationID, CreatedBy: c.User.ID, GlobalContent: c.has(ScopeGlobalContent),
			TargetKind: int64(target.Kind), TargetID: target.ID, Triggers: joinTriggers(distinct(triggers)), CreatedAt: s.micros(),
			ExpiresAt: s.listenerEnd(),
		}
		row.Slot = row.ID
		if target.Kind == Folder {
			row.TargetID = s.folderRow(c, target.ID)
		}
		if _, err := tx.InsertWebhook(ctx, row); err != nil {
			return err
		}
		made = Listener{ID: row.ID, TargetKind: target.Kind, TargetID: target.ID, Triggers: splitTriggers(row.Triggers),
			CreatedAt: timeOf(row.CreatedAt), ExpiresAt: timeOf(row.ExpiresAt)}
		return nil
	})
	return made, err
}

func (s *Service) listenerEnd() int64 { return s.now().Add(ListenerTimeout).UnixMicro() }

// triggersFor returns the triggers that are fired, and that a webhook on a kind of target can have.
func triggersFor(kind Kind) []Trigger {
	var triggers []Trigger
	for _, r := range triggerRules {
		if r.Fired && !r.NotSelectable && (r.Files || kind == Folder) {
			triggers = append(triggers, r.Trigger)
		}
	}
	return triggers
}

// Polled is the result of a poll: deliveries with their bodies, and the keys to sign them with.
type Polled struct {
	Deliveries []Delivery
	Keys       []SigningKey
}

// PollListener marks accepted deliveries of a listener as delivered, and returns the next pending ones, at most 100.
// Deliveries that are not accepted are returned again. If none is pending, it waits for events, for at most wait and
// MaxPollWait.
func (s *Service) PollListener(ctx context.Context, c *Caller, listenerID int64, accepted []int64, wait time.Duration) (Polled, error) {
	if len(accepted) > maxPolled {
		return Polled{}, Invalid(invalidField("accepted", "accepted can contain at most %d ids", maxPolled))
	}
	over := time.NewTimer(min(wait, MaxPollWait))
	defer over.Stop()
	look := time.NewTicker(pollInterval)
	defer look.Stop()
	for {
		polled, err := s.pollOnce(ctx, c, listenerID, accepted)
		if err != nil || len(polled.Deliveries) > 0 {
			return polled, err
		}
		accepted = nil
		for waits := false; !waits; {
			select {
			case <-ctx.Done():
				return Polled{}, ctx.Err()
			case <-over.C:
				return polled, nil
			case <-look.C:
			}
			err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
				waits, err = q.IsDeliveryDue(ctx, listenerID, s.micros())
				return err
			})
			if err != nil {
				return Polled{}, err
			}
		}
	}
}

// pollOnce is PollListener without waiting.
func (s *Service) pollOnce(ctx context.Context, c *Caller, listenerID int64, accepted []int64) (Polled, error) {
	var polled Polled
	err := s.db.WriteAsync(ctx, func(tx *store.Tx) error {
		row, err := s.listenerRow(ctx, tx.Queries, c, listenerID)
		if err != nil {
			return err
		}
		for _, id := range accepted {
			if _, err := tx.AcceptDelivery(ctx, row.ID, id, s.micros()); err != nil {
				return err
			}
		}
		if _, err := tx.ExtendListener(ctx, row.ID, s.listenerEnd()); err != nil {
			return err
		}
		rows, err := tx.PendingDeliveries(ctx, row.ID, maxPolled)
		if err != nil {
			return err
		}
		polled.Deliveries = make([]Delivery, len(rows))
		for i, row := range rows {
			polled.Deliveries[i] = deliveryOf(row.WebhookDelivery, row.Body)
		}
		polled.Keys, err = s.signingKeys(ctx, tx.Queries, row.ApplicationID)
		return err
	})
	return polled, err
}

// DeleteListener deletes a listener of the caller.
func (s *Service) DeleteListener(ctx context.Context, c *Caller, id int64) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		row, err := s.listenerRow(ctx, tx.Queries, c, id)
		if err != nil {
			return err
		}
		return s.deleteListener(ctx, tx, row.ID)
	})
}

// listenerRow returns a listener of the caller that has not expired.
func (s *Service) listenerRow(ctx context.Context, q *store.Queries, c *Caller, id int64) (store.Webhook, error) {
	if err := c.require(ScopeWebhooks); err != nil {
		return store.Webhook{}, err
	}
	row, err := q.Webhook(ctx, id)
	gone := errors.Is(err, sql.ErrNoRows)
	if err != nil && !gone {
		return row.Webhook, err
	}
	w := row.Webhook
	if gone || w.Address != "" || !c.owns(w) || w.Status != WebhookActive || w.ExpiresAt <= s.micros() {
		return store.Webhook{}, NotFound("webhook_listener", id)
	}
	return w, nil
}

// endListeners ends the listeners that have not been polled for too long.
func (s *Service) endListeners(ctx context.Context, tx *store.Tx) error {
	ids, err := tx.ExpiredListeners(ctx, s.micros(), maxPolled)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.deleteListener(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) deleteListener(ctx context.Context, tx *store.Tx, id int64) error {
	const reason = "The listener was deleted or has expired."
	if err := tx.CancelDeliveries(ctx, id, s.micros(), reason); err != nil {
		return err
	}
	return tx.DeleteWebhook(ctx, id, reason, s.micros())
}
