package docgen_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platen/blob"
	"platen/blob/blobtest"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// press is a batch of alice with a destination folder, and plays the worker for it.
type press struct {
	*world
	template *docgen.Item
	folder   int64
	batchID  string
}

// newPress creates a batch of documents with these names.
func (w *world) newPress(names ...string) *press {
	w.t.Helper()
	p := &press{world: w}
	p.folder = w.folder(w.alice, 0, fmt.Sprint("out ", w.count("SELECT COUNT(*) FROM items")))
	p.template = w.template(w.alice, 0, fmt.Sprint("template ", p.folder))
	b := batchOf(p.template.ID, p.folder, slices.Repeat([]string{"{}"}, len(names))...)
	for i, name := range names {
		b.Documents[i].Name = name
	}
	p.batchID = w.batch(b)
	return p
}

func (p *press) claim() *docgen.Claim {
	p.t.Helper()
	claim, err := p.ClaimBatch(p.t.Context(), p.batchID)
	must(p.t, err)
	return claim
}

func (p *press) save(job docgen.ClaimedJob, text string) *docgen.Output {
	p.t.Helper()
	output, err := p.SaveOutput(p.t.Context(), job, reader(text))
	must(p.t, err)
	return &output
}

// results returns a document for every job of a claim.
func (p *press) results(claim *docgen.Claim, text string) []docgen.Result {
	p.t.Helper()
	results := make([]docgen.Result, len(claim.Jobs))
	errs := make([]error, len(claim.Jobs))
	var group sync.WaitGroup
	for i, job := range claim.Jobs { // concurrently, because they then share disk syncs
		group.Go(func() {
			output, err := p.SaveOutput(p.t.Context(), job, reader(text))
			results[i], errs[i] = docgen.Result{Job: job, Output: &output}, err
		})
	}
	group.Wait()
	must(p.t, errors.Join(errs...))
	return results
}

func (p *press) complete(claim *docgen.Claim, results []docgen.Result) {
	p.t.Helper()
	_, err := p.CompleteJobs(p.t.Context(), claim, results)
	must(p.t, err)
}

func (p *press) statuses() []docgen.Status {
	p.t.Helper()
	var statuses []docgen.Status
	for _, job := range p.jobs(p.batchID) {
		statuses = append(statuses, job.Status)
		if done := job.Status == docgen.StatusCompleted || job.Status == docgen.StatusCompletedWithError; done != (job.OutputFileID != 0) ||
			done != (job.OutputVersionID != 0) {
			p.t.Errorf("job %+v: an output without having been completed, or none though it was", job)
		}
	}
	return statuses
}

func (p *press) wantStatuses(want ...docgen.Status) {
	p.t.Helper()
	if got := p.statuses(); !slices.Equal(got, want) {
		p.t.Errorf("statuses = %q, want %q", got, want)
	}
}

// TestFormerManagers: documents are written to other users' folders only while their creator may manage all
// content.
func TestFormerManagers(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root := w.member("root", docgen.RoleAdmin)
		folder := w.folder(w.alice, 0, "alice's")
		for name, change := range map[string]docgen.UserChange{
			"demoted":  {Role: new(docgen.RoleUser)},
			"inactive": {Status: new(docgen.StatusInactive)},
			"as ever":  {Name: new("as ever")},
		} {
			manager := w.contentManager(strings.ReplaceAll(name, " ", ""))
			batch, err := w.CreateBatch(ctx, manager, batchOf(w.template(manager, 0, name).ID, folder, "{}"))
			must(t, err)
			jobs, err := w.Jobs(ctx, manager, docgen.JobFilter{BatchID: new(batch)}, docgen.PageRequest{})
			must(t, err)
			_, err = w.UpdateUser(ctx, root, manager.User.ID, change)
			must(t, err)
			p := &press{world: w, batchID: batch}
			must(t, p.work("document"))
			want := docgen.StatusFailed
			if name == "as ever" {
				want = docgen.StatusCompleted
			}
			if job, err := w.Job(ctx, manager, jobs.Entries[0].ID); err != nil || job.Status != want {
				t.Errorf("%s: job is %s, %v, want %s", name, job.Status, err, want)
			}
		}
	})
}

