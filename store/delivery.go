package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// WebhookAbove is a webhook on an item or a folder above it, with its owner.
type WebhookAbove struct {
	ID, ApplicationID int64
	GlobalContent     bool
	IsListener        bool
	Triggers          string
	Owner             User
}

// WebhooksOn returns the active webhooks on any of the items, in ascending order of id. It is not in store/queries because sqlc does not
// support lists of values.
func (q *Queries) WebhooksOn(ctx context.Context, now int64, itemIDs []int64) ([]WebhookAbove, error) {
	if len(itemIDs) == 0 {
		return nil, nil
	}
	return collect(ctx, q.db, func(w *WebhookAbove) []any {
		return []any{&w.ID, &w.ApplicationID, &w.GlobalContent, &w.IsListener, &w.Triggers,
			&w.Owner.ID, &w.Owner.EnterpriseID, &w.Owner.Login, &w.Owner.Name, &w.Owner.Role, &w.Owner.Kind, &w.Owner.Status,
			&w.Owner.RootFolderID, &w.Owner.DeletedAt}
	}, `SELECT webhooks.id, webhooks.application_id, webhooks.global_content, webhooks.address = '', webhooks.triggers,
			users.id, users.enterprise_id, users.login, users.name, users.role, users.kind, users.status, users.root_folder_id, users.deleted_at
		FROM webhooks JOIN users ON users.id = webhooks.created_by
		WHERE webhooks.status = 'active' AND (webhooks.expires_at = 0 OR webhooks.expires_at > $1)
		AND webhooks.target_id IN (`+numbered(2, len(itemIDs))+`) ORDER BY webhooks.id`, withIDs(itemIDs, now)...)
}

// withIDs returns the arguments of a statement, followed by the ids.
func withIDs(ids []int64, others ...any) []any {
	args := slices.Clip(others)
	for _, id := range ids {
		args = append(args, id)
	}
	return args
}

// numbered returns $from,$from+1,… for a list of n values.
func numbered(from, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("$" + strconv.Itoa(from+i))
	}
	return b.String()
}

// InsertDeliveries inserts many deliveries at once, without their bodies.
func (q *Queries) InsertDeliveries(ctx context.Context, deliveries []WebhookDelivery) error {
	return insertMany(ctx, q.db, `webhook_deliveries (id, webhook_id, event_id, trigger_name, state, created_at, begun_at, tries,
		attempts, due_at, ended_at, reason)`, deliveries, func(d WebhookDelivery) []any {
		return []any{d.ID, d.WebhookID, d.EventID, d.TriggerName, d.State, d.CreatedAt, d.BegunAt, d.Tries,
			d.Attempts, d.DueAt, d.EndedAt, d.Reason}
	})
}

// InsertBodies inserts the bodies of many deliveries at once.
func (q *Queries) InsertBodies(ctx context.Context, bodies []WebhookBody) error {
	return insertMany(ctx, q.db, "webhook_bodies (delivery_id, body)", bodies,
		func(b WebhookBody) []any { return []any{b.DeliveryID, b.Body} })
}

// InsertAttempts inserts many attempts at once.
func (q *Queries) InsertAttempts(ctx context.Context, attempts []WebhookAttempt) error {
	return insertMany(ctx, q.db, "webhook_attempts (delivery_id, id, begun_at, duration, outcome, status, record)", attempts,
		func(a WebhookAttempt) []any {
			return []any{a.DeliveryID, a.ID, a.BegunAt, a.Duration, a.Outcome, a.Status, a.Record}
		})
}

// someDeliveries is the maximum number of deliveries that one statement changes.
const someDeliveries = 64

// SetDelivered marks deliveries as delivered, and returns how many of them it changed. A delivery that was canceled during its attempt
// counts as delivered.
func (q *Queries) SetDelivered(ctx context.Context, now int64, ids []int64) (int64, error) {
	return q.changeDeliveries(ctx, `UPDATE webhook_deliveries
		SET state = 'delivered', tries = tries + 1, attempts = attempts + 1, due_at = 0, ended_at = $1, reason = ''
		WHERE state IN ('pending', 'canceled') AND id IN `, now, ids)
}

