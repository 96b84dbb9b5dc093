package server

import (
	"context"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// The event stream. The paths and fields are those of the Box API.

type eventPage struct {
	ChunkSize int           `json:"chunk_size" doc:"The number of events on this page. It can be 0 before the end of the stream."`
	Next      int64         `json:"next_stream_position" doc:"The position to continue from, for stream_position."`
	Entries   []streamEvent `json:"entries"`
}

type streamEvent struct {
	Type       string             `json:"type" enum:"event"`
	ID         ID                 `json:"event_id" doc:"The id of the event. Use it to detect duplicates."`
	EventType  string             `json:"event_type" example:"ITEM_UPLOAD" doc:"What happened. The documentation of events lists all types."`
	CreatedAt  timestamp          `json:"created_at" doc:"When it happened."`
	RecordedAt timestamp          `json:"recorded_at" doc:"The same as created_at."`
	CreatedBy  optional[userMini] `json:"created_by" doc:"Who caused it; the account of the enterprise for a command of the operator."`
	SessionID  null               `json:"session_id" doc:"Always null."`
	Source     eventSource        `json:"source" doc:"The object of the event as it is now; only id and type if it was deleted, or the caller may not see it. In the streams of the enterprise, an item has the fields item_type, item_id, and item_name."`
	Details    eventDetails       `json:"additional_details" doc:"Ids of other objects; null if there are none. The documentation of events lists them."`
}

// eventDetails are ids by name, or null.
type eventDetails map[string]string

// MarshalJSON writes the details, or null.
func (d eventDetails) MarshalJSON() ([]byte, error) {
	if d == nil {
		return []byte("null"), nil
	}
	return marshal(map[string]string(d))
}

// Schema describes the details for the OpenAPI document.
func (eventDetails) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}}, {Type: "null"},
	}}
}

// eventRef is a source without details.
type eventRef struct {
	ID   ID     `json:"id"`
	Type string `json:"type" enum:"file,folder,user,application"`
}

// eventItem is a file or folder in a stream of the enterprise.
type eventItem struct {
	ItemType string               `json:"item_type" enum:"file,folder"`
	ItemID   ID                   `json:"item_id"`
	ItemName string               `json:"item_name" doc:"Empty if the item was deleted, or the caller may not see it."`
	Parent   optional[folderMini] `json:"parent" doc:"Null if the caller may not see it."`
	OwnedBy  optional[userMini]   `json:"owned_by" doc:"Null if the caller may not see the item."`
}

// eventSource is one of the forms of a source.
type eventSource struct{ oneOf }

// Schema describes the forms for the OpenAPI document.
func (eventSource) Schema(r huma.Registry) *huma.Schema {
	return anyOf(r, reflect.TypeFor[file](), reflect.TypeFor[folder](), reflect.TypeFor[eventItem](), reflect.TypeFor[userMini](),
		reflect.TypeFor[eventRef]())
}

func streamEventOf(e *docgen.StreamEvent, enterprise bool) streamEvent {
	return streamEvent{
		Type: "event", ID: ID(e.ID), EventType: string(e.Type), CreatedAt: timestamp{e.At}, RecordedAt: timestamp{e.At},
		CreatedBy: optionalOf(e.CreatedBy, userMiniOf), Source: eventSource{oneOf{eventSourceOf(&e.Source, enterprise)}},
		Details: e.Details,
	}
}

func eventSourceOf(s *docgen.StreamSource, enterprise bool) any {
	isItem := s.Type == typeFile || s.Type == typeFolder
	switch {
	case s.User != nil:
		return userMiniOf(s.User)
	case isItem && enterprise:
		shown := eventItem{ItemType: s.Type, ItemID: ID(s.ID)}
		if s.Item != nil {
			shown.ItemName, shown.Parent = s.Item.Name, optionalOf(s.Item.Parent, folderMiniOf)
			shown.OwnedBy = optionalOf(&s.Item.Owner, userMiniOf)
		}
		return shown
	case s.Item == nil:
		return eventRef{ID: ID(s.ID), Type: s.Type}
	case s.Item.Kind == docgen.Folder:
		return &view[folder]{value: folderOf(s.Item)}
	}
	return &view[file]{value: fileOf(s.Item)}
}

// An eventLimit is the limit of a page of events.
type eventLimit string

