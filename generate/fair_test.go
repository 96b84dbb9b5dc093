package generate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"platen/docgen"
	"platen/generate"
	"platen/pdf"
	"platen/pdf/font"
	"platen/store"
	"platen/store/storetest"
)

// other creates a second user with a template, and returns a function that generates one document of that user and
// waits for it.
func (w *world) other() (document func() docgen.Job) {
	w.t.Helper()
	return w.otherOf(docgen.OutputDocx)
}

// otherOf is other, for documents of a type.
func (w *world) otherOf(outputType string) (document func() docgen.Job) {
	w.t.Helper()
	theirs, template := w.otherUser()
	return func() docgen.Job {
		return theirs.jobs(theirs.batch(template, outputType, `{"a": 1}`))[0]
	}
}

// otherUser returns the world of another user, and a template of that user.
func (w *world) otherUser() (theirs *world, template int64) {
	w.t.Helper()
	ctx := w.t.Context()
	_, err := w.service.CreateUser(ctx, docgen.NewUser{Login: "ben@example.com", Name: "Ben"})
	must(w.t, err)
	token, err := w.service.CreateToken(ctx, docgen.NewToken{Login: "ben@example.com"})
	must(w.t, err)
	ben, err := w.service.Authenticate(ctx, token)
	must(w.t, err)
	theirs = &world{t: w.t, service: w.service, caller: ben}
	return theirs, theirs.template("B.docx", docxOf(w.t, "{{a}}")).ID
}

// One user has many documents in many batches; the document of another user starts as soon as one in progress is
// finished.
func TestOtherUsersDoNotWait(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		template := w.template("T.docx", docxOf(t, "{{a}}"))
		const batches, documents = 20, 50
		for range batches {
			inputs := make([]string, documents)
			for i := range inputs {
				inputs[i] = `{"a": 1}`
			}
			w.batch(template.ID, docgen.OutputDocx, inputs...)
		}
		document := w.other()
		w.start()
		if job := document(); job.Status != docgen.StatusCompleted {
			t.Fatalf("the document of another user is %s: %q", job.Status, job.Failures.Errors)
		}
		backlog, err := w.service.DocumentBacklog(t.Context())
		must(t, err)
		if left := backlog[docgen.LaneDocx].Documents; left < batches*documents/2 {
			t.Errorf("when it was completed, %d of the %d documents before it were still waiting, want most of them", left, batches*documents)
		}
	})
}

// Long documents of one user occupy all cores, and the document of another user is completed meanwhile.
func TestLongDocumentsLeaveCore(t *testing.T) {
	hold, release := context.WithCancel(t.Context())
	defer release()
	var once sync.Once
	begun := make(chan struct{})
	picture := func(context.Context, string) ([]byte, error) {
		once.Do(func() { close(begun) })
		<-hold.Done()
		return nil, errors.New("is not to be had")
	}
	w := newWorldAs(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t), generate.Config{Picture: picture})
	template := w.template("T.docx", docxOf(t, "{{p :: image}}"))
	batch := w.batch(template.ID, docgen.OutputDocx,
		strings.Split(strings.TrimSuffix(strings.Repeat(`{"p": "https://example.com/a.png"};`, 40), ";"), ";")...)
	document := w.other()
	w.start()
	<-begun
	if job := document(); job.Status != docgen.StatusCompleted {
		t.Errorf("the document of another user is %s: %q", job.Status, job.Failures.Errors)
	}
	release()
	w.jobs(batch)
}

