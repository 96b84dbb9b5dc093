package docgen_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"platen/blob"
	"platen/docgen"
	"platen/store"
)

// docxSlot returns a slot of alice for Word documents.
func (w *world) docxSlot(n int) docgen.GenerateDocuments {
	return docgen.GenerateDocuments{UserID: w.alice.User.ID, Lane: docgen.LaneDocx, Slot: n}
}

func (w *world) isolatedSlot() docgen.GenerateDocuments {
	return docgen.GenerateDocuments{UserID: w.alice.User.ID, Lane: docgen.LaneIsolated}
}

func (w *world) claim(task docgen.GenerateDocuments) *docgen.Claim {
	w.t.Helper()
	claim, err := w.ClaimJobs(w.t.Context(), task)
	must(w.t, err)
	return claim
}

// failed returns results with which all jobs of a claim fail.
func failed(claim *docgen.Claim) []docgen.Result {
	results := make([]docgen.Result, len(claim.Jobs))
	for i, job := range claim.Jobs {
		results[i] = docgen.Result{Job: job, Failures: docgen.Failures{Errors: []string{"no"}}}
	}
	return results
}

// slots lists the slots with a task in the queue, as lane/number.
func (w *world) slots() []string {
	w.t.Helper()
	field := map[store.Dialect]string{
		store.SQLite:     "json(args) ->> '$.lane' || '/' || (json(args) ->> '$.slot')",
		store.PostgreSQL: "(args ->> 'lane') || '/' || (args ->> 'slot')",
	}[w.db.Dialect()]
	return query[string](w, "SELECT "+field+" FROM river_job WHERE kind = 'generate_user_documents' AND state <> 'completed' ORDER BY id")
}

func TestBatchesTakeTurns(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		template := w.template(w.alice, 0, "a.docx")
		folder := w.folder(w.alice, 0, "out")
		names := map[string]string{}
		for _, b := range []struct {
			name      string
			documents int
		}{{"big", 40}, {"small", 2}, {"single", 1}} {
			names[w.batch(batchOf(template.ID, folder, slices.Repeat([]string{"{}"}, b.documents)...))] = b.name
		}
		var order []string
		claimed := map[int64]bool{}
		for claim := w.claim(w.docxSlot(0)); len(claim.Jobs) > 0; claim = w.claim(w.docxSlot(0)) {
			order = append(order, fmt.Sprint(names[claim.BatchID], len(claim.Jobs)))
			for _, job := range claim.Jobs {
				if claimed[job.ID] {
					t.Errorf("job %d is claimed twice", job.ID)
				}
				claimed[job.ID] = true
			}
		}
		want := []string{"big5", "small1", "single1", "big5", "small1", "big5", "big5", "big5", "big5", "big5", "big5"}
		if !slices.Equal(order, want) {
			t.Errorf("claims are %q, want %q", order, want)
		}
		if len(claimed) != 43 {
			t.Errorf("%d jobs are claimed, want all 43", len(claimed))
		}
		if n := w.count("SELECT COUNT(*) FROM docgen_turns"); n != 0 {
			t.Errorf("%d batches still take turns", n)
		}
	})
}

// A batch that comes late is served neither before the others have had their turn, nor long after.
func TestNewBatchTakesItsTurn(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		template := w.template(w.alice, 0, "a.docx")
		old := w.batch(batchOf(template.ID, 0, slices.Repeat([]string{"{}"}, 100)...))
		for range 3 {
			w.claim(w.docxSlot(0))
		}
		late := w.batch(batchOf(template.ID, 0, slices.Repeat([]string{"{}"}, 100)...))
		var order []string
		for range 4 {
			order = append(order, w.claim(w.docxSlot(0)).BatchID)
		}
		if want := []string{old, late, old, late}; !slices.Equal(order, want) {
			t.Errorf("served are %q, want in turns %q", order, want)
		}
	})
}

