package docgen

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"platen/store"
)

// A user's stream has the events of items that the user may see now, as the owner or a collaborator, and the events that the user caused or
// that concerned the user, whatever happened to the items since. A stream of the enterprise has all events.

// StreamType selects a stream.
type StreamType string

// The streams. The last two are those of the enterprise.
const (
	StreamAll      StreamType = "all"
	StreamChanges  StreamType = "changes" // only events that change the tree of the user
	StreamSync     StreamType = "sync"    // the same, because users cannot choose the folders to synchronize
	StreamLog      StreamType = "admin_logs"
	StreamLogLive  StreamType = "admin_logs_streaming"
	maxEventTypes             = 100 // types that a request can select
	maxEventOwners            = 64  // owners whose events are read separately; for more, all events are
)

// Limits of one request for events. A request that reaches one of the last three returns what it has found, and the position to continue
// from.
const (
	MaxEvents     = 500     // events of a page
	DefaultEvents = 100     // events of a page without a limit
	eventPortion  = 500     // rows that one statement reads, or the statements for all owners together
	ownerPortion  = 50      // rows of an owner that a statement reads at least
	eventScan     = 5000    // rows that are read for a user
	logScan       = 100_000 // rows that are read for the enterprise: some of its clients never continue from an empty page
	eventItems    = 1000    // items whose permissions are checked
)

// eventDisorder is how far the times of events can deviate from their order.
const eventDisorder = time.Minute

// StreamRequest selects events.
type StreamRequest struct {
	Stream   StreamType // "" is StreamAll
	Now      bool       // no events, only the position of the next one
	Position int64      // that the last page returned; 0 is the beginning of the stream
	Limit    int        // at most MaxEvents

	Types    []EventType // only of these types; only in streams of the enterprise
	From, To time.Time   // only from this time, and before this time; only in StreamLog
}

// StreamEvent is an event of a stream.
type StreamEvent struct {
	ID        int64
	Type      EventType
	At        time.Time
	CreatedBy *UserRef // the account of the enterprise for a command
	Source    StreamSource
	Details   map[string]string // nil if there are none
}

// StreamSource is the object of an event as it is now.
type StreamSource struct {
	Type string // file, folder, user, or application
	ID   int64
	Item *Item    // nil if it was deleted, or the caller may not see it
	User *UserRef // of a user
}

// StreamPage is a page of a stream. It can be empty before the end of the stream.
type StreamPage struct {
	Events []StreamEvent
	Next   int64 // position of the next page

	more bool // the end of the stream was not reached
}

// isEnterprise reports whether a stream is one of the enterprise.
func (t StreamType) isEnterprise() bool { return t == StreamLog || t == StreamLogLive }

// check returns an Error if the caller may not read the stream, or the request is invalid.
func (r *StreamRequest) check(c *Caller) error {
	r.Stream = cmp.Or(r.Stream, StreamAll)
	var problems []Problem
	if !slices.Contains([]StreamType{StreamAll, StreamChanges, StreamSync, StreamLog, StreamLogLive}, r.Stream) {
		problems = append(problems, invalidField("stream_type",
			"stream_type must be all, changes, sync, admin_logs, or admin_logs_streaming"))
	}
	if r.Limit < 0 || r.Limit > MaxEvents {
		problems = append(problems, invalidField("limit", "limit must be from 0 to %d", MaxEvents))
	}
	if len(r.Types) > 0 && !r.Stream.isEnterprise() {
		problems = append(problems, invalidField("event_type", "event_type is only valid with admin_logs and admin_logs_streaming: omit it"))
	}
	if len(r.Types) > maxEventTypes {
		problems = append(problems, invalidField("event_type", "event_type must not name more than %d types", maxEventTypes))
	}
	if (!r.From.IsZero() || !r.To.IsZero()) && r.Stream != StreamLog {
		problems = append(problems, invalidField("created_after", "created_after and created_before are only valid with admin_logs: omit them"))
	}
	if err := Invalid(problems...); err != nil {
		return err
	}
	if r.Stream.isEnterprise() {
		return c.requireAuditor()
	}
	return c.require(ScopeRead)
}

// CheckEvents returns an Error if the caller may not read the streams of users.
func (s *Service) CheckEvents(c *Caller) error { return c.require(ScopeRead) }

// Events returns a page of a stream.
func (s *Service) Events(ctx context.Context, c *Caller, r StreamRequest) (page StreamPage, err error) {
	if err := r.check(c); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(q *store.Queries) error {
		reader, err := s.eventReader(ctx, q, c, r.Stream)
		if err == nil {
			page, err = reader.page(ctx, r)
		}
		return err
	})
	return page, err
}

