package docgen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"platen/store"
)

// Notification is what a webhook tells of one event.
type Notification struct {
	EventID   string // a UUID that all notifications of the event share
	Trigger   Trigger
	CreatedAt time.Time
	WebhookID int64
	CreatedBy UserRef // who did it
	Source    Source
	Info      Info // nil where there is nothing more to say
}

// Source is what an event happened to, as the owner of the webhook may see it at that moment. What the owner may not see has
// neither an Item nor a Collaboration.
type Source struct {
	Type          string // file, folder, collaboration or webhook
	ID            int64
	Item          *Item
	Collaboration *Collaboration
}

// Info is what an event says besides: Renamed, Moved, Copied, Generated, AutoDeleted or Test.
type Info interface{ info() }

// Renamed tells of an item's former name.
type Renamed struct{ OldName string }

// Moved tells of the folders that an item came from and went to; 0 is the root folder of a user.
type Moved struct{ BeforeID, AfterID int64 }

// Copied tells of the copy that was made of an item.
type Copied struct {
	Kind Kind
	ID   int64
}

// Generated tells of a job.
type Generated struct {
	BatchID           string
	JobID             int64
	Status            Status
	TemplateID        int64
	TemplateName      string
	TemplateVersionID int64
	DestinationID     int64 // 0 is the root folder of who made the batch
	OutputFileID      int64 // 0 where there is no document
	OutputType        string
	Failures          []string // why there is none, or what it lacks
}

// AutoDeleted tells why the server deleted a webhook.
type AutoDeleted struct{ Reason string }

// Test says that nothing happened.
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
	collaboration *Collaboration // the source, where it is not the item
	also          []place        // other places where webhooks hear of it, besides on the item and above it
	instead       []int64        // where set, the only items whose webhooks hear of it
	info          Info
}

// heardAt returns the ids of the items whose webhooks hear of an event.
func (e event) heardAt() []int64 {
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

// isFor tells whether a webhook that hears of an event is told of it.
func (e event) isFor(w store.WebhookAbove) bool {
	return e.trigger == WebhookDeleted || slices.Contains(splitTriggers(w.Triggers), e.trigger)
}

// fire has the webhooks told what a caller does in a transaction. It comes after everything else, because from then on
// whoever fires events for the same webhooks waits.
func (s *Service) fire(ctx context.Context, tx *store.Tx, c *Caller, events ...event) error {
	told, err := s.hear(ctx, tx, c, events...)
	if err != nil {
		return err
	}
	return s.tell(ctx, tx, told)
}

// fireAlone is fire for an event that changes nothing. Where no webhook asks for it, nothing is written.
func (s *Service) fireAlone(ctx context.Context, c *Caller, e event) error {
	asked := false
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		webhooks, err := q.WebhooksOn(ctx, s.micros(), e.heardAt())
		asked = slices.ContainsFunc(webhooks, e.isFor)
		return err
	})
	if err != nil || !asked {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error { return s.fire(ctx, tx, c, e) })
}

// told is what webhooks are to be told.
type told struct {
	deliveries []store.WebhookDelivery
	bodies     []store.WebhookBody
	webhooks   []int64 // whose deliveries are to be sent, which those of listeners are not
}

// hear finds the webhooks that hear of events, and writes down what they are told, as things are now.
func (s *Service) hear(ctx context.Context, tx *store.Tx, c *Caller, events ...event) (told, error) {
	h := hearing{s: s, tx: tx, c: c, webhooks: map[string][]store.WebhookAbove{}, sources: map[string]Source{}, now: s.micros()}
	for _, e := range events {
		if err := h.hear(ctx, e); err != nil {
			return told{}, fmt.Errorf("notify of %s: %w", e.trigger, err)
		}
	}
	return h.told, nil
}

// tell has notifications delivered.
func (s *Service) tell(ctx context.Context, tx *store.Tx, t told) error {
	if err := tx.InsertDeliveries(ctx, t.deliveries); err != nil {
		return err
	}
	if err := tx.InsertBodies(ctx, t.bodies); err != nil {
		return err
	}
	return wake(ctx, tx, t.webhooks)
}

