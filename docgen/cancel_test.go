package docgen_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
)

// cancelJobs runs the task that ends the jobs of canceled batches.
func (w *world) cancelJobs(t *testing.T) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = w.CancelJobs(t.Context())
		must(t, err)
	}
}

// counts returns the numbers of jobs of a batch of alice as text.
func (w *world) counts(t *testing.T, batch string) string {
	t.Helper()
	b, err := w.Batch(t.Context(), w.alice, batch)
	must(t, err)
	text := fmt.Sprintf("canceled %d", b.Canceled)
	for _, status := range docgen.Statuses() {
		if n := b.Jobs[status]; n > 0 {
			text += fmt.Sprintf(", %s %d", status, n)
		}
	}
	if !b.EndedAt.IsZero() {
		text += ", ended"
	}
	return text
}

func wantText(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCancelBatch(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		webhook, err := w.CreateWebhook(ctx, w.alice, docgen.NewWebhook{TargetKind: docgen.File, TargetID: template.ID,
			Address: "https://example.com/", Triggers: []docgen.Trigger{docgen.DocumentFailed}})
		must(t, err)
		batch := w.batch(batchOf(template.ID, 0, numbered(`{"n": %d}`, 500)...))
		task := docgen.GenerateDocuments{UserID: w.alice.User.ID, Lane: docgen.LaneDocx}
		claim, err := w.ClaimJobs(ctx, task)
		must(t, err)
		held := len(claim.Jobs)

		canceled, err := w.CancelBatch(ctx, w.alice, batch)
		must(t, err)
		if canceled.CanceledAt.IsZero() || !canceled.EndedAt.IsZero() {
			t.Errorf("batch %+v", canceled)
		}
		t.Run("after which no job is claimed", func(t *testing.T) {
			next, err := w.ClaimJobs(ctx, task)
			if err != nil || len(next.Jobs) != 0 {
				t.Errorf("%d jobs claimed, %v", len(next.Jobs), err)
			}
		})
		t.Run("twice, which changes nothing", func(t *testing.T) {
			w.clock.advance(1e9)
			again, err := w.CancelBatch(ctx, w.alice, batch)
			if err != nil || !cmp.Equal(again, canceled) {
				t.Errorf("%+v, %v, want %+v", again, err, canceled)
			}
		})
		w.cancelJobs(t)
		wantText(t, w.counts(t, batch), fmt.Sprintf("canceled %d, submitted %d", 500-held, held))

		t.Run("while jobs are generated, which end as usual or, if they are returned, are canceled", func(t *testing.T) {
			output, err := w.SaveOutput(ctx, claim.Jobs[0], strings.NewReader("document"))
			must(t, err)
			_, err = w.CompleteJobs(ctx, claim, []docgen.Result{
				{Job: claim.Jobs[0], Output: &output}, {Job: claim.Jobs[1], TryAgain: true}, {Job: claim.Jobs[2], Isolate: true},
				{Job: claim.Jobs[3], Shortage: docgen.ShortOfDiskSpace},
			})
			must(t, err)
			must(t, w.ReleaseJobs(ctx, claim, claim.Jobs[4:]))
			w.cancelJobs(t)
			wantText(t, w.counts(t, batch), "canceled 499, completed 1, ended")
		})
		t.Run("whose jobs say why they failed", func(t *testing.T) {
			last := w.jobs(batch)[499]
			if last.Status != docgen.StatusFailed || last.Summary.Code != docgen.FailureCanceled || len(last.Failures.Errors) != 1 {
				t.Errorf("job %+v", last)
			}
			input, err := w.JobInput(ctx, w.alice, last.ID)
			if err != nil || string(input.Input) != `{"n": 500}` || input.Name != "Document 500.docx" {
				t.Errorf("input %+v, %v", input, err)
			}
		})
		t.Run("which fires an event for each job", func(t *testing.T) {
			if n := w.count(fmt.Sprint("SELECT COUNT(*) FROM webhook_deliveries WHERE webhook_id = ", webhook.ID)); n != 499 {
				t.Errorf("%d notifications, want 499", n)
			}
		})
		t.Run("which has ended", func(t *testing.T) {
			_, err := w.CancelBatch(ctx, w.alice, batch)
			must(t, err)
			other := w.batch(batchOf(template.ID, 0, "{}"))
			_, err = w.FailBatch(ctx, other, "No.")
			must(t, err)
			_, err = w.CancelBatch(ctx, w.alice, other)
			wantCode(t, err, docgen.CodeConflict)
			must(t, w.DeleteBatch(ctx, w.alice, batch))
			_, err = w.CancelBatch(ctx, w.alice, batch)
			wantCode(t, err, docgen.CodeNotFound)
		})
		t.Run("of another user", func(t *testing.T) {
			_, err := w.CancelBatch(ctx, w.bob, w.batch(batchOf(template.ID, 0, "{}")))
			wantCode(t, err, docgen.CodeNotFound)
		})
	})
}

// A canceled batch has no merged file, and its passwords are deleted.
func TestCancelMerge(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		p := w.newPDFPress(docgen.PDFOptions{Password: new(docgen.Secret("open")), Merged: &docgen.MergedFile{Name: "All"}}, "a", "b")
		claim := p.claim()
		_, err := w.CancelBatch(ctx, w.alice, p.batchID)
		must(t, err)
		p.complete(claim, p.results(claim, "document"))
		w.cancelJobs(t)
		wantText(t, w.counts(t, p.batchID), "canceled 0, completed 2, ended")
		if m := p.batchNow().Merged; m.Status != docgen.StatusFailed || len(m.Failures.Errors) != 1 {
			t.Errorf("merged file %+v", m)
		}
		if n := w.count("SELECT COUNT(*) FROM docgen_endings"); n != 0 {
			t.Errorf("%d rows with passwords remain", n)
		}
	})
}

// No job of a canceled batch is claimed after the cancellation, and each ends once, while slots claim, complete, and release jobs.
func TestCancelWhileClaiming(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		const documents = 300
		batch := w.batch(batchOf(template.ID, 0, slices.Repeat([]string{"{}"}, documents)...))
		var group sync.WaitGroup
		begun := make(chan struct{}, documents)
		for slot := range 4 {
			group.Go(func() {
				for n := 0; ; n++ {
					claim, err := w.ClaimJobs(ctx, docgen.GenerateDocuments{UserID: w.alice.User.ID, Lane: docgen.LaneDocx, Slot: slot})
					if err != nil || len(claim.Jobs) == 0 {
						if err != nil {
							t.Error(err)
						}
						return
					}
					begun <- struct{}{}
					half := len(claim.Jobs) / 2
					var results []docgen.Result
					for _, job := range claim.Jobs[:half] {
						results = append(results, docgen.Result{Job: job, Failures: docgen.Failures{Errors: []string{"No."}}})
					}
					if _, err := w.CompleteJobs(ctx, claim, results); err != nil {
						t.Error(err)
					}
					if err := w.ReleaseJobs(ctx, claim, claim.Jobs[half:]); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for range 3 {
			<-begun
		}
		for range 2 {
			group.Go(func() {
				if _, err := w.CancelBatch(ctx, w.alice, batch); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		w.cancelJobs(t)
		got, err := w.Batch(ctx, w.alice, batch)
		must(t, err)
		if got.EndedAt.IsZero() || got.Canceled == 0 || got.Canceled+got.Jobs[docgen.StatusFailed] != documents {
			t.Errorf("batch %+v", got)
		}
	})
}
