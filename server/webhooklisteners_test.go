package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
	"platen/server"
)

// runListening is run with a server that signs notifications for listeners.
func runListening(t *testing.T, test func(w *world)) {
	t.Helper()
	sign := func(d docgen.Delivery, keys []docgen.SigningKey) map[string]string {
		return map[string]string{"webhook-id": d.EventID, "keys": fmt.Sprint(len(keys))}
	}
	runWith(t, server.Config{RateLimits: noLimits, Sign: sign}, docgen.Limits{}, test)
}

// upload adds a file to a folder.
func (w *world) upload(t *testing.T, folder int64, name string) {
	t.Helper()
	attributes := fmt.Sprintf(`{"name":%q,"parent":{"id":"%d"}}`, name, folder)
	w.do("POST /files/content", request{body: form{{"attributes", attributes}, {"file", "text"}}}).want(t, 201)
}

// fetch polls the notifications of a listener.
func (w *world) fetch(t *testing.T, address string, body object) []any {
	t.Helper()
	return w.do("POST "+address+"/events", request{body: body}).want(t, 200)["entries"].([]any)
}

// entryIDs returns the ids of entries.
func entryIDs(entries []any) []string {
	ids := []string{}
	for _, entry := range entries {
		ids = append(ids, entry.(object)["id"].(string))
	}
	return ids
}

func TestListenersOnTheWire(t *testing.T) {
	runListening(t, func(w *world) {
		made := w.do("POST /webhook_listeners", request{}).want(w.t, 201)
		address := "/webhook_listeners/" + made["id"].(string)
		w.t.Run("listen to everything below the root folder", func(t *testing.T) {
			if fmt.Sprint(made["target"]) != fmt.Sprint(ref(0, "folder")) || made["type"] != "webhook_listener" ||
				made["created_at"] != "2026-11-20T13:00:00+00:00" || made["expires_at"] != "2026-11-20T13:02:00+00:00" {
				t.Errorf("created %v", made)
			}
			fired := 0
			for _, rule := range docgen.Triggers() {
				if rule.Fired && !rule.NotSelectable {
					fired++
				}
			}
			if got := len(made["triggers"].([]any)); got != fired {
				t.Errorf("it has %d triggers, want %d", got, fired)
			}
		})
		w.t.Run("fetch what happened, until it is accepted", func(t *testing.T) {
			if got := w.fetch(t, address, object{}); len(got) != 0 {
				t.Errorf("nothing happened, and there is %v", got)
			}
			w.upload(t, 0, "one.txt")
			w.upload(t, 0, "zweié.txt")
			got := w.fetch(t, address, object{"wait_seconds": 30})
			if len(got) != 2 {
				t.Fatalf("fetched %v", got)
			}
			entry := got[0].(object)
			body := w.notification(t, entry)
			want := object{"id": entry["id"], "type": "webhook_delivery", "headers": object{"webhook-id": body["id"], "keys": "2"},
				"body": entry["body"]}
			if fmt.Sprint(entry) != fmt.Sprint(want) || body["trigger"] != "FILE.UPLOADED" || body["source"].(object)["name"] != "one.txt" {
				t.Errorf("fetched %v\nwant %v", entry, want)
			}
			ids := entryIDs(got)
			if again := entryIDs(w.fetch(t, address, object{"accepted": []string{}})); !slices.Equal(again, ids) {
				t.Errorf("events that were not accepted are returned as %q, want %q", again, ids)
			}
			if rest := entryIDs(w.fetch(t, address, object{"accepted": ids[:1]})); !slices.Equal(rest, ids[1:]) {
				t.Errorf("after the first was accepted %q come, want %q", rest, ids[1:])
			}
			if rest := w.fetch(t, address, object{"accepted": append(ids, "4711")}); len(rest) != 0 {
				t.Errorf("after all were accepted there is %v", rest)
			}
		})
		w.t.Run("listen to what they ask for alone", func(t *testing.T) {
			folder, err := w.CreateFolder(t.Context(), w.owner, docgen.NewFolder{Name: "Alone"})
			must(t, err)
			one := w.do("POST /webhook_listeners",
				request{body: object{"target": ref(folder.ID, "folder"), "triggers": []string{"FOLDER.CREATED"}}}).want(t, 201)
			if fmt.Sprint(one["target"], one["triggers"]) != fmt.Sprint(ref(folder.ID, "folder"), []any{"FOLDER.CREATED"}) {
				t.Errorf("created %v", one)
			}
			path := "/webhook_listeners/" + one["id"].(string)
			w.upload(t, folder.ID, "unheard.txt")
			w.do("POST /folders", request{body: object{"name": "elsewhere", "parent": object{"id": "0"}}}).want(t, 201)
			w.do("POST /folders", request{body: object{"name": "heard", "parent": object{"id": id(folder.ID)}}}).want(t, 201)
			got := w.fetch(t, path, object{})
			if len(got) != 1 || w.notification(t, got[0].(object))["source"].(object)["name"] != "heard" {
				t.Errorf("fetched %v", got)
			}
			w.do("DELETE "+path, request{}).want(t, 204)
			w.do("POST "+path+"/events", request{body: object{}}).want(t, 404, "not_found")
		})
		w.t.Run("are no webhooks, and their deliveries are in no log", func(t *testing.T) {
			w.do("GET /webhooks/"+made["id"].(string), request{}).want(t, 404, "not_found")
			w.do("POST /webhooks/"+made["id"].(string)+"/test", request{body: object{"trigger": "FILE.MOVED"}}).want(t, 404, "not_found")
			for _, list := range []string{"/webhooks", "/webhook_deliveries", "/webhook_deliveries?offset=0"} {
				if got := w.do("GET "+list, request{}).want(t, 200)["entries"].([]any); len(got) != 0 {
					t.Errorf("%s: %v", list, got)
				}
			}
		})
		w.t.Run("end when nobody fetches", func(t *testing.T) {
			w.clock.Add((docgen.ListenerTimeout - time.Second).Microseconds())
			w.fetch(t, address, object{})
			w.clock.Add((docgen.ListenerTimeout - time.Second).Microseconds())
			w.fetch(t, address, object{})
			w.clock.Add(docgen.ListenerTimeout.Microseconds())
			w.do("POST "+address+"/events", request{body: object{}}).want(t, 404, "not_found")
			w.do("DELETE "+address, request{}).want(t, 404, "not_found")
		})
	})
}

