package docgen

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"platen/store"
)

// DeliveryState is the state of a delivery:
//
//	pending ──┬─▶ delivered   the receiver accepted it
//	   ▲      ├─▶ failed      every attempt failed, or the last one was final
//	   │      └─▶ canceled    the webhook was deleted or disabled before
//	   └─ replayed
type DeliveryState string

// The states.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"
	DeliveryCanceled  DeliveryState = "canceled"
)

var deliveryStates = []DeliveryState{DeliveryPending, DeliveryDelivered, DeliveryFailed, DeliveryCanceled}

// Delivery is a notification for one webhook, with its state.
type Delivery struct {
	ID        int64
	WebhookID int64
	EventID   string // a UUID: the id in the body, shared by all deliveries of one event
	Trigger   Trigger
	State     DeliveryState
	Body      []byte // of the request; nil in lists
	CreatedAt time.Time
	BegunAt   time.Time // when it was created, or replayed
	Tries     int       // failed tries since then
	Attempts  int       // total number of attempts
	DueAt     time.Time // time of the next try; zero when the delivery has ended
	EndedAt   time.Time // zero while it is pending
	Reason    string    // why the last attempt failed, or why there was none; "" if it succeeded
}

// Attempt is one try to deliver a notification.
type Attempt struct {
	ID              int64
	DeliveryID      int64
	Name            string // the UUID that the receiver got; empty if nothing was sent
	BegunAt         time.Time
	Duration        time.Duration
	Outcome         string              // the outcome as a keyword, defined in package webhook
	Reason          string              // why it failed, for people; "" if it succeeded
	Status          int                 // HTTP status; 0 if there was no response
	RequestHeaders  map[string][]string // nil if nothing was sent
	ResponseHeaders map[string][]string // nil if there was no response
	ResponseBody    string              // its beginning; invalid UTF-8 is replaced with U+FFFD
	Truncated       bool                // whether the body was longer
}

// DeliveryFilter selects deliveries of the caller's webhooks or, if the caller manages the enterprise, of all webhooks. Fields that are not
// set select all.
type DeliveryFilter struct {
	WebhookID int64
	EventID   string
	Trigger   Trigger
	State     DeliveryState
	From, To  time.Time // created at From or later, and before To
}

// problems returns the problems of a filter.
func (f DeliveryFilter) problems() []Problem {
	var problems []Problem
	if f.EventID != "" && uuid.Validate(f.EventID) != nil {
		problems = append(problems, invalidField("event_id", "event_id must be a UUID, the id in the body of a notification"))
	}
	if f.Trigger != "" && ruleOf(f.Trigger) == nil {
		problems = append(problems, invalidField("trigger", "unknown trigger; the documentation of webhooks lists all triggers"))
	}
	if f.State != "" && !slices.Contains(deliveryStates, f.State) {
		problems = append(problems, invalidField("state", "state must be pending, delivered, failed, or canceled"))
	}
	return problems
}

// filterFor returns the filter restricted to the deliveries that the caller may see.
func filterFor(c *Caller, f DeliveryFilter) (store.DeliveryFilter, error) {
	if err := c.require(ScopeWebhooks); err != nil {
		return store.DeliveryFilter{}, err
	}
	filter := store.DeliveryFilter{
		ApplicationID: c.ApplicationID, CreatedBy: c.User.ID, WebhookID: f.WebhookID, EventID: f.EventID,
		Trigger: string(f.Trigger), State: string(f.State), From: microsOf(f.From, 0), To: microsOf(f.To, 0),
	}
	if c.seesAllDeliveries() {
		filter.ApplicationID, filter.CreatedBy = 0, 0
	}
	return filter, Invalid(f.problems()...)
}

// seesAllDeliveries reports whether a caller can see and replay the deliveries of all webhooks.
func (c *Caller) seesAllDeliveries() bool { return c.has(ScopeEnterprise) }

// owns reports whether the caller has created a webhook with the same application.
func (c *Caller) owns(w store.Webhook) bool {
	return w.CreatedBy == c.User.ID && w.ApplicationID == c.ApplicationID
}