func TestJobsFromClaimToEnd(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress("good", "with gaps", "bad")
		claim := p.claim()
		p.wantStatuses(docgen.StatusSubmitted, docgen.StatusSubmitted, docgen.StatusSubmitted)
		if claim.BatchID != p.batchID || claim.TemplateVersionID != p.template.VersionID || claim.OutputType != docgen.OutputDocx ||
			len(claim.Jobs) != 3 {
			t.Fatalf("claim = %+v", claim)
		}
		w.clock.advance(time.Minute)
		p.complete(claim, []docgen.Result{
			{Job: claim.Jobs[0], Output: p.save(claim.Jobs[0], "good text")},
			{Job: claim.Jobs[1], Output: p.save(claim.Jobs[1], "text with gaps"),
				Failures: docgen.Failures{Errors: []string{"The tag 'x' was not provided in the input data."}, Warnings: []string{"unused"}}},
			{Job: claim.Jobs[2], Failures: docgen.Failures{Errors: []string{"it is broken"}}},
		})
		p.wantStatuses(docgen.StatusCompleted, docgen.StatusCompletedWithError, docgen.StatusFailed)
		jobs := p.jobs(p.batchID)
		t.Run("every document is a file of the creator's in the folder", func(t *testing.T) {
			if names := w.names(w.alice, p.folder); !slices.Equal(names, []string{"good.docx", "with gaps.docx"}) {
				t.Fatalf("the folder holds %q", names)
			}
			file, err := w.File(t.Context(), w.alice, jobs[0].OutputFileID)
			must(t, err)
			if file.Name != "good.docx" || file.Parent.ID != p.folder || file.Owner.ID != w.alice.User.ID || file.CreatedBy.ID != w.alice.User.ID ||
				file.VersionID != jobs[0].OutputVersionID || file.VersionNumber != 1 || file.SHA1 != sha1Of("good text") ||
				!file.CreatedAt.Equal(noon.Add(time.Minute)) {
				t.Errorf("file = %+v", file)
			}
			if text := w.text(w.alice, jobs[1].OutputFileID, jobs[1].OutputVersionID); text != "text with gaps" {
				t.Errorf("content = %q", text)
			}
		})
		t.Run("failures are reported", func(t *testing.T) {
			for i, want := range []docgen.Failures{
				{},
				{Errors: []string{"The tag 'x' was not provided in the input data."}, Warnings: []string{"unused"}},
				{Errors: []string{"it is broken"}, Warnings: []string{}},
			} {
				if got := jobs[i].Failures; !cmp.Equal(got, want) {
					t.Errorf("job %d: %s", i, cmp.Diff(want, got))
				}
			}
		})
		t.Run("the input of completed jobs is deleted", func(t *testing.T) {
			if n := w.count("SELECT COUNT(*) FROM docgen_inputs"); n != 1 {
				t.Errorf("%d inputs are left, want that of the failed job alone", n)
			}
		})
		t.Run("nothing changes a job that has ended", func(t *testing.T) {
			before := p.jobs(p.batchID)
			if again := p.claim(); len(again.Jobs) != 0 {
				t.Errorf("claimed again: %+v", again.Jobs)
			}
			p.complete(claim, p.results(claim, "another"))
			_, err := w.FailBatch(t.Context(), p.batchID, "too late")
			must(t, err)
			if after := p.jobs(p.batchID); !cmp.Equal(before, after) {
				t.Errorf("-before +after:\n%s", cmp.Diff(before, after))
			}
		})
		w.wantNoOrphans()
	})
}

