package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"platen/docgen"
	"platen/webhook"
)

// hookBody is the body of an event, in ASCII, as the server writes it.
const hookBody = `{"type":"webhook_event","id":"11111111-1111-4111-8111-111111111111","trigger":"FILE.UPLOADED",` +
	`"source":{"id":"1234567890","type":"file","name":"\u30b9\u30af\u30ea\u30fc\u30f3 1\/2 \ud83d\ude00.txt"}}`

// hookCode returns the code blocks in docs/webhooks.md for a language.
func hookCode(t *testing.T, language string) []string {
	t.Helper()
	page, err := os.ReadFile("../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, block := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?\n)```$").FindAllStringSubmatch(string(page), -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}

// receivers are the receivers in docs/webhooks.md.
var receivers = map[string]struct{ language, program, file string }{
	"Go":         {"go", "go", "receiver.go"},
	"JavaScript": {"js", "node", "receiver.mjs"},
	"Python":     {"python", "python3", "receiver.py"},
}

// TestDocumentedReceivers starts the receivers in docs/webhooks.md, unchanged apart from the address, and posts to them.
func TestDocumentedReceivers(t *testing.T) {
	primary, secondary := docgen.NewSecret(), docgen.NewSecret()
	for name, r := range receivers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needProgram(t, r.program)
			address := unusedAddress(t)
			command := receiverCommand(t, r.language, r.program, r.file, address)
			output := startReceiver(t, command, primary+","+secondary, address)
			for name, tt := range hookCases(primary, secondary) {
				if status := tt.post(t, "http://"+address+"/hook"); status != tt.want {
					t.Errorf("%s: status %d, want %d", name, status, tt.want)
				}
			}
			if out := output(); !strings.Contains(out, "FILE.UPLOADED スクリーン 1/2 😀.txt") {
				t.Errorf("the receiver tells nothing of the event:\n%s", out)
			}
		})
	}
}

// TestDocumentedReceiversNeedKeys starts the receivers without keys: otherwise, they would accept anything signed with
// an empty key.
func TestDocumentedReceiversNeedKeys(t *testing.T) {
	for name, r := range receivers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needProgram(t, r.program)
			command := receiverCommand(t, r.language, r.program, r.file, unusedAddress(t))
			for _, keys := range []string{"", "whsec_", docgen.NewSecret() + ","} {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				cmd := exec.CommandContext(ctx, command[0], command[1:]...)
				cmd.Env = append(os.Environ(), "WEBHOOK_KEYS="+keys)
				out, err := cmd.CombinedOutput()
				if err == nil || ctx.Err() != nil || !bytes.Contains(out, []byte("WEBHOOK_KEYS has no keys")) {
					t.Errorf("with %q: %v\n%s", keys, err, out)
				}
				cancel()
			}
		})
	}
}

// receiverCommand writes the first block of a language to a file, and returns the command that runs it.
func receiverCommand(t *testing.T, language, program, file, address string) []string {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	code := hookCode(t, language)[0]
	for documented, used := range map[string]string{"127.0.0.1": host, "3000": port} {
		if n := strings.Count(code, documented); n != 1 {
			t.Fatalf("%s stands there %d times", documented, n)
		}
		code = strings.Replace(code, documented, used, 1)
	}
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	if language != "go" {
		return []string{program, path}
	}
	binary := strings.TrimSuffix(path, ".go")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, path)
	build.Dir = filepath.Dir(path)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return []string{binary}
}

// startReceiver runs a receiver until it listens. It returns a function that stops the receiver and returns its output.
func startReceiver(t *testing.T, command []string, keys, address string) func() string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "WEBHOOK_KEYS="+keys)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := cmd.Wait(); ctx.Err() == nil {
			t.Errorf("the receiver ended with %v", err)
		}
	}()
	end := func() string {
		cancel()
		<-ended
		return output.String()
	}
	t.Cleanup(func() { end() })
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(patience)
	for {
		select {
		case <-ended:
			t.Fatalf("the receiver does not listen:\n%s", output.String())
		case <-timeout:
			t.Fatalf("the receiver does not listen:\n%s", end())
		case <-tick.C:
			if connection, err := net.Dial("tcp", address); err == nil {
				if err := connection.Close(); err != nil {
					t.Error(err)
				}
				return end
			}
		}
	}
}

// hookCase is a request to a receiver with two keys.
type hookCase struct {
	keys   webhook.Keys
	age    time.Duration
	change func(*http.Request)
	want   int
}