// Deliveries returns one page by marker of the deliveries that the filter selects, newest first.
func (s *Service) Deliveries(ctx context.Context, c *Caller, f DeliveryFilter, r PageRequest) (Page[Delivery], error) {
	filter, err := filterFor(c, f)
	if err != nil {
		return Page[Delivery]{}, err
	}
	var result Page[Delivery]
	err = s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		result, err = page(s, c, r, list[Delivery]{
			name: fmt.Sprintf("webhook_deliveries/%+v", filter),
			keys: 1,
			key:  func(d Delivery) []int64 { return []int64{math.MaxInt64 - d.ID} }, // grows toward the end of the list
			after: func(from []int64, limit int32) ([]Delivery, error) {
				return deliveriesOf(q.ListDeliveries(ctx, filter, math.MaxInt64-from[0], true, limit))
			},
			before: func(from []int64, limit int32) ([]Delivery, error) {
				return deliveriesOf(q.ListDeliveries(ctx, filter, math.MaxInt64-from[0], false, limit))
			},
		})
		return err
	})
	return result, err
}

// DeliveriesByOffset returns one page by offset of the same list.
func (s *Service) DeliveriesByOffset(ctx context.Context, c *Caller, f DeliveryFilter, r OffsetRequest) (OffsetPage[Delivery], error) {
	filter, err := filterFor(c, f)
	if err != nil {
		return OffsetPage[Delivery]{}, err
	}
	var result OffsetPage[Delivery]
	err = s.db.Read(ctx, func(q *store.Queries) (err error) {
		result, err = pageAt(c, r,
			func() (int64, error) { return q.CountDeliveries(ctx, filter) },
			func(limit, offset int32) ([]Delivery, error) {
				return deliveriesOf(q.ListDeliveriesAt(ctx, filter, limit, offset))
			})
		return err
	})
	return result, err
}

func deliveriesOf(rows []store.WebhookDelivery, err error) ([]Delivery, error) {
	deliveries := make([]Delivery, len(rows))
	for i, row := range rows {
		deliveries[i] = deliveryOf(row, "")
	}
	return deliveries, err
}

func deliveryOf(row store.WebhookDelivery, body string) Delivery {
	d := Delivery{
		ID: row.ID, WebhookID: row.WebhookID, EventID: row.EventID, Trigger: Trigger(row.TriggerName), State: DeliveryState(row.State),
		CreatedAt: timeOf(row.CreatedAt), BegunAt: timeOf(row.BegunAt), Tries: int(row.Tries), Attempts: int(row.Attempts),
		DueAt: timeOf(row.DueAt), EndedAt: timeOf(row.EndedAt), Reason: row.Reason,
	}
	if body != "" {
		d.Body = []byte(body)
	}
	return d
}

// Delivery returns a delivery with its body. A caller who manages the enterprise, but not its content, gets it without
// the body.
func (s *Service) Delivery(ctx context.Context, c *Caller, id int64) (Delivery, error) {
	var found Delivery
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		row, err := deliveryFor(ctx, q, c, id)
		if !c.owns(row.Webhook) && !c.has(ScopeGlobalContent) {
			row.Body = "" // names items of others
		}
		found = deliveryOf(row.WebhookDelivery, row.Body)
		return err
	})
	return found, err
}

// deliveryFor returns a delivery that the caller may see.
func deliveryFor(ctx context.Context, q *store.Queries, c *Caller, id int64) (store.DeliveryRow, error) {
	if err := c.require(ScopeWebhooks); err != nil {
		return store.DeliveryRow{}, err
	}
	row, err := q.Delivery(ctx, id)
	gone := errors.Is(err, sql.ErrNoRows)
	if err != nil && !gone {
		return row, err
	}
	if gone || row.Webhook.Address == "" || !c.owns(row.Webhook) && !c.seesAllDeliveries() {
		return store.DeliveryRow{}, NotFound("webhook_delivery", id)
	}
	return row, nil
}

// attemptPortion is the number of attempts that are read at once. Each may have 64 KiB of headers and 48 KiB of body.
const attemptPortion = 8

