package docgen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"platen/store"
)

// Notification is the message that a webhook sends for one event.
type Notification struct {
	EventID   string // a UUID that all notifications of the event share
	Trigger   Trigger
	CreatedAt time.Time
	WebhookID int64
	CreatedBy UserRef // who did it
	Source    Source
	Info      Info // nil if the event has no details
}

// Source is the object of an event, as the owner of the webhook sees it at that moment. An object that the owner may not see has
// neither an Item nor a Collaboration.
type Source struct {
	Type          string // file, folder, collaboration or webhook
	ID            int64
	Item          *Item
	Collaboration *Collaboration
}

// Info holds the details of an event: Renamed, Moved, Copied, Generated, AutoDeleted, or Test.
type Info interface{ info() }

// Renamed holds the previous name of an item.
type Renamed struct{ OldName string }

// Moved holds the source and destination folders of a move; 0 is the root folder of a user.
type Moved struct{ BeforeID, AfterID int64 }

// Copied identifies the new copy of an item.
type Copied struct {
	Kind Kind
	ID   int64
}

// Generated describes a job.
type Generated struct {
	BatchID           string
	JobID             int64
	Status            Status
	TemplateID        int64
	TemplateName      string
	TemplateVersionID int64
	DestinationID     int64 // 0 is the root folder of the user who created the batch
	OutputFileID      int64 // 0 if there is no document
	OutputType        string
	Failures          []string // why there is no document, or what it lacks
}

// AutoDeleted holds the reason why the server deleted a webhook.
type AutoDeleted struct{ Reason string }

// Test marks a test notification, which has no event.
type Test struct{}

func (Renamed) info()     {}
func (Moved) info()       {}
func (Copied) info()      {}
func (Generated) info()   {}
func (AutoDeleted) info() {}
func (Test) info()        {}

// event is something that happens to an item in a transaction.
type event struct {
	trigger       Trigger
	item          place
	collaboration *Collaboration // the source, if it is not the item
	also          []place        // more targets, in addition to the item and the folders above it
	instead       []int64        // if set, the only targets
	info          Info

	as      EventType // in the event stream, if it is not the one of the trigger
	details []string  // in the event stream: alternating names and values; those of info have precedence
}

