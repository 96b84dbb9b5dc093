package webhook_test

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
	"platen/webhook"
)

// hijacked returns a handler that takes over the connection.
func hijacked(do func(net.Conn)) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			panic(err)
		}
		do(conn)
		_ = conn.Close()
	}
}

func says(text string) http.HandlerFunc {
	return hijacked(func(conn net.Conn) { _, _ = io.WriteString(conn, text) }) // fails if the client has closed the connection
}

// with returns a handler that answers with a status and a header.
func with(code int, name, value string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set(name, value)
		rw.WriteHeader(code)
	}
}

func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// drips answers at once, with a body that never ends.
func drips(rw http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		_, _ = io.WriteString(rw, "drip ") // until the client closes the connection
		_ = http.NewResponseController(rw).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func floods(code int) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(code)
		_, _ = io.WriteString(rw, strings.Repeat("flood ", 1<<20)) // fails if the client stops reading
	}
}

// reply is the behavior of a receiver, and the record of the attempt.
type reply struct {
	name      string
	does      http.HandlerFunc
	status    int
	outcome   webhook.Outcome
	reason    string // a part of it
	truncated bool
}

func replies() []reply {
	const secret = "/secret?key=secret"
	return []reply{
		{"good", status(http.StatusNoContent), 204, webhook.OutcomeDelivered, "", false},
		{"good and endless", drips, 200, webhook.OutcomeDelivered, "", true},
		{"good and large", floods(http.StatusOK), 200, webhook.OutcomeDelivered, "", true},
		{"bad and large", floods(http.StatusInternalServerError), 500, webhook.OutcomeStatus, "500 Internal Server Error", true},
		{"not found", status(http.StatusNotFound), 404, webhook.OutcomeStatus, "404 Not Found", false},
		{"unknown status", status(599), 599, webhook.OutcomeStatus, "599", false},
		{"hang", hangs, 0, webhook.OutcomeTimeout, "did not respond within", false},
		{"cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, webhook.OutcomeReset, "closed the connection",
			false},
		{"reset", hijacked(func(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) }), 0, webhook.OutcomeReset, "closed the connection",
			false},
		{"half an answer", says("HTTP/1.1 200 OK\r\nContent-"), 0, webhook.OutcomeInvalid, "truncated", false},
		{"garbage", says("SSH-2.0-OpenSSH_9.6\r\n\r\n"), 0, webhook.OutcomeInvalid, "is not HTTP", false},
		{"endless headers", says("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<18)), 0, webhook.OutcomeInvalid, "headers larger than", false},
		{"redirect", with(http.StatusFound, "Location", "https://elsewhere.example"+secret), 302, webhook.OutcomeRedirect,
			"the host elsewhere.example", false},
		{"busy for seconds", with(http.StatusTooManyRequests, "Retry-After", "90"), 429, webhook.OutcomeBusy, "a pause of 1m30s", false},
		{"busy until a date", with(http.StatusTooManyRequests, "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"), 429, webhook.OutcomeBusy,
			"a pause of 1h0m0s", false},
		{"busy", status(http.StatusTooManyRequests), 429, webhook.OutcomeBusy, "429 Too Many Requests", false},
		{"unavailable for seconds", with(http.StatusServiceUnavailable, "Retry-After", "5"), 503, webhook.OutcomeBusy, "a pause of 5s", false},
		{"away", with(http.StatusServiceUnavailable, "Retry-After", "soon"), 503, webhook.OutcomeStatus, "503 Service Unavailable", false},
		{"gone", status(http.StatusGone), 410, webhook.OutcomeGone, "wants no more", false},
	}
}

// TestReplies checks how attempts are recorded for each kind of reply.
func TestReplies(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		w.config.Schedule, w.config.Limit = webhook.Schedule{}, 2*time.Second
		untrusted := httptest.NewUnstartedServer(status(http.StatusOK))
		untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
		untrusted.StartTLS()
		t.Cleanup(untrusted.Close)
		refusing := newReceiver(t, nil)
		refusing.Close()
		hooks := map[int64]reply{}
		set := func(r reply, address string) {
			folder, id := w.hook(r.name, address+"/secret?key=secret")
			w.upload(folder, "a.txt")
			hooks[id] = r
		}
		for _, r := range replies() {
			set(r, newReceiver(t, r.does).URL)
		}
		set(reply{"untrusted", nil, 0, webhook.OutcomeTLS, "certificate", false}, untrusted.URL)
		set(reply{"refused", nil, 0, webhook.OutcomeRefused, "refused", false}, refusing.URL)
		w.start()
		for id, want := range hooks {
			t.Run(want.name, func(t *testing.T) { w.checkReply(t, id, want) })
		}
	})
}

func (w *world) checkReply(t *testing.T, id int64, want reply) {
	t.Helper()
	state, failed := docgen.DeliveryDelivered, want.outcome != webhook.OutcomeDelivered
	if failed {
		state = docgen.DeliveryFailed
	}
	d := w.await(id, 1, state)[0]
	if d.Attempts != 1 || d.Tries != 1 || !strings.Contains(d.Reason, want.reason) || (d.Reason == "") == failed ||
		strings.Contains(d.Reason, "secret") {
		t.Errorf("the delivery is %+v", d)
	}
	a := w.attempts(d.ID)[0]
	if a.Outcome != string(want.outcome) || a.Status != want.status || !strings.Contains(a.Reason, want.reason) || failed &&
		a.Reason != d.Reason {
		t.Errorf("outcome %s, status %d, reason %q, want %+v", a.Outcome, a.Status, a.Reason, want)
	}
	if a.Truncated != want.truncated || len(a.ResponseBody) > 64<<10 || (a.ResponseHeaders == nil) != (want.status == 0) ||
		a.RequestHeaders == nil {
		t.Errorf("truncated %t with %d bytes of a body, headers %v", a.Truncated, len(a.ResponseBody), a.ResponseHeaders)
	}
	gone := want.outcome == webhook.OutcomeGone
	waitFor(t, fmt.Sprintf("the webhook to be disabled: %t", gone), func() bool {
		hook, err := w.service.Webhook(t.Context(), w.caller, id)
		must(t, err)
		return gone == (hook.Status == docgen.WebhookDisabled)
	})
}