// An eventReader reads a stream in one snapshot of the database.
type eventReader struct {
	s       *Service
	q       *store.Queries
	c       *Caller
	stream  StreamType
	horizon int64
	owners  []int64 // whose items the user may see: the user, and the owners of shared items; nil if there are too many
	users   userRefs
	items   map[int64]*Item // by id; nil for those that the caller may not see
}

// eventReader returns a reader of a stream.
func (s *Service) eventReader(ctx context.Context, q *store.Queries, c *Caller, stream StreamType) (*eventReader, error) {
	horizon, err := s.db.EventHorizon(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("horizon of events: %w", err)
	}
	r := &eventReader{s: s, q: q, c: c, stream: stream, horizon: horizon, users: userRefs{}, items: map[int64]*Item{}}
	if stream.isEnterprise() {
		return r, nil
	}
	r.c = c.asUserOnly()
	shared, err := q.OwnersOfShared(ctx, c.User.ID, s.micros(), maxEventOwners+1)
	if err == nil && len(shared) <= maxEventOwners {
		r.owners = slices.Concat(shared, []int64{c.User.ID})
	}
	return r, err
}

// asUserOnly returns the caller without the permissions of a manager of the content of the enterprise.
func (c *Caller) asUserOnly() *Caller {
	only := *c
	only.Scopes = slices.DeleteFunc(slices.Clone(c.Scopes), func(scope Scope) bool { return scope == ScopeGlobalContent })
	return &only
}

// page returns a page of the stream.
func (r *eventReader) page(ctx context.Context, request StreamRequest) (StreamPage, error) {
	last, err := r.q.LastEventBefore(ctx, r.horizon)
	if err != nil {
		return StreamPage{}, err
	}
	end := r.horizon // on PostgreSQL, it increases without events; last does not
	if last > 0 {
		end = last + 1
	}
	page := StreamPage{Events: []StreamEvent{}, Next: request.Position}
	switch {
	case request.Now:
		page.Next = end
		return page, nil
	case request.Position > r.horizon: // from a database of which a backup was restored
		page.Next = 0
	}
	if !request.From.IsZero() {
		since, err := r.positionAt(ctx, request.From.Add(-eventDisorder), end)
		if err != nil {
			return page, err
		}
		page.Next = max(page.Next, since)
	}
	scan := eventScan
	if r.stream.isEnterprise() {
		scan = logScan
	}
	for scanned := 0; page.Next < end; {
		rows, read, next, err := r.candidates(ctx, request, page.Next, end)
		if err != nil {
			return page, err
		}
		full, err := r.add(ctx, &page, request, rows)
		if err != nil || full {
			return page, err
		}
		page.Next = next
		if scanned += max(read, 1); scanned >= scan {
			page.more = next < end
			return page, nil
		}
	}
	page.Next = max(page.Next, end)
	return page, nil
}

// add adds the rows that belong in a page. If the page is then full, its next position is that of the first row that was not added.
func (r *eventReader) add(ctx context.Context, page *StreamPage, request StreamRequest, rows []store.Event) (full bool, err error) {
	for _, row := range rows {
		if len(page.Events) == request.Limit || len(r.items) >= eventItems {
			page.Next, page.more = row.Position, true
			return true, nil
		}
		if !request.To.IsZero() && row.CreatedAt >= request.To.Add(eventDisorder).UnixMicro() {
			page.Next = row.Position
			return true, nil
		}
		if !request.selects(row) {
			continue
		}
		e, ok, err := r.event(ctx, row)
		if err != nil {
			return false, err
		}
		if ok {
			page.Events = append(page.Events, e)
		}
	}
	return false, nil
}

// selects reports whether a row has the type and the time that a request selects.
func (r StreamRequest) selects(row store.Event) bool {
	typ := r.Stream.typeOf(EventType(row.Type))
	return typ != noEvent && (len(r.Types) == 0 || slices.Contains(r.Types, typ)) &&
		row.CreatedAt >= microsOf(r.From, 0) && row.CreatedAt < microsOf(r.To, 1<<62)
}

// storedTypes returns the types of rows that a request selects, or none if it selects all.
func (r StreamRequest) storedTypes() []EventType {
	var types []EventType
	for _, known := range eventTypes {
		if slices.Contains(r.Types, known.enterprise) {
			types = append(types, cmp.Or(known.user, known.enterprise))
		}
	}
	return types
}

// typeOf returns the name of a type of rows in a stream, or noEvent if it is not in the stream.
func (t StreamType) typeOf(stored EventType) EventType {
	for _, known := range eventTypes {
		switch {
		case cmp.Or(known.user, known.enterprise) != stored:
		case t.isEnterprise():
			return known.enterprise
		case t == StreamAll || known.changesTree:
			return known.user
		}
	}
	return noEvent
}