func TestListenerErrors(t *testing.T) {
	runListening(t, func(w *world) {
		s := w.scene()
		s.listener = w.listener(w.owner)
		many := make([]string, 101)
		for i := range many {
			many[i] = "1"
		}
		for _, tt := range []struct {
			name, call string
			body       any
			status     int
			code       string
			problems   []string
		}{
			{"a missing target", "POST /webhook_listeners", object{"target": ref(4711, "folder")}, 404, "not_found",
				[]string{"invalid_parameter folder"}},
			{"the root folder as a file", "POST /webhook_listeners", object{"target": ref(0, "file")}, 404, "not_found",
				[]string{"invalid_parameter file"}},
			{"a trigger for folders on a file", "POST /webhook_listeners",
				object{"target": ref(s.file, "file"), "triggers": []string{"FOLDER.MOVED"}}, 400, "bad_request",
				[]string{"invalid_parameter triggers[0]"}},
			{"an invalid body", "POST /webhook_listeners", "[]", 400, "bad_request", []string{"invalid_parameter "}},
			{"an invalid id", "POST /webhook_listeners/{listener_id}/events", object{"accepted": []string{"1", "x"}}, 400, "bad_request",
				[]string{"invalid_parameter accepted[1]"}},
			{"too many accepted", "POST /webhook_listeners/{listener_id}/events", object{"accepted": many}, 400, "bad_request",
				[]string{"invalid_parameter accepted"}},
			{"a wait that is no number", "POST /webhook_listeners/{listener_id}/events", object{"wait_seconds": "long"}, 400, "bad_request",
				[]string{"invalid_parameter wait_seconds"}},
			{"a missing listener", "POST /webhook_listeners/4711/events", object{}, 404, "not_found",
				[]string{"invalid_parameter webhook_listener"}},
			{"a webhook", "DELETE /webhook_listeners/" + id(s.webhook), nil, 404, "not_found", []string{"invalid_parameter webhook_listener"}},
		} {
			w.t.Run(tt.name, func(t *testing.T) {
				if got := problems(w.do(at(tt.call, s), request{body: tt.body}).want(t, tt.status, tt.code)); !slices.Equal(got, tt.problems) {
					t.Errorf("problems %q, want %q", got, tt.problems)
				}
			})
		}
		w.t.Run("too many", func(t *testing.T) {
			for range 9 {
				w.do("POST /webhook_listeners", request{body: object{}}).want(t, 201)
			}
			w.do("POST /webhook_listeners", request{body: object{}}).want(t, 409, "conflict")
			w.do(at("DELETE /webhook_listeners/{listener_id}", s), request{}).want(t, 204)
			w.do("POST /webhook_listeners", request{body: object{}}).want(t, 201)
		})
	})
}

