package server_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"platen/pdf"
	"platen/pdf/office"
	"platen/server"
)

// The number of requests of TestRequests, and their seed: go test ./server -run TestRequests -requests=1000000 -seed=7.
var (
	requestFlag = flag.Int("requests", 0, "requests that TestRequests makes; 0 for 10000, or fewer with -short or the race detector")
	requestSeed = flag.Uint64("seed", 1, "seed of the requests that TestRequests makes")
)

// allRequests is the number of requests that suffices to reach every operation.
const allRequests = 10_000

// requestCount returns the number of requests of TestRequests. Under the race detector, they are slow.
func requestCount() int {
	switch {
	case *requestFlag != 0:
		return *requestFlag
	case raceEnabled:
		return allRequests / 10
	case testing.Short():
		return allRequests / 4
	}
	return allRequests
}

// visitRequests is the number of requests in one world: enough to encounter the results of others, but not so many that
// nothing is left.
const visitRequests = 250

// TestRequests sends requests generated from the OpenAPI document, valid, nearly valid, and hostile ones, as every kind
// of caller. No response may have a status of 500 or more, violate the document, or reveal data of a stranger, and the
// stored data must be consistent in the end.
func TestRequests(t *testing.T) {
	engine := worldEngine(t)
	reached := &reach{answers: map[string]map[int]int{}, withoutPDF: engine.Available() != nil}
	t.Cleanup(func() { reached.check(t) })
	for visits := range (requestCount() + visitRequests - 1) / visitRequests {
		seed := *requestSeed + uint64(visits)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			v := newVisit(t, engine)
			v.reached = reached
			g := v.w.generator(seed)
			requests := make([]wireRequest, min(visitRequests, requestCount()))
			for i := range requests {
				requests[i] = g.request()
			}
			if n, problem := v.all(requests); problem != "" {
				fewer, problem := shrink(t, engine, requests[:n], problem)
				t.Errorf("%s\nafter these requests, which make a test as testdata/requests/NAME.txt:\n%s", problem, formatRequests(fewer))
			}
		})
	}
}

// TestFoundRequests repeats the requests with which TestRequests once found a problem.
func TestFoundRequests(t *testing.T) {
	files, err := filepath.Glob("testdata/requests/*.txt")
	must(t, err)
	if len(files) == 0 {
		t.Fatal("testdata has no requests")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			must(t, err)
			requests, err := parseRequests(string(text))
			must(t, err)
			if _, problem := newVisit(t, nil).all(requests); problem != "" {
				t.Error(problem)
			}
		})
	}
}

// shrink removes requests as long as the others still cause a problem.
func shrink(t *testing.T, engine pdf.Engine, requests []wireRequest, problem string) ([]wireRequest, string) {
	for size := len(requests) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(requests); {
			fewer := slices.Delete(slices.Clone(requests), at, at+size)
			t.Run("shrink", func(t *testing.T) {
				n, found := newVisit(t, engine).all(fewer)
				if found == "" {
					at += size
					return
				}
				requests, problem = fewer[:n], found
			})
		}
	}
	return requests, problem
}

// visit is a world with items of several owners, and the data of its responses so far.
type visit struct {
	w       *world
	ids     map[string]string // by name in requests
	made    map[string]int    // the number of ids of each kind in responses
	seen    map[string]bool   // ids
	markers []string          // of any list and any caller
	strange map[string]bool   // names of the stranger's items
	secrets []string          // texts that no caller may see
	cookie  string            // the secret of the session of person
	absent  bool              // ids of hidden items are replaced with ids that do not exist
	stored  *storedState
	reached *reach

	assertions int // number of assertions
}

// reach counts the responses of every operation by status.
type reach struct {
	mu         sync.Mutex
	answers    map[string]map[int]int
	withoutPDF bool // no preview can succeed
}

func (r *reach) count(operation string, status int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers[operation] == nil {
		r.answers[operation] = map[int]int{}
	}
	r.answers[operation][status]++
}

// check fails the test unless every operation has both succeeded and rejected requests: otherwise, many requests show
// little.
func (r *reach) check(t *testing.T) {
	for operation, statuses := range r.answers {
		t.Log(operation, statuses)
		good, bad := 0, 0
		for status, n := range statuses {
			switch {
			case status < http.StatusBadRequest:
				good += n
			case status != http.StatusUnauthorized:
				bad += n
			}
		}
		if operation == "POST /docgen_previews" && r.withoutPDF {
			continue
		}
		if requestCount() >= allRequests && (good == 0 || bad == 0) {
			t.Errorf("%s: %d requests succeeded and %d were rejected, want some of both", operation, good, bad)
		}
	}
}

// all sends requests. At the first problem, it returns the number of requests sent and the problem.
func (v *visit) all(requests []wireRequest) (int, string) {
	for i, r := range requests {
		if problem := v.one(r); problem != "" {
			return i + 1, problem
		}
	}
	return len(requests), v.stored.problem()
}

