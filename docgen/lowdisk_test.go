package docgen_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"platen/docgen"
)

// TestLowDisk: a server whose disk is almost full accepts nothing new, and says so; it still reads, deletes, and
// completes accepted work.
func TestLowDisk(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		var free atomic.Int64
		var fault atomic.Pointer[error]
		disk := docgen.Disk{Name: "data", Free: func() (int64, error) {
			if err := fault.Load(); err != nil {
				return 0, *err
			}
			return free.Load(), nil
		}}
		free.Store(1000)
		clock := &w.clock // which the other service has too
		w = w.again(docgen.Config{Disks: []docgen.Disk{{Name: "other", Free: func() (int64, error) { return 5000, nil }}, disk}, MinFree: 1000})
		file := w.upload(w.alice, 0, "file.txt", "x")
		template := w.template(w.alice, 0, "t.docx")
		batch := w.batch(batchOf(template.ID, 0, "{}"))
		if err := w.Ready(ctx)["disk"]; err != nil {
			t.Errorf("with just enough space: %v", err)
		}

		free.Store(999)
		clock.advance(time.Second)
		refused := map[string]error{"version": w.CheckVersion(ctx, w.alice, docgen.NewVersion{FileID: file.ID}, 1)}
		refused["check"] = w.CheckFile(ctx, w.alice, docgen.NewFile{Name: "new"}, 1)
		_, refused["file"] = w.CreateFile(ctx, w.alice, docgen.NewFile{Name: "new"}, unread{t})
		_, refused["new version"] = w.CreateVersion(ctx, w.alice, docgen.NewVersion{FileID: file.ID}, unread{t})
		_, refused["batch"] = w.CreateBatch(ctx, w.alice, batchOf(template.ID, 0, "{}"))
		for what, err := range refused {
			if e := docgen.PublicError(err); e == nil || e.Code != docgen.CodeStorageFull || e.RetryAfter != time.Minute {
				t.Errorf("%s: %v, want storage_limit_exceeded with a time to wait", what, err)
			}
		}
		if ready := w.Ready(ctx); ready["disk"] == nil || ready["database"] != nil || ready["blobs"] != nil {
			t.Errorf("Ready = %v", ready)
		}
		claim, err := w.ClaimBatch(ctx, batch)
		must(t, err)
		output, err := w.SaveOutput(ctx, claim.Jobs[0], reader("document"))
		must(t, err)
		_, err = w.CompleteJobs(ctx, claim, []docgen.Result{{Job: claim.Jobs[0], Output: &output}})
		must(t, err)
		if text := w.text(w.alice, file.ID, 0); text != "x" {
			t.Errorf("the file holds %q", text)
		}
		must(t, w.TrashFile(ctx, w.alice, file.ID, ""))
		must(t, w.Purge(ctx, w.alice, docgen.File, file.ID))

		free.Store(1000)
		clock.advance(time.Second)
		w.upload(w.alice, 0, "new.txt", "x")
		broken := errors.New("not mounted")
		fault.Store(&broken)
		clock.advance(time.Second)
		if err := w.Ready(ctx)["disk"]; !errors.Is(err, broken) {
			t.Errorf("with a disk that cannot be checked: %v", err)
		}
	})
}