// TestSecondClaim shows that a claim takes jobs away from an earlier claim.
func TestSecondClaim(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress("a", "b")
		dead, alive := p.claim(), p.claim()
		p.complete(dead, p.results(dead, "of the dead"))
		p.wantStatuses(docgen.StatusSubmitted, docgen.StatusSubmitted)
		if names := w.names(w.alice, p.folder); len(names) != 0 {
			t.Errorf("the first wrote %q", names)
		}
		w.wantNoOrphans()
		p.complete(alive, p.results(alive, "of the living")[:1])
		p.wantStatuses(docgen.StatusCompleted, docgen.StatusSubmitted)
		third := p.claim()
		if len(third.Jobs) != 1 || third.Jobs[0].ID != alive.Jobs[1].ID {
			t.Fatalf("third claim = %+v, want the second job alone", third.Jobs)
		}
		p.complete(third, p.results(third, "of the third"))
		p.complete(dead, p.results(dead, "of the dead"))
		p.wantStatuses(docgen.StatusCompleted, docgen.StatusCompleted)
		if names := w.names(w.alice, p.folder); !slices.Equal(names, []string{"a.docx", "b.docx"}) {
			t.Errorf("the folder holds %q", names)
		}
		if text := w.text(w.alice, p.jobs(p.batchID)[0].OutputFileID, 0); text != "of the living" {
			t.Errorf("content = %q", text)
		}
	})
}

// TestConcurrentClaims has several workers run the same task at once: every document is generated exactly once.
func TestConcurrentClaims(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress(numbered("document %d", 20)...)
		errs := make([]error, 8)
		var group sync.WaitGroup
		for i := range errs {
			group.Go(func() { errs[i] = p.work(fmt.Sprint("of worker ", i)) })
		}
		group.Wait()
		must(t, errors.Join(errs...))
		must(t, p.work("of the last"))
		p.wantStatuses(slices.Repeat([]docgen.Status{docgen.StatusCompleted}, 20)...)
		if n := len(w.names(w.alice, p.folder)); n != 20 {
			t.Errorf("%d files, want 20", n)
		}
	})
}

// work runs the task like a worker, and returns errors.
func (p *press) work(text string) error {
	ctx := p.t.Context()
	claim, err := p.ClaimBatch(ctx, p.batchID)
	if err != nil {
		return err
	}
	var results []docgen.Result
	for _, job := range claim.Jobs {
		output, err := p.SaveOutput(ctx, job, reader(text))
		if err != nil {
			return err
		}
		results = append(results, docgen.Result{Job: job, Output: &output})
	}
	_, err = p.CompleteJobs(ctx, claim, results)
	return err
}

func TestNumberedOutputs(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		t.Run("of one name all come out", func(t *testing.T) {
			documents := 1000
			if testing.Short() {
				documents = 200
			}
			p := w.newPress(slices.Repeat([]string{"Letter"}, documents-1)...)
			w.upload(w.alice, p.folder, "LETTER.docx", "in the way")
			claim := p.claim()
			results := p.results(claim, "x")
			p.complete(claim, results)
			want := append(numbered("Letter (%d).docx", documents-1), "LETTER.docx")
			slices.Sort(want)
			if got := slices.Sorted(slices.Values(w.names(w.alice, p.folder))); !slices.Equal(got, want) {
				t.Errorf("the folder holds %q", got)
			}
		})
		t.Run("of several workers at once all come out", func(t *testing.T) {
			const workers, documents = 6, 12
			names := append(slices.Repeat([]string{"A", "B"}, documents/4), slices.Repeat([]string{"B", "A"}, documents/4)...)
			first := w.newPress(names...)
			presses := []*press{first}
			for range workers - 1 {
				b := batchOf(first.template.ID, first.folder, slices.Repeat([]string{"{}"}, documents)...)
				for i := range b.Documents {
					b.Documents[i].Name = names[i]
				}
				another := &press{world: w, folder: first.folder, batchID: w.batch(b)}
				presses = append(presses, another)
			}
			errs := make([]error, workers)
			var group sync.WaitGroup
			for i, p := range presses {
				group.Go(func() { errs[i] = p.work("x") })
			}
			group.Wait()
			must(t, errors.Join(errs...))
			if got := len(w.names(w.alice, first.folder)); got != workers*documents {
				t.Errorf("%d files, want %d", got, workers*documents)
			}
		})
	})
}

