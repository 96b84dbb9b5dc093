package generate_test

import (
	"bytes"
	"strings"
	"testing"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// No document is made of a template whose stored bytes have changed, even if it could be read; the job says why.
func TestDamagedTemplate(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		blobs := newBlobs(t)
		w := newWorld(t, db, blobs)
		file := w.template("template.docx", docxOf(t, "Dear {{name}}"))
		for info, err := range blobs.List(t.Context(), "versions/") {
			must(t, err)
			data, err := blob.ReadAll(t.Context(), blobs, info.Key, 1<<20)
			must(t, err)
			must(t, blobs.Delete(t.Context(), info.Key))
			other := docxOf(t, "Dead {{name}}")
			if len(other) != len(data) {
				t.Fatalf("the damaged template has %d bytes, want %d", len(other), len(data))
			}
			_, err = blobs.Put(t.Context(), info.Key, bytes.NewReader(other))
			must(t, err)
		}
		w.start()
		for _, job := range w.jobs(w.batch(file.ID, "docx", `{"name":"Ann"}`)) {
			if job.Status != docgen.StatusFailed || len(job.Failures.Errors) != 1 || !strings.Contains(job.Failures.Errors[0], "damaged") {
				t.Errorf("job = %s, %q, want one failed for the damaged template", job.Status, job.Failures.Errors)
			}
		}
	})
}