// Attempts returns one page by marker of the attempts to deliver a notification, oldest first.
func (s *Service) Attempts(ctx context.Context, c *Caller, deliveryID int64, r PageRequest) (Page[Attempt], error) {
	var result Page[Attempt]
	err := s.db.Read(ctx, func(q *store.Queries) error {
		_, err := deliveryFor(ctx, q, c, deliveryID)
		if err != nil {
			return err
		}
		result, err = page(s, c, r, list[Attempt]{
			name: fmt.Sprintf("webhook_attempts/%d", deliveryID),
			keys: 1,
			key:  func(a Attempt) []int64 { return []int64{a.ID} },
			after: func(from []int64, limit int32) ([]Attempt, error) {
				return attemptsOf(q.AttemptsAfter(ctx, deliveryID, from[0], limit))
			},
			before: func(from []int64, limit int32) ([]Attempt, error) {
				return attemptsOf(q.AttemptsBefore(ctx, deliveryID, from[0], limit))
			},
			portion: attemptPortion,
		})
		return err
	})
	return result, err
}

func attemptsOf(rows []store.WebhookAttempt, err error) ([]Attempt, error) {
	attempts := make([]Attempt, len(rows))
	for i, row := range rows {
		var r attemptRecord
		if err := json.Unmarshal([]byte(row.Record), &r); err != nil {
			return nil, fmt.Errorf("attempt %d: %w", row.ID, err)
		}
		attempts[i] = Attempt{
			ID: row.ID, DeliveryID: row.DeliveryID, Name: r.Name, BegunAt: timeOf(row.BegunAt),
			Duration: time.Duration(row.Duration) * time.Microsecond,
			Outcome:  row.Outcome, Reason: r.Reason, Status: int(row.Status), RequestHeaders: r.Sent, ResponseHeaders: r.Answered,
			ResponseBody: r.Body, Truncated: r.Truncated,
		}
	}
	return attempts, err
}

// attemptRecord has the stored data of an attempt that is never searched.
type attemptRecord struct {
	Name      string              `json:"name,omitempty"`
	Reason    string              `json:"reason,omitempty"`
	Sent      map[string][]string `json:"sent,omitempty"`
	Answered  map[string][]string `json:"answered,omitempty"`
	Body      string              `json:"body,omitempty"`
	Truncated bool                `json:"truncated,omitempty"`
}

// ReplayDelivery sends a delivery that has ended again, with the same body, and with the attempts of a new one. A pending delivery becomes
// due now.
func (s *Service) ReplayDelivery(ctx context.Context, c *Caller, id int64) (Delivery, error) {
	var replayed Delivery
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		row, err := deliveryFor(ctx, tx.Queries, c, id)
		if err != nil {
			return err
		}
		if err := replayable(row.Webhook); err != nil {
			return err
		}
		if err := tx.ReplayDeliveries(ctx, s.micros(), []int64{id}); err != nil {
			return err
		}
		if row, err = tx.Delivery(ctx, id); err != nil {
			return err
		}
		replayed = deliveryOf(row.WebhookDelivery, row.Body)
		return wake(ctx, tx, []int64{row.Webhook.ID})
	})
	return replayed, err
}

// replayable returns an Error if a webhook can no longer receive notifications.
func replayable(w store.Webhook) error {
	if w.Status == WebhookActive {
		return nil
	}
	return failf(CodeConflict, "The webhook is %s and receives no notifications. %s", w.Status, w.Reason)
}

// replayPortion is the number of deliveries that one transaction replays.
const replayPortion = 1000

// ReplayDeliveries sends the deliveries that a filter selects and that have ended again, except those of inactive
// webhooks. It returns their number. With dryRun it only counts them.
func (s *Service) ReplayDeliveries(ctx context.Context, c *Caller, f DeliveryFilter, dryRun bool) (count int64, err error) {
	filter, err := filterFor(c, f)
	if err != nil {
		return 0, err
	}
	filter.Replayable = true
	if dryRun {
		err = s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
			count, err = q.CountDeliveries(ctx, filter)
			return err
		})
		return count, err
	}
	woken := map[int64]bool{}
	for last := int64(math.MaxInt64); last > 0; {
		rows, err := s.replayPortion(ctx, filter, last, woken)
		if err != nil {
			return count, err
		}
		count += int64(len(rows))
		last = 0
		for _, row := range rows {
			woken[row.WebhookID] = true
			if len(rows) == replayPortion {
				last = row.ID
			}
		}
	}
	// The tasks of the webhooks may have ended meanwhile. If waking them fails, due deliveries are found soon anyway.
	return count, s.db.WriteAsync(ctx, func(tx *store.Tx) error { return wake(ctx, tx, slices.Collect(maps.Keys(woken))) })
}