// Schema describes the limit for the OpenAPI document.
func (eventLimit) Schema(huma.Registry) *huma.Schema {
	least := 0.0
	return &huma.Schema{
		Type: huma.TypeInteger, Format: "int64", Minimum: &least, Default: docgen.DefaultEvents,
		Description: "Maximum number of events on a page (default 100). Values above " + strconv.Itoa(docgen.MaxEvents) + " count as " +
			strconv.Itoa(docgen.MaxEvents) + ".",
	}
}

func (l eventLimit) parse() (int, error) {
	if l == "" {
		return docgen.DefaultEvents, nil
	}
	n, err := strconv.ParseUint(string(l), 10, 31)
	if err != nil {
		return 0, invalidParam("limit", "limit must be an integer, at least 0")
	}
	return min(int(n), docgen.MaxEvents), nil
}

// StreamQuery selects a stream, and a position in it.
type StreamQuery struct {
	Stream   string `query:"stream_type" enum:"all,changes,sync,admin_logs,admin_logs_streaming" doc:"all (the default): the events of the caller. changes and sync: those that change the tree of the caller. admin_logs and admin_logs_streaming: those of the enterprise, for administrators."`
	Position string `query:"stream_position" doc:"The next_stream_position of the last page; 0 (the default) is the beginning of the stream, and now its end." example:"now"`
}

func (q *StreamQuery) parse() (r docgen.StreamRequest, err error) {
	r.Stream = docgen.StreamType(q.Stream)
	switch q.Position {
	case "now":
		r.Now = true
	case "", "null":
	default:
		r.Position, err = strconv.ParseInt(q.Position, 10, 64)
		if err != nil || r.Position < 0 {
			return r, invalidParam("stream_position", "stream_position must be now, 0, or the next_stream_position of a page")
		}
	}
	return r, nil
}

var docGetEvents = doc{
	id: "get_events", tag: tagEvents, scope: docgen.ScopeRead,
	summary: "List events",
	description: "The events of items that the caller owns, or that are shared with the caller, and the events that the caller caused. With " +
		"admin_logs and admin_logs_streaming, all events of the enterprise, which require the scope manage_enterprise_properties. " +
		"Events are in the order in which they were recorded. No event appears before a position that was returned.",
	example: eventPage{ChunkSize: 1, Next: exampleEventPosition, Entries: []streamEvent{exampleStreamEvent()}},
}

// GetEventsQuery holds the parameters of a request for events.
type GetEventsQuery struct {
	StreamQuery
	Limit         eventLimit `query:"limit"`
	EventType     string     `query:"event_type" doc:"Only events of these types, separated by commas; only with admin_logs and admin_logs_streaming." example:"UPLOAD,DOWNLOAD"`
	CreatedAfter  timeParam  `query:"created_after" doc:"Only events at this time or later; only with admin_logs." example:"2026-01-31T12:00:00Z"`
	CreatedBefore timeParam  `query:"created_before" doc:"Only events before this time; only with admin_logs." example:"2026-02-01T12:00:00Z"`
}

func (q *GetEventsQuery) parse() (r docgen.StreamRequest, err error) {
	if r, err = q.StreamQuery.parse(); err != nil {
		return r, err
	}
	if r.Limit, err = q.Limit.parse(); err != nil {
		return r, err
	}
	for name := range strings.SplitSeq(q.EventType, ",") {
		if name = strings.TrimSpace(name); name != "" {
			r.Types = append(r.Types, docgen.EventType(name))
		}
	}
	if r.From, err = q.CreatedAfter.parse("created_after"); err != nil {
		return r, err
	}
	r.To, err = q.CreatedBefore.parse("created_before")
	return r, err
}

func (a *api) getEvents(ctx context.Context, c *call, in *GetEventsQuery) (*reply[eventPage], error) {
	request, err := in.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.Events(ctx, c.caller, request)
	if err != nil {
		return nil, err
	}
	enterprise := request.Stream == docgen.StreamLog || request.Stream == docgen.StreamLogLive
	return &reply[eventPage]{eventPage{
		ChunkSize: len(page.Events), Next: page.Next,
		Entries: each(page.Events, func(e *docgen.StreamEvent) streamEvent { return streamEventOf(e, enterprise) }),
	}}, nil
}