func hookCases(primary, secondary string) map[string]hookCase {
	both := webhook.Keys{Primary: primary, Secondary: secondary}
	body := func(text string) func(*http.Request) {
		return func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		}
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	const good, bad = http.StatusNoContent, http.StatusUnauthorized
	return map[string]hookCase{
		"both keys":       {both, 0, nil, good},
		"primary key":     {webhook.Keys{Primary: primary}, 0, nil, good},
		"secondary key":   {webhook.Keys{Primary: docgen.NewSecret(), Secondary: secondary}, 0, nil, good},
		"sent on the way": {both, 4 * time.Minute, nil, good},
		"another key":     {webhook.Keys{Primary: docgen.NewSecret()}, 0, nil, bad},
		"no keys":         {webhook.Keys{}, 0, nil, bad},
		"old":             {both, time.Hour, nil, bad},
		"in the future":   {both, -time.Hour, nil, bad},
		"another body":    {both, 0, body(strings.Replace(hookBody, "UPLOADED", "DELETED", 1)), bad},
		"no body":         {both, 0, body(""), bad},
		"another id":      {both, 0, header("webhook-id", "x"), bad},
		"another time": {both, time.Minute,
			header("webhook-timestamp", webhook.Sign(webhook.Message{Time: time.Now()}, both).Get("webhook-timestamp")), bad},
		"no time":               {both, 0, header("webhook-timestamp", ""), bad},
		"an invalid time":       {both, 0, header("webhook-timestamp", "now"), bad},
		"empty signature":       {both, 0, header("webhook-signature", ""), bad},
		"another signature":     {both, 0, header("webhook-signature", "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="), bad},
		"a signature not ASCII": {both, 0, header("webhook-signature", "v1,ä"), bad},
	}
}

// post signs and sends the request, and returns the status of the response.
func (c *hookCase) post(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(hookBody))
	if err != nil {
		t.Fatal(err)
	}
	message := webhook.Message{
		ID: "11111111-1111-4111-8111-111111111111", Delivery: uuid.NewString(), Time: time.Now().UTC().Add(-c.age), Body: []byte(hookBody),
	}
	request.Header = webhook.Sign(message, c.keys)
	if c.change != nil {
		c.change(request)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// arrived is a request as its receiver got it, with the receiver's keys.
type arrived struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Keys    []string          `json:"keys"`
}

// checkArrived calls the function check on the request in standard input, and prints the result.
const checkArrived = `
import { readFileSync } from 'node:fs';
const results = [];
for (const { headers, body, keys } of JSON.parse(readFileSync(0))) {
	try {
		results.push(Boolean(await check(Buffer.from(body), headers, ...keys)));
	} catch {
		results.push(false);
	}
}
console.log(JSON.stringify(results));
`

// TestSignaturesForLibraries verifies a received request with the libraries that docs/webhooks.md names, using the code
// shown there.
func TestSignaturesForLibraries(t *testing.T) {
	primary, secondary, other := docgen.NewSecret(), docgen.NewSecret(), docgen.NewSecret()
	both := webhook.Keys{Primary: primary, Secondary: secondary}
	late := func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader(strings.Replace(hookBody, "1234567890", "1234567891", 1)))
	}
	tests := []struct {
		name          string
		request       hookCase
		keys          []string
		box, standard bool
	}{
		{"both keys", hookCase{keys: both}, []string{primary, secondary}, true, true},
		{"the primary key", hookCase{keys: both}, []string{primary}, true, true},
		{"the secondary key", hookCase{keys: both}, []string{other, secondary}, true, false}, // the library has one key
		{"the secondary key in the first place", hookCase{keys: both}, []string{secondary}, false, true},
		{"no primary key", hookCase{keys: webhook.Keys{Secondary: secondary}}, []string{primary, secondary}, true, false},
		{"other keys", hookCase{keys: both}, []string{other, other}, false, false},
		{"unsigned", hookCase{}, []string{primary, secondary}, false, false},
		{"old", hookCase{keys: both, age: time.Hour}, []string{primary, secondary}, false, false},
		{"another body", hookCase{keys: both, change: late}, []string{primary, secondary}, false, false},
	}
	var got []arrived
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		a := arrived{Headers: map[string]string{}, Body: string(body), Keys: tests[len(got)].keys}
		for name := range r.Header {
			a.Headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		got = append(got, a)
	}))
	defer receiver.Close()
	for i := range tests {
		tests[i].request.post(t, receiver.URL)
	}
	code := hookCode(t, "js")
	box, standard := runLibrary(t, "box-node-sdk", code[1], got), runLibrary(t, "standard-webhooks", code[2], got)
	for i, tt := range tests {
		if box[i] != tt.box || standard[i] != tt.standard {
			t.Errorf("%s: the SDK accepts it: %t, want %t; the library: %t, want %t", tt.name, box[i], tt.box, standard[i], tt.standard)
		}
	}
}

// runLibrary runs code that uses the packages that tools/NAME pins, for some requests.
func runLibrary(t *testing.T, name, code string, requests []arrived) []bool {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(fromNPM(t, name), "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "check.mjs"), []byte(code+checkArrived), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	node := exec.CommandContext(t.Context(), "node", "check.mjs")
	node.Dir, node.Stdin, node.Stderr = dir, strings.NewReader(jsonOf(t, requests)), &stderr
	out, err := node.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var results []bool
	if err := json.Unmarshal(out, &results); err != nil || len(results) != len(requests) {
		t.Fatalf("%v: %s", err, out)
	}
	return results
}
