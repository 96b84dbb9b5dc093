package docgen_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"platen/docgen"
)

// failedBatch creates a batch of alice with a job for each input, and fails the first ones. The others are completed.
func (w *world) failedBatch(t *testing.T, b docgen.NewBatch, failed int) string {
	t.Helper()
	id := w.batch(b)
	claim, err := w.ClaimBatch(t.Context(), id)
	must(t, err)
	results := make([]docgen.Result, len(claim.Jobs))
	for i, job := range claim.Jobs {
		results[i] = docgen.Result{Job: job, Failures: docgen.Failures{Errors: []string{"it is broken"}}}
		if i >= failed {
			output, err := w.SaveOutput(t.Context(), job, reader("document"))
			must(t, err)
			results[i] = docgen.Result{Job: job, Output: &output}
		}
	}
	_, err = w.CompleteJobs(t.Context(), claim, results)
	must(t, err)
	return id
}

// inputs returns the inputs of the jobs of a batch.
func (w *world) inputs(t *testing.T, batch string) []string {
	t.Helper()
	texts := []string{}
	for _, job := range w.jobs(batch) {
		input, err := w.JobInput(t.Context(), w.alice, job.ID)
		must(t, err)
		texts = append(texts, input.Name+" "+string(input.Input))
	}
	return texts
}

func TestRetryBatch(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		folder := w.folder(w.alice, 0, "out")
		old := template.VersionID
		b := batchOf(template.ID, folder, numbered(`{"n": %d}`, 3)...)
		b.Options.Locale = "de"
		batch := w.failedBatch(t, b, 2)
		newer := w.version(w.alice, template.ID, "newer")

		retry, err := w.RetryBatch(ctx, w.alice, batch, docgen.Retry{})
		must(t, err)
		t.Run("has the failed documents, and the same version and options", func(t *testing.T) {
			got, err := w.Batch(ctx, w.alice, retry)
			must(t, err)
			if got.RetryOf != batch || got.TemplateVersionID != old || got.DestinationID != folder || got.Options.Locale != "de" ||
				got.Jobs[docgen.StatusPending] != 2 {
				t.Errorf("retry %+v", got)
			}
			if got, want := w.inputs(t, retry), []string{`Document 1.docx {"n": 1}`, `Document 2.docx {"n": 2}`}; !slices.Equal(got, want) {
				t.Errorf("inputs %q, want %q", got, want)
			}
			wantText(t, w.counts(t, batch), "canceled 0, completed 1, failed 2, ended")
		})
		t.Run("again only after it has ended", func(t *testing.T) {
			_, err := w.RetryBatch(ctx, w.alice, batch, docgen.Retry{})
			wantCode(t, err, docgen.CodeConflict)
			claim, err := w.ClaimJobs(ctx, docgen.GenerateDocuments{UserID: w.alice.User.ID, Lane: docgen.LaneDocx})
			if err != nil || claim.BatchID != retry {
				t.Fatalf("claim %+v, %v", claim, err)
			}
			_, err = w.FailBatch(ctx, retry, "No.")
			must(t, err)
			again, err := w.RetryBatch(ctx, w.alice, batch, docgen.Retry{VersionID: newer.VersionID})
			must(t, err)
			if got, err := w.Batch(ctx, w.alice, again); err != nil || got.TemplateVersionID != newer.VersionID {
				t.Errorf("retry %+v, %v", got, err)
			}
		})
		t.Run("is a conflict", func(t *testing.T) {
			for name, id := range map[string]string{
				"while the batch runs": w.batch(batchOf(template.ID, folder, "{}")),
				"if nothing failed":    w.failedBatch(t, batchOf(template.ID, folder, "{}"), 0),
			} {
				_, err := w.RetryBatch(ctx, w.alice, id, docgen.Retry{})
				if wantCode(t, err, docgen.CodeConflict); err == nil {
					t.Error(name)
				}
			}
		})
		t.Run("of another user", func(t *testing.T) {
			_, err := w.RetryBatch(ctx, w.bob, batch, docgen.Retry{})
			wantCode(t, err, docgen.CodeNotFound)
		})
		t.Run("includes canceled documents only on request", func(t *testing.T) {
			id := w.batch(batchOf(template.ID, folder, "{}", "{}"))
			_, err := w.CancelBatch(ctx, w.alice, id)
			must(t, err)
			w.cancelJobs(t)
			_, err = w.RetryBatch(ctx, w.alice, id, docgen.Retry{})
			wantCode(t, err, docgen.CodeConflict)
			retry, err := w.RetryBatch(ctx, w.alice, id, docgen.Retry{Canceled: true})
			must(t, err)
			wantText(t, w.counts(t, retry), "canceled 0, pending 2")
		})
		t.Run("without inputs", func(t *testing.T) {
			id := w.failedBatch(t, batchOf(template.ID, folder, "{}", "{}"), 2)
			jobs := w.jobs(id)
			must(t, w.exec("DELETE FROM docgen_inputs WHERE job_id = $1", jobs[1].ID)) // as after its retention period
			_, err := w.RetryBatch(ctx, w.alice, id, docgen.Retry{})
			wantCode(t, err, docgen.CodeConflict)
			_, err = w.JobInput(ctx, w.alice, jobs[1].ID)
			wantCode(t, err, docgen.CodeNotFound)
			corrected := new(docgen.Inputs)
			job, err := w.RetryJob(ctx, w.alice, jobs[1].ID, docgen.Retry{Input: new(corrected.Parse([]byte(`{"ok": 1}`))), Inputs: corrected})
			must(t, err)
			if got := w.inputs(t, job.BatchID); !slices.Equal(got, []string{`Document 2.docx {"ok": 1}`}) {
				t.Errorf("inputs %q", got)
			}
		})
		t.Run("of a deleted template", func(t *testing.T) {
			must(t, w.TrashFile(ctx, w.alice, template.ID, ""))
			_, err := w.RetryBatch(ctx, w.alice, w.newestBatch(t, docgen.BatchWithFailures), docgen.Retry{})
			wantCode(t, err, docgen.CodeTrashed)
			if n := w.count("SELECT COUNT(*) FROM docgen_batches WHERE removed_at <> 0"); n != 0 && n != 1 {
				t.Errorf("%d hidden batches", n)
			}
		})
	})
}

