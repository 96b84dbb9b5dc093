package docgen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"platen/store"
)

// Webhook sends the events of a file, or of a folder and everything in it, to an address. It belongs to the user and the application that
// created it.
type Webhook struct {
	ID         int64
	TargetKind Kind
	TargetID   int64
	Address    string
	Triggers   []Trigger
	CreatedBy  UserRef
	CreatedAt  time.Time
	Status     string // WebhookActive or WebhookDisabled
	Reason     string // why it is disabled, for people; empty if it is active
}

// The statuses of a webhook. A disabled webhook gets no notifications, and those that it misses are not stored.
const (
	WebhookActive   = "active"
	WebhookDisabled = "disabled"
	webhookGone     = "gone"    // with its target; what waits for it is still sent
	webhookDeleted  = "deleted" // by its owner, or with its application: nothing is sent any more
)

// The limits of webhooks.
const (
	MaxWebhooks = 1000 // per application and user
	maxTriggers = 100  // per webhook

	MaxAddressLength = 2048 // bytes
)

// NewWebhook describes a webhook to create.
type NewWebhook struct {
	TargetKind Kind
	TargetID   int64
	Address    string // an https URL with port 443 and a permitted host
	Triggers   []Trigger
}

// WebhookChange is a change of a webhook. Nil fields do not change. A new address, or the status WebhookActive, enables a disabled
// webhook.
type WebhookChange struct {
	Target   *WebhookTarget
	Address  *string
	Triggers []Trigger
	Status   *string
}

// WebhookTarget names the file or folder of a webhook.
type WebhookTarget struct {
	Kind Kind
	ID   int64
}

// problems returns the problems of the target and the triggers of a webhook that do not depend on the caller.
func (t WebhookTarget) problems(triggers []Trigger) []Problem {
	var problems []Problem
	if t.Kind == Folder && t.ID == rootID {
		problems = append(problems, invalidField("target.id", "the root folder cannot have a webhook: select a folder inside it"))
	}
	return append(problems, t.triggerProblems(triggers)...)
}

// triggerProblems returns the problems of triggers for a target.
func (t WebhookTarget) triggerProblems(triggers []Trigger) []Problem {
	var problems []Problem
	if len(triggers) == 0 || len(triggers) > maxTriggers {
		problems = append(problems, invalidField("triggers", "a webhook must have 1 to %d triggers, this one has %d", maxTriggers, len(triggers)))
	}
	for i, trigger := range triggers[:min(len(triggers), maxTriggers)] {
		if why := triggerProblem(trigger, t.Kind); why != "" {
			problems = append(problems, invalidField(fmt.Sprintf("triggers[%d]", i), "%s", why))
		}
	}
	return problems
}

// addressProblems returns the problems of the address of a webhook at this moment. The address is checked again with every notification.
func (s *Service) addressProblems(ctx context.Context, address string) []Problem {
	if address == "" || len(address) > MaxAddressLength || !keepable(address) {
		return []Problem{invalidField("address", "address must be a URL of at most %d bytes", MaxAddressLength)}
	}
	if err := s.checkAddress(ctx, address); err != nil {
		return []Problem{invalidField("address", "%s", err.Error())}
	}
	return nil
}

// CreateWebhook creates a webhook. The first webhook of an application creates its signing keys.
func (s *Service) CreateWebhook(ctx context.Context, c *Caller, n NewWebhook) (*Webhook, error) {
	if err := c.require(ScopeWebhooks); err != nil {
		return nil, err
	}
	target := WebhookTarget{n.TargetKind, n.TargetID}
	if err := Invalid(append(target.problems(n.Triggers), s.addressProblems(ctx, n.Address)...)...); err != nil {
		return nil, err
	}
	var made *Webhook
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := s.findLocked(ctx, tx, c, target.Kind, target.ID, MaySee); err != nil { // the item must exist until the webhook does
			return err
		}
		if _, err := tx.LockUser(ctx, c.User.ID); err != nil { // of two requests at the limit, one waits and counts the other
			return err
		}
		row := store.InsertWebhookParams{
			ID: s.newID(), ApplicationID: c.ApplicationID, CreatedBy: c.User.ID, GlobalContent: c.has(ScopeGlobalContent),
			TargetKind: int64(target.Kind), TargetID: target.ID, Address: n.Address, Triggers: joinTriggers(distinct(n.Triggers)),
			CreatedAt: s.micros(),
		}
		added, err := tx.InsertWebhook(ctx, row)
		if err != nil {
			return err
		}
		if added == 0 {
			return webhookExists(target)
		}
		if err := s.checkWebhooks(ctx, tx, c); err != nil {
			return err
		}
		if err := s.firstKeys(ctx, tx, c.ApplicationID); err != nil {
			return err
		}
		if made, err = s.webhook(ctx, tx.Queries, c, row.ID); err != nil {
			return err
		}
		return s.audit(ctx, tx, c, AuditWebhookCreated, auditOf("webhook", row.ID), "target", fmt.Sprintf("%s %d", target.Kind, target.ID),
			"host", hostOf(row.Address))
	})
	return made, err
}