// one sends a request, and returns the problem with the response, if any.
func (v *visit) one(r wireRequest) string {
	res, err := v.send(r)
	if err != nil {
		return fmt.Sprintf("%s: no answer: %v", r.call(), err)
	}
	v.reached.count(r.operation, res.StatusCode)
	if res.StatusCode >= http.StatusInternalServerError {
		return fmt.Sprintf("%s: status %d: %s", r.call(), res.StatusCode, res.text)
	}
	for _, secret := range v.secrets {
		if bytes.Contains(res.text, []byte(secret)) {
			return fmt.Sprintf("%s: status %d tells the secret %s: %s", r.call(), res.StatusCode, secret, res.text)
		}
	}
	found := &problemList{TB: v.w.t}
	v.w.api.check(found, res)
	if len(found.problems) > 0 {
		return fmt.Sprintf("%s: %s", r.call(), strings.Join(found.problems, "\n"))
	}
	var answer any
	if json.Unmarshal(res.text, &answer) == nil {
		v.learn(answer)
	}
	return v.betrayed(r, res)
}

// send sends a request exactly as written, without the changes that a client would make.
func (v *visit) send(r wireRequest) (response, error) {
	req, err := http.NewRequestWithContext(v.w.t.Context(), r.method, v.w.url, strings.NewReader(v.fill(r.as, r.body)))
	if err != nil {
		return response{}, err
	}
	path := v.fill(r.as, r.path)
	if !strings.HasPrefix(path, "//") {
		path = "//2.0" + path
	}
	req.URL.Opaque = "//" + req.URL.Host + path[1:]
	if token := v.w.tokens[r.as]; token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if r.as == "person" {
		req.AddCookie(&http.Cookie{Name: "platen_session", Value: v.cookie})
	}
	for _, h := range r.header {
		if h[0] == manyHeaders {
			addMany(req.Header, h[1])
			continue
		}
		req.Header.Add(h[0], v.fill(r.as, h[1]))
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return response{}, err
	}
	defer res.Body.Close()
	text, err := readAnswer(v.w.t, res)
	path, _, _ = strings.Cut(path, "?")
	res.Request = &http.Request{Method: r.method, URL: &url.URL{Path: path[1:]}}
	return response{res, text}, err
}

// manyHeaders is the name of a header that stands for as many headers as its value says.
const manyHeaders = "Many"

func addMany(header http.Header, count string) {
	n, err := strconv.Atoi(count)
	if err != nil {
		panic(err) // only an invalid file in testdata causes this
	}
	for i := range n {
		header.Add("X-Header-"+strconv.Itoa(i), strings.Repeat("x", 50))
	}
}

// problemList collects the problems that a check finds, instead of ending the test.
type problemList struct {
	testing.TB
	problems []string
}

func (l *problemList) Helper() {}
func (l *problemList) Errorf(format string, args ...any) {
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

// Fatal, with which a check ends, records a problem like others.
func (l *problemList) Fatal(args ...any) { l.problems = append(l.problems, fmt.Sprint(args...)) }

// learn records the ids and markers of a response for later requests, except those of the stranger.
func (v *visit) learn(answer any) {
	switch answer := answer.(type) {
	case []any:
		for _, item := range answer {
			v.learn(item)
		}
	case object:
		kind, _ := answer["type"].(string)
		id, _ := answer["id"].(string)
		v.remember(kind, id)
		for kind, name := range map[string]string{"token": "access_token", "refresh": "refresh_token"} {
			token, _ := answer[name].(string)
			v.remember(kind, token)
		}
		for _, name := range []string{"next_marker", "prev_marker"} {
			if marker, ok := answer[name].(string); ok && marker != "" {
				v.markers = append(v.markers, marker)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(answer)) {
			v.learn(answer[name])
		}
	}
}

// remember names an id, if it is new.
func (v *visit) remember(kind, id string) {
	if kind == "" || id == "" || v.seen[id] {
		return
	}
	v.seen[id] = true
	v.ids[fmt.Sprintf("%s:made%d", kind, v.made[kind])] = id
	v.made[kind]++
}

// worldEngine returns an engine that all worlds of a test share.
func worldEngine(t *testing.T) *office.Office {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	engine, err := office.New(office.Config{Worker: self, Folder: t.TempDir(), Workers: 1})
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	return engine
}

// newVisit returns a visit whose server converts documents with an engine, or none.
func newVisit(t *testing.T, engine pdf.Engine) *visit {
	t.Helper()
	v := &visit{ids: map[string]string{}, strange: map[string]bool{}, made: map[string]int{}, seen: map[string]bool{}}
	v.w, v.stored = newStoredWorld(t, server.Config{RateLimits: noLimits}, engine)
	v.furnish()
	return v
}
