package generate_test

import (
	"fmt"
	"testing"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// A batch that is canceled while it is generated ends: each of its documents either exists, or is canceled. A retry generates the rest.
func TestCancelWhileGenerating(t *testing.T) {
	const documents = 500
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		w := newWorld(t, db, newBlobs(t))
		w.start()
		template := w.template("T.docx", docxOf(t, "number {{n}}"))
		inputs := make([]string, documents)
		for i := range inputs {
			inputs[i] = fmt.Sprintf(`{"n": %d}`, i)
		}
		batch := w.batch(template.ID, docgen.OutputDocx, inputs...)
		page, err := w.service.Jobs(ctx, w.caller, docgen.JobFilter{BatchID: &batch}, docgen.PageRequest{Limit: 1})
		must(t, err)
		_, err = w.service.WaitForJob(ctx, w.caller, page.Entries[0].ID, docgen.MaxWait, nil)
		must(t, err)
		if _, err := w.service.CancelBatch(ctx, w.caller, batch); docgen.IsCode(err, docgen.CodeConflict) {
			t.Skip("all documents were generated before the cancellation")
		} else {
			must(t, err)
		}
		w.jobs(batch)
		ended, err := w.service.WaitForBatch(ctx, w.caller, batch, docgen.MaxWait, nil)
		must(t, err)
		made := ended.Jobs[docgen.StatusCompleted]
		if ended.EndedAt.IsZero() || made == 0 || made+ended.Canceled != documents || len(w.names()) != made {
			t.Errorf("%d documents for the batch %+v", len(w.names()), ended)
		}
		if ended.Canceled == 0 {
			return
		}
		retry, err := w.service.RetryBatch(ctx, w.caller, batch, docgen.Retry{Canceled: true})
		must(t, err)
		w.jobs(retry)
		if len(w.names()) != documents {
			t.Errorf("%d documents after the retry, want %d", len(w.names()), documents)
		}
	})
}