func (w *world) newestBatch(t *testing.T, state docgen.BatchState) string {
	t.Helper()
	page, err := w.Batches(t.Context(), w.alice, docgen.BatchFilter{State: state}, docgen.PageRequest{})
	must(t, err)
	return page.Entries[0].ID
}

func TestRetryJob(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		batch := w.failedBatch(t, batchOf(template.ID, 0, numbered(`{"n": %d}`, 3)...), 2)
		jobs := w.jobs(batch)
		made, err := w.RetryJob(ctx, w.alice, jobs[1].ID, docgen.Retry{})
		must(t, err)
		if made.Status != docgen.StatusPending || made.BatchID == batch {
			t.Errorf("job %+v", made)
		}
		if got := w.inputs(t, made.BatchID); !slices.Equal(got, []string{`Document 2.docx {"n": 2}`}) {
			t.Errorf("inputs %q", got)
		}
		if b, err := w.Batch(ctx, w.alice, made.BatchID); err != nil || b.RetryOf != batch || b.RetryOfJob != jobs[1].ID {
			t.Errorf("batch %+v, %v", b, err)
		}
		_, err = w.RetryJob(ctx, w.alice, jobs[1].ID, docgen.Retry{})
		wantCode(t, err, docgen.CodeConflict)
		_, err = w.RetryJob(ctx, w.alice, jobs[0].ID, docgen.Retry{})
		must(t, err)
		_, err = w.RetryJob(ctx, w.alice, jobs[2].ID, docgen.Retry{})
		wantCode(t, err, docgen.CodeConflict)
		_, err = w.RetryJob(ctx, w.bob, jobs[0].ID, docgen.Retry{})
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.JobInput(ctx, w.bob, jobs[0].ID)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.JobInput(ctx, w.alice, jobs[2].ID)
		wantCode(t, err, docgen.CodeNotFound)
		bad := new(docgen.Inputs)
		_, err = w.RetryJob(ctx, w.alice, jobs[0].ID, docgen.Retry{Input: new(bad.Parse([]byte("[]"))), Inputs: bad})
		if names := problemNames(t, err); !slices.Equal(names, []string{"user_input"}) {
			t.Errorf("problems with %q", names)
		}
	})
}