// targetIDs returns the ids of the items whose webhooks may match an event.
func (e event) targetIDs() []int64 {
	if e.instead != nil {
		return e.instead
	}
	var ids []int64
	for _, p := range append([]place{e.item}, e.also...) {
		for _, link := range p.chain {
			ids = append(ids, link.Item.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// matches reports whether a webhook on a target of an event subscribes to its trigger.
func (e event) matches(w store.WebhookAbove) bool {
	return e.trigger == WebhookDeleted || slices.Contains(splitTriggers(w.Triggers), e.trigger)
}

// fire records the events of a transaction in the event stream, and enqueues the notifications about them. It must be the last step,
// because other transactions that fire events for the same webhooks wait from then on.
func (s *Service) fire(ctx context.Context, tx *store.Tx, c *Caller, events ...event) error {
	if err := s.record(ctx, tx, c, events...); err != nil {
		return err
	}
	matched, err := s.match(ctx, tx, c, events...)
	if err != nil {
		return err
	}
	return s.enqueue(ctx, tx, matched)
}

// fireAlone is fire for a download, which changes nothing. If no webhook subscribes to the event, it only notes it for the event stream.
func (s *Service) fireAlone(ctx context.Context, c *Caller, e event) error {
	subscribed := false
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		webhooks, err := q.WebhooksOn(ctx, s.micros(), e.targetIDs())
		subscribed = slices.ContainsFunc(webhooks, e.matches)
		return err
	})
	if err != nil {
		return err
	}
	if !subscribed {
		return s.noteDownload(c, e)
	}
	return s.db.Write(ctx, func(tx *store.Tx) error { return s.fire(ctx, tx, c, e) })
}

// notifications are deliveries to enqueue.
type notifications struct {
	deliveries []store.WebhookDelivery
	bodies     []store.WebhookBody
	webhooks   []int64 // webhooks to wake; listeners are not among them, because they poll
}

// match returns a notification for each event and each webhook that matches it, with the current state of the items.
func (s *Service) match(ctx context.Context, tx *store.Tx, c *Caller, events ...event) (notifications, error) {
	m := matcher{s: s, tx: tx, c: c, webhooks: map[string][]store.WebhookAbove{}, sources: map[string]Source{}, now: s.micros()}
	for _, e := range events {
		if err := m.match(ctx, e); err != nil {
			return notifications{}, fmt.Errorf("notify of %s: %w", e.trigger, err)
		}
	}
	return m.matched, nil
}

// enqueue inserts notifications and wakes their webhooks.
func (s *Service) enqueue(ctx context.Context, tx *store.Tx, n notifications) error {
	if err := tx.InsertDeliveries(ctx, n.deliveries); err != nil {
		return err
	}
	if err := tx.InsertBodies(ctx, n.bodies); err != nil {
		return err
	}
	return wake(ctx, tx, n.webhooks)
}

// A matcher finds the webhooks for the events of one transaction. It caches what it reads, because many events concern the same items.
type matcher struct {
	s        *Service
	tx       *store.Tx
	c        *Caller
	now      int64
	webhooks map[string][]store.WebhookAbove // by target ids
	sources  map[string]Source               // by item and owner
	matched  notifications
}

func (m *matcher) match(ctx context.Context, e event) error {
	webhooks, err := m.webhooksOn(ctx, e.targetIDs())
	if err != nil {
		return err
	}
	id := ""
	for _, w := range webhooks {
		if !e.matches(w) {
			continue
		}
		if id == "" {
			id = uuid.NewString()
		}
		if err := m.add(ctx, e, id, w); err != nil {
			return err
		}
	}
	return nil
}

// add adds the notification of an event for one webhook.
func (m *matcher) add(ctx context.Context, e event, id string, w store.WebhookAbove) error {
	admission, err := m.s.admit(ctx, m.tx.Queries, w.Owner.ID)
	if err != nil || admission == dropped {
		return err
	}
	source, err := m.source(ctx, e, w)
	if err != nil {
		return err
	}
	err = m.s.addNotification(&m.matched, Notification{
		EventID: id, Trigger: e.trigger, CreatedAt: timeOf(m.now), WebhookID: w.ID, CreatedBy: m.c.ref(), Source: source, Info: e.info,
	})
	if err == nil && admission == dropNoted {
		m.matched.dropLast(m.s.limits.Pending)
		return nil
	}
	if err == nil && !w.IsListener {
		m.matched.webhooks = append(m.matched.webhooks, w.ID)
	}
	return err
}

// dropLast cancels the last delivery, because the limit of waiting deliveries is reached.
func (n *notifications) dropLast(most int) {
	d := &n.deliveries[len(n.deliveries)-1]
	d.State, d.EndedAt, d.DueAt, d.Reason = string(DeliveryCanceled), d.CreatedAt, 0, fmt.Sprintf(dropReason, most)
}

// addNotification adds a notification as a delivery with its body.
func (s *Service) addNotification(to *notifications, n Notification) error {
	body, err := s.notification(n)
	if err != nil {
		return err
	}
	id, now := s.newID(), n.CreatedAt.UnixMicro()
	to.deliveries = append(to.deliveries, store.WebhookDelivery{
		ID: id, WebhookID: n.WebhookID, EventID: n.EventID, TriggerName: string(n.Trigger),
		State: string(DeliveryPending), CreatedAt: now, BegunAt: now, DueAt: now,
	})
	to.bodies = append(to.bodies, store.WebhookBody{DeliveryID: id, Body: string(body)})
	return nil
}

func (m *matcher) webhooksOn(ctx context.Context, itemIDs []int64) ([]store.WebhookAbove, error) {
	key := fmt.Sprint(itemIDs)
	if known, ok := m.webhooks[key]; ok {
		return known, nil
	}
	found, err := m.tx.WebhooksOn(ctx, m.now, itemIDs)
	m.webhooks[key] = found
	return found, err
}

// source returns the object of an event, as the owner of a webhook sees it.
func (m *matcher) source(ctx context.Context, e event, w store.WebhookAbove) (Source, error) {
	owner := callerOf(w.Owner, w.GlobalContent)
	kind, id := Kind(e.item.row.Kind), e.item.row.ID
	if e.trigger == WebhookDeleted {
		return Source{Type: "webhook", ID: w.ID}, nil
	}
	key := strings.Join([]string{kind.String(), fmt.Sprint(id), fmt.Sprint(owner.User.ID), fmt.Sprint(owner.Scopes)}, "/")
	source, known := m.sources[key]
	if !known {
		source = Source{Type: kind.String(), ID: id}
		if isActive(w.Owner) { // inactive users see nothing
			var err error
			if source, err = m.s.sourceFor(ctx, m.tx.Queries, owner, kind, id); err != nil {
				return source, err
			}
		}
		m.sources[key] = source
	}
	if e.collaboration == nil {
		return source, nil
	}
	of := Source{Type: "collaboration", ID: e.collaboration.ID}
	if source.Item != nil { // an owner who does not see the item does not see its collaborators
		of.Collaboration = e.collaboration
	}
	return of, nil
}

// sourceFor describes an item, in the trash or not, for the owner of a webhook.
func (s *Service) sourceFor(ctx context.Context, q *store.Queries, owner *Caller, kind Kind, id int64) (Source, error) {
	source := Source{Type: kind.String(), ID: id}
	p, err := s.findWhere(ctx, q, owner, kind, id, MaySee, anywhere)
	if _, hidden := errors.AsType[*Error](err); hidden {
		return source, nil
	}
	if err != nil {
		return source, err
	}
	source.Item, err = s.describe(ctx, q, owner, p)
	return source, err
}

// anywhere accepts an item whether it is in the trash or not.
func anywhere(place, Kind, int64) error { return nil }

// either returns file for a file and folder for a folder.
func (k Kind) either(file, folder Trigger) Trigger {
	if k == File {
		return file
	}
	return folder
}

// versionEvents returns the events for new content, and possibly a new name, of a file.
func versionEvents(file place, name string) []event {
	return append([]event{{trigger: FileUploaded, item: file}}, renameEvents(file, name)...)
}

// renameEvents returns the event for a new name of an item, or none if the name is the same.
func renameEvents(p place, name string) []event {
	if name == p.row.Name {
		return nil
	}
	return []event{{trigger: Kind(p.row.Kind).either(FileRenamed, FolderRenamed), item: p, info: Renamed{p.row.Name}}}
}

// moveEvents returns the events for a move into a folder, or none if the item is already there. For folders that a file was not below
// before, its move is also an upload.
func moveEvents(p, target place, parentID int64) []event {
	if parentID == p.row.ParentID.Int64 {
		return nil
	}
	kind := Kind(p.row.Kind)
	events := []event{{
		trigger: kind.either(FileMoved, FolderMoved), item: p, also: []place{target}, info: Moved{p.above().shownID(), target.shownID()},
	}}
	if came := target.notAbove(p); kind == File && len(came) > 0 {
		events = append(events, event{trigger: FileUploaded, item: p, instead: came})
	}
	return events
}

// shownID returns the public id of a folder, which is 0 for a root folder.
func (p place) shownID() int64 {
	if !p.row.ParentID.Valid {
		return rootID
	}
	return p.row.ID
}

// notAbove returns the ids of p and of the folders above it that are not above an item.
func (p place) notAbove(item place) []int64 {
	var ids []int64
	for _, link := range p.chain {
		if !slices.ContainsFunc(item.chain, func(above store.ItemChainRow) bool { return above.Item.ID == link.Item.ID }) {
			ids = append(ids, link.Item.ID)
		}
	}
	return ids
}

// copyEvents returns the events for a copied item and for its copy in the target folder.
func copyEvents(source, target place, copyID int64) []event {
	kind := Kind(source.row.Kind)
	return []event{
		{trigger: kind.either(FileCopied, FolderCopied), item: source, info: Copied{kind, copyID}},
		{
			trigger: kind.either(FileUploaded, FolderCreated), item: target.child(kind, copyID), as: ItemCopied,
			details: []string{"copied_id", strconv.FormatInt(source.row.ID, 10)},
		},
	}
}

// matchPurge returns the notifications for an item that is about to be deleted permanently with everything below it, and deletes the
// webhooks on these items. The caller enqueues the notifications after the deletion.
func (s *Service) matchPurge(ctx context.Context, tx *store.Tx, c *Caller, kind Kind, id int64) (notifications, error) {
	p, err := s.placeAt(ctx, tx.Queries, kind, id)
	if err != nil {
		return notifications{}, err
	}
	events := []event{{trigger: kind.either(FileDeleted, FolderDeleted), item: p}}
	targets, err := tx.TreeWebhookTargets(ctx, id)
	if err != nil {
		return notifications{}, err
	}
	for _, target := range targets {
		item := place{row: store.Item{ID: target.ID, Kind: target.Kind}}
		if target.ID != id {
			events = append(events, event{trigger: Kind(target.Kind).either(FileDeleted, FolderDeleted), item: item, instead: []int64{target.ID}})
		}
		events = append(events, event{trigger: WebhookDeleted, item: item, instead: []int64{target.ID}, info: AutoDeleted{"target_deleted"}})
	}
	matched, err := s.match(ctx, tx, c, events...)
	if err != nil {
		return notifications{}, err
	}
	for _, target := range targets {
		if err := tx.EndWebhooksOn(ctx, target.ID, "Its target was permanently deleted.", s.micros()); err != nil {
			return notifications{}, err
		}
	}
	return matched, nil
}
