package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"platen/client"
)

// TestWebhookLog follows notifications to a receiver that rejects the first ones, using only commands.
func TestWebhookLog(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data, "--webhook-any-address", "--webhook-retries=none")
	v := newVisitor(t, server, "--data="+data)
	r := newTaker(t, http.StatusInternalServerError)
	hook := v.mustWebhook(v.mustFolder("Watched"), r.URL, client.TriggerFILEUPLOADED)

	shown := v.webhooks(t, server, "test", hook, "FILE.UPLOADED", "--wait")
	for _, want := range []string{
		"FILE.UPLOADED for webhook " + hook + "\n", "    state     failed\n", "Attempt 1 at ", ": status, status 500, ",
		"    > Webhook-Signature: v1,",
		"    < not \ufffd now\n", `      "test": true`,
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the output has no %q:\n%s", want, shown)
		}
	}
	failed := v.deliveries(t, server, "--failed", "--webhook", hook, "--since=1h")
	if len(failed) != 1 || failed[0].State != client.DeliveryStateFailed || failed[0].Webhook.Id != hook {
		t.Fatalf("failed are %+v", failed)
	}
	first := r.await(t)

	// One notification is sent again, then many.
	shown = v.webhooks(t, server, "replay", failed[0].Id, "--wait")
	if !strings.Contains(shown, "    state     delivered\n") || !strings.Contains(shown, "Attempt 2 at ") {
		t.Errorf("the output is\n%s", shown)
	}
	if again := r.await(t); !bytes.Equal(again.body, first.body) {
		t.Errorf("the second body is\n%s\nand the first\n%s", again.body, first.body)
	}
	test := v.webhooks(t, server, "test", hook, "FILE.DELETED")
	r.await(t)
	if got := v.webhooks(t, server, "replay", "--failed", "--dry-run"); got != "Deliveries to replay: 0" {
		t.Errorf("of failed ones there are: %s", got)
	}
	if got := v.webhooks(t, server, "replay", "--trigger=FILE.UPLOADED", "--event="+failed[0].EventId.String(),
		"--dry-run"); got != "Deliveries to replay: 1" {
		t.Errorf("of delivered ones there are: %s", got)
	}
	if got := v.webhooks(t, server, "replay", "--state=delivered", "--trigger=FILE.UPLOADED",
		"--since=1h"); got != "Deliveries being replayed: 1" {
		t.Errorf("of delivered ones there are: %s", got)
	}
	if again := r.await(t); !bytes.Equal(again.body, first.body) {
		t.Errorf("the second body is\n%s\nand the first\n%s", again.body, first.body)
	}

	// The log is read in pages, and can be filtered by trigger.
	if all := v.deliveries(t, server); len(all) != 2 || all[0].Id != test || all[1].Id != failed[0].Id {
		t.Errorf("the log has %+v", all)
	}
	table := v.webhooks(t, server, "log", "--limit=1")
	if lines := strings.Split(table, "\n"); len(lines) != 2 || !strings.HasPrefix(lines[1], test+"  ") ||
		!strings.Contains(lines[1], "  FILE.DELETED  "+hook+"  ") {
		t.Errorf("the table is\n%s", table)
	}
	var report shownDelivery
	if err := json.Unmarshal([]byte(v.webhooks(t, server, "show", failed[0].Id, "--json")), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Attempts) < 2 || *report.Body != string(first.body) {
		t.Errorf("the report is %+v", report)
	}
}

// deliveries lists the log.
func (v *visitor) deliveries(t *testing.T, server *child, args ...string) (listed []client.Delivery) {
	t.Helper()
	if err := json.Unmarshal([]byte(v.webhooks(t, server, append([]string{"log", "--json"}, args...)...)), &listed); err != nil {
		t.Fatal(err)
	}
	return listed
}

// webhooks runs a webhooks command that must succeed, and returns its output.
func (v *visitor) webhooks(t *testing.T, server *child, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "platen", append([]string{"webhooks"}, args...)...)
	cmd.Env, cmd.Stderr = v.environ(server), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("platen webhooks %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// environ returns the environment for a command to use a server as the visitor.
func (v *visitor) environ(server *child) []string {
	return append(os.Environ(), "PLATEN_SERVER="+server.url, "PLATEN_TOKEN="+v.token)
}

// taker is a receiver that rejects the first requests with the given statuses, and then accepts all.
type taker struct {
	*httptest.Server
	refuse  chan int
	arrived chan taken
}

// taken is a received request.
type taken struct {
	header http.Header
	body   []byte
}

// breakOff, used as a status, aborts the connection.
const breakOff = 0

func newTaker(t *testing.T, refuse ...int) *taker {
	r := &taker{refuse: make(chan int, len(refuse)), arrived: make(chan taken, 100)}
	for _, status := range refuse {
		r.refuse <- status
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		r.arrived <- taken{request.Header, body}
		select {
		case status := <-r.refuse:
			if status == breakOff {
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("Location", "/elsewhere")
			http.Error(w, "not \x1b now", status)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// await returns the next request.
func (r *taker) await(t *testing.T) taken {
	t.Helper()
	select {
	case got := <-r.arrived:
		return got
	case <-time.After(patience):
		t.Fatal("nothing comes")
	}
	return taken{}
}