// hearing is what is known while the events of one transaction are looked at: many of them happen to the same items.
type hearing struct {
	s        *Service
	tx       *store.Tx
	c        *Caller
	now      int64
	webhooks map[string][]store.WebhookAbove // by the items they are on
	sources  map[string]Source               // by item and owner
	told     told
}

func (h *hearing) hear(ctx context.Context, e event) error {
	webhooks, err := h.webhooksOn(ctx, e.heardAt())
	if err != nil {
		return err
	}
	id := ""
	for _, w := range webhooks {
		if !e.isFor(w) {
			continue
		}
		if id == "" {
			id = uuid.NewString()
		}
		if err := h.add(ctx, e, id, w); err != nil {
			return err
		}
	}
	return nil
}

// add writes down what one webhook is told.
func (h *hearing) add(ctx context.Context, e event, id string, w store.WebhookAbove) error {
	admission, err := h.s.admit(ctx, h.tx.Queries, w.Owner.ID)
	if err != nil || admission == dropped {
		return err
	}
	source, err := h.source(ctx, e, w)
	if err != nil {
		return err
	}
	err = h.s.writeDown(&h.told, Notification{
		EventID: id, Trigger: e.trigger, CreatedAt: timeOf(h.now), WebhookID: w.ID, CreatedBy: h.c.ref(), Source: source, Info: e.info,
	})
	if err == nil && admission == dropNoted {
		h.told.dropLast(h.s.limits.Pending)
		return nil
	}
	if err == nil && !w.IsListener {
		h.told.webhooks = append(h.told.webhooks, w.ID)
	}
	return err
}

// dropLast makes the last delivery one that was not sent, because too many wait.
func (t *told) dropLast(most int) {
	d := &t.deliveries[len(t.deliveries)-1]
	d.State, d.EndedAt, d.DueAt, d.Reason = string(DeliveryCanceled), d.CreatedAt, 0, fmt.Sprintf(dropReason, most)
}

// writeDown adds a notification to what webhooks are to be told.
func (s *Service) writeDown(t *told, n Notification) error {
	body, err := s.notification(n)
	if err != nil {
		return err
	}
	id, now := s.newID(), n.CreatedAt.UnixMicro()
	t.deliveries = append(t.deliveries, store.WebhookDelivery{
		ID: id, WebhookID: n.WebhookID, EventID: n.EventID, TriggerName: string(n.Trigger),
		State: string(DeliveryPending), CreatedAt: now, BegunAt: now, DueAt: now,
	})
	t.bodies = append(t.bodies, store.WebhookBody{DeliveryID: id, Body: string(body)})
	return nil
}

func (h *hearing) webhooksOn(ctx context.Context, itemIDs []int64) ([]store.WebhookAbove, error) {
	key := fmt.Sprint(itemIDs)
	if known, ok := h.webhooks[key]; ok {
		return known, nil
	}
	found, err := h.tx.WebhooksOn(ctx, h.now, itemIDs)
	h.webhooks[key] = found
	return found, err
}

// source returns what an event happened to, as the owner of a webhook may see it.
func (h *hearing) source(ctx context.Context, e event, w store.WebhookAbove) (Source, error) {
	owner := callerOf(w.Owner, w.GlobalContent)
	kind, id := Kind(e.item.row.Kind), e.item.row.ID
	if e.trigger == WebhookDeleted {
		return Source{Type: "webhook", ID: w.ID}, nil
	}
	key := strings.Join([]string{kind.String(), fmt.Sprint(id), fmt.Sprint(owner.User.ID), fmt.Sprint(owner.Scopes)}, "/")
	source, known := h.sources[key]
	if !known {
		source = Source{Type: kind.String(), ID: id}
		if isActive(w.Owner) { // who is not sees nothing any more
			var err error
			if source, err = h.s.sourceFor(ctx, h.tx.Queries, owner, kind, id); err != nil {
				return source, err
			}
		}
		h.sources[key] = source
	}
	if e.collaboration == nil {
		return source, nil
	}
	of := Source{Type: "collaboration", ID: e.collaboration.ID}
	if source.Item != nil { // who does not see the item does not see who works with it
		of.Collaboration = e.collaboration
	}
	return of, nil
}