// A retry needs the passwords again, because they were deleted. It has no merged file.
func TestRetryWithPasswords(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		secret := new(docgen.Secret("open"))
		p := w.newPDFPress(docgen.PDFOptions{Password: secret, Watermark: "DRAFT"}, "a")
		_, err := w.FailBatch(ctx, p.batchID, "No.")
		must(t, err)
		_, err = w.RetryBatch(ctx, w.alice, p.batchID, docgen.Retry{OwnerPassword: secret})
		if names := problemNames(t, err); !slices.Equal(names, []string{"password", "owner_password"}) {
			t.Errorf("problems with %q", names)
		}
		id, err := w.RetryBatch(ctx, w.alice, p.batchID, docgen.Retry{Password: secret})
		must(t, err)
		claim, err := w.ClaimBatch(ctx, id)
		if err != nil || *claim.Options.PDF.Password != "open" || claim.Options.PDF.Watermark != "DRAFT" {
			t.Errorf("claim %+v, %v", claim, err)
		}
		_, err = w.FailBatch(ctx, id, "No.")
		must(t, err)
		if n := w.count("SELECT COUNT(*) FROM docgen_endings"); n != 0 {
			t.Errorf("%d rows with passwords remain", n)
		}
		merged := w.newPDFPress(docgen.PDFOptions{Merged: &docgen.MergedFile{Name: "All"}}, "a")
		_, err = merged.FailBatch(ctx, merged.batchID, "No.")
		must(t, err)
		_, err = w.ClaimMerge(ctx, docgen.MergeDocuments{BatchID: merged.batchID}, false)
		must(t, err)
		id, err = w.RetryBatch(ctx, w.alice, merged.batchID, docgen.Retry{})
		must(t, err)
		if b, err := w.Batch(ctx, w.alice, id); err != nil || b.Merged != nil || b.Options.PDF != nil {
			t.Errorf("batch %+v, %v", b, err)
		}
	})
}

// Of several retries at once, one succeeds. If the batch is deleted meanwhile, it may also be none. Nothing of the others remains.
func TestRetriesAtOnce(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		for _, deleted := range []bool{false, true} {
			batch := w.failedBatch(t, batchOf(template.ID, 0, numbered(`{"n": %d}`, 50)...), 50)
			var made atomic.Int64
			var group sync.WaitGroup
			for range 4 {
				group.Go(func() {
					_, err := w.RetryBatch(ctx, w.alice, batch, docgen.Retry{})
					if err == nil {
						made.Add(1)
					} else if !docgen.IsCode(err, docgen.CodeConflict) && !docgen.IsCode(err, docgen.CodeNotFound) {
						t.Error(err)
					}
				})
			}
			if deleted {
				group.Go(func() {
					if err := w.DeleteBatch(ctx, w.alice, batch); err != nil {
						t.Error(err)
					}
					if _, _, err := w.RemoveBatches(ctx); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			if n := made.Load(); n > 1 || n == 0 && !deleted {
				t.Errorf("%d retries", n)
			}
			_, _, err := w.RemoveBatches(ctx)
			must(t, err)
			if n := w.count("SELECT COUNT(*) FROM docgen_batches WHERE removed_at <> 0"); n != 0 {
				t.Errorf("%d hidden batches remain", n)
			}
		}
	})
}