func TestSlotsBelongToUserAndLane(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.newPress("a")
		for _, task := range []docgen.GenerateDocuments{
			{UserID: w.bob.User.ID, Lane: docgen.LaneDocx}, {UserID: w.alice.User.ID, Lane: docgen.LanePDF}, w.isolatedSlot(),
		} {
			if claim := w.claim(task); len(claim.Jobs) != 0 {
				t.Errorf("%+v claims %+v", task, claim.Jobs)
			}
		}
		if claim := w.claim(w.docxSlot(7)); len(claim.Jobs) != 1 || !claim.Jobs[0].First {
			t.Errorf("claimed are %+v, want the job", claim.Jobs)
		}
	})
}

// A document that was being generated when its server crashed is generated again. After two crashes, it is generated in
// isolation. It never fails because of crashes.
func TestServerCrashes(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		p := w.newPress("a")
		slot := w.docxSlot(3)
		old := w.claim(slot)
		for crash := 1; crash <= 9; crash++ {
			if crash == 3 {
				slot = w.isolatedSlot()
			}
			if crash > 1 {
				if claim := w.claim(slot); len(claim.Jobs) != 1 || claim.Jobs[0].Crashes != crash-1 || claim.Jobs[0].First || claim.Lane != slot.Lane {
					t.Fatalf("after %d crashes the claim is %+v", crash-1, claim)
				}
			}
			if _, taken, err := w.ResumeSlot(ctx, slot, true); err != nil || taken != 1 {
				t.Fatalf("crash %d: %d taken back, %v", crash, taken, err)
			}
			if _, taken, err := w.ResumeSlot(ctx, slot, true); err != nil || taken != 0 {
				t.Fatalf("crash %d is counted again: %d, %v", crash, taken, err)
			}
		}
		if !slices.Contains(w.slots(), "isolated/0") {
			t.Errorf("no task for isolated documents among %q", w.slots())
		}
		if ended, err := w.CompleteJobs(ctx, old, failed(old)); err != nil || len(ended) != 0 {
			t.Errorf("a claim of long ago ends %v, %v", ended, err)
		}
		claim := w.claim(w.isolatedSlot())
		p.complete(claim, p.results(claim, "x"))
		p.wantStatuses(docgen.StatusCompleted)
	})
}

func TestReleasedJobsWaitAgain(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress(slices.Repeat([]string{"a"}, 16)...)
		claim := w.claim(w.docxSlot(0))
		p.complete(claim, p.results(claim, "x")[:1])
		must(t, w.ReleaseJobs(t.Context(), claim, claim.Jobs[1:]))
		if _, taken, err := w.ResumeSlot(t.Context(), w.docxSlot(0), true); err != nil || taken != 0 {
			t.Errorf("%d released jobs were requeued, %v", taken, err)
		}
		again := w.claim(w.docxSlot(1))
		if len(again.Jobs) != 2 || again.Jobs[0].ID != claim.Jobs[1].ID || again.Jobs[0].Crashes != 0 {
			t.Errorf("then claimed are %+v, want the released job first", again.Jobs)
		}
		if ended, err := w.CompleteJobs(t.Context(), claim, failed(claim)[1:]); err != nil || len(ended) != 0 {
			t.Errorf("released jobs ended as %v, %v", ended, err)
		}
		if got := p.statuses()[1]; got != docgen.StatusSubmitted {
			t.Errorf("a job that was submitted is %s", got)
		}
	})
}