// sourceFor describes an item, wherever it is, for the owner of a webhook.
func (s *Service) sourceFor(ctx context.Context, q *store.Queries, owner *Caller, kind Kind, id int64) (Source, error) {
	source := Source{Type: kind.String(), ID: id}
	p, err := s.findWhere(ctx, q, owner, kind, id, MaySee, anywhere)
	if _, hidden := errors.AsType[*Error](err); hidden {
		return source, nil
	}
	if err != nil {
		return source, err
	}
	source.Item, err = describe(ctx, q, owner, p)
	return source, err
}

// anywhere finds nothing wrong with an item, be it in the trash or not.
func anywhere(place, Kind, int64) error { return nil }

// either returns the trigger for a kind of item, of the two for files and for folders.
func (k Kind) either(file, folder Trigger) Trigger {
	if k == File {
		return file
	}
	return folder
}

// versionEvents tell of new content, and perhaps a new name, of a file.
func versionEvents(file place, name string) []event {
	return append([]event{{trigger: FileUploaded, item: file}}, renameEvents(file, name)...)
}

// renameEvents tell of a new name of an item; there are none where it is the old one.
func renameEvents(p place, name string) []event {
	if name == p.row.Name {
		return nil
	}
	return []event{{trigger: Kind(p.row.Kind).either(FileRenamed, FolderRenamed), item: p, info: Renamed{p.row.Name}}}
}

// moveEvents tell of an item that went into a folder; there are none where that is the one it was in. A file has also come
// into the folders that it was not below before.
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

// shownID is the id of a folder as everybody may know it: that of a root folder is 0.
func (p place) shownID() int64 {
	if !p.row.ParentID.Valid {
		return rootID
	}
	return p.row.ID
}

// notAbove returns the ids of a folder and of those above it that are not above an item.
func (p place) notAbove(item place) []int64 {
	var ids []int64
	for _, link := range p.chain {
		if !slices.ContainsFunc(item.chain, func(above store.ItemChainRow) bool { return above.Item.ID == link.Item.ID }) {
			ids = append(ids, link.Item.ID)
		}
	}
	return ids
}

// copyEvents tell of an item that was copied, and of the copy that came into a folder.
func copyEvents(source, target place, copyID int64) []event {
	kind := Kind(source.row.Kind)
	return []event{
		{trigger: kind.either(FileCopied, FolderCopied), item: source, info: Copied{kind, copyID}},
		{trigger: kind.either(FileUploaded, FolderCreated), item: target.child(kind, copyID)},
	}
}

// hearPurge writes down what webhooks are told of an item that is about to be removed for good with all below it, and
// ends the webhooks on any of that.
func (s *Service) hearPurge(ctx context.Context, tx *store.Tx, c *Caller, kind Kind, id int64) (told, error) {
	p, err := s.placeAt(ctx, tx.Queries, kind, id)
	if err != nil {
		return told{}, err
	}
	events := []event{{trigger: kind.either(FileDeleted, FolderDeleted), item: p}}
	targets, err := tx.TreeWebhookTargets(ctx, id)
	if err != nil {
		return told{}, err
	}
	for _, target := range targets {
		item := place{row: store.Item{ID: target.ID, Kind: target.Kind}}
		if target.ID != id {
			events = append(events, event{trigger: Kind(target.Kind).either(FileDeleted, FolderDeleted), item: item, instead: []int64{target.ID}})
		}
		events = append(events, event{trigger: WebhookDeleted, item: item, instead: []int64{target.ID}, info: AutoDeleted{"target_deleted"}})
	}
	farewell, err := s.hear(ctx, tx, c, events...)
	if err != nil {
		return told{}, err
	}
	for _, target := range targets {
		if err := tx.EndWebhooksOn(ctx, target.ID, "Its target was deleted for good.", s.micros()); err != nil {
			return told{}, err
		}
	}
	return farewell, nil
}
