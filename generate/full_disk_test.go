package generate_test

import (
	"strings"
	"testing"

	"platen/blob/blobtest"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

func TestTheDiskIsFull(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		blobs := blobtest.NewFaulty(newBlobs(t))
		w := newWorld(t, db, blobs)
		template := w.template("T.docx", docxOf(t, "{{a}}"))
		w.start()
		blobs.Room(0)
		batch := w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`)
		job := w.jobs(batch)[0]
		if job.Status != docgen.StatusFailed || !strings.Contains(strings.Join(job.Failures.Errors, " "), "no disk space left") {
			t.Errorf("status %s with %q, want failed for want of room", job.Status, job.Failures.Errors)
		}
		blobs.Room(-1)
		if job := w.jobs(w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`))[0]; job.Status != docgen.StatusCompleted {
			t.Errorf("with room again: status %s with %q", job.Status, job.Failures.Errors)
		}
	})
}
