package generate_test

import (
	"context"
	"strings"
	"testing"

	"platen/docgen"
	"platen/pdf"
	"platen/pdf/font"
	"platen/store"
	"platen/store/storetest"
)

// endless is an engine that uses all the time of a task for each document.
type endless struct {
	pdf.Engine
	begun int
	end   context.CancelCauseFunc // ends the task like the queue
}

func (e *endless) Convert(ctx context.Context, _ pdf.Request) (*pdf.Result, error) {
	e.begun++
	e.end(context.DeadlineExceeded)
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (e *endless) Available() error { return nil }

func (e *endless) Fonts([]byte) (*font.Report, error) { return &font.Report{}, nil }

// A document that no budget stops uses all the time of its task. It fails after five tries.
func TestEndlessDocuments(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		engine := &endless{}
		w := newWorldWithPDF(t, db, newBlobs(t), engine)
		template := w.template("T.docx", docxOf(t, "{{a}}"))
		batch := w.batch(template.ID, docgen.OutputPDF, `{"a": 1}`)
		for engine.begun < 5 {
			ctx, cancel := context.WithCancelCause(t.Context())
			engine.end = cancel
			if err := w.maker.GenerateDocuments(ctx, docgen.GenerateDocuments{UserID: w.caller.User.ID, Lane: docgen.LanePDF}); err != nil &&
				ctx.Err() == nil {
				t.Fatal(err)
			}
			cancel(nil)
		}
		page, err := w.service.Jobs(t.Context(), w.caller, docgen.JobFilter{BatchID: new(batch)}, docgen.PageRequest{Limit: 1})
		must(t, err)
		job, err := w.service.Job(t.Context(), w.caller, page.Entries[0].ID)
		if must(t, err); job.Status != docgen.StatusFailed || !strings.Contains(strings.Join(job.Failures.Errors, "\n"),
			"was not generated within the time limit") {
			t.Errorf("the job is %s: %q", job.Status, job.Failures.Errors)
		}
	})
}
