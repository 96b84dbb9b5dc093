package server_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// eventsUntil reads a stream until it has an event of a type. On PostgreSQL, transactions of other tests can delay events.
func (w *world) eventsUntil(as, query, last string) (entries []any, next string) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		page := w.do("GET /events"+query, request{as: as}).want(w.t, 200)
		entries, next = page["entries"].([]any), fmt.Sprintf("%.0f", page["next_stream_position"])
		if page["chunk_size"] != float64(len(entries)) {
			w.t.Fatalf("chunk_size is %v for %d events", page["chunk_size"], len(entries))
		}
		if slices.ContainsFunc(entries, func(e any) bool { return e.(object)["event_type"] == last }) {
			return entries, next
		}
		select {
		case <-w.t.Context().Done():
			w.t.Fatalf("there is no event %s: %v", last, entries)
		case <-tick.C:
		}
	}
}

func TestEventsOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		w.do("PUT /files/"+id(s.file), request{body: object{"name": "Renamed.docx"}}).want(w.t, 200)
		entries, next := w.eventsUntil("owner", "?limit=500", "ITEM_RENAME")
		event := entries[len(entries)-1].(object)
		source, by := event["source"].(object), event["created_by"].(object)
		if event["type"] != "event" || event["event_type"] != "ITEM_RENAME" || event["session_id"] != nil || event["created_at"] == nil ||
			event["recorded_at"] != event["created_at"] || by["login"] != "owner@example.com" || source["type"] != "file" ||
			source["id"] != id(s.file) || source["name"] != "Renamed.docx" || event["additional_details"] != nil {
			w.t.Errorf("the event is %v", event)
		}
		now := w.do("GET /events?stream_position=now", request{}).want(w.t, 200)
		if now["chunk_size"] != 0.0 || len(now["entries"].([]any)) != 0 || now["next_stream_position"].(float64) == 0 {
			w.t.Errorf("now is %v", now)
		}
		if page := w.do("GET /events?limit=0", request{}).want(w.t, 200); page["chunk_size"] != 0.0 {
			w.t.Errorf("a page without events is %v", page)
		}
		log, _ := w.eventsUntil("admin", "?stream_type=admin_logs&event_type=RENAME,LOGIN&created_after=2020-01-01T00:00:00Z", "RENAME")
		source = log[0].(object)["source"].(object)
		if source["item_type"] != "file" || source["item_id"] != id(s.file) || source["item_name"] != "" {
			w.t.Errorf("the source for an administrator is %v", source)
		}
		log, _ = w.eventsUntil("archivist", "?stream_type=admin_logs_streaming&event_type=RENAME", "RENAME")
		if source = log[0].(object)["source"].(object); source["item_name"] != "Renamed.docx" ||
			source["owned_by"].(object)["login"] != "owner@example.com" {
			w.t.Errorf("the source for an administrator of content is %v", source)
		}
		servers := w.do("OPTIONS /events", request{}).want(w.t, 200)
		realtime := servers["entries"].([]any)[0].(object)
		if servers["chunk_size"] != 1.0 || realtime["type"] != "realtime_server" || realtime["url"] != w.url+"/2.0/events/realtime" ||
			realtime["max_retries"] != "10" || realtime["ttl"] != "10" || realtime["retry_timeout"] != 90.0 {
			w.t.Errorf("the servers are %v", servers)
		}
		for query, want := range map[string]string{"?stream_position=0": "new_change", "?stream_position=now&wait=0": "reconnect",
			"?wait=0&stream_position=" + next: "reconnect"} {
			if got := w.do("GET /events/realtime"+query, request{}).want(w.t, 200); got["message"] != want {
				w.t.Errorf("%s: %v, want %s", query, got, want)
			}
		}
		for _, query := range []string{
			"?stream_type=x", "?stream_position=-1", "?stream_position=x", "?stream_position=99999999999999999999", "?limit=-1", "?limit=x",
			"?event_type=UPLOAD", "?created_after=2026-01-31T12:00:00Z", "?created_after=x", "?wait=0",
		} {
			w.do("GET /events"+query, request{}).want(w.t, 400, "bad_request")
		}
		for _, query := range []string{"?stream_type=admin_logs", "?wait=61", "?stream_position=x"} {
			w.do("GET /events/realtime"+query, request{as: "admin"}).want(w.t, 400, "bad_request")
		}
	})
}
