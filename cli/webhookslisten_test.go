package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"platen/client"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
	"platen/webhook"
)

// TestListening lets a developer listen while everything goes wrong that can: the program rejects events, the server
// restarts, the listener expires, and keys are renewed.
func TestListening(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	v := newVisitor(t, server, "--data="+data)
	address, err := url.Parse(server.url)
	if err != nil {
		t.Fatal(err)
	}
	restart := func() {
		t.Helper()
		server = newServer(t, data, "--listen="+address.Host)
	}
	r := newTaker(t, http.StatusServiceUnavailable)
	l := v.listen(t, server, "--forward="+r.URL+"/hook", "--trigger=FILE.UPLOADED", "--print")
	listener := l.errors.await(t, `\(listener (\d+)\)`)[1]
	l.errors.await(t, `^Triggers: FILE.UPLOADED$`)
	l.errors.await(t, `^To print the keys`)
	keys := keysOf(t, data)

	// A rejected notification is sent again, with a new signature.
	v.mustUpload("naïve\u202e.txt", []byte("text"))
	first, second := r.await(t), r.await(t)
	if string(first.body) != string(second.body) || first.header.Get("box-delivery-id") == second.header.Get("box-delivery-id") {
		t.Errorf("what comes again is\n%v\n%s\nand before it was\n%v\n%s", second.header, second.body, first.header, first.body)
	}
	for _, got := range []taken{first, second} {
		if report := webhook.Verify(got.header, got.body, []string{keys["primary"], keys["secondary"]}, time.Now(), patience); !report.Good {
			t.Errorf("the signature is not good: %+v", report)
		}
	}
	l.lines.await(t, `^\d\d:\d\d:\d\d  FILE.UPLOADED  file \d+  "naïve\\u202e.txt"  503  \S+  "not \\x1b now"  again in 1s$`)
	l.lines.await(t, `^ +"trigger": "FILE.UPLOADED",$`)
	l.lines.await(t, `^\d\d:\d\d:\d\d  FILE.UPLOADED  file \d+  "naïve\\u202e.txt"  204  \S+$`)

	// The listener survives a restart of the server, and a receiver with the old key survives the renewal of keys.
	if err := server.stop(); err != nil {
		t.Fatal(err)
	}
	l.errors.await(t, `^The server is not available; retrying: `)
	restart()
	platen(t, "webhooks", "keys", "renew", "primary", "--data="+data)
	if renewed := keysOf(t, data); renewed["retired"] != keys["primary"] || renewed["primary"] == keys["primary"] {
		t.Errorf("the keys were %v and are %v", keys, renewed)
	}
	v.mustUpload("second.txt", []byte("text"))
	got := r.await(t)
	for _, key := range append([]string{keys["primary"]}, keysOf(t, data)["primary"], keys["secondary"]) {
		library, err := standardwebhooks.NewWebhook(key)
		if err == nil {
			err = library.Verify(got.body, got.header)
		}
		if err != nil {
			t.Errorf("a receiver that knows %s refuses: %v", key, err)
		}
	}
	l.errors.await(t, `^The server is available again.$`)
	l.lines.await(t, `"second.txt"  204`)

	// When the listener has expired, a new one is created.
	if err := server.stop(); err != nil {
		t.Fatal(err)
	}
	db := storetest.Raw(t, store.Config{Path: filepath.Join(data, databaseName)})
	if _, err := db.ExecContext(t.Context(), "UPDATE webhooks SET expires_at = 1 WHERE expires_at > 0"); err != nil {
		t.Fatal(err)
	}
	restart()
	l.errors.await(t, `^The listener has expired, because it was not polled for too long`)
	again := l.errors.await(t, `^Listening again, with a new listener \((\d+)\).$`)[1]
	v.mustUpload("third.txt", []byte("text"))
	l.lines.await(t, `"third.txt"  204`)

	// Ctrl-C deletes the listener.
	l.interrupt(t)
	for _, id := range []string{listener, again} {
		_, err = v.FetchWebhookEvents(t.Context(), id, client.PollRequest{})
		if !hasEnded(err) {
			t.Errorf("listener %s still listens: %v", id, err)
		}
	}
	if out := l.lines.all() + l.errors.all(); strings.Contains(out, "whsec_") {
		t.Errorf("a key is printed:\n%s", out)
	}
}

// TestListeningWithoutForwarding lists the events in one folder.
func TestListeningWithoutForwarding(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	v := newVisitor(t, server, "--data="+data)
	folder := v.mustFolder("Watched")
	l := v.listen(t, server, "--folder="+folder)
	l.errors.await(t, `^Listening to folder `+folder+` at `)
	v.mustUpload("elsewhere.txt", []byte("text"))
	file := v.mustUploadTo(folder, "here.txt", []byte("text"))
	if line := l.lines.await(t, `^.*$`)[0]; !strings.HasSuffix(line, `  FILE.UPLOADED  file `+file+`  "here.txt"`) {
		t.Errorf("the first line is %q", line)
	}
	l.interrupt(t)
}