// waiting waits until the given number of requests are in progress in addition to its own.
func (w *world) waiting(t *testing.T, n int) {
	t.Helper()
	want := fmt.Sprintf("platen_http_requests_in_flight %d\n", n+1)
	end := time.Now().Add(10 * time.Minute)
	for !strings.Contains(string(w.do("GET //metrics", request{as: "guest"}).text), want) {
		if time.Now().After(end) {
			t.Fatalf("there are not %d requests under way", n)
		}
	}
}

func TestListenersWait(t *testing.T) {
	runListening(t, func(w *world) {
		address := "/webhook_listeners/" + w.do("POST /webhook_listeners", request{}).want(w.t, 201)["id"].(string)
		w.t.Run("until something happens", func(t *testing.T) {
			fetched := make(chan []any)
			go func() { fetched <- w.fetch(t, address, object{"wait_seconds": 1000}) }()
			w.waiting(t, 1)
			w.upload(t, 0, "polled.txt")
			got := <-fetched
			if len(got) != 1 {
				t.Errorf("fetched %v", got)
			}
			w.fetch(t, address, object{"accepted": entryIDs(got)})
		})
		w.t.Run("no longer than they say", func(t *testing.T) {
			waited := time.NewTimer(time.Second)
			if got := w.fetch(t, address, object{"wait_seconds": 1}); len(got) != 0 {
				t.Errorf("fetched %v", got)
			}
			mustHaveFired(t, waited)
		})
		w.t.Run("no longer than who asks", func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/2.0"+address+"/events", strings.NewReader(`{"wait_seconds":30}`))
			must(t, err)
			req.Header.Set("Authorization", "Bearer "+w.tokens["owner"])
			req.Header.Set("svc-version", "2025.0")
			left := make(chan error)
			go func() {
				res, err := http.DefaultTransport.RoundTrip(req)
				if err == nil {
					res.Body.Close()
				}
				left <- err
			}()
			w.waiting(t, 1)
			leave()
			if err := <-left; err == nil {
				t.Error("there was an answer")
			}
			w.waiting(t, 0)
		})
		w.t.Run("no longer than the server runs", func(t *testing.T) { w.stopWaiting(t, address) })
	})
}

// TestListenersMaximumWait requests a longer wait than that.
func TestListenersMaximumWait(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for half a minute")
	}
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		address := "/webhook_listeners/" + w.do("POST /webhook_listeners", request{}).want(w.t, 201)["id"].(string)
		waited := time.NewTimer(docgen.MaxPollWait)
		if got := w.fetch(w.t, address, object{"wait_seconds": 1000}); len(got) != 0 {
			w.t.Errorf("fetched %v", got)
		}
		mustHaveFired(w.t, waited)
	})
}

// mustHaveFired fails the test if a timer that was started before a wait has not fired after it. A busy machine can
// only extend the wait.
func mustHaveFired(t *testing.T, timer *time.Timer) {
	t.Helper()
	select {
	case <-timer.C:
	default:
		t.Error("the wait was too short")
	}
}

// stopWaiting stops a separate server while a request to it waits.
func (w *world) stopWaiting(t *testing.T, address string) {
	log := slog.New(slog.DiscardHandler)
	entered := make(chan struct{})
	api := server.New(server.Config{Service: w.Service, Log: log})
	stopped := server.NewHTTPServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		close(entered)
		api.ServeHTTP(rw, r)
	}), log)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	served := make(chan error)
	go func() { served <- stopped.Serve(server.Listener(listener, "", log)) }()
	w.url = "http://" + listener.Addr().String()
	fetched := make(chan []any)
	go func() { fetched <- w.fetch(t, address, object{"wait_seconds": 30}) }()
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), docgen.MaxPollWait-time.Second) // the request would wait that long
	defer cancel()
	must(t, stopped.Shutdown(ctx))
	if got := <-fetched; len(got) != 0 {
		t.Errorf("there is %v", got)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}