// replayPortion replays the newest deliveries of a filter with smaller ids, and returns them. It wakes their webhooks,
// unless they have been woken.
func (s *Service) replayPortion(ctx context.Context, filter store.DeliveryFilter, below int64,
	woken map[int64]bool) (rows []store.WebhookDelivery, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if rows, err = tx.ListDeliveries(ctx, filter, below, true, replayPortion); err != nil {
			return err
		}
		var ids, asleep []int64
		for _, row := range rows {
			ids = append(ids, row.ID)
			if !woken[row.WebhookID] {
				asleep = append(asleep, row.WebhookID)
			}
		}
		if err := tx.ReplayDeliveries(ctx, s.micros(), ids); err != nil {
			return err
		}
		return wake(ctx, tx, asleep)
	})
	return rows, err
}

// TestWebhook sends a test notification to a webhook, for an event of a trigger that did not happen, and returns its
// delivery. The webhook need not subscribe to the trigger, but the trigger must be valid for its target.
func (s *Service) TestWebhook(ctx context.Context, c *Caller, id int64, trigger Trigger) (Delivery, error) {
	if err := c.require(ScopeWebhooks); err != nil {
		return Delivery{}, err
	}
	var made Delivery
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		row, err := s.webhookRow(ctx, tx.Queries, c, id)
		if err != nil {
			return err
		}
		if why := triggerProblem(trigger, Kind(row.Webhook.TargetKind)); why != "" && trigger != WebhookDeleted {
			return Invalid(invalidField("trigger", "%s", why))
		}
		if err := replayable(row.Webhook); err != nil {
			return err
		}
		if admission, err := s.admit(ctx, tx.Queries, row.User.ID); err != nil || admission != admitted {
			return cmp.Or(err, error(failf(CodeConflict, dropReason, s.limits.Pending)))
		}
		test, err := s.testOf(ctx, tx, c, row.Webhook, trigger)
		if err != nil {
			return err
		}
		made = deliveryOf(test.deliveries[0], test.bodies[0].Body)
		return s.enqueue(ctx, tx, test)
	})
	return made, err
}

// testOf returns a test event for the target of a webhook.
func (s *Service) testOf(ctx context.Context, tx *store.Tx, c *Caller, w store.Webhook, trigger Trigger) (notifications, error) {
	source := Source{Type: "webhook", ID: w.ID}
	if trigger != WebhookDeleted {
		var err error
		if source, err = s.sourceFor(ctx, tx.Queries, c, Kind(w.TargetKind), w.TargetID); err != nil {
			return notifications{}, err
		}
	}
	test := notifications{webhooks: []int64{w.ID}}
	err := s.addNotification(&test, Notification{
		EventID: uuid.NewString(), Trigger: trigger, CreatedAt: timeOf(s.micros()), WebhookID: w.ID, CreatedBy: c.ref(), Source: source,
		Info: Test{},
	})
	return test, err
}

const (
	removePortion = 500       // deliveries that one transaction deletes, so that nobody waits long for it
	endedFor      = time.Hour // after this time, no request can still add something for a deleted webhook
)

// RemoveDeliveries removes the deliveries that were created before a time and have ended from the log, with their
// attempts. It returns their number. It also removes the rest of deleted webhooks and of expired keys, and ends unused listeners.
func (s *Service) RemoveDeliveries(ctx context.Context, before time.Time) (removed int64, err error) {
	for portion := int64(removePortion); portion == removePortion; {
		err := s.db.WriteAsync(ctx, func(tx *store.Tx) (err error) {
			portion, err = removeDeliveries(ctx, tx, before)
			return err
		})
		if err != nil {
			return removed, err
		}
		removed += portion
	}
	return removed, s.db.WriteAsync(ctx, func(tx *store.Tx) error {
		if err := s.endListeners(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.DeleteRetiredKeys(ctx, s.micros()); err != nil {
			return err
		}
		if _, err := tx.DeleteReceiversDone(ctx); err != nil {
			return err
		}
		_, err := tx.DeleteWebhooksDone(ctx, s.now().Add(-endedFor).UnixMicro())
		return err
	})
}

func removeDeliveries(ctx context.Context, tx *store.Tx, before time.Time) (int64, error) {
	ids, err := tx.EndedDeliveries(ctx, before.UnixMicro(), removePortion)
	if err != nil {
		return 0, err
	}
	return int64(len(ids)), tx.DeleteDeliveries(ctx, ids)
}