// Released jobs wait until the pause of their batch ends, and are ignored if the batch was deleted meanwhile.
func TestReleasedJobsOfPausedBatch(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		p := w.newPress(slices.Repeat([]string{"a"}, 20)...)
		claim, other := w.claim(w.docxSlot(0)), w.claim(w.docxSlot(1))
		_, err := w.CompleteJobs(ctx, claim, []docgen.Result{{Job: claim.Jobs[0], Shortage: docgen.ShortOfDiskSpace}})
		must(t, err)
		must(t, w.ReleaseJobs(ctx, other, other.Jobs))
		must(t, w.ReleaseJobs(ctx, other, other.Jobs)) // they are no longer held
		if early := w.claim(w.docxSlot(2)); len(early.Jobs) != 0 {
			t.Errorf("%d jobs are claimed before the pause ends", len(early.Jobs))
		}
		w.clock.advance(time.Second)
		held := w.claim(w.docxSlot(2))
		if len(held.Jobs) == 0 {
			t.Error("none is claimed after the pause")
		}
		p.fail()
		must(t, w.DeleteBatch(ctx, w.alice, p.batchID))
		w.removeBatches()
		must(t, w.ReleaseJobs(ctx, held, held.Jobs))
	})
}

// After a server error, a document waits, longer each time; the fifth error fails it with the reason.
func TestServerErrorsCountPerDocument(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress("a", "b")
		for try, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 0} {
			claim := w.claim(w.docxSlot(0))
			if len(claim.Jobs) != 1 {
				t.Fatalf("try %d: claimed are %+v", try+1, claim.Jobs)
			}
			ended, err := w.CompleteJobs(t.Context(), claim, []docgen.Result{{
				Job: claim.Jobs[0], TryAgain: true, Failures: docgen.Failures{Errors: []string{"the disk is broken"}},
			}})
			if err != nil || len(ended) != 0 && try < 4 {
				t.Fatalf("try %d ends %v, %v", try+1, ended, err)
			}
			if try == 0 { // the other document does not wait with it
				other := w.claim(w.docxSlot(0))
				p.complete(other, p.results(other, "x"))
			}
			if pause > 0 {
				w.clock.advance(pause - time.Millisecond)
				if early := w.claim(w.docxSlot(0)); len(early.Jobs) != 0 {
					t.Errorf("try %d: it is claimed before its pause ends", try+1)
				}
			}
			w.clock.advance(time.Millisecond)
		}
		statuses := p.statuses()
		slices.Sort(statuses)
		if !slices.Equal(statuses, []docgen.Status{docgen.StatusCompleted, docgen.StatusFailed}) {
			t.Errorf("statuses %q", statuses)
		}
		for _, job := range p.jobs(p.batchID) {
			if job.Status == docgen.StatusFailed && !slices.Equal(job.Failures.Errors, []string{"the disk is broken"}) {
				t.Errorf("failures %q", job.Failures.Errors)
			}
		}
	})
}

// If the server lacks something for a document, the whole batch waits, longer each time but never for more than a
// minute, as often as necessary. A generated document ends the wait of the others.
func TestBatchWaitsDuringShortage(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		p := w.newPress(slices.Repeat([]string{"a"}, 20)...)
		for _, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60, 60} {
			pause := time.Duration(seconds) * time.Second
			claim, other := w.claim(w.docxSlot(0)), w.claim(w.docxSlot(1))
			if len(claim.Jobs) == 0 || len(other.Jobs) == 0 {
				t.Fatalf("before a pause of %v claimed are %d and %d jobs", pause, len(claim.Jobs), len(other.Jobs))
			}
			for _, c := range []*docgen.Claim{claim, other} { // the second does not extend the pause
				results := make([]docgen.Result, len(c.Jobs))
				for i, job := range c.Jobs {
					results[i] = docgen.Result{Job: job, Shortage: docgen.ShortOfDiskSpace}
				}
				if ended, err := w.CompleteJobs(ctx, c, results); err != nil || len(ended) != 0 {
					t.Fatalf("ended are %v, %v", ended, err)
				}
			}
			w.clock.advance(pause - time.Millisecond)
			if early := w.claim(w.docxSlot(0)); len(early.Jobs) != 0 {
				t.Fatalf("%d jobs are claimed before %v", len(early.Jobs), pause)
			}
			w.clock.advance(time.Millisecond)
			for _, job := range p.jobs(p.batchID) {
				if job.WaitingFor != docgen.ShortOfDiskSpace {
					t.Fatalf("a job waits for %q", job.WaitingFor)
				}
			}
		}
		must(t, w.exec("DELETE FROM river_job"))
		must(t, w.WakeDocuments(ctx))
		if got := w.slots(); !slices.Equal(got, []string{"docx/0"}) {
			t.Errorf("after the last pause %q are woken, want one slot", got)
		}
		probe, paused := w.claim(w.docxSlot(0)), w.claim(w.docxSlot(1))
		_, err := w.CompleteJobs(ctx, paused, []docgen.Result{{Job: paused.Jobs[0], Shortage: docgen.ShortOfDatabase}})
		must(t, err)
		if job := p.jobs(p.batchID)[19]; job.WaitingFor != docgen.ShortOfDatabase {
			t.Errorf("a job waits for %q", job.WaitingFor)
		}
		p.complete(probe, p.results(probe, "x"))
		if got := w.slots(); len(got) < 2 {
			t.Errorf("when a document was generated, %q are woken, want more than one", got)
		}
		if claim := w.claim(w.docxSlot(2)); len(claim.Jobs) == 0 {
			t.Error("the others are not claimed yet")
		}
		for _, job := range p.jobs(p.batchID) {
			if job.WaitingFor != docgen.NoShortage {
				t.Errorf("a job that is %s waits for %q", job.Status, job.WaitingFor)
			}
		}
	})
}

