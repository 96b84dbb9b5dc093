package docgen

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"platen/fair"
	"platen/store"
)

// The event stream has one row for each event, which the transaction of the event inserts. It is the same for everyone: who sees a row is
// decided when it is read, see eventstream.go. Rows contain only ids, so that erasing a user leaves nothing to erase in them.

// EventType is what happened in an event of the stream.
type EventType string

// The types of events in the streams of users.
const (
	ItemUploaded      EventType = "ITEM_UPLOAD" // a file, or a new version of it; also for a generated document
	ItemCreated       EventType = "ITEM_CREATE" // a folder
	ItemDownloaded    EventType = "ITEM_DOWNLOAD"
	ItemRenamed       EventType = "ITEM_RENAME"
	ItemMoved         EventType = "ITEM_MOVE"
	ItemCopied        EventType = "ITEM_COPY" // the source is the copy
	ItemTrashed       EventType = "ITEM_TRASH"
	ItemRestored      EventType = "ITEM_UNDELETE_VIA_TRASH"
	VersionPromoted   EventType = "ITEM_MAKE_CURRENT_VERSION"
	ItemShared        EventType = "ITEM_SHARED_CREATE" // a shared link was created
	ItemSharedUpdated EventType = "ITEM_SHARED_UPDATE"
	ItemUnshared      EventType = "ITEM_SHARED_UNSHARE"

	CollaboratorAdded   EventType = "COLLAB_ADD_COLLABORATOR"
	CollaboratorInvited EventType = "COLLAB_INVITE_COLLABORATOR"
	CollaboratorRemoved EventType = "COLLAB_REMOVE_COLLABORATOR"
	CollaboratorRole    EventType = "COLLAB_ROLE_CHANGE"

	GenerationFailed EventType = "DOCGEN_DOCUMENT_GENERATION_FAILED" // a Platen extension; the source is the template
)

// noEvent is for what does not belong in the stream.
const noEvent EventType = ""

// eventTypes lists all types: the name in the streams of users, which rows have, the name in those of the enterprise, and whether the event
// changes the tree of a user. A type without the first is only in the streams of the enterprise.
var eventTypes = []struct {
	user, enterprise EventType
	changesTree      bool
}{
	{ItemUploaded, "UPLOAD", true}, {ItemCreated, "UPLOAD", true}, {ItemDownloaded, "DOWNLOAD", false}, {ItemRenamed, "RENAME", true},
	{ItemMoved, "MOVE", true}, {ItemCopied, "COPY", true}, {ItemTrashed, "DELETE", true}, {ItemRestored, "UNDELETE", true},
	{VersionPromoted, "FILE_VERSION_RESTORE", true}, {ItemShared, "SHARE", false}, {ItemSharedUpdated, "ITEM_SHARED_UPDATE", false},
	{ItemUnshared, "UNSHARE", false}, {CollaboratorAdded, "COLLABORATION_ACCEPT", true}, {CollaboratorInvited, "COLLABORATION_INVITE", true},
	{CollaboratorRemoved, "COLLABORATION_REMOVE", true}, {CollaboratorRole, "COLLABORATION_ROLE_CHANGE", true},
	{GenerationFailed, GenerationFailed, false},
	{noEvent, "NEW_USER", false}, {noEvent, "EDIT_USER", false}, {noEvent, "DELETE_USER", false}, {noEvent, "APPLICATION_CREATED", false},
	{noEvent, "APPLICATION_PUBLIC_KEY_ADDED", false}, {noEvent, "APPLICATION_PUBLIC_KEY_DELETED", false},
}

