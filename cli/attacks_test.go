package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"platen/client"
	"platen/pdf/pdftest"
)

// attacksFull selects the sizes that did harm in the past: go test ./cli -run TestAttacks -attacks.
var attacksFull = flag.Bool("attacks", false, "let TestAttacks attack with all its might")

// attackMemory is the memory limit of the attacked server.
const attackMemory = 1 << 30

// attackSizes are the sizes of the attacks in TestAttacks.
type attackSizes struct {
	bodies        int // connections that send a valid batch of 57 MiB, and then an invalid one
	uploads       int // concurrent uploads
	uploadSize    int64
	slow          int // connections of each kind that stop in the middle of a request
	idle          int // connections of one stranger
	lists         int // connections that list jobs repeatedly
	tags, failing int // tags without a value in a template, and documents generated from it
	bombs, codes  int // documents of 1 GB, and codes in a document
	documents     int // of the other user
}

// TestAttacks lets one user attack a server with 1 GiB of memory, in all ways at once: large bodies on many
// connections, clients that stop in the middle of a request, uploads, documents that are far larger than their data,
// thousands of codes, and lists of failures. Strangers attack as well. Meanwhile, every document of another user is
// generated.
//
// The operating system enforces the memory limit of the server process: the test fails if the process needs more,
// because it is killed.
func TestAttacks(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes several times the memory that the test allows; run it without: -attacks is its long form")
	}
	t.Parallel()
	sizes := attackSizes{bodies: 6, uploads: 2, uploadSize: 16 << 20, slow: 8, idle: 600, lists: 3, tags: 1000, failing: 50, bombs: 1,
		codes: 100, documents: 10}
	if *attacksFull {
		sizes = attackSizes{bodies: 30, uploads: 2, uploadSize: 256 << 20, slow: 100, idle: 600, lists: 6, tags: 19_000, failing: 1000,
			bombs: 32, codes: 2000, documents: 60}
	}
	data := t.TempDir()
	server := newServer(t, data, "--memory=1GiB", "--libreoffice="+data, "--rate-requests=-1", "--rate-uploads=-1", "--rate-guests=-1")
	process := server.cmd.Process.Pid
	limit := limitMemory(t, process, attackMemory)
	t.Cleanup(func() {
		for line := range strings.Lines(server.logged()) {
			if t.Failed() && strings.Contains(line, `"level":"ERROR"`) {
				t.Log(line)
			}
		}
	})
	victim := newVisitor(t, server, "--data="+data)
	again := &insisting{}
	victim.Client = client.New(server.url, victim.token, client.WithHTTPClient(again))
	letter, _ := victim.mustTemplate("Letter.docx", exampleLetter(t))
	platen(t, "user", "create", "--login=mallory@example.com", "--name=Mallory", "--data="+data)
	a := newAttacker(t, server, platen(t, "token", "create", "--user=mallory@example.com", "--data="+data))

	failures := a.start(sizes)
	waits := make([]time.Duration, sizes.documents)
	for i := range waits {
		one, _ := letters(1)
		began := time.Now()
		victim.mustAwait(victim.mustBatch(letter, "0", one))
		ended := time.Now()
		waits[i] = ended.Sub(began)
	}
	a.awaitBatch()
	a.end()
	if *attacksFull { // lists of failures do harm only when there are many
		t.Logf("%d documents with failures had ended when they were listed for the last time", a.awaitSome(failures, sizes.failing/10))
		var last sync.WaitGroup
		for range sizes.lists {
			last.Go(func() { a.listJobs(t.Context(), 3) })
		}
		last.Wait()
	}
	slices.Sort(waits)
	t.Logf("%s; the server had at most %d MiB in memory and %d MiB of private memory", limit, memoryOf(t, process, "VmHWM")>>20,
		memoryOf(t, process, "VmData")>>20)
	t.Logf("%d documents of the other user took %v (median) and %v (longest) from the request until the client saw them", len(waits),
		waits[len(waits)/2].Round(time.Millisecond), waits[len(waits)-1].Round(time.Millisecond))
	t.Logf("%d requests of the other user were answered 503 and sent again", again.busy.Load())
	for _, kind := range slices.Sorted(maps.Keys(a.answers)) {
		t.Logf("%s: %v", kind, a.answers[kind])
	}
	if peak := memoryOf(t, process, "VmHWM"); peak > attackMemory {
		t.Errorf("the server took %d bytes, more than %d", peak, attackMemory)
	}
}

// An insisting client repeats requests that the server is too busy for, after the time in Retry-After.
type insisting struct{ busy atomic.Int64 }

