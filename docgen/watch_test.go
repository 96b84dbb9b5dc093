package docgen_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"platen/docgen"
)

// A request that waits for a batch or a job gets it when it ends, whichever server ends it.
func TestWait(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		other, err := docgen.New(ctx, docgen.Config{Store: w.db, Blobs: w.blobs, Now: w.clock.now})
		must(t, err)
		template := w.template(w.alice, 0, "a.docx")
		for name, server := range map[string]*docgen.Service{"of this server": w.Service, "of another server": other} {
			t.Run(name, func(t *testing.T) {
				batch := w.batch(batchOf(template.ID, 0, "{}"))
				job := w.jobs(batch)[0].ID
				batches, jobs := make(chan docgen.Batch, 1), make(chan docgen.Job, 1)
				go func() {
					b, err := w.WaitForBatch(ctx, w.alice, batch, docgen.MaxWait, nil)
					if err != nil {
						t.Error(err)
					}
					batches <- b
				}()
				go func() {
					j, err := w.WaitForJob(ctx, w.alice, job, docgen.MaxWait, nil)
					if err != nil {
						t.Error(err)
					}
					jobs <- j
				}()
				_, err := server.FailBatch(ctx, batch, "No.")
				must(t, err)
				if b := <-batches; b.EndedAt.IsZero() {
					t.Errorf("batch %+v", b)
				}
				if j := <-jobs; j.Status != docgen.StatusFailed {
					t.Errorf("job %+v", j)
				}
			})
		}
		batch := w.batch(batchOf(template.ID, 0, "{}"))
		t.Run("until the time is up", func(t *testing.T) {
			b, err := w.WaitForBatch(ctx, w.alice, batch, time.Millisecond, nil)
			if err != nil || b.Jobs[docgen.StatusPending] != 1 {
				t.Errorf("%+v, %v", b, err)
			}
		})
		t.Run("until the server stops", func(t *testing.T) {
			stop := make(chan struct{})
			close(stop)
			b, err := w.WaitForBatch(ctx, w.alice, batch, docgen.MaxWait, stop)
			if err != nil || b.Jobs[docgen.StatusPending] != 1 {
				t.Errorf("%+v, %v", b, err)
			}
		})
		t.Run("until the client leaves", func(t *testing.T) {
			leaving, leave := context.WithCancel(ctx)
			time.AfterFunc(time.Millisecond, leave)
			if _, err := w.WaitForBatch(leaving, w.alice, batch, docgen.MaxWait, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
		t.Run("of another user", func(t *testing.T) {
			_, err := w.WaitForBatch(ctx, w.bob, batch, docgen.MaxWait, nil)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.WaitForJob(ctx, w.bob, w.jobs(batch)[0].ID, docgen.MaxWait, nil)
			wantCode(t, err, docgen.CodeNotFound)
			_, _, err = w.WatchBatch(ctx, w.bob, batch)
			wantCode(t, err, docgen.CodeNotFound)
		})
	})
}

// A watch sees every change of a batch, and its deletion.
func TestWatch(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		batch := w.batch(batchOf(template.ID, 0, "{}", "{}"))
		watch, now, err := w.WatchBatch(ctx, w.alice, batch)
		must(t, err)
		defer watch.Close()
		if want := (docgen.JobCounts{Pending: 2}); now.Jobs != want {
			t.Errorf("%+v, want %+v", now.Jobs, want)
		}
		await := func(expected func(docgen.Progress) bool) {
			t.Helper()
			for {
				progress, changed := watch.Progress()
				if expected(progress) {
					return
				}
				<-changed
			}
		}
		w.fail(batch, 1)
		await(func(p docgen.Progress) bool { return p.Jobs == docgen.JobCounts{Submitted: 1, Failed: 1} })
		_, err = w.CancelBatch(ctx, w.alice, batch)
		must(t, err)
		await(func(p docgen.Progress) bool { return !p.CanceledAt.IsZero() && p.EndedAt.IsZero() })
		_, err = w.FailBatch(ctx, batch, "No.")
		must(t, err)
		await(func(p docgen.Progress) bool { return !p.EndedAt.IsZero() })
		must(t, w.DeleteBatch(ctx, w.alice, batch))
		await(func(p docgen.Progress) bool { return p.Gone })
	})
}

func TestPace(t *testing.T) {
	var p docgen.Pace
	for i, tt := range []struct {
		after time.Duration
		ended int
		rate  float64
		left  time.Duration
	}{
		{0, 10, 0, 0},
		{500 * time.Millisecond, 20, 0, 0}, // too early
		{2 * time.Second, 30, 10, 7 * time.Second},
		{10 * time.Second, 60, 5, 8 * time.Second},
		{20 * time.Second, 60, 0, 0}, // since the mark at 10 s, nothing ended
		{30 * time.Second, 80, 2, 10 * time.Second},
	} {
		rate, left, known := p.Add(noon.Add(tt.after), docgen.JobCounts{Completed: tt.ended, Pending: 100 - tt.ended})
		if rate != tt.rate || left != tt.left || known != (tt.rate > 0) {
			t.Errorf("state %d: %v, %v, %v, want %v, %v", i, rate, left, known, tt.rate, tt.left)
		}
	}
}