// NoteReceiversHealthy records that the receivers of deliveries work.
func (q *Queries) NoteReceiversHealthy(ctx context.Context, ids []int64) error {
	for some := range slices.Chunk(ids, someDeliveries) {
		_, err := q.db.ExecContext(ctx, `DELETE FROM webhook_receivers WHERE webhook_id IN
			(SELECT webhook_id FROM webhook_deliveries WHERE id IN (`+numbered(1, len(some))+"))", withIDs(some)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// ReplayDeliveries resets deliveries, so that they are attempted again like new ones.
func (q *Queries) ReplayDeliveries(ctx context.Context, now int64, ids []int64) error {
	_, err := q.changeDeliveries(ctx, `UPDATE webhook_deliveries SET state = 'pending', begun_at = $1, tries = 0, due_at = $1, ended_at = 0,
		reason = '' WHERE id IN `, now, ids)
	return err
}

// DeleteDeliveries deletes deliveries with their bodies and attempts.
func (q *Queries) DeleteDeliveries(ctx context.Context, ids []int64) error {
	for some := range slices.Chunk(ids, someDeliveries) {
		for _, rows := range []string{"webhook_attempts WHERE delivery_id", "webhook_bodies WHERE delivery_id", "webhook_deliveries WHERE id"} {
			if _, err := q.db.ExecContext(ctx, "DELETE FROM "+rows+" IN ("+numbered(1, len(some))+")", withIDs(some)...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *Queries) changeDeliveries(ctx context.Context, change string, now int64, ids []int64) (changed int64, err error) {
	for some := range slices.Chunk(ids, someDeliveries) {
		result, err := q.db.ExecContext(ctx, change+"("+numbered(2, len(some))+")", withIDs(some, now)...)
		if err != nil {
			return changed, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return changed, err
		}
		changed += n
	}
	return changed, nil
}

// waitingWebhooks begins queries about the webhooks with pending deliveries, apart from listeners. It uses the index of due deliveries to
// skip from webhook to webhook, because one webhook may have very many. It is not in store/queries because sqlc does not resolve recursive
// queries.
const waitingWebhooks = `
		WITH RECURSIVE waiting (id) AS (
			SELECT MIN(webhook_id) FROM webhook_deliveries WHERE state = 'pending'
			UNION ALL
			SELECT (SELECT MIN(webhook_id) FROM webhook_deliveries WHERE state = 'pending' AND webhook_id > waiting.id)
			FROM waiting WHERE waiting.id IS NOT NULL
		), addressed (id) AS (
			SELECT waiting.id FROM waiting JOIN webhooks ON webhooks.id = waiting.id AND webhooks.address <> ''
		)`

// WebhooksDue returns the webhooks with deliveries that are due, in ascending order of id.
func (q *Queries) WebhooksDue(ctx context.Context, now int64) ([]int64, error) {
	return collect(ctx, q.db, func(id *int64) []any { return []any{id} }, waitingWebhooks+`
		SELECT addressed.id FROM addressed
		WHERE EXISTS (SELECT 1 FROM webhook_deliveries WHERE webhook_id = addressed.id AND state = 'pending' AND due_at <= $1)
		ORDER BY addressed.id`, now)
}

// Backlog sums up the pending deliveries of webhooks that are not listeners.
type Backlog struct {
	FirstDue int64 // when the earliest pending delivery is due; 0 if none is pending
	Pending  int64
	Active   int64 // number of active webhooks
	Disabled int64 // number of disabled webhooks
}

// Backlog sums up the pending deliveries. It counts at most the given number of them, and reads one more for each webhook. CROSS JOIN keeps
// SQLite from reading all pending deliveries, as it would once it has statistics.
func (q *Queries) Backlog(ctx context.Context, most int64) (b Backlog, err error) {
	err = q.db.QueryRowContext(ctx, waitingWebhooks+`
		SELECT
			COALESCE((SELECT MIN(due) FROM (
				SELECT (SELECT MIN(due_at) FROM webhook_deliveries WHERE webhook_id = addressed.id AND state = 'pending') AS due
				FROM addressed) AS first), 0),
			(SELECT COUNT(*) FROM (
				SELECT 1 FROM addressed CROSS JOIN webhook_deliveries d WHERE d.webhook_id = addressed.id AND d.state = 'pending' LIMIT $1) AS counted),
			(SELECT COUNT(*) FROM webhooks WHERE address <> '' AND status = 'active'),
			(SELECT COUNT(*) FROM webhooks WHERE address <> '' AND status = 'disabled')`, most).Scan(&b.FirstDue, &b.Pending, &b.Active, &b.Disabled)
	return b, err
}

// DeliveryFilter selects deliveries. A field with its zero value selects all.
type DeliveryFilter struct {
	ApplicationID, CreatedBy int64 // of the webhooks
	WebhookID                int64
	EventID, Trigger, State  string
	From, To                 int64 // the creation times, from From up to but not including To
	Replayable               bool  // only deliveries that have ended, of active webhooks
}

const deliveryColumns = `d.id, d.webhook_id, d.event_id, d.trigger_name, d.state, d.created_at, d.begun_at, d.tries, d.attempts, d.due_at,
	d.ended_at, d.reason`

// ListDeliveries returns the deliveries with ids below than, newest first, if older is set. Otherwise, it returns those with ids above
// than, oldest first. It does not read bodies.
func (q *Queries) ListDeliveries(ctx context.Context, f DeliveryFilter, than int64, older bool, limit int32) ([]WebhookDelivery, error) {
	where, args := f.where()
	compare, order := " AND d.id > ", " ORDER BY d.id"
	if older {
		compare, order = " AND d.id < ", " ORDER BY d.id DESC"
	}
	args = append(args, than, limit)
	return q.deliveries(ctx, where+compare+"$"+strconv.Itoa(len(args)-1)+order+" LIMIT $"+strconv.Itoa(len(args)), args)
}

// ListDeliveriesAt returns deliveries from an offset on, newest first. It does not read bodies.
func (q *Queries) ListDeliveriesAt(ctx context.Context, f DeliveryFilter, limit, offset int32) ([]WebhookDelivery, error) {
	where, args := f.where()
	args = append(args, limit, offset)
	return q.deliveries(ctx, where+" ORDER BY d.id DESC LIMIT $"+strconv.Itoa(len(args)-1)+" OFFSET $"+strconv.Itoa(len(args)), args)
}

// CountDeliveries returns the number of deliveries that match a filter.
func (q *Queries) CountDeliveries(ctx context.Context, f DeliveryFilter) (int64, error) {
	where, args := f.where()
	var n int64
	err := q.db.QueryRowContext(ctx, "SELECT COUNT(*)"+where, args...).Scan(&n)
	return n, err
}

func (q *Queries) deliveries(ctx context.Context, rest string, args []any) ([]WebhookDelivery, error) {
	return collect(ctx, q.db, func(d *WebhookDelivery) []any {
		return []any{&d.ID, &d.WebhookID, &d.EventID, &d.TriggerName, &d.State, &d.CreatedAt, &d.BegunAt, &d.Tries, &d.Attempts,
			&d.DueAt, &d.EndedAt, &d.Reason}
	}, "SELECT "+deliveryColumns+rest, args...)
}

// where returns the FROM and WHERE clauses of a filter, and their arguments.
func (f DeliveryFilter) where() (text string, args []any) {
	text = " FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE w.address <> ''"
	for _, condition := range []struct {
		column string
		value  any
		unset  bool
	}{
		{"w.application_id = ", f.ApplicationID, f.ApplicationID == 0},
		{"w.created_by = ", f.CreatedBy, f.CreatedBy == 0},
		{"d.webhook_id = ", f.WebhookID, f.WebhookID == 0},
		{"d.event_id = ", f.EventID, f.EventID == ""},
		{"d.trigger_name = ", f.Trigger, f.Trigger == ""},
		{"d.state = ", f.State, f.State == ""},
		{"d.created_at >= ", f.From, f.From == 0},
		{"d.created_at < ", f.To, f.To == 0},
	} {
		if !condition.unset {
			args = append(args, condition.value)
			text += " AND " + condition.column + "$" + strconv.Itoa(len(args))
		}
	}
	if f.Replayable {
		text += " AND d.state <> 'pending' AND w.status = 'active'"
	}
	return text, args
}