// candidates returns rows from a position on, in order, that can belong in a page. All of them below next were read. read is the number of
// rows that were read for that.
func (r *eventReader) candidates(ctx context.Context, request StreamRequest, first, end int64) (rows []store.Event, read int, next int64,
	err error) {
	next = end
	portion := int32(eventPortion)
	add := func(some []store.Event, addErr error) {
		if rows = append(rows, some...); len(some) == int(portion) {
			next = min(next, some[portion-1].Position+1)
		}
		err = errors.Join(err, addErr)
	}
	types := request.storedTypes()
	switch {
	case r.owners != nil:
		portion = max(eventPortion/int32(len(r.owners)), ownerPortion)
		for _, owner := range r.owners {
			add(r.q.EventsOfOwner(ctx, store.EventsOfOwnerParams{UserID: owner, First: first, Horizon: end, N: portion}))
		}
		mine := store.EventsOfActorParams{UserID: r.c.User.ID, First: first, Horizon: end, N: portion}
		add(r.q.EventsOfActor(ctx, mine))
		add(r.q.EventsAlsoOf(ctx, store.EventsAlsoOfParams(mine)))
	case len(types) == 0 && len(request.Types) > 0: // types of events that do not exist here
	case len(types) > 0 && !slices.Contains(types, ItemUploaded):
		for _, typ := range types {
			add(r.q.EventsOfType(ctx, store.EventsOfTypeParams{Type: string(typ), First: first, Horizon: end, N: portion}))
		}
	default:
		add(r.q.EventsFrom(ctx, first, end, portion))
	}
	if err != nil {
		return nil, 0, 0, err
	}
	read = len(rows)
	slices.SortFunc(rows, func(a, b store.Event) int { return cmp.Compare(a.Position, b.Position) })
	rows = slices.CompactFunc(rows, func(a, b store.Event) bool { return a.Position == b.Position })
	return slices.DeleteFunc(rows, func(row store.Event) bool { return row.Position >= next }), read, next, nil
}

// positionAt returns the position of the first event from a time on, or end if there is none. It assumes that the events are in the order
// of their times.
func (r *eventReader) positionAt(ctx context.Context, at time.Time, end int64) (int64, error) {
	low, err := r.q.FirstEvent(ctx)
	for high := end; err == nil && low < high; {
		middle := low + (high-low)/2
		var rows []store.Event
		rows, err = r.q.EventsFrom(ctx, middle, high, 1)
		if len(rows) == 0 || rows[0].CreatedAt >= at.UnixMicro() {
			high = middle
		} else {
			low = rows[0].Position + 1
		}
	}
	return low, err
}

// event returns the event of a row. ok is false if the caller may not see it.
func (r *eventReader) event(ctx context.Context, row store.Event) (e StreamEvent, ok bool, err error) {
	e = StreamEvent{
		ID: row.ID, Type: r.stream.typeOf(EventType(row.Type)), At: timeOf(row.CreatedAt),
		Source: StreamSource{Type: row.Kind, ID: row.SourceID},
	}
	switch row.Kind {
	case "user":
		e.Source.User, err = r.users.optional(ctx, r.q, row.SourceID)
	case Folder.String(), File.String():
		e.Source.Item, err = r.item(ctx, row)
	}
	if err != nil {
		return e, false, err
	}
	if e.Source.Item == nil && !r.stream.isEnterprise() && !r.concerns(row) {
		return e, false, nil
	}
	if e.CreatedBy, err = r.users.optional(ctx, r.q, row.ActorID); err != nil || row.Details == "" {
		return e, true, err
	}
	if err := json.Unmarshal([]byte(row.Details), &e.Details); err != nil {
		return e, false, fmt.Errorf("details of event %d: %w", row.ID, err)
	}
	return e, true, nil
}

// concerns reports whether a row is of the user: the user caused the event, owned the item, or was the collaborator.
func (r *eventReader) concerns(row store.Event) bool {
	return slices.Contains([]int64{row.OwnerID, row.ActorID, row.AlsoID}, r.c.User.ID)
}

// item returns the item of a row as it is now, or nil if the caller may not see it or it was deleted.
func (r *eventReader) item(ctx context.Context, row store.Event) (*Item, error) {
	if item, known := r.items[row.SourceID]; known {
		return item, nil
	}
	kind := Folder
	if row.Kind == File.String() {
		kind = File
	}
	p, err := r.s.findWhere(ctx, r.q, r.c, kind, row.SourceID, MaySee, anywhere)
	if _, hidden := errors.AsType[*Error](err); hidden {
		r.items[row.SourceID] = nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	item, err := r.s.describe(ctx, r.q, r.c, p)
	r.items[row.SourceID] = item
	return item, err
}
