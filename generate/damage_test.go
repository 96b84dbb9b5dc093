package generate_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// Jobs fail if the stored bytes of their template have changed, even if the template is readable. The error says so.
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

// unreadable is a store whose disk fails a given number of reads.
type unreadable struct {
	blob.Store
	failures atomic.Int64
}

func (u *unreadable) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if u.failures.Add(-1) >= 0 {
		return nil, syscall.EIO
	}
	return u.Store.Open(ctx, key, offset, length)
}

// Documents whose template is temporarily unreadable are tried again. If that lasts, the job says why.
func TestUnreadableTemplate(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		blobs := &unreadable{Store: newBlobs(t)}
		w := newWorld(t, db, blobs)
		moment := w.template("a.docx", docxOf(t, "Dear {{name}}"))
		blobs.failures.Store(2)
		w.start()
		for _, job := range w.jobs(w.batch(moment.ID, "docx", `{"name":"Ann"}`, `{"name":"Bob"}`)) {
			if job.Status != docgen.StatusCompleted {
				t.Errorf("job = %s, %q, want one that is completed", job.Status, job.Failures.Errors)
			}
		}
		blobs.failures.Store(1_000_000)
		lasting := w.template("b.docx", docxOf(t, "Hello {{name}}"))
		for _, job := range w.jobs(w.batch(lasting.ID, "docx", `{"name":"Ann"}`)) {
			if job.Status != docgen.StatusFailed || len(job.Failures.Errors) != 1 || !strings.Contains(job.Failures.Errors[0], "unreadable") {
				t.Errorf("job = %s, %q, want one failed for the unreadable template", job.Status, job.Failures.Errors)
			}
		}
	})
}