// After a pause, one claim tries again. If its documents are generated, the batch gets as many slots as before.
func TestBatchContinuesAfterPause(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress(slices.Repeat([]string{"a"}, 20)...)
		claim := w.claim(w.docxSlot(0))
		results := make([]docgen.Result, len(claim.Jobs))
		for i, job := range claim.Jobs {
			results[i] = docgen.Result{Job: job, Shortage: docgen.ShortOfDiskSpace}
		}
		_, err := w.CompleteJobs(t.Context(), claim, results)
		must(t, err)
		w.clock.advance(time.Minute)
		must(t, w.exec("DELETE FROM river_job"))
		must(t, w.WakeDocuments(t.Context()))
		if got := w.slots(); !slices.Equal(got, []string{"docx/0"}) {
			t.Errorf("after the pause %q are woken, want one slot", got)
		}
		probe := w.claim(w.docxSlot(0))
		p.complete(probe, p.results(probe, "x"))
		if got := w.slots(); len(got) < 2 {
			t.Errorf("when a document was generated, %q are woken, want more than one", got)
		}
	})
}

// After a pause, a document that fails for another reason ends the wait of the others as well.
func TestBatchContinuesAfterFailure(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress(slices.Repeat([]string{"a"}, 20)...)
		waits := func(want docgen.Shortage) {
			t.Helper()
			if job := p.jobs(p.batchID)[19]; job.Status != docgen.StatusPending || job.WaitingFor != want {
				t.Errorf("the last job is %s and waits for %q, want %q", job.Status, job.WaitingFor, want)
			}
		}
		claim := w.claim(w.docxSlot(0))
		short := docgen.Result{Job: claim.Jobs[0], Shortage: docgen.ShortOfDatabase}
		_, err := w.CompleteJobs(t.Context(), claim, append(failed(claim)[1:], short))
		must(t, err)
		waits(docgen.ShortOfDatabase)
		w.clock.advance(time.Minute)
		probe := w.claim(w.docxSlot(0))
		p.complete(claim, failed(claim)[:1]) // of which none has ended
		waits(docgen.ShortOfDatabase)
		p.complete(probe, failed(probe))
		waits(docgen.NoShortage)
	})
}