// triggerEvents has the types of the events that fire triggers. Permanent deletions are not in the stream, because items are in the trash
// before, nor are starts of documents, which would double the number of rows.
var triggerEvents = map[Trigger]EventType{
	FileUploaded: ItemUploaded, FileDownloaded: ItemDownloaded, FileTrashed: ItemTrashed, FileDeleted: noEvent, FileRestored: ItemRestored,
	FileCopied: noEvent, FileMoved: ItemMoved, FileRenamed: ItemRenamed, // a copy is the event of the new item
	FolderCreated: ItemCreated, FolderTrashed: ItemTrashed, FolderDeleted: noEvent, FolderRestored: ItemRestored, FolderCopied: noEvent,
	FolderDownloaded: ItemDownloaded, FolderMoved: ItemMoved, FolderRenamed: ItemRenamed,
	CollaborationWasCreated: CollaboratorAdded, CollaborationWasAccepted: CollaboratorAdded, CollaborationWasRejected: CollaboratorRemoved,
	CollaborationWasRemoved: CollaboratorRemoved, CollaborationWasUpdated: CollaboratorRole,
	DocumentStarted: noEvent, DocumentSucceeded: noEvent, DocumentFailed: GenerationFailed, // a success is the upload of the document
	SharedLinkCreated: ItemShared, SharedLinkUpdated: ItemSharedUpdated, SharedLinkDeleted: ItemUnshared,
	WebhookDeleted: noEvent,
}

// auditEvents has the types of the actions of the audit log that are also in the streams of the enterprise.
var auditEvents = map[AuditAction]EventType{
	AuditUserCreated: "NEW_USER", AuditUserUpdated: "EDIT_USER", AuditUserDeleted: "DELETE_USER", AuditAppCreated: "APPLICATION_CREATED",
	AuditAppKeyAdded: "APPLICATION_PUBLIC_KEY_ADDED", AuditAppKeyRemoved: "APPLICATION_PUBLIC_KEY_DELETED",
}

// typeOf returns the type of an event in the stream.
func (e event) typeOf() EventType {
	switch {
	case e.instead != nil: // the event of an item that another event already describes
		return noEvent
	case e.as != noEvent:
		return e.as
	case e.trigger == CollaborationWasCreated && e.collaboration.Status != CollaborationAccepted:
		return CollaboratorInvited
	}
	return triggerEvents[e.trigger]
}

// owners returns the owner of the item after an event, and the previous owner if that is another user.
func (e event) owners() (owner, previous int64) {
	for _, link := range e.item.chain { // the first link of a new item has no owner
		if owner = link.Item.OwnerID; owner != 0 {
			break
		}
	}
	if len(e.also) > 0 && e.also[0].row.OwnerID != owner {
		return e.also[0].row.OwnerID, owner
	}
	return owner, 0
}

// streamDetails returns the details of an event as alternating names and values.
func (e event) streamDetails() []string {
	if moved, ok := e.info.(Moved); ok {
		return []string{"before_folder_id", strconv.FormatInt(moved.BeforeID, 10), "after_folder_id", strconv.FormatInt(moved.AfterID, 10)}
	}
	if g, ok := e.info.(Generated); ok {
		return generatedDetails(g.BatchID, g.JobID)
	}
	if of := e.collaboration; of != nil {
		details := []string{"collab_id", strconv.FormatInt(of.ID, 10), "role", string(of.Role)}
		if of.User != nil {
			details = append(details, "user_id", strconv.FormatInt(of.User.ID, 10))
		}
		return details
	}
	return e.details
}

// generatedDetails are the details of an event of a job.
func generatedDetails(batchID string, jobID int64) []string {
	return []string{"docgen_batch_id", batchID, "docgen_job_id", strconv.FormatInt(jobID, 10)}
}

// streamRow returns the row for an event, or ok false if it is not in the stream.
func (s *Service) streamRow(c *Caller, e event) (row store.Event, ok bool, err error) {
	typ := e.typeOf()
	if typ == noEvent {
		return row, false, nil
	}
	owner, also := e.owners()
	if e.collaboration != nil && e.collaboration.User != nil {
		also = e.collaboration.User.ID
	}
	row = store.Event{
		ID: s.newID(), Type: string(typ), CreatedAt: s.micros(), ActorID: c.User.ID, OwnerID: owner, AlsoID: also,
		Kind: Kind(e.item.row.Kind).String(), SourceID: e.item.row.ID,
	}
	row.Details, err = detailsText(e.streamDetails())
	return row, true, err
}

