package server_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

// deliveryLog has the deliveries of invented events to two webhooks, one per second.
type deliveryLog struct {
	*world
	first, second string   // the webhooks
	ids           []string // of the deliveries, newest first
	events        []string // of the same deliveries
}

// deliveries creates eight deliveries. The first webhook has two pending ones, one delivered, and one that was given
// up. The second has one delivered, and three that were canceled when it was deleted.
func (w *world) deliveries() *deliveryLog {
	w.t.Helper()
	l := &deliveryLog{world: w, first: id(w.hook("first")), second: id(w.hook("second"))}
	for i, hook := range []string{l.first, l.second, l.first, l.second, l.first, l.second, l.first, l.second} {
		trigger := "FILE.UPLOADED"
		if i == 6 {
			trigger = "FILE.MOVED"
		}
		sent := w.do("POST /webhooks/"+hook+"/test", request{body: object{"trigger": trigger}}).want(w.t, 202)
		l.ids, l.events = append(l.ids, sent["id"].(string)), append(l.events, sent["event_id"].(string))
		w.clock.Add(time.Second.Microseconds())
	}
	w.tried(l.ids[2], docgen.AttemptResult{Delivered: true, Attempt: docgen.Attempt{Outcome: "delivered", Status: 200}})
	w.tried(l.ids[4], docgen.AttemptResult{Attempt: docgen.Attempt{Outcome: "status", Status: 500,
		Reason: "the receiver responded with 500 Internal Server Error"}})
	w.tried(l.ids[1], docgen.AttemptResult{Delivered: true, Attempt: docgen.Attempt{Outcome: "delivered", Status: 204}})
	w.do("DELETE /webhooks/"+l.second, request{}).want(w.t, 204)
	slices.Reverse(l.ids)
	slices.Reverse(l.events)
	return l
}

// hook creates a webhook on a new folder of the owner.
func (w *world) hook(name string) int64 {
	w.t.Helper()
	folder, err := w.CreateFolder(w.t.Context(), w.owner, docgen.NewFolder{Name: name})
	must(w.t, err)
	made, err := w.CreateWebhook(w.t.Context(), w.owner, docgen.NewWebhook{
		TargetKind: docgen.Folder, TargetID: folder.ID, Address: "https://hooks.example.com/" + name,
		Triggers: []docgen.Trigger{docgen.FileUploaded},
	})
	must(w.t, err)
	return made.ID
}

// tried records attempts of a delivery.
func (w *world) tried(delivery string, tries ...docgen.AttemptResult) {
	w.t.Helper()
	for i := range tries {
		var err error
		tries[i].DeliveryID, err = strconv.ParseInt(delivery, 10, 64)
		must(w.t, err)
		tries[i].BegunAt = time.UnixMicro(w.clock.Load())
		must(w.t, w.RecordAttempts(w.t.Context(), tries[i:i+1]))
	}
}

// places returns the positions of the entries of a page among the deliveries, where 0 is the newest.
func (l *deliveryLog) places(page object) []int {
	places := []int{}
	for _, entry := range page["entries"].([]any) {
		places = append(places, slices.Index(l.ids, entry.(object)["id"].(string)))
	}
	return places
}

func TestDeliveriesOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		l := w.deliveries()
		began := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
		w.t.Run("are listed by filters", func(t *testing.T) {
			for query, want := range map[string][]int{
				"":                        {0, 1, 2, 3, 4, 5, 6, 7},
				"webhook_id=" + l.first:   {1, 3, 5, 7},
				"webhook_id=4711":         {},
				"event_id=" + l.events[3]: {3},
				"event_id=64528422-fbf4-4f8d-b6a0-b099c6572cf2": {},
				"trigger=FILE.MOVED":                            {1},
				"state=pending":                                 {1, 7},
				"state=delivered":                               {5, 6},
				"state=failed":                                  {3},
				"state=canceled":                                {0, 2, 4},
				"state=delivered&webhook_id=" + l.second:        {6},
				"created_after=" + began.Add(6*time.Second).Format(time.RFC3339):                                            {0, 1},
				"created_before=" + began.Add(2*time.Second).Format(time.RFC3339):                                           {6, 7},
				"created_after=2026-11-20T14:00:02%2B01:00&created_before=" + began.Add(4*time.Second).Format(time.RFC3339): {4, 5},
				"created_before=0001-01-01T00:00:00Z":                                                                       {},
				"created_after=0001-01-01T00:00:00Z":                                                                        {0, 1, 2, 3, 4, 5, 6, 7},
				"created_before=1970-01-01T00:00:00Z":                                                                       {},
			} {
				for _, paging := range []string{"", "&usemarker=true", "&usemarker=false", "&offset=0"} {
					if got := l.places(w.do("GET /webhook_deliveries?"+query+paging, request{}).want(t, 200)); !slices.Equal(got, want) {
						t.Errorf("%s%s: %v, want %v", query, paging, got, want)
					}
				}
			}
		})
		w.t.Run("are listed by marker, forth and back", func(t *testing.T) {
			var got []int
			page := w.do("GET /webhook_deliveries?limit=3&usemarker=true&offset=5", request{}).want(t, 200)
			if page["prev_marker"] != nil || page["limit"] != 3.0 || len(page) != 4 {
				t.Errorf("the first page is %v", page)
			}
			for got = l.places(page); page["next_marker"] != nil; got = append(got, l.places(page)...) {
				page = w.do("GET /webhook_deliveries?limit=3&marker="+page["next_marker"].(string), request{}).want(t, 200)
			}
			if want := []int{0, 1, 2, 3, 4, 5, 6, 7}; !slices.Equal(got, want) {
				t.Errorf("forth %v, want %v", got, want)
			}
			back := w.do("GET /webhook_deliveries?limit=3&marker="+page["prev_marker"].(string), request{}).want(t, 200)
			if got := l.places(back); !slices.Equal(got, []int{3, 4, 5}) {
				t.Errorf("back %v", got)
			}
			w.do("GET /webhook_deliveries?limit=3&state=failed&marker="+back["next_marker"].(string), request{}).want(t, 400, "bad_request")
		})
		w.t.Run("are listed by offset", func(t *testing.T) {
			page := w.do("GET /webhook_deliveries?limit=3&offset=6", request{}).want(t, 200)
			if got := l.places(page); !slices.Equal(got, []int{6, 7}) || page["total_count"] != 8.0 || page["offset"] != 6.0 ||
				page["limit"] != 3.0 || len(page) != 4 {
				t.Errorf("page %v", page)
			}
		})
		w.t.Run("are not listed by what is wrong", func(t *testing.T) {
			for query, name := range map[string]string{
				"webhook_id=x": "webhook_id", "webhook_id=0": "webhook_id", "event_id=x": "event_id", "trigger=FILE.EATEN": "trigger",
				"state=lost":              "state",
				"created_after=yesterday": "created_after", "created_before=2026-11-20": "created_before", "usemarker=maybe": "usemarker",
				"limit=0": "limit", "offset=-1": "offset", "offset=300001": "offset", "marker=x": "marker",
			} {
				if got := problems(w.do("GET /webhook_deliveries?"+query, request{}).want(t, 400)); !slices.Equal(got,
					[]string{"invalid_parameter " + name}) {
					t.Errorf("%s: %q", query, got)
				}
			}
		})
		w.t.Run("are seen by who made the webhook, and who manages the enterprise", func(t *testing.T) {
			for caller, want := range map[string]int{"owner": 8, "scope": 8, "other": 0, "admin": 8, "archivist": 8} {
				if got := l.places(w.do("GET /webhook_deliveries", request{as: caller}).want(t, 200)); len(got) != want {
					t.Errorf("%s sees %v", caller, got)
				}
			}
		})
		w.t.Run("one", func(t *testing.T) {
			got := w.do("GET /webhook_deliveries/"+l.ids[3], request{}).want(t, 200)
			body := w.notification(t, got)
			want := object{
				"id": l.ids[3], "type": "webhook_delivery", "webhook": object{"id": l.first, "type": "webhook"}, "event_id": l.events[3],
				"trigger": "FILE.UPLOADED",
				"state":   "failed", "created_at": "2026-11-20T13:00:04+00:00", "begun_at": "2026-11-20T13:00:04+00:00", "tries": 1.0,
				"attempt_count": 1.0,
				"due_at":        nil, "ended_at": "2026-11-20T13:00:08+00:00", "reason": "the receiver responded with 500 Internal Server Error",
				"body": got["body"],
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || body["id"] != l.events[3] {
				t.Errorf("got  %v\nwant %v", got, want)
			}
			delete(want, "body")
			if listed := w.do("GET /webhook_deliveries?event_id="+l.events[3], request{}).want(t,
				200)["entries"].([]any)[0]; fmt.Sprint(listed) != fmt.Sprint(want) {
				t.Errorf("listed %v\nwant   %v", listed, want)
			}
			w.do("GET /webhook_deliveries/4711", request{}).want(t, 404, "not_found")
			w.do("GET /webhook_deliveries/x", request{}).want(t, 404, "not_found")
		})
	})
}

func TestAttemptsOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		hook := id(w.hook("tried"))
		delivery := w.do("POST /webhooks/"+hook+"/test", request{body: object{"trigger": "FILE.MOVED"}}).want(w.t, 202)["id"].(string)
		again := time.UnixMicro(w.clock.Load()).Add(time.Minute)
		w.tried(delivery,
			docgen.AttemptResult{Again: again, Attempt: docgen.Attempt{Outcome: "dns", Reason: "the host has no address",
				Duration: 1500 * time.Microsecond}},
			docgen.AttemptResult{Again: again, Attempt: docgen.Attempt{
				Name: "f96bb54b-ee16-4fc5-aa65-8c2d9e5b546f", Outcome: "busy", Reason: "too many", Status: 429, Duration: 2 * time.Second,
				RequestHeaders: map[string][]string{"Content-Type": {"application/json"}}, ResponseHeaders: map[string][]string{"A": {"1", "2"}},
				ResponseBody: "b\xffsy", Truncated: true,
			}})
		page := w.do("GET /webhook_deliveries/"+delivery+"/attempts", request{}).want(w.t, 200)
		entries := page["entries"].([]any)
		now := time.UnixMicro(w.clock.Load()).UTC().Format("2006-01-02T15:04:05-07:00")
		want := []any{
			object{
				"id": entries[0].(object)["id"], "type": "webhook_attempt", "box_delivery_id": nil, "begun_at": now, "duration_ms": 1.0,
				"outcome": "dns",
				"reason":  "the host has no address", "status": nil, "request_headers": nil, "response_headers": nil, "response_body": "",
				"is_truncated": false,
			},
			object{
				"id": entries[1].(object)["id"], "type": "webhook_attempt", "box_delivery_id": "f96bb54b-ee16-4fc5-aa65-8c2d9e5b546f", "begun_at": now,
				"duration_ms": 2000.0, "outcome": "busy", "reason": "too many", "status": 429.0,
				"request_headers":  object{"Content-Type": "application/json"},
				"response_headers": object{"A": "1, 2"}, "response_body": "b\uFFFDsy", "is_truncated": true,
			},
		}
		if fmt.Sprint(entries) != fmt.Sprint(want) {
			w.t.Errorf("got  %v\nwant %v", entries, want)
		}
		first := w.do("GET /webhook_deliveries/"+delivery+"/attempts?limit=1", request{}).want(w.t, 200)
		second := w.do("GET /webhook_deliveries/"+delivery+"/attempts?limit=1&marker="+first["next_marker"].(string), request{}).want(w.t, 200)
		if got := append(first["entries"].([]any), second["entries"].([]any)...); fmt.Sprint(got) != fmt.Sprint(want) ||
			second["next_marker"] != nil {
			w.t.Errorf("by pages of one: %v", got)
		}
		w.do("GET /webhook_deliveries/"+delivery+"/attempts?limit=x", request{}).want(w.t, 400, "invalid_limit")
		w.do("GET /webhook_deliveries/4711/attempts", request{}).want(w.t, 404, "not_found")
		state := w.do("GET /webhook_deliveries/"+delivery, request{}).want(w.t, 200)
		if state["state"] != "pending" || state["tries"] != 2.0 || state["attempt_count"] != 2.0 ||
			state["due_at"] != again.UTC().Format("2006-01-02T15:04:05-07:00") {
			w.t.Errorf("the delivery is %v", state)
		}
	})
}

func TestReplaysOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		l := w.deliveries()
		state := func(t *testing.T, place int) any {
			return w.do("GET /webhook_deliveries/"+l.ids[place], request{}).want(t, 200)["state"]
		}
		w.t.Run("one", func(t *testing.T) {
			before := w.do("GET /webhook_deliveries/"+l.ids[3], request{}).want(t, 200)
			w.clock.Add(time.Hour.Microseconds())
			again := w.do("POST /webhook_deliveries/"+l.ids[3]+"/replay", request{}).want(t, 202)
			now := time.UnixMicro(w.clock.Load()).UTC().Format("2006-01-02T15:04:05-07:00")
			want := with(before, object{"state": "pending", "begun_at": now, "due_at": now, "ended_at": nil, "reason": nil, "tries": 0.0})
			if fmt.Sprint(again) != fmt.Sprint(want) {
				t.Errorf("got  %v\nwant %v", again, want)
			}
			w.do("POST /webhook_deliveries/"+l.ids[3]+"/replay", request{}).want(t, 202) // which is pending
			w.tried(l.ids[3], docgen.AttemptResult{})
		})
		w.t.Run("one of a webhook that is gone", func(t *testing.T) {
			res := w.do("POST /webhook_deliveries/"+l.ids[0]+"/replay", request{})
			if res.want(t, 409, "conflict"); !strings.Contains(string(res.text), "The webhook is deleted and receives no notifications.") {
				t.Errorf("%s", res.text)
			}
		})
		w.t.Run("a missing delivery", func(t *testing.T) {
			w.do("POST /webhook_deliveries/4711/replay", request{}).want(t, 404, "not_found")
			w.do("POST /webhook_deliveries/"+l.ids[3]+"/replay", request{as: "other"}).want(t, 404, "not_found")
		})
		w.t.Run("many, counted before", func(t *testing.T) {
			for _, c := range []struct {
				body  object
				as    string
				count float64
			}{
				{object{"webhook_id": l.second}, "", 0},
				{object{"webhook_id": "4711"}, "", 0},
				{object{"state": "pending"}, "", 0},
				{object{"created_before": "1970-01-01T00:00:00Z"}, "", 0},
				{object{"created_before": "0001-01-01T00:00:00Z"}, "", 0},
				{object{}, "other", 0},
				{object{"trigger": "FILE.UPLOADED", "state": "failed", "created_after": "2026-11-20T13:00:04Z",
					"created_before": "2026-11-20T13:00:05Z"}, "", 1},
				{object{"event_id": l.events[5], "webhook_id": l.first}, "admin", 1},
			} {
				got := w.do("POST /webhook_deliveries/replay", request{as: c.as, body: with(c.body, object{"dry_run": true})}).want(t, 200)
				if fmt.Sprint(got) != fmt.Sprint(object{"count": c.count}) {
					t.Errorf("%v as %s: %v, want %v", c.body, c.as, got, c.count)
				}
			}
			if got := state(t, 5); got != "delivered" {
				t.Errorf("after a dry run the state is %v", got)
			}
			if got := w.do("POST /webhook_deliveries/replay", request{body: object{}}).want(t, 202); got["count"] != 2.0 {
				t.Errorf("replayed %v, want 2", got)
			}
			for place, want := range map[int]string{3: "pending", 5: "pending", 6: "delivered", 0: "canceled"} {
				if got := state(t, place); got != want {
					t.Errorf("delivery %d is %v, want %s", place, got, want)
				}
			}
		})
		w.t.Run("not by what is wrong", func(t *testing.T) {
			for _, c := range []struct {
				body object
				name string
			}{
				{object{"webhook_id": 0}, "webhook_id"}, {object{"webhook_id": "x"}, "webhook_id"}, {object{"event_id": "x"}, "event_id"},
				{object{"trigger": "x"}, "trigger"},
				{object{"state": "x"}, "state"}, {object{"created_after": "x"}, "created_after"}, {object{"created_before": 7}, "created_before"},
				{object{"dry_run": "yes"}, "dry_run"},
				{object{"limit": 7}, "limit"},
			} {
				if got := problems(w.do("POST /webhook_deliveries/replay", request{body: c.body}).want(t, 400, "bad_request")); !slices.Equal(got,
					[]string{"invalid_parameter " + c.name}) {
					t.Errorf("%v: %q", c.body, got)
				}
			}
		})
	})
}
