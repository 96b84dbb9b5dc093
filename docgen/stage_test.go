package docgen_test

import (
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

// largeBatch returns a batch whose data is received in portions: three documents of 3 MiB.
func largeBatch(template int64) docgen.NewBatch {
	input := func(name string) string { return `{"a": "` + strings.Repeat(name, 3<<20) + `"}` }
	return batchOf(template, 0, input("a"), input("b"), input("c"))
}

const rowsOfBatches = "SELECT (SELECT COUNT(*) FROM docgen_batches) + (SELECT COUNT(*) FROM docgen_jobs) + (SELECT COUNT(*) " +
	"FROM docgen_inputs)"

// A batch with much data is received like any other batch.
func TestLargeBatch(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		template := w.template(w.alice, 0, "a.docx")
		batch := w.batch(largeBatch(template.ID))
		if jobs := w.jobs(batch); len(jobs) != 3 || jobs[0].Status != docgen.StatusPending {
			t.Errorf("the jobs are %+v", jobs)
		}
		for _, name := range []string{"a", "b", "c"} {
			claim, err := w.ClaimJobs(t.Context(), docgen.GenerateDocuments{UserID: w.alice.User.ID, Lane: docgen.LaneDocx})
			must(t, err)
			if len(claim.Jobs) != 1 || claim.TemplateVersionID != template.VersionID {
				t.Fatalf("claim of version %d with %d jobs, want version %d with 1", claim.TemplateVersionID, len(claim.Jobs), template.VersionID)
			}
			input, err := w.Input(t.Context(), claim.Jobs[0].ID)
			must(t, err)
			if want := string(largeBatch(0).Documents[name[0]-'a'].Input.Text()); string(input) != want {
				t.Errorf("the data of document %s is another", name)
			}
		}
		if removed, _, err := w.RemoveBatches(t.Context()); removed != 0 || err != nil {
			t.Errorf("%d batches were removed, %v", removed, err)
		}
	})
}

// The received data of a batch that is rejected is visible to no one, and deleted.
func TestLargeBatchIsAllOrNothing(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		must(t, w.exec("ALTER TABLE docgen_turns RENAME COLUMN due_at TO due_at_away"))
		_, err := w.CreateBatch(ctx, w.alice, largeBatch(template.ID))
		must(t, w.exec("ALTER TABLE docgen_turns RENAME COLUMN due_at_away TO due_at"))
		if err == nil {
			t.Fatal("a batch was accepted that cannot wait for its turn")
		}
		if n := w.count(rowsOfBatches); n != 7 {
			t.Errorf("%d rows were received, want 7: not all in the transaction that failed", n)
		}
		page, err := w.Jobs(ctx, w.alice, docgen.JobFilter{}, docgen.PageRequest{})
		must(t, err)
		if len(page.Entries) != 0 {
			t.Errorf("%d jobs are listed", len(page.Entries))
		}
		if removed, _, err := w.RemoveBatches(ctx); removed != 1 || err != nil {
			t.Errorf("%d batches were removed, %v", removed, err)
		}
		if n := w.count(rowsOfBatches); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// A batch that is being received is not deleted. An hour later, it no longer counts as being received.
func TestLargeBatchOfKilledServer(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		batch := w.batch(largeBatch(template.ID))
		until := w.clock.now().Add(time.Hour).UnixMicro()
		must(t, w.exec("UPDATE docgen_batches SET removed_at = $1", until)) // as while it is received
		shown, err := w.Batch(ctx, w.alice, batch)
		if must(t, err); !shown.Accepting {
			t.Error("the batch is not shown as being received")
		}
		wantCode(t, w.DeleteBatch(ctx, w.alice, batch), docgen.CodeNotFound)
		if removed, _, err := w.RemoveBatches(ctx); removed != 0 || err != nil {
			t.Errorf("%d batches were removed at once, %v", removed, err)
		}
		w.clock.micros.Store(until)
		if removed, _, err := w.RemoveBatches(ctx); removed != 1 || err != nil {
			t.Errorf("%d batches were removed an hour later, %v", removed, err)
		}
		if n := w.count(rowsOfBatches); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}
