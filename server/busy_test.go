package server_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"platen/docgen"
	"platen/server"
	"platen/store/storetest"
)

// TestBusyDatabase: while another process holds the lock of the database, requests that write get 503, and the server is not ready.
// Reading still works.
func TestBusyDatabase(t *testing.T) {
	t.Parallel()
	cfg := storetest.SQLite(t)
	cfg.WriteWait = 50 * time.Millisecond
	w := newWorld(t, storetest.Open(t, cfg), server.Config{RateLimits: noLimits}, docgen.Limits{})
	folder := w.do("POST /folders", request{as: "owner", body: `{"name": "before", "parent": {"id": "0"}}`}).want(t, 201)["id"].(string)
	w.do("GET //readyz", request{as: "guest"}).want(t, 200)
	lock, err := storetest.Raw(t, cfg).Conn(t.Context())
	must(t, err)
	_, err = lock.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	must(t, err)

	for route, r := range map[string]request{
		"POST /folders":                     {as: "owner", body: `{"name": "during", "parent": {"id": "0"}}`},
		"PUT /folders/" + folder:            {as: "owner", body: `{"name": "renamed"}`},
		"DELETE /folders/" + folder:         {as: "owner"},
		"POST /folders/" + folder + "/copy": {as: "owner", body: `{"name": "copy", "parent": {"id": "0"}}`},
	} {
		answer := w.do(route, r)
		answer.want(t, 503, "unavailable")
		if got := answer.Header.Get("Retry-After"); got != "5" {
			t.Errorf("%s: Retry-After %q, want 5", route, got)
		}
	}
	w.do("GET /folders/"+folder, request{as: "owner"}).want(t, 200)
	w.clock.Add(time.Second.Microseconds())
	ready, err := http.Get(w.url + "/readyz")
	must(t, err)
	data, err := io.ReadAll(ready.Body)
	must(t, err)
	must(t, ready.Body.Close())
	text := string(data)
	if ready.StatusCode != http.StatusServiceUnavailable ||
		!strings.Contains(text, `"database":"unavailable"`) || !strings.Contains(text, `"blobs":"ok"`) {
		t.Errorf("readyz = %d %s", ready.StatusCode, text)
	}

	_, err = lock.ExecContext(context.WithoutCancel(t.Context()), "ROLLBACK")
	must(t, err)
	w.clock.Add(time.Second.Microseconds())
	w.do("GET //readyz", request{as: "guest"}).want(t, 200)
	w.do("POST /folders", request{as: "owner", body: `{"name": "during", "parent": {"id": "0"}}`}).want(t, 201)
}