// Spans and metrics show documents and their waits.
func TestWaitsAreMeasured(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t))
	template := w.template("T.docx", docxOf(t, "{{a}}"))
	batch := w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`, `{"a": 2}`)
	want := `
		# HELP platen_document_backlog Waiting documents, by lane; counted up to 100000. The same for every server on the database.
		# TYPE platen_document_backlog gauge
		platen_document_backlog{queue="docx"} 2
		platen_document_backlog{queue="isolated"} 0
		platen_document_backlog{queue="pdf"} 0
	`
	if err := testutil.GatherAndCompare(w.metrics, strings.NewReader(want), "platen_document_backlog"); err != nil {
		t.Error(err)
	}
	w.start()
	w.jobs(batch)
	families, err := w.metrics.Gather()
	must(t, err)
	for _, family := range families {
		if family.GetName() == "platen_document_wait_seconds" {
			for _, metric := range family.GetMetric() {
				if metric.GetLabel()[0].GetValue() == string(docgen.LaneDocx) && metric.GetHistogram().GetSampleCount() == 2 {
					return
				}
			}
		}
	}
	t.Error("the waits of two documents are not measured")
}

// holding is an engine that holds the documents of one user, as if they were long, until it is released. It counts the
// maximum number held, which is what an engine with a spare worker would have to convert.
type holding struct {
	pdf.Engine
	t      testing.TB
	held   sync.WaitGroup // the documents to hold
	letGo  chan struct{}
	active atomic.Int64
	most   atomic.Int64
}

func (h *holding) Convert(ctx context.Context, r pdf.Request) (*pdf.Result, error) {
	defer h.active.Add(-1)
	if n := h.active.Add(1); n > h.most.Load() {
		h.most.Store(n)
	}
	if strings.Contains(documentText(h.t, r.Document), "long") {
		h.held.Done()
		select {
		case <-h.letGo:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return &pdf.Result{PDF: r.Document}, nil
}

func (h *holding) Available() error { return nil }

func (h *holding) Fonts([]byte) (*font.Report, error) { return &font.Report{}, nil }

// While long PDFs of one user occupy every other LibreOffice, and more of them wait, the spare one converts those of another user.
func TestLongPDFsLeaveRoomForOthers(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		engine := &holding{t: t, letGo: make(chan struct{})}
		engine.held.Add(pdfWorkers)
		w := newWorldWithPDF(t, db, newBlobs(t), engine)
		template := w.template("T.docx", docxOf(t, "{{a}}"))
		inputs := slices.Repeat([]string{`{"a": "short"}`}, 6)
		for i := range pdfWorkers {
			inputs[i] = `{"a": "long"}`
		}
		batches := []string{}
		for _, input := range inputs { // small batches, which can overtake one another
			batches = append(batches, w.batch(template.ID, docgen.OutputPDF, input))
		}
		w.start()
		engine.held.Wait()
		document := w.otherOf(docgen.OutputPDF)
		for range 3 {
			if job := document(); job.Status != docgen.StatusCompleted {
				t.Fatalf("the PDF of another user is %s: %q", job.Status, job.Failures.Errors)
			}
		}
		for _, batch := range batches[:pdfWorkers] {
			page, err := w.service.Jobs(t.Context(), w.caller, docgen.JobFilter{BatchID: new(batch)}, docgen.PageRequest{Limit: 1})
			must(t, err)
			if status := page.Entries[0].Status; status != docgen.StatusSubmitted {
				t.Errorf("a document that the engine holds is %s", status)
			}
		}
		close(engine.letGo)
		for _, batch := range batches {
			if job := w.jobs(batch)[0]; job.Status != docgen.StatusCompleted {
				t.Errorf("a PDF of the first user is %s: %q", job.Status, job.Failures.Errors)
			}
		}
		if most := engine.most.Load(); most > pdfWorkers+1 {
			t.Errorf("the engine had %d documents at once, with %d workers and a spare one", most, pdfWorkers)
		}
	})
}

// hanging is an engine that hangs with some documents until others wait.
type hanging struct {
	holding
	mu         sync.Mutex
	othersWait []func() bool // one for each document that it hangs with
}

func (h *hanging) Convert(ctx context.Context, r pdf.Request) (*pdf.Result, error) {
	if r.Again || !strings.Contains(documentText(h.t, r.Document), "hang") {
		return &pdf.Result{PDF: r.Document}, nil
	}
	if r.OthersWait == nil {
		h.held.Done()
		return nil, &pdf.DocumentError{Reason: "nobody says whether others wait"}
	}
	h.mu.Lock()
	h.othersWait = append(h.othersWait, r.OthersWait)
	h.mu.Unlock()
	h.held.Done()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if r.OthersWait() {
				return nil, &pdf.SuspectError{Reason: "it hangs"}
			}
		case <-h.letGo:
			return &pdf.Result{PDF: r.Document}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// The engine hangs with as many documents as it can convert at once. It is notified when others wait for it, and only
// then.
func TestEngineIsNotifiedOfWaiters(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		engine := &hanging{holding: holding{t: t, letGo: make(chan struct{})}}
		engine.held.Add(pdfWorkers)
		w := newWorldWithPDF(t, db, newBlobs(t), engine)
		template := w.template("T.docx", docxOf(t, "{{a}}"))
		hung := w.batch(template.ID, docgen.OutputPDF, slices.Repeat([]string{`{"a": "hang"}`}, pdfWorkers)...)
		w.start()
		engine.held.Wait()
		for _, othersWait := range engine.othersWait {
			if othersWait() {
				t.Error("the engine is notified of waiters, but there are none")
			}
		}
		others := w.batch(template.ID, docgen.OutputPDF, slices.Repeat([]string{`{"a": "short"}`}, 6)...)
		jobs := w.jobs(others) // to generate them, the engine must stop one or both of the hanging ones
		close(engine.letGo)
		for _, job := range slices.Concat(jobs, w.jobs(hung)) {
			if job.Status != docgen.StatusCompleted {
				t.Errorf("a PDF is %s: %q", job.Status, job.Failures.Errors)
			}
		}
	})
}