// How clients wait for events. A response arrives before proxies give up, which many do after 60 s.
const (
	realtimePath    = "/events/realtime"
	realtimeWait    = 50 * time.Second
	realtimeTimeout = 90   // seconds without a response after which a client tries again
	realtimeRetries = "10" // requests before a client asks for the URL again
	realtimeTTL     = "10" // minutes for which a client can use the URL
)

type realtimeServers struct {
	ChunkSize int              `json:"chunk_size"`
	Entries   []realtimeServer `json:"entries"`
}

type realtimeServer struct {
	Type         string `json:"type" enum:"realtime_server"`
	URL          string `json:"url" format:"uri" doc:"Wait for events here."`
	TTL          string `json:"ttl" doc:"Minutes for which the URL can be used."`
	MaxRetries   string `json:"max_retries" doc:"Requests to the URL before this operation should be called again."`
	RetryTimeout int    `json:"retry_timeout" doc:"Seconds without a response after which a client should try again."`
}

var docRealtimeServers = doc{
	id: "options_events", tag: tagEvents, scope: docgen.ScopeRead,
	summary:     "Get the URL to wait for events",
	description: "The URL of this server where a request waits for the next event of the caller. It needs an access token too.",
	example:     realtimeServersAt("https://platen.example.com/2.0"),
}

func realtimeServersAt(base string) realtimeServers {
	return realtimeServers{ChunkSize: 1, Entries: []realtimeServer{{
		Type: "realtime_server", URL: base + realtimePath, TTL: realtimeTTL, MaxRetries: realtimeRetries, RetryTimeout: realtimeTimeout,
	}}}
}

func (a *api) realtimeServers(_ context.Context, c *call, _ *struct{}) (*reply[realtimeServers], error) {
	if err := a.service.CheckEvents(c.caller); err != nil {
		return nil, err
	}
	return &reply[realtimeServers]{realtimeServersAt(a.baseURL + prefix)}, nil
}

// The messages of a request that waits.
const (
	messageNewChange = "new_change"
	messageReconnect = "reconnect"
)

type realtimeMessage struct {
	Version int    `json:"version"`
	Message string `json:"message" enum:"new_change,reconnect" doc:"new_change: there can be events from the position on. reconnect: there are none yet."`
}

var docWaitForEvents = doc{
	id: "wait_for_events", tag: tagEvents, scope: docgen.ScopeRead,
	summary: "Wait for events",
	description: "Responds with new_change as soon as the stream of the caller has events from the position on, and with reconnect if it " +
		"has none after 50 seconds. Then read the events with GET /events, or wait again.",
	errors:  []docgen.Code{},
	example: realtimeMessage{Version: 1, Message: messageNewChange},
}

// WaitForEventsQuery holds the parameters of a request that waits for events.
type WaitForEventsQuery struct {
	StreamQuery
	Wait eventWait `query:"wait"`
}

// An eventWait is the number of seconds that a request waits for events.
type eventWait string

// Schema describes the parameter for the OpenAPI document.
func (eventWait) Schema(huma.Registry) *huma.Schema {
	return waitSchema("Seconds to wait (default 50, maximum 60). A Platen extension.")
}

func (a *api) pollEvents(ctx context.Context, c *call, in *WaitForEventsQuery) (*reply[realtimeMessage], error) {
	request, err := in.StreamQuery.parse()
	if err != nil {
		return nil, err
	}
	wait := realtimeWait
	if in.Wait != "" {
		if wait, err = waitParam(in.Wait).parse(); err != nil {
			return nil, err
		}
	}
	if err := c.holdWaiting(); err != nil {
		return nil, err
	}
	changed, err := a.service.WaitForEvents(ctx, c.caller, request, wait, stoppingOf(ctx).Done())
	if err != nil {
		return nil, err
	}
	if changed {
		return &reply[realtimeMessage]{realtimeMessage{1, messageNewChange}}, nil
	}
	return &reply[realtimeMessage]{realtimeMessage{1, messageReconnect}}, nil
}

const exampleEventPosition = 1769860800123

func exampleStreamEvent() streamEvent {
	return streamEvent{
		Type: "event", ID: 68024680, EventType: string(docgen.ItemUploaded), CreatedAt: timestamp{exampleTime},
		RecordedAt: timestamp{exampleTime}, CreatedBy: optional[userMini]{&exampleAuthor},
		Source: eventSource{oneOf{&view[file]{value: exampleFileObject()}}},
	}
}