// TestTakenID shows that a document whose id is taken does not search for a free name forever, because its name is not
// the problem.
func TestTakenID(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress("a")
		claim := p.claim()
		results := p.results(claim, "x")
		next := w.folder(w.alice, 0, "shows which ids come next")
		var taken []at
		for i := range int64(20) {
			taken = append(taken, at{docgen.File, next + 4 + i}) // a folder and its event have an id each
		}
		must(t, w.insert(w.folder(w.alice, 0, "taken"), taken...))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if _, err := p.CompleteJobs(ctx, claim, results); err == nil || ctx.Err() != nil {
			t.Fatalf("CompleteJobs = %v, %v, want an error before long", err, ctx.Err())
		}
		p.wantStatuses(docgen.StatusSubmitted)
		w.clock.advance(time.Second)
		must(t, p.work("again"))
		p.wantStatuses(docgen.StatusCompleted)
	})
}

// TestDestinationLost shows that documents that can no longer be written fail with a reason, and leave nothing behind.
func TestDestinationLost(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		theirs := w.folder(w.bob, 0, "bob's")
		invited, err := w.CreateCollaboration(t.Context(), w.bob, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: theirs,
			UserID: w.alice.User.ID, Role: docgen.RoleUploader})
		must(t, err)
		for _, tt := range []struct {
			name string
			lose func(p *press) error
		}{
			{"in the trash", func(p *press) error { return w.TrashFolder(t.Context(), w.alice, p.folder, false, "") }},
			{"in a folder that is in the trash", func(p *press) error {
				outer := w.folder(w.alice, 0, "outer")
				if _, err := w.UpdateFolder(t.Context(), w.alice, p.folder, docgen.ItemChange{ParentID: &outer}); err != nil {
					return err
				}
				return w.TrashFolder(t.Context(), w.alice, outer, true, "")
			}},
			{"only to be seen", func(*press) error {
				_, err := w.UpdateCollaboration(t.Context(), w.bob, invited.ID, docgen.CollaborationChange{Role: docgen.RoleViewer})
				return err
			}},
			{"out of sight", func(*press) error { return w.DeleteCollaboration(t.Context(), w.bob, invited.ID) }},
		} {
			t.Run(tt.name, func(t *testing.T) {
				p := w.newPress("a", "b")
				if strings.HasPrefix(tt.name, "only") || strings.HasPrefix(tt.name, "out") {
					p.folder = theirs
					_, err := w.UpdateCollaboration(t.Context(), w.bob, invited.ID, docgen.CollaborationChange{Role: docgen.RoleUploader})
					must(t, err)
					p.batchID = w.batch(batchOf(p.template.ID, theirs, "{}", "{}"))
				}
				claim := p.claim()
				results := p.results(claim, "x")
				must(t, tt.lose(p))
				p.complete(claim, results)
				p.wantStatuses(docgen.StatusFailed, docgen.StatusFailed)
				for _, job := range p.jobs(p.batchID) {
					if len(job.Failures.Errors) != 1 || !strings.Contains(job.Failures.Errors[0], "destination folder") {
						t.Errorf("errors = %q, want one that tells of the destination folder", job.Failures.Errors)
					}
				}
				w.wantNoOrphans()
			})
		}
	})
}