// checkWebhooks checks the limit of webhooks for the caller's application and user.
func (s *Service) checkWebhooks(ctx context.Context, tx *store.Tx, c *Caller) error {
	count, err := tx.CountWebhooks(ctx, c.ApplicationID, c.User.ID)
	if err == nil && count > MaxWebhooks {
		err = failf(CodeBadRequest, "The application already has %d webhooks of this user, the maximum. Delete some, or create one on "+
			"a folder above them.", MaxWebhooks)
	}
	return err
}

// webhookExists returns the Error for a second webhook of an application and user on a target.
func webhookExists(target WebhookTarget) error {
	return failf(CodeConflict, "The application already has a webhook of this user on %s %d. Update or delete it.", target.Kind, target.ID)
}

// distinct returns the triggers without duplicates.
func distinct(triggers []Trigger) []Trigger {
	var once []Trigger
	for _, trigger := range triggers {
		if !slices.Contains(once, trigger) {
			once = append(once, trigger)
		}
	}
	return once
}

// Webhook returns a webhook that the caller created with the same application.
func (s *Service) Webhook(ctx context.Context, c *Caller, id int64) (*Webhook, error) {
	if err := c.require(ScopeWebhooks); err != nil {
		return nil, err
	}
	var found *Webhook
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		found, err = s.webhook(ctx, q, c, id)
		return err
	})
	return found, err
}

func (s *Service) webhook(ctx context.Context, q *store.Queries, c *Caller, id int64) (*Webhook, error) {
	row, err := s.webhookRow(ctx, q, c, id)
	if err != nil {
		return nil, err
	}
	w := webhookOf(row.Webhook)
	w.CreatedBy = refOf(row.User)
	return &w, nil
}

// webhookRow returns a webhook, not a listener, that a caller may see.
func (s *Service) webhookRow(ctx context.Context, q *store.Queries, c *Caller, id int64) (store.WebhookRow, error) {
	row, err := q.Webhook(ctx, id)
	gone := errors.Is(err, sql.ErrNoRows)
	if err != nil && !gone {
		return row, err
	}
	if w := row.Webhook; gone || w.Slot != 0 || !c.owns(w) {
		return row, NotFound("webhook", id)
	}
	return row, nil
}

func webhookOf(row store.Webhook) Webhook {
	return Webhook{
		ID: row.ID, TargetKind: Kind(row.TargetKind), TargetID: row.TargetID, Address: row.Address, Triggers: splitTriggers(row.Triggers),
		CreatedAt: timeOf(row.CreatedAt), Status: row.Status, Reason: row.Reason,
	}
}

// Webhooks returns one page of the webhooks that the caller created with the same application, in ascending order of id, without their
// creators.
func (s *Service) Webhooks(ctx context.Context, c *Caller, r PageRequest) (Page[Webhook], error) {
	if err := c.require(ScopeWebhooks); err != nil {
		return Page[Webhook]{}, err
	}
	var result Page[Webhook]
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		result, err = page(s, c, r, list[Webhook]{
			name: fmt.Sprintf("webhooks/%d", c.ApplicationID),
			keys: 1,
			key:  func(w Webhook) []int64 { return []int64{w.ID} },
			after: func(from []int64, limit int32) ([]Webhook, error) {
				return webhooksOf(q.WebhooksAfter(ctx, store.WebhooksAfterParams{ApplicationID: c.ApplicationID, CreatedBy: c.User.ID,
					ID: from[0], Limit: limit}))
			},
			before: func(from []int64, limit int32) ([]Webhook, error) {
				return webhooksOf(q.WebhooksBefore(ctx, store.WebhooksBeforeParams{ApplicationID: c.ApplicationID, CreatedBy: c.User.ID,
					ID: from[0], Limit: limit}))
			},
		})
		return err
	})
	return result, err
}

func webhooksOf(rows []store.Webhook, err error) ([]Webhook, error) {
	webhooks := make([]Webhook, len(rows))
	for i, row := range rows {
		webhooks[i] = webhookOf(row)
	}
	return webhooks, err
}