func TestShortages(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want docgen.Shortage
	}{
		{blob.ErrNoSpace, docgen.ShortOfDiskSpace},
		{syscall.ENOSPC, docgen.ShortOfDiskSpace},
		{&pgconn.PgError{Code: "53100"}, docgen.ShortOfDiskSpace},
		{store.ErrBusy, docgen.ShortOfDatabase},
		{&pgconn.PgError{Code: "57P03"}, docgen.ShortOfDatabase},
		{store.ErrDisconnected, docgen.ShortOfDatabase},
		{&docgen.Error{Code: docgen.CodeStorageFull}, docgen.NoShortage}, // a quota
		{&docgen.Error{Code: docgen.CodeNotFound}, docgen.NoShortage},
		{errors.New("another"), docgen.NoShortage},
		{nil, docgen.NoShortage},
	} {
		err := tt.err
		if err != nil {
			err = fmt.Errorf("while it was saved: %w", err)
		}
		if got := docgen.ShortageOf(err); got != tt.want {
			t.Errorf("ShortageOf(%v) = %q, want %q", err, got, tt.want)
		}
	}
}

func TestWakingSlots(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		template := w.template(w.alice, 0, "a.docx")
		documents := func(n int) docgen.NewBatch {
			return batchOf(template.ID, 0, slices.Repeat([]string{"{}"}, n)...)
		}
		w.batch(documents(1))
		w.batch(documents(1))
		if got := w.slots(); !slices.Equal(got, []string{"docx/0"}) {
			t.Errorf("two documents wake %q, want one slot that claims both", got)
		}
		w.claim(w.docxSlot(0))
		w.batch(documents(20))
		if got := strings.Join(w.slots(), " "); got != "docx/0 docx/1 docx/2 docx/3 docx/4 docx/5 docx/6 docx/7" {
			t.Errorf("20 documents, while one is being generated, wake %q", got)
		}
		w.batch(documents(10_000))
		if n := len(w.slots()); n != 33 {
			t.Errorf("10,000 documents, while one is being generated, wake %d slots in total, want 32 and the busy one", n)
		}
		if n := w.count("SELECT COUNT(*) FROM river_job WHERE kind = 'generate_user_documents' AND priority = 1"); n != 4 {
			t.Errorf("%d tasks of the user are of the first priority, want 4", n)
		}
	})
}

// Documents that wait without a task are found: because the task was lost, or because they are to be tried again.
func TestWakeDocuments(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.newPress(slices.Repeat([]string{"a"}, 20)...)
		must(t, w.exec("DELETE FROM river_job"))
		held := w.claim(w.docxSlot(0))
		must(t, w.WakeDocuments(ctx))
		if got := w.slots(); len(got) != 0 {
			t.Errorf("while documents are generated, %q are woken", got)
		}
		must(t, w.ScheduleDocuments(ctx)) // a server that starts does not know which slot holds them
		if got := w.slots(); len(got) != 7 || slices.Contains(got, "docx/0") {
			t.Errorf("a server that starts wakes %q, want slots that hold nothing", got)
		}
		must(t, w.exec("DELETE FROM river_job"))
		_, err := w.CompleteJobs(ctx, held, failed(held))
		must(t, err)
		must(t, w.WakeDocuments(ctx))
		if got := w.slots(); !slices.Equal(got, []string{"docx/0"}) {
			t.Errorf("woken are %q, want one slot", got)
		}
	})
}

// A server of the previous release enqueues its batches as ranges of jobs, and does not know lanes.
func TestBatchesOfEarlierRelease(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress("a", "b")
		must(t, w.exec("DELETE FROM docgen_turns"))
		must(t, w.exec("DELETE FROM river_job"))
		must(t, w.exec("UPDATE docgen_jobs SET waiting = FALSE"))
		for range 2 {
			must(t, w.RequeueOldBatch(t.Context(), docgen.GenerateRange{BatchID: p.batchID}))
			if got := w.slots(); !slices.Equal(got, []string{"docx/0", "docx/1"}) {
				t.Errorf("woken are %q, want a slot for each document", got)
			}
		}
		for range 2 {
			claim := w.claim(w.docxSlot(0))
			p.complete(claim, p.results(claim, "x"))
		}
		p.wantStatuses(docgen.StatusCompleted, docgen.StatusCompleted)
		must(t, w.RequeueOldBatch(t.Context(), docgen.GenerateRange{BatchID: p.batchID}))
		if n := w.count("SELECT COUNT(*) FROM docgen_turns"); n != 0 {
			t.Errorf("%d batches take turns after all has ended", n)
		}
	})
}

