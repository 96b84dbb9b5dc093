package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"platen/client"
	"platen/pdf/pdftest"
)

// attacksFull is for the sizes that were found to hurt: go test ./cli -run TestAttacks -attacks.
var attacksFull = flag.Bool("attacks", false, "let TestAttacks attack with all its might")

// attackMemory is what the attacked server may have.
const attackMemory = 1 << 30

// TestAttacks lets one user attack a server of 1 GiB while another works: large bodies on many connections, a document that
// is far larger than its data, and thousands of failures that are then listed. Every document of the other is made, and the
// server stays below its memory.
func TestAttacks(t *testing.T) {
	t.Parallel()
	bodies, tags, failing, documents := 6, 1000, 50, 10
	if *attacksFull {
		bodies, tags, failing, documents = 30, 19_000, 1000, 100
	}
	data := t.TempDir()
	server := newServer(t, data, "--memory=1GiB", "--libreoffice="+data, "--rate-requests=-1")
	victim := newVisitor(t, server, "--data="+data)
	letter, _ := victim.mustTemplate("Letter.docx", exampleLetter(t))
	platen(t, "user", "create", "--login=mallory@example.com", "--name=Mallory", "--data="+data)
	a := &attacker{t: t, url: server.url, answers: map[int]int{}, visitor: &visitor{t: t,
		token: platen(t, "token", "create", "--user=mallory@example.com", "--data="+data)}}
	a.visit(server)
	var unresolved strings.Builder
	for i := range tags {
		fmt.Fprintf(&unresolved, "{{missing.%s%d}} ", strings.Repeat("x", 200), i)
	}
	failure, _ := a.mustTemplate("Failures.docx", pdftest.Letter(unresolved.String()))
	bomb, _ := a.mustTemplate("Bomb.docx", pdftest.Letter("{{for x in l}}{{l :: join(s)}}{{endfor}}"))

	ctx, stop := context.WithCancel(t.Context())
	var attacks sync.WaitGroup
	for range bodies {
		attacks.Go(func() { a.sendBody(ctx, 57<<20) })
	}
	a.mustBatch(failure, "0", emptyDocuments(failing))
	a.mustBatch(bomb, "0", []client.DocumentToMake{{GeneratedFileName: "Bomb", UserInput: map[string]any{
		"l": strings.Split(strings.Repeat("abcd ", 1200), " "), "s": strings.Repeat("-", 500),
	}}})
	for range 3 {
		attacks.Go(func() { a.listJobs(ctx) })
	}
	for range documents {
		one, _ := letters(1)
		victim.mustAwait(victim.mustBatch(letter, "0", one))
	}
	if *attacksFull { // all of it takes its time
		attacks.Wait()
	}
	stop()
	attacks.Wait()
	peak := peakMemory(t, server.cmd.Process.Pid)
	t.Logf("the server took %d MiB at most, and answered the attacks with %v", peak>>20, a.answers)
	if peak > attackMemory {
		t.Errorf("the server took %d bytes, more than %d", peak, attackMemory)
	}
}

// attacker is a user who means harm.
type attacker struct {
	*visitor
	t   *testing.T
	url string

	mu      sync.Mutex
	answers map[int]int // by status
}

// zeros is a text without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// sendBody sends a batch request of a size. Its answer, or that the connection is closed, is what the server chooses.
func (a *attacker) sendBody(ctx context.Context, size int64) {
	const begin, end = `{"nonsense":"`, `"}`
	body := io.MultiReader(strings.NewReader(begin), io.LimitReader(zeros{}, size), strings.NewReader(end))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+"/2.0/docgen_batches", body)
	if err != nil {
		a.t.Error(err)
		return
	}
	req.ContentLength = size + int64(len(begin)+len(end))
	a.send(req)
}

func (a *attacker) listJobs(ctx context.Context) {
	for range 5 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+"/2.0/docgen_jobs?limit=1000", nil)
		if err != nil {
			a.t.Error(err)
			return
		}
		a.send(req)
	}
}

func (a *attacker) send(req *http.Request) {
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Svc-Version", "2025.0")
	status := 0 // of a connection that was closed
	if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
		status = res.StatusCode
		_, _ = io.Copy(io.Discard, res.Body) // the attacker does not care
		_ = res.Body.Close()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[status]++
}

func emptyDocuments(n int) (documents []client.DocumentToMake) {
	for i := range n {
		documents = append(documents, client.DocumentToMake{GeneratedFileName: fmt.Sprint("Empty ", i), UserInput: map[string]any{}})
	}
	return documents
}

// peakMemory is the most that a process ever had in memory, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
