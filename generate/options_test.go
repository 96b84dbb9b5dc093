package generate_test

import (
	"testing"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

func TestBatchOptions(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		template := w.template("Letter.docx", docxOf(t, "Dear {{customer.nmae}},"))
		for name, c := range map[string]struct {
			options docgen.BatchOptions
			want    docgen.Status
		}{
			"none":   {docgen.BatchOptions{}, docgen.StatusCompletedWithError},
			"blank":  {docgen.BatchOptions{Missing: "blank"}, docgen.StatusCompleted},
			"error":  {docgen.BatchOptions{Missing: "error"}, docgen.StatusFailed},
			"strict": {docgen.BatchOptions{Strict: true}, docgen.StatusFailed},
		} {
			job := w.jobs(w.batchWith(c.options, template.ID, docgen.OutputDocx, `{"customer":{"name":"Ada"}}`))[0]
			if job.Status != c.want {
				t.Errorf("%s: status %s with %+v, want %s", name, job.Status, job.Failures, c.want)
			}
			if (job.Status == docgen.StatusFailed) != (job.OutputFileID == 0) {
				t.Errorf("%s: status %s with document %d", name, job.Status, job.OutputFileID)
			}
			if d := job.Failures.Details; len(d) == 0 || d[0].Tag != "{{customer.nmae}}" || d[0].Nearest != "customer.name" {
				t.Errorf("%s: details %+v", name, d)
			}
		}
	})
}
