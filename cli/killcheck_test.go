package cli

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/client"
	"platen/store/storetest"
)

// ledger is a receiver that records requests. Until it recovers, it sometimes misbehaves.
type ledger struct {
	*httptest.Server
	mu       sync.Mutex
	rng      *rand.Rand
	well     bool
	came     map[notice]*arrivals
	problems []string
}

// notice identifies the notification of a webhook about an event.
type notice struct{ webhook, event string }

// arrivals counts the requests with a notice, and those that were answered with 200.
type arrivals struct {
	body        string
	came, taken int
}

func newLedger(t *testing.T, seed uint64) *ledger {
	l := &ledger{rng: rand.New(rand.NewPCG(seed, 1<<40)), came: map[notice]*arrivals{}}
	l.Server = httptest.NewServer(l)
	t.Cleanup(l.Close)
	return l
}

func (l *ledger) getWell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.well = true
}

func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the server was killed while it was sending
	}
	var n notification
	if err := json.Unmarshal(body, &n); err != nil {
		l.complain("what came is no JSON: %v", err)
		return
	}
	switch behaviour := l.note(n.notice(), string(body)); {
	case behaviour < 6:
		w.WriteHeader(http.StatusInternalServerError)
	case behaviour < 12:
		panic(http.ErrAbortHandler)
	case behaviour < 18:
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Duration(10*behaviour) * time.Millisecond):
		}
		l.take(n.notice())
	default:
		l.take(n.notice())
	}
}

// note records a notification, and returns how to respond, as a number up to 100.
func (l *ledger) note(n notice, body string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.came[n]
	if a == nil {
		a = &arrivals{body: body}
		l.came[n] = a
	}
	a.came++
	if a.body != body {
		l.problems = append(l.problems, fmt.Sprintf("another body came for %v:\n%s\n%s", n, a.body, body))
	}
	if l.well {
		return 100
	}
	return l.rng.IntN(100)
}

func (l *ledger) take(n notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.came[n].taken++
}

func (l *ledger) complain(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

type reference struct{ ID string }

// notification has the checked fields of a notification.
type notification struct {
	ID      string
	Trigger client.Trigger
	Webhook reference
	Source  struct {
		ID, Name string
		Version  reference `json:"file_version"`
		Parent   reference
	}
	Info json.RawMessage `json:"additional_info"`
}

func (n *notification) notice() notice { return notice{n.Webhook.ID, n.ID} }

// info returns the additional information of a notification, if it has any.
func (n *notification) info(t *testing.T) (info struct{ Copy, Job, After reference }) {
	if err := json.Unmarshal(n.Info, &info); err != nil {
		t.Errorf("%s: %v", n.Info, err)
	}
	return info
}

// accounts compares the state of the server with the notifications.
type accounts struct {
	*killing
	db       *sql.DB
	received []notification                    // of the first webhook
	files    map[string]*history               // by id
	jobs     map[string]map[client.Trigger]int // by id: the number of notifications

	uploaded, copied map[string]int // versions and files by id: the number of notifications about an upload, or a copy
}

// history is the list of notifications about a file.
type history struct {
	names []string // under which it was uploaded
	count map[client.Trigger]int
}

func newAccounts(k *killing) *accounts {
	return &accounts{
		killing: k, db: storetest.Raw(k.t, k.database), files: map[string]*history{}, jobs: map[string]map[client.Trigger]int{},
		uploaded: map[string]int{}, copied: map[string]int{},
	}
}

// awaitRest waits until every job and every merge has ended, and every notification is delivered.
func (a *accounts) awaitRest() {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	var jobs, merges, deliveries int
	err := until(ctx, func() (bool, error) {
		err := a.db.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM docgen_jobs WHERE status IN ('pending', 'submitted')),
			(SELECT COUNT(*) FROM docgen_merges WHERE status IN ('pending', 'submitted')),
			(SELECT COUNT(*) FROM webhook_deliveries WHERE state = 'pending')`).Scan(&jobs, &merges, &deliveries)
		return jobs+merges+deliveries == 0, err
	})
	if err != nil {
		a.t.Errorf("%v: %d jobs and %d merged files have not ended, and %d deliveries wait", err, jobs, merges, deliveries)
	}
}

// each calls a function with the columns of every row of a query, as text.
func (a *accounts) each(query string, columns int, do func(row []string)) {
	a.t.Helper()
	rows, err := a.db.QueryContext(a.t.Context(), query)
	if err != nil {
		a.t.Fatal(err)
	}
	defer rows.Close()
	row, into := make([]string, columns), make([]any, columns)
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			a.t.Fatal(err)
		}
		do(row)
	}
	if err := rows.Err(); err != nil {
		a.t.Fatal(err)
	}
}

func (a *accounts) check() {
	a.t.Helper()
	a.receiver.mu.Lock()
	defer a.receiver.mu.Unlock()
	for _, problem := range a.receiver.problems {
		a.t.Error(problem)
	}
	more := a.checkArrivals()
	for _, n := range a.received {
		a.enter(n)
	}
	a.checkFiles()
	a.checkVersions()
	a.checkJobs()
	a.checkMore(more)
}

// checkArrivals compares the log of deliveries with the received requests, and returns the notifications of the second webhook.
func (a *accounts) checkArrivals() (more []notification) {
	a.t.Helper()
	logged := map[notice]bool{}
	times := 0
	a.each("SELECT body, state FROM webhook_deliveries JOIN webhook_bodies ON delivery_id = id ORDER BY id", 2, func(row []string) {
		var n notification
		if err := json.Unmarshal([]byte(row[0]), &n); err != nil {
			a.t.Fatal(err)
		}
		came := a.receiver.came[n.notice()]
		switch {
		case logged[n.notice()]:
			a.t.Errorf("the log has two deliveries of %s", row[0])
		case row[1] != "delivered" || came == nil || came.taken == 0:
			a.t.Errorf("%s, but arrived as %+v: %s", row[1], came, row[0])
		case came.body != row[0]:
			a.t.Errorf("the log has the body\n%s, but the receiver got\n%s", row[0], came.body)
		default:
			times += came.came
		}
		logged[n.notice()] = true
		if n.Webhook.ID == a.webhook {
			a.received = append(a.received, n)
		} else {
			more = append(more, n)
		}
	})
	for n, came := range a.receiver.came {
		if !logged[n] {
			a.t.Errorf("arrived without a committed change: %s", came.body)
		}
	}
	a.t.Logf("%d notifications of %d events arrived %d times", len(logged), len(a.received), times)
	return more
}

// enter counts a notification.
func (a *accounts) enter(n notification) {
	if strings.HasPrefix(string(n.Trigger), "DOCGEN_") {
		job := n.info(a.t).Job.ID
		if a.jobs[job] == nil {
			a.jobs[job] = map[client.Trigger]int{}
		}
		a.jobs[job][n.Trigger]++
		return
	}
	h := a.files[n.Source.ID]
	if h == nil {
		h = &history{count: map[client.Trigger]int{}}
		a.files[n.Source.ID] = h
	}
	h.count[n.Trigger]++
	if n.Trigger == client.TriggerFILEUPLOADED {
		h.names = append(h.names, n.Source.Name)
		a.uploaded[n.Source.Version.ID]++
	}
	if n.Trigger == client.TriggerFILECOPIED {
		a.copied[n.info(a.t).Copy.ID]++
	}
}