// TestDestinationDeletedMeanwhile deletes empty folders while jobs add documents to them: either the folder is not
// empty, or the jobs fail.
func TestDestinationDeletedMeanwhile(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		var kept, deleted int
		for range 30 {
			p := w.newPress("a", "b")
			claim := p.claim()
			results := p.results(claim, "x")
			var refused error
			var group sync.WaitGroup
			group.Go(func() { refused = w.TrashFolder(t.Context(), w.alice, p.folder, false, "") })
			group.Go(func() {
				if _, err := p.CompleteJobs(t.Context(), claim, results); err != nil {
					t.Error(err)
				}
			})
			group.Wait()
			if refused == nil {
				deleted++
				p.wantStatuses(docgen.StatusFailed, docgen.StatusFailed)
				continue
			}
			kept++
			wantCode(t, refused, docgen.CodeFolderNotEmpty)
			p.wantStatuses(docgen.StatusCompleted, docgen.StatusCompleted)
		}
		t.Logf("%d folders were kept, %d deleted", kept, deleted)
		w.wantNoOrphans()
	})
}

// TestTemplateLost shows that a batch continues without its template: the version that it uses is pinned.
func TestTemplateLost(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress("a")
		w.version(w.alice, p.template.ID, "newer")
		must(t, w.UnmarkTemplate(t.Context(), w.alice, p.template.ID))
		must(t, w.TrashFile(t.Context(), w.alice, p.template.ID, ""))
		claim := p.claim()
		content, err := w.TemplateContent(t.Context(), claim.TemplateVersionID)
		must(t, err)
		if content.SHA1 != p.template.SHA1 {
			t.Errorf("content = %+v, want that of the pinned version", content)
		}
		p.complete(claim, p.results(claim, "x"))
		p.wantStatuses(docgen.StatusCompleted)
	})
}

func TestJobsThatFail(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress("a", "b", "c")
		claim := p.claim()
		p.complete(claim, p.results(claim, "x")[:1])
		ended, err := w.FailBatch(t.Context(), p.batchID, "no attempt came to an end")
		must(t, err)
		if len(ended) != 1 || ended[docgen.StatusFailed] == 0 {
			t.Errorf("ended = %v, want failed jobs alone", ended)
		}
		p.wantStatuses(docgen.StatusCompleted, docgen.StatusFailed, docgen.StatusFailed)
		if job := p.jobs(p.batchID)[2]; !slices.Equal(job.Failures.Errors, []string{"no attempt came to an end"}) {
			t.Errorf("errors = %q", job.Failures.Errors)
		}
	})
}

// TestStatusesInTheDatabase shows that constraints of the database protect statuses and the columns that belong to them.
func TestStatusesInTheDatabase(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.newPress("a")
		for status, output := range map[docgen.Status]int{
			docgen.StatusPending: 0, docgen.StatusSubmitted: 0, docgen.StatusFailed: 0, docgen.StatusCompleted: 1,
			docgen.StatusCompletedWithError: 1,
		} {
			const change = "UPDATE docgen_jobs SET status = $1, output_file_id = $2"
			if err := w.exec(change, string(status), output); err != nil {
				t.Errorf("%s with output %d: %v", status, output, err)
			}
			if err := w.exec(change, string(status), 1-output); err == nil {
				t.Errorf("%s with output %d is kept", status, 1-output)
			}
		}
		if err := w.exec("UPDATE docgen_jobs SET status = 'cancelled', output_file_id = 0"); err == nil {
			t.Error("an invalid status is stored")
		}
		w.recountBatches()
	})
}