// detailsText encodes alternating names and values as a JSON object of strings, or as an empty string if there are none.
func detailsText(details []string) (string, error) {
	if len(details) == 0 {
		return "", nil
	}
	values := make(map[string]string, len(details)/2)
	for pair := range slices.Chunk(details, 2) {
		values[pair[0]] = pair[1]
	}
	text, err := json.Marshal(values)
	return string(text), err
}

// record adds events to the stream.
func (s *Service) record(ctx context.Context, tx *store.Tx, c *Caller, events ...event) error {
	var rows []store.Event
	for _, e := range events {
		row, ok, err := s.streamRow(c, e)
		if err != nil {
			return fmt.Errorf("record %s: %w", e.trigger, err)
		}
		if ok {
			rows = append(rows, row)
		}
	}
	return tx.InsertEvents(ctx, rows)
}

// recordAudit adds an action of the audit log to the streams of the enterprise, if it belongs there.
func (s *Service) recordAudit(ctx context.Context, tx *store.Tx, c *Caller, action AuditAction, of auditTarget) error {
	typ, ok := auditEvents[action]
	if !ok {
		return nil
	}
	id, err := strconv.ParseInt(of.id, 10, 64)
	if err != nil {
		return fmt.Errorf("record %s: %w", action, err)
	}
	return tx.InsertEvents(ctx, []store.Event{{
		ID: s.newID(), Type: string(typ), CreatedAt: s.micros(), ActorID: c.User.ID, Kind: of.kind, SourceID: id,
	}})
}

// Downloads change nothing, so their events have no transaction. They are gathered in memory and written several at a time, because a
// write for each download would make reading as expensive as writing. A crash loses those of the last moment.

const (
	downloadPause   = 200 * time.Millisecond // in which downloads are gathered
	downloadPortion = 1000                   // downloads that one transaction writes
	maxDownloads    = 10_000                 // downloads that wait to be written; while the database cannot be written, more are lost
)

// downloads are the events of downloads that have not been written yet. The zero value is ready to use.
type downloads struct {
	writing sync.Mutex // held while events are written

	mu      sync.Mutex
	rows    []store.Event
	lost    int
	pending bool // a goroutine will write the events
}

// noteDownload adds an event to the stream soon.
func (s *Service) noteDownload(c *Caller, e event) error {
	row, ok, err := s.streamRow(c, e)
	if err != nil || !ok {
		return err
	}
	d := &s.downloads
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.rows) >= maxDownloads {
		d.lost++
		return nil
	}
	d.rows = append(d.rows, row)
	if !d.pending {
		d.pending = true
		go s.writeDownloads()
	}
	return nil
}

// writeDownloads writes what was gathered in downloadPause.
func (s *Service) writeDownloads() {
	<-time.After(downloadPause)
	ctx, cancel := context.WithTimeout(fair.For(context.Background(), fair.Claimant{User: watching, Weight: 1}), watchTimeout)
	defer cancel()
	if err := s.RecordDownloads(ctx); err != nil {
		s.log.WarnContext(ctx, "the events of downloads are not written; trying again with the next download", "error", err)
	}
}

// RecordDownloads writes the events of all downloads until now. Call it when the server stops.
func (s *Service) RecordDownloads(ctx context.Context) error {
	d := &s.downloads
	d.writing.Lock()
	defer d.writing.Unlock()
	d.mu.Lock()
	rows, lost := d.rows, d.lost
	d.rows, d.lost, d.pending = nil, 0, false
	d.mu.Unlock()
	if lost > 0 {
		s.log.WarnContext(ctx, "events of downloads are lost, because the database could not be written", "events", lost)
	}
	for len(rows) > 0 {
		portion := rows[:min(len(rows), downloadPortion)]
		if err := s.db.WriteAsync(ctx, func(tx *store.Tx) error { return tx.InsertEvents(ctx, portion) }); err != nil {
			d.mu.Lock()
			d.rows = append(rows, d.rows...)[:min(len(rows)+len(d.rows), maxDownloads)]
			d.mu.Unlock()
			return err
		}
		rows = rows[len(portion):]
	}
	return nil
}