// When many slots claim concurrently, every job goes to exactly one of them.
func TestConcurrentSlots(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		template := w.template(w.alice, 0, "a.docx")
		for range 5 {
			w.batch(batchOf(template.ID, 0, slices.Repeat([]string{"{}"}, 40)...))
		}
		var mu sync.Mutex
		claimed := map[int64]int{}
		var slots sync.WaitGroup
		for n := range 8 {
			slots.Go(func() {
				for {
					claim, err := w.ClaimJobs(t.Context(), w.docxSlot(n))
					if err != nil {
						t.Error(err)
						return
					}
					if len(claim.Jobs) == 0 {
						return
					}
					mu.Lock()
					for _, job := range claim.Jobs {
						claimed[job.ID]++
					}
					mu.Unlock()
				}
			})
		}
		slots.Wait()
		for id, n := range claimed {
			if n != 1 {
				t.Errorf("job %d is claimed %d times", id, n)
			}
		}
		if len(claimed) != 200 {
			t.Errorf("%d jobs are claimed, want 200", len(claimed))
		}
	})
}

// When batches are added while tasks end, no document is overlooked.
func TestNoWakeUpIsLost(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		template := w.template(w.alice, 0, "a.docx")
		queue := store.NewQueue(w.db, store.QueueConfig{Workers: map[string]int{docgen.LaneDocx.Queue(): 8}, Poll: time.Hour})
		store.Handle(queue, func(ctx context.Context, task docgen.GenerateDocuments) error {
			for {
				claim, err := w.ClaimJobs(ctx, task)
				if err != nil || len(claim.Jobs) == 0 {
					return err
				}
				if _, err := w.CompleteJobs(ctx, claim, failed(claim)); err != nil {
					return err
				}
			}
		})
		must(t, queue.Start(context.WithoutCancel(t.Context())))
		var makers sync.WaitGroup
		for range 4 {
			makers.Go(func() {
				for range 15 {
					if _, err := w.CreateBatch(t.Context(), w.alice, batchOf(template.ID, 0, "{}")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		makers.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		look := time.NewTicker(10 * time.Millisecond)
		defer look.Stop()
		for w.count("SELECT COUNT(*) FROM docgen_jobs WHERE status <> 'failed'") > 0 {
			select {
			case <-look.C:
			case <-ctx.Done():
				t.Fatalf("%d jobs have not ended", w.count("SELECT COUNT(*) FROM docgen_jobs WHERE status <> 'failed'"))
			}
		}
		must(t, errors.Join(queue.Stop(ctx), ctx.Err()))
	})
}

func TestDocumentBacklog(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		template := w.template(w.alice, 0, "a.docx")
		pdfs := batchOf(template.ID, 0, "{}", "{}", "{}")
		pdfs.OutputType = docgen.OutputPDF
		w.batch(batchOf(template.ID, 0, "{}"))
		w.clock.advance(time.Minute)
		w.batch(pdfs)
		w.clock.advance(time.Second)
		want := map[docgen.Lane]docgen.LaneBacklog{
			docgen.LaneDocx: {Documents: 1, Oldest: 61 * time.Second}, docgen.LanePDF: {Documents: 3, Oldest: time.Second}, docgen.LaneIsolated: {},
		}
		got, err := w.DocumentBacklog(t.Context())
		must(t, err)
		for lane, backlog := range want {
			if got[lane] != backlog {
				t.Errorf("the backlog of %s is %+v, want %+v", lane, got[lane], backlog)
			}
		}
	})
}