// TestFullDisk shows that a full disk results in an understandable error, and that nothing is lost.
func TestFullDisk(t *testing.T) {
	storetest.RunConfig(t, func(t *testing.T, cfg store.Config) {
		disk, err := blob.Open(t.TempDir())
		must(t, err)
		faulty := blobtest.NewFaulty(disk)
		w := newWorld(t, cfg, faulty, docgen.Limits{})
		ctx := t.Context()
		p := w.newPress("a")
		file := w.upload(w.alice, 0, "file.txt", "before")
		claim := p.claim()

		faulty.Room(3)
		_, err = w.CreateFile(ctx, w.alice, docgen.NewFile{Name: "new.txt"}, reader("too much"))
		wantCode(t, err, docgen.CodeStorageFull)
		_, err = w.CreateVersion(ctx, w.alice, docgen.NewVersion{FileID: file.ID}, reader("too much"))
		wantCode(t, err, docgen.CodeStorageFull)
		_, err = w.SaveOutput(ctx, claim.Jobs[0], reader("too much"))
		wantCode(t, err, docgen.CodeStorageFull)
		p.wantStatuses(docgen.StatusSubmitted)
		if text := w.text(w.alice, file.ID, 0); text != "before" {
			t.Errorf("content = %q, want the previous content", text)
		}
		w.wantNoOrphans()

		faulty.Room(-1)
		w.upload(w.alice, 0, "new.txt", "too much")
		w.version(w.alice, file.ID, "too much")
		p.complete(claim, p.results(claim, "x"))
		p.wantStatuses(docgen.StatusCompleted)
		t.Run("another fault is the server's own", func(t *testing.T) {
			broken := errors.New("a secret of the disk")
			faulty.Fail(blobtest.Put, 1, broken)
			_, err := w.CreateFile(ctx, w.alice, docgen.NewFile{Name: "x"}, reader("x"))
			var known *docgen.Error
			if !errors.Is(err, broken) || errors.As(err, &known) {
				t.Errorf("error = %v, want the fault, and no error for the caller", err)
			}
		})
		t.Run("it shows in the readiness", func(t *testing.T) {
			full := errors.New("full")
			faulty.Fail(blobtest.Check, 1, full)
			if ready := w.Ready(ctx); !errors.Is(ready["blobs"], full) || ready["database"] != nil {
				t.Errorf("Ready = %v", ready)
			}
			w.clock.advance(time.Second) // until then, the result is cached
			if ready := w.Ready(ctx); ready["blobs"] != nil {
				t.Errorf("Ready = %v", ready)
			}
		})
	})
}

func TestSweep(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.clock.micros.Store(time.Now().UnixMicro()) // contents have the time of the disk
		file := w.upload(w.alice, 0, "a.txt", "one")
		w.version(w.alice, file.ID, "two")
		trashed := w.upload(w.alice, 0, "b.txt", "in the trash")
		must(t, w.TrashFile(ctx, w.alice, trashed.ID, ""))
		p := w.newPress("a")
		p.save(p.claim().Jobs[0], "orphan")
		for _, key := range []string{"versions/x", "other/1"} {
			_, err := w.blobs.Put(ctx, key, reader("of somebody else"))
			must(t, err)
		}
		sweep := func(want int) {
			t.Helper()
			if n, err := w.Sweep(ctx); err != nil || n != want {
				t.Errorf("Sweep = %d, %v, want %d", n, err, want)
			}
		}
		sweep(0)
		if n := len(w.keys()); n != 6 {
			t.Errorf("%d contents, want all 6 while the orphan is young", n)
		}
		w.clock.advance(25 * time.Hour)
		sweep(1)
		sweep(0)
		for _, key := range []string{"versions/x", "other/1"} {
			if _, err := w.blobs.Stat(ctx, key); err != nil {
				t.Errorf("another file: %v", err)
			}
		}
		must(t, w.blobs.Delete(ctx, "versions/x"))
		w.wantNoOrphans()
		if text := w.text(w.alice, file.ID, file.VersionID); text != "one" {
			t.Errorf("content = %q", text)
		}
		must(t, w.ScheduleSweep(ctx))
		must(t, w.ScheduleSweep(ctx))
		if n := w.count("SELECT COUNT(*) FROM river_job WHERE kind = 'sweep_blobs'"); n != 1 {
			t.Errorf("%d tasks to sweep, want 1", n)
		}
	})
}
