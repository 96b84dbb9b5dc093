package generate_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"platen/blob"
	"platen/docgen"
	"platen/docx"
	"platen/generate"
	"platen/store"
	"platen/store/storetest"
)

// TestDocumentExceedsBudget runs documents that exceed a budget: each fails at its first try, with a message that
// names the budget, its limit, and the tag. The bytes written so far are deleted, and the metric counts the failure.
func TestDocumentExceedsBudget(t *testing.T) {
	limits := docx.Limits{Steps: 100_000, Content: 2 << 20}
	numbers := `{"l": [` + strings.Repeat("1,", 999) + `1], "s": "` + strings.Repeat("s", 1000) + `"}`
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		blobs := newBlobs(t)
		w := newWorld(t, db, blobs)
		counted := prometheus.NewRegistry()
		g := generate.New(generate.Config{Service: w.service, Log: slog.New(slog.DiscardHandler), Limits: limits, Metrics: counted})
		for budget, text := range map[string]string{
			"work":    "{{for x in l}}{{for y in l}}{{endfor}}{{endfor}}",
			"content": "{{for x in l}}{{l :: join(s)}}{{endfor}}",
		} {
			template := w.template(budget+".docx", docxOf(t, text))
			batch := w.batch(template.ID, docgen.OutputDocx, numbers)
			kept := countBlobs(t, blobs)
			must(t, g.GenerateDocuments(t.Context(), w.task()))
			job := w.jobs(batch)[0]
			message := strings.Join(job.Failures.Errors, "\n")
			if job.Status != docgen.StatusFailed || len(job.Failures.Errors) != 1 || !strings.Contains(message, "exceeds its budget") ||
				!strings.Contains(message, "{{") || !strings.Contains(message, "--document-") || len(job.Failures.Details) != 1 {
				t.Errorf("%s: status %s with %+v", budget, job.Status, job.Failures)
			}
			if left := countBlobs(t, blobs); left > kept {
				t.Errorf("%s: %d contents are left of the document", budget, left-kept)
			}
		}
		if names := w.names(); len(names) > 0 {
			t.Errorf("the folder holds %q", names)
		}
		if err := testutil.GatherAndCompare(counted, strings.NewReader(exceededOnce), "platen_budget_exceeded_total"); err != nil {
			t.Error(err)
		}
	})
}

// task returns the task of a slot for Word documents.
func (w *world) task() docgen.GenerateDocuments {
	return docgen.GenerateDocuments{UserID: w.caller.User.ID, Lane: docgen.LaneDocx}
}

func countBlobs(t *testing.T, blobs blob.Store) (n int) {
	t.Helper()
	for _, err := range blobs.List(t.Context(), "") {
		must(t, err)
		n++
	}
	return n
}

const exceededOnce = `
	# HELP platen_budget_exceeded_total Documents and templates that failed because they exceeded a budget, by budget.
	# TYPE platen_budget_exceeded_total counter
	platen_budget_exceeded_total{budget="content"} 1
	platen_budget_exceeded_total{budget="memory"} 0
	platen_budget_exceeded_total{budget="pixels"} 0
	platen_budget_exceeded_total{budget="size"} 0
	platen_budget_exceeded_total{budget="template_time"} 0
	platen_budget_exceeded_total{budget="template_work"} 0
	platen_budget_exceeded_total{budget="time"} 0
	platen_budget_exceeded_total{budget="value"} 0
	platen_budget_exceeded_total{budget="work"} 1
`

// TestEndedTaskStopsEngine ends a task while the engine works on a document that takes long and writes nothing.
// The engine stops, and the job does not fail but waits for another try.
func TestEndedTaskStopsEngine(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		ctx, cancel := context.WithCancel(t.Context())
		picture := func(context.Context, string) ([]byte, error) {
			cancel()
			return nil, errors.New("is not to be had")
		}
		g := generate.New(generate.Config{
			Service: w.service, Log: slog.New(slog.DiscardHandler), Picture: picture, Limits: docx.Limits{Steps: -1, Content: -1, Time: -1},
		})
		template := w.template("T.docx", docxOf(t, "{{far :: image}}{{for x in l}}{{for y in l}}{{for z in l}}{{endfor}}{{endfor}}{{endfor}}"))
		list := func(n int) string {
			return `{"far": "https://example.com/a.png", "l": [` + strings.Repeat("1,", n) + `1]}`
		}
		batch := w.batch(template.ID, docgen.OutputDocx, list(2000)) // 8,000,000,000 rounds
		if err := g.GenerateDocuments(ctx, w.task()); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want that the task ended", err)
		}
		page, err := w.service.Jobs(t.Context(), w.caller, docgen.JobFilter{BatchID: new(batch)}, docgen.PageRequest{})
		must(t, err)
		if status := page.Entries[0].Status; status != docgen.StatusSubmitted {
			t.Errorf("status %s, want that it waits for another try", status)
		}
	})
}