// TestRejectedEvents: an event that is rejected repeatedly is lost, which is reported. The next event is
// delivered.
func TestRejectedEvents(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	v := newVisitor(t, server, "--data="+data)
	r := newTaker(t, http.StatusNotFound, http.StatusTemporaryRedirect, breakOff)
	out, lines := io.Pipe()
	defer lines.Close()
	l := &listening{
		api: v.Client, pauses: []time.Duration{time.Millisecond, time.Microsecond}, forward: newForwarder(r.URL), line: eventLine{out: lines},
		err: io.Discard, refused: map[string]int{},
	}
	if err := l.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.run(ctx) }()
	printed := newPrinted(out)
	v.mustUpload("first.txt", []byte("text"))
	v.mustUpload("second.txt", []byte("text"))
	printed.await(t, `"first.txt"  404  \S+  "not \\x1b now"  again in 1ms$`)
	printed.await(t, `"first.txt"  307  \S+  "not \\x1b now"  again in 1µs$`)
	printed.await(t, `"first.txt"  no response  \S+  EOF  lost: not accepted in 3 tries$`)
	printed.await(t, `"second.txt"  204  `)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("listening ended with %v", err)
	}
	if heard, err := l.fetchNow(t); err != nil || len(heard) != 0 {
		t.Errorf("there still come %v (%v)", heard, err)
	}
	l.end(ctx)
	if _, err := l.fetchNow(t); !hasEnded(err) {
		t.Errorf("the listener still listens: %v", err)
	}
}

// A listener must not expire while a portion of events is posted to a slow receiver.
func TestListenersOutlivePortion(t *testing.T) {
	t.Parallel()
	if longest := postLimitPerPoll + postLimit + slices.Max(postPauses) + pollGrace; longest >= docgen.ListenerTimeout {
		t.Errorf("the server may not hear of a listener for %v, and ends it after %v", longest, docgen.ListenerTimeout)
	}
}

// fetchNow acknowledges accepted events, and returns the pending ones.
func (l *listening) fetchNow(t *testing.T) ([]client.ListenerEvent, error) {
	t.Helper()
	request := client.PollRequest{Accepted: &l.accepted}
	answer, err := l.api.FetchWebhookEvents(t.Context(), l.id, request)
	if err != nil {
		return nil, err
	}
	return answer.JSON200.Entries, nil
}

// listeningCommand is platen webhooks listen in a separate process.
type listeningCommand struct {
	cmd           *exec.Cmd
	lines, errors *printed
}

func (v *visitor) listen(t *testing.T, server *child, args ...string) *listeningCommand {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "platen", append([]string{"webhooks", "listen"}, args...)...)
	cmd.Env = v.environ(server)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &listeningCommand{cmd, newPrinted(stdout), newPrinted(stderr)}
}

// interrupt sends the signal of Ctrl-C. The command must exit without an error.
func (l *listeningCommand) interrupt(t *testing.T) {
	t.Helper()
	if err := l.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-l.lines.ended
	<-l.errors.ended
	if err := l.cmd.Wait(); err != nil {
		t.Errorf("the command ended with %v:\n%s", err, l.errors.all())
	}
}

// printed is the output of a command, line by line.
type printed struct {
	next  chan string
	seen  []string      // the awaited lines and all lines before them
	ended chan struct{} // closed when the command prints nothing more
}

func newPrinted(r io.Reader) *printed {
	p := &printed{next: make(chan string, 1000), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		defer close(p.next)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			p.next <- lines.Text()
		}
	}()
	return p
}

// await skips lines until one matches, and returns it with its groups.
func (p *printed) await(t *testing.T, pattern string) []string {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case line, ok := <-p.next:
			if !ok {
				t.Fatalf("the command ended without %s:\n%s", pattern, strings.Join(p.seen, "\n"))
			}
			p.seen = append(p.seen, line)
			if match := regexp.MustCompile(pattern).FindStringSubmatch(line); match != nil {
				return match
			}
		case <-late:
			t.Fatalf("there comes no %s:\n%s", pattern, strings.Join(p.seen, "\n"))
		}
	}
}

// all returns the complete output of a command that has ended.
func (p *printed) all() string {
	for line := range p.next {
		p.seen = append(p.seen, line)
	}
	return strings.Join(p.seen, "\n")
}

// keysOf returns the keys of the personal tokens, by slot.
func keysOf(t *testing.T, data string) map[string]string {
	t.Helper()
	var shown []shownKey
	if err := json.Unmarshal([]byte(platen(t, "webhooks", "keys", "--json", "--data="+data)), &shown); err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for _, key := range shown {
		keys[key.Slot] = key.Secret
	}
	return keys
}