func (c *insisting) Do(req *http.Request) (*http.Response, error) {
	for {
		res, err := http.DefaultClient.Do(req)
		if err != nil || res.StatusCode != http.StatusServiceUnavailable || req.Body != nil && req.GetBody == nil {
			return res, err
		}
		c.busy.Add(1)
		if err := errors.Join(res.Body.Close(), waitAsAsked(req.Context(), res)); err != nil {
			return nil, err
		}
		if req = req.Clone(req.Context()); req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// waitAsAsked waits for the time in Retry-After.
func waitAsAsked(ctx context.Context, res *http.Response) error {
	wait, err := time.ParseDuration(res.Header.Get("Retry-After") + "s")
	if err != nil {
		return fmt.Errorf("an answer of %d without Retry-After: %w", res.StatusCode, err)
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attacker is an attacking user, together with two strangers.
type attacker struct {
	*visitor
	t       *testing.T
	address string // of the server
	url     string
	user    http.RoundTripper // from a separate address, because limits apply per address

	attacks sync.WaitGroup
	ctx     context.Context
	stop    context.CancelFunc

	once     sync.Once
	accepted chan struct{} // closed when the server has accepted a batch of 57 MiB

	mu      sync.Mutex
	answers map[string]map[string]int // number of responses, by kind of attack and by response
}

// The addresses of the attacking user and of two strangers.
const (
	attackingUser = "127.0.0.2"
	slowStranger  = "127.0.0.3"
	idleStranger  = "127.0.0.4"
)

// dialer returns a dialer that connects from an address of this machine.
func dialer(from string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
}

func newAttacker(t *testing.T, server *child, token string) *attacker {
	a := &attacker{
		t: t, url: server.url, address: strings.TrimPrefix(server.url, "http://"), answers: map[string]map[string]int{},
		accepted: make(chan struct{}),
		user:     &http.Transport{DialContext: dialer(attackingUser).DialContext}, visitor: &visitor{t: t, token: token},
	}
	a.ctx, a.stop = context.WithCancel(t.Context())
	a.visit(server)
	return a
}

// start starts all attacks, and returns the batch whose documents have many failures.
func (a *attacker) start(sizes attackSizes) (failures string) {
	var unresolved strings.Builder
	for i := range sizes.tags {
		fmt.Fprintf(&unresolved, "{{missing.%s%d}} ", strings.Repeat("x", 200), i)
	}
	failing, _ := a.mustTemplate("Failures.docx", pdftest.Letter(unresolved.String()))
	bomb, _ := a.mustTemplate("Bomb.docx", pdftest.Letter("{{for x in l}}{{l :: join(s)}}{{endfor}}"))
	codes, _ := a.mustTemplate("Codes.docx", pdftest.Letter(`{{for x in l}}{{x :: qrcode("2cm")}}{{endfor}}`))
	failures = a.mustBatch(failing, "0", manyDocuments(sizes.failing, map[string]any{}))
	a.mustBatch(bomb, "0", manyDocuments(sizes.bombs, map[string]any{
		"l": strings.Split(strings.Repeat("abcd ", 1200), " "), "s": strings.Repeat("-", 700),
	}))
	texts := make([]string, sizes.codes)
	for i := range texts {
		texts[i] = fmt.Sprintf("%d %s", i, strings.Repeat("code", 50))
	}
	a.mustBatch(codes, "0", manyDocuments(1, map[string]any{"l": texts}))

	for range sizes.bodies {
		a.attacks.Go(func() {
			a.sendBatch(failing, 57<<20)
			a.sendNonsense(57 << 20)
		})
	}
	for range sizes.uploads {
		a.attacks.Go(func() { a.upload(sizes.uploadSize) })
	}
	for range sizes.lists {
		a.attacks.Go(func() { a.listJobs(a.ctx, 1<<20) })
	}
	user := "Authorization: Bearer " + a.token + "\r\nSvc-Version: 2025.0\r\n"
	for range 2 { // more would leave no room for the user's other attacks
		a.attacks.Go(func() {
			a.begin("slow batch", attackingUser, "POST /2.0/docgen_batches HTTP/1.1\r\nHost: x\r\n"+user+
				"Content-Type: application/json\r\nContent-Length: 3000000\r\n\r\n"+strings.Repeat(" ", 2<<20))
		})
	}
	for kind, text := range map[string]string{
		"slow batch of a guest": "POST /2.0/docgen_batches HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n",
		"slow form of a guest": "POST /oauth2/token HTTP/1.1\r\nHost: x\r\nContent-Type: " +
			"application/x-www-form-urlencoded\r\nContent-Length: 65000\r\n\r\n" + strings.Repeat("x", 60_000),
		"slow header of a guest":  "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 60_000),
		"large header of a guest": "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 1<<20),
	} {
		for range sizes.slow {
			a.attacks.Go(func() { a.begin(kind, slowStranger, text) })
		}
	}
	for range sizes.idle {
		a.attacks.Go(func() { a.begin("silent connection of a guest", idleStranger, "") })
	}
	return failures
}

// end stops all attacks.
func (a *attacker) end() {
	a.stop()
	a.attacks.Wait()
}

// awaitBatch waits until the server has accepted a batch of 57 MiB: the limits must leave room for one.
func (a *attacker) awaitBatch() {
	select {
	case <-a.accepted:
	case <-time.After(patience):
		a.t.Error("no batch of 57 MiB was accepted")
	}
}

// endless is a reader of the same byte without end.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// sendNonsense sends an invalid batch request of a size until the server has read it.
func (a *attacker) sendNonsense(size int64) {
	const begin, end = `{"nonsense":"`, `"}`
	for busy := true; busy; {
		body := io.MultiReader(strings.NewReader(begin), io.LimitReader(endless('0'), size), strings.NewReader(end))
		busy = a.send(a.ctx, "batch of nonsense", http.MethodPost, "/2.0/docgen_batches", "application/json", body,
			size+int64(len(begin)+len(end)))
	}
}

const validBatch = "valid batch"

// sendBatch sends a batch request of about the given size until the server accepts it.
func (a *attacker) sendBatch(template string, size int) {
	const value = 4 << 20
	document := `{"generated_file_name":"Large","user_input":{"text":"` + strings.Repeat("n", value) + `"}}`
	begin := `{"file":{"id":"` + template +
		`","type":"file"},"destination_folder":{"id":"0","type":"folder"},"input_source":"api","output_type":"docx","document_generation_data":[`
	for busy := true; busy; {
		parts, length := []io.Reader{strings.NewReader(begin), strings.NewReader(document)}, len(begin)+len(document)+len("]}")
		for range size/value - 1 {
			parts = append(parts, strings.NewReader(","+document))
			length += 1 + len(document)
		}
		body := io.MultiReader(append(parts, strings.NewReader("]}"))...)
		busy = a.send(a.ctx, validBatch, http.MethodPost, "/2.0/docgen_batches", "application/json", body, int64(length))
	}
}

// upload uploads files of a size until the attacks end.
func (a *attacker) upload(size int64) {
	for i := 0; a.ctx.Err() == nil; i++ {
		begin := fmt.Sprintf("--x\r\nContent-Disposition: form-data; name=\"attributes\"\r\n\r\n"+
			"{\"name\":\"%p %d\",\"parent\":{\"id\":\"0\"}}\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n",
			&size, i)
		const end = "\r\n--x--\r\n"
		body := io.MultiReader(strings.NewReader(begin), io.LimitReader(endless('u'), size), strings.NewReader(end))
		a.send(a.ctx, "upload", http.MethodPost, "/2.0/files/content", "multipart/form-data; boundary=x", body, size+int64(len(begin)+len(end)))
	}
}

// listJobs lists all jobs several times, in pages of the largest size.
func (a *attacker) listJobs(ctx context.Context, rounds int) {
	for range rounds {
		if ctx.Err() != nil {
			return
		}
		a.send(ctx, "list", http.MethodGet, "/2.0/docgen_jobs?limit=1000", "", nil, 0)
	}
}

// send sends a request as the attacking user, and counts the response. busy reports whether to send it again, because
// the server had no room for it, and the time that it asked to wait is over.
func (a *attacker) send(ctx context.Context, kind, method, path, contentType string, body io.Reader, length int64) (busy bool) {
	req, err := http.NewRequestWithContext(ctx, method, a.url+path, body)
	if err != nil {
		a.t.Error(err)
		return false
	}
	req.ContentLength = length
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Svc-Version", "2025.0")
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := a.user.RoundTrip(req)
	if err != nil {
		a.count(kind, "closed") // also by a server that answers before it has the whole body
		return body != nil && ctx.Err() == nil
	}
	_, _ = io.Copy(io.Discard, res.Body) // the attacker does not care
	_ = res.Body.Close()
	a.count(kind, res.Status[:3])
	if kind == validBatch && res.StatusCode == http.StatusAccepted {
		a.once.Do(func() { close(a.accepted) })
	}
	if res.StatusCode != http.StatusServiceUnavailable {
		return false
	}
	if err := waitAsAsked(ctx, res); err != nil {
		if ctx.Err() == nil {
			a.t.Error(err)
		}
		return false
	}
	return true
}

// begin sends a text from an address, and then nothing more, until the server closes the connection or the attacks end.
// If the server closes it, begin starts again.
func (a *attacker) begin(kind, from, text string) {
	for a.ctx.Err() == nil {
		conn, err := dialer(from).DialContext(a.ctx, "tcp", a.address)
		if err != nil {
			a.count(kind, "not connected")
			continue
		}
		done := context.AfterFunc(a.ctx, func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, text) // the server may close the connection at any time
		answer, _ := io.ReadAll(conn)
		if status, found := strings.CutPrefix(string(answer), "HTTP/1.1 "); found {
			a.count(kind, status[:3])
		} else if done() {
			a.count(kind, "closed")
		}
		_ = conn.Close()
		if text == "" { // or it would only keep the machine busy that both share
			return
		}
	}
}

func (a *attacker) count(kind, answer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answers[kind] == nil {
		a.answers[kind] = map[string]int{}
	}
	a.answers[kind][answer]++
}

func manyDocuments(n int, input map[string]any) (documents []client.DocumentToMake) {
	for i := range n {
		documents = append(documents, client.DocumentToMake{GeneratedFileName: fmt.Sprint("Document ", i), UserInput: input})
	}
	return documents
}