// UpdateWebhook changes a webhook. Pending deliveries are sent to the new address immediately.
func (s *Service) UpdateWebhook(ctx context.Context, c *Caller, id int64, change WebhookChange) (*Webhook, error) {
	if err := c.require(ScopeWebhooks); err != nil {
		return nil, err
	}
	if change.Address != nil {
		if err := Invalid(s.addressProblems(ctx, *change.Address)...); err != nil {
			return nil, err
		}
	}
	var changed *Webhook
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		row, err := s.lockWebhook(ctx, tx, c, id)
		if err != nil {
			return err
		}
		if err := s.changeWebhook(ctx, tx, c, row, change); err != nil {
			return err
		}
		if changed, err = s.webhook(ctx, tx.Queries, c, id); err != nil {
			return err
		}
		return s.audit(ctx, tx, c, AuditWebhookUpdated, auditOf("webhook", id), "status", changed.Status, "host", hostOf(changed.Address))
	})
	return changed, err
}

// lockWebhook returns a webhook that nobody else can change until the transaction ends.
func (s *Service) lockWebhook(ctx context.Context, tx *store.Tx, c *Caller, id int64) (store.Webhook, error) {
	if _, err := s.webhookRow(ctx, tx.Queries, c, id); err != nil {
		return store.Webhook{}, err
	}
	if _, err := tx.LockWebhook(ctx, id); err != nil {
		return store.Webhook{}, err
	}
	row, err := s.webhookRow(ctx, tx.Queries, c, id)
	return row.Webhook, err
}

func (s *Service) changeWebhook(ctx context.Context, tx *store.Tx, c *Caller, row store.Webhook, change WebhookChange) error {
	to := store.UpdateWebhookParams{
		ID: row.ID, TargetKind: row.TargetKind, TargetID: row.TargetID, Address: row.Address, Triggers: row.Triggers, Status: row.Status,
		Reason:        row.Reason,
		GlobalContent: row.GlobalContent,
	}
	if change.Target != nil {
		if _, err := s.findLocked(ctx, tx, c, change.Target.Kind, change.Target.ID, MaySee); err != nil {
			return err
		}
		to.TargetKind, to.TargetID, to.GlobalContent = int64(change.Target.Kind), change.Target.ID, c.has(ScopeGlobalContent)
	}
	if change.Address != nil {
		to.Address, to.Status, to.Reason = *change.Address, WebhookActive, ""
	}
	if change.Triggers != nil {
		to.Triggers = joinTriggers(distinct(change.Triggers))
	}
	if change.Status != nil {
		switch *change.Status {
		case WebhookActive:
			to.Status, to.Reason = WebhookActive, ""
		case WebhookDisabled:
			to.Status, to.Reason = WebhookDisabled, "It was disabled by an update."
		default:
			return Invalid(invalidField("status", "status must be %s or %s", WebhookActive, WebhookDisabled))
		}
	}
	if err := Invalid(WebhookTarget{Kind(to.TargetKind), to.TargetID}.problems(splitTriggers(to.Triggers))...); err != nil {
		return err
	}
	err := tx.UpdateWebhook(ctx, to)
	if store.IsUniqueViolation(err) {
		return webhookExists(WebhookTarget{Kind(to.TargetKind), to.TargetID})
	}
	if err != nil || to.Address == row.Address {
		return err
	}
	if err := tx.DeleteReceiver(ctx, row.ID); err != nil { // the receiver may be another one now, and is tried at once
		return err
	}
	if err := tx.HurryDeliveries(ctx, row.ID, s.micros()); err != nil {
		return err
	}
	return wake(ctx, tx, []int64{row.ID})
}

// DeleteWebhook ends a webhook. Pending deliveries are canceled, and the log keeps earlier ones.
func (s *Service) DeleteWebhook(ctx context.Context, c *Caller, id int64) error {
	if err := c.require(ScopeWebhooks); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := s.lockWebhook(ctx, tx, c, id); err != nil {
			return err
		}
		const reason = "The webhook was deleted."
		if err := tx.CancelDeliveries(ctx, id, s.micros(), reason); err != nil {
			return err
		}
		if err := s.audit(ctx, tx, c, AuditWebhookDeleted, auditOf("webhook", id)); err != nil {
			return err
		}
		if err := tx.DeleteReceiver(ctx, id); err != nil {
			return err
		}
		return tx.DeleteWebhook(ctx, id, reason, s.micros())
	})
}

// hostOf returns the part of a webhook's address for the audit log: the rest may contain a secret.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
