package generate_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"platen/docgen"
	"platen/generate"
	"platen/store"
	"platen/store/storetest"
)

// other makes a second user with a template, and returns a function that has one document of it generated and waits for it.
func (w *world) other() (document func() docgen.Job) {
	w.t.Helper()
	ctx := w.t.Context()
	_, err := w.service.CreateUser(ctx, docgen.NewUser{Login: "ben@example.com", Name: "Ben"})
	must(w.t, err)
	token, err := w.service.CreateToken(ctx, docgen.NewToken{Login: "ben@example.com"})
	must(w.t, err)
	ben, err := w.service.Authenticate(ctx, token)
	must(w.t, err)
	theirs := &world{t: w.t, service: w.service, caller: ben}
	template := theirs.template("B.docx", docxOf(w.t, "{{a}}"))
	return func() docgen.Job {
		return theirs.jobs(theirs.batch(template.ID, docgen.OutputDocx, `{"a": 1}`))[0]
	}
}

// One user has very many documents in many batches; the document of another starts as soon as one in progress is finished.
func TestAnotherUserNeedNotWait(t *testing.T) {
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

// All cores are held by long documents of one user, and the document of another is completed meanwhile.
func TestLongDocumentsLeaveACore(t *testing.T) {
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
	batch := w.batch(template.ID, docgen.OutputDocx, strings.Split(strings.TrimSuffix(strings.Repeat(`{"p": "https://example.com/a.png"};`, 40), ";"), ";")...)
	document := w.other()
	w.start()
	<-begun
	if job := document(); job.Status != docgen.StatusCompleted {
		t.Errorf("the document of another user is %s: %q", job.Status, job.Failures.Errors)
	}
	release()
	w.jobs(batch)
}

// Documents and their waits can be seen.
func TestWaitsAreMeasured(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t))
	template := w.template("T.docx", docxOf(t, "{{a}}"))
	batch := w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`, `{"a": 2}`)
	want := `
		# HELP platen_document_backlog Documents that wait, by lane; counted up to 100000. It is of the database: the same for every server on it.
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
