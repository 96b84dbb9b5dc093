package docgen_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
)

// newPDFPress creates a batch of PDFs with these options and names.
func (w *world) newPDFPress(o docgen.PDFOptions, names ...string) *press {
	w.t.Helper()
	p := &press{world: w}
	p.folder = w.folder(w.alice, 0, fmt.Sprint("out ", w.count("SELECT COUNT(*) FROM items")))
	p.template = w.template(w.alice, 0, fmt.Sprint("template ", p.folder))
	b := batchOf(p.template.ID, p.folder, slices.Repeat([]string{"{}"}, len(names))...)
	b.OutputType, b.Options.PDF = docgen.OutputPDF, &o
	for i, name := range names {
		b.Documents[i].Name = name
	}
	p.batchID = w.batch(b)
	return p
}

var merging = docgen.PDFOptions{Merged: &docgen.MergedFile{Name: "All letters"}}

func (p *press) mergeTask() docgen.MergeDocuments { return docgen.MergeDocuments{BatchID: p.batchID} }

func (p *press) claimMerge() *docgen.Merge {
	p.t.Helper()
	m, err := p.ClaimMerge(p.t.Context(), p.mergeTask(), false)
	must(p.t, err)
	return m
}

// merge runs the merge task like a worker. The merged file is the concatenation of the parts.
func (p *press) merge(m *docgen.Merge) docgen.Status {
	p.t.Helper()
	var text strings.Builder
	for _, part := range m.Parts {
		r, err := part.Open(p.t.Context(), 0, -1)
		must(p.t, err)
		_, err = io.Copy(&text, r)
		must(p.t, errors.Join(err, r.Close()))
	}
	output, err := p.SaveMerged(p.t.Context(), m, reader(text.String()))
	must(p.t, err)
	status, err := p.CompleteMerge(p.t.Context(), m, &output, docgen.Failures{})
	must(p.t, err)
	return status
}

func (p *press) batchNow() docgen.Batch {
	p.t.Helper()
	b, err := p.Batch(p.t.Context(), p.alice, p.batchID)
	must(p.t, err)
	return b
}

// wantMerges checks the number of merge tasks.
func (w *world) wantMerges(want int) {
	w.t.Helper()
	if n := w.count("SELECT COUNT(*) FROM river_job WHERE kind = 'merge_documents' AND queue = 'merge'"); n != want {
		w.t.Errorf("%d tasks to merge, want %d", n, want)
	}
}

// document returns the result of a job with a document of the given text.
func (p *press) document(job docgen.ClaimedJob, text string) docgen.Result {
	p.t.Helper()
	return docgen.Result{Job: job, Output: p.save(job, text)}
}

func TestMergedFile(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPDFPress(merging, "a", "b", "c")
		hook := w.hook(w.alice, p.folder, docgen.FileUploaded)
		claim := p.claim()
		p.complete(claim, []docgen.Result{p.document(claim.Jobs[2], "three"), p.document(claim.Jobs[0], "one")})
		t.Run("waits for the last job", func(t *testing.T) {
			w.wantMerges(0)
			if b := p.batchNow(); b.Merged == nil || b.Merged.Status != docgen.StatusPending || b.Merged.FileName != "All letters.pdf" ||
				b.Jobs[docgen.StatusCompleted] != 2 || b.Jobs[docgen.StatusSubmitted] != 1 {
				t.Errorf("batch %+v, merged %+v", b, b.Merged)
			}
		})
		p.complete(claim, []docgen.Result{p.document(claim.Jobs[1], "two")})
		p.complete(claim, []docgen.Result{p.document(claim.Jobs[1], "two again")})
		w.wantMerges(1)
		jobs := p.jobs(p.batchID)
		w.version(w.alice, jobs[0].OutputFileID, "another one")
		_, err := w.UpdateFile(t.Context(), w.alice, jobs[1].OutputFileID, docgen.ItemChange{Name: new("moved.pdf"), ParentID: new(int64(0))})
		must(t, err)
		must(t, w.TrashFile(t.Context(), w.alice, jobs[2].OutputFileID, ""))
		w.upload(w.alice, p.folder, "all letters.PDF", "in the way")

		dead, m := p.claimMerge(), p.claimMerge()
		if b := p.batchNow(); b.Merged.Status != docgen.StatusSubmitted {
			t.Errorf("merged %+v, want it under way", b.Merged)
		}
		if status := p.merge(dead); status != "" {
			t.Errorf("a presumed dead attempt ends the merge: %s", status)
		}
		if status := p.merge(m); status != docgen.StatusCompleted {
			t.Errorf("the merge is %s", status)
		}
		b := p.batchNow()
		t.Run("has the documents of the jobs, in the order of the request", func(t *testing.T) {
			if text := w.text(w.alice, b.Merged.OutputFileID, b.Merged.OutputVersionID); text != "onetwothree" {
				t.Errorf("the merged file holds %q", text)
			}
		})
		t.Run("is a file of the creator's, with a number where its name is taken", func(t *testing.T) {
			file, err := w.File(t.Context(), w.alice, b.Merged.OutputFileID)
			must(t, err)
			if file.Name != "All letters (1).pdf" || file.Parent.ID != p.folder || file.Owner.ID != w.alice.User.ID ||
				file.CreatedBy.ID != w.alice.User.ID {
				t.Errorf("file %+v", file)
			}
		})
		t.Run("fires an upload event", func(t *testing.T) {
			page, err := w.Deliveries(t.Context(), w.alice, docgen.DeliveryFilter{WebhookID: hook.ID}, docgen.PageRequest{})
			must(t, err)
			if len(page.Entries) != 6 { // three documents, a new version, the conflicting file, the merged file
				t.Errorf("%d deliveries, want 6", len(page.Entries))
			}
		})
		t.Run("is generated once", func(t *testing.T) {
			if again := p.claimMerge(); len(again.Parts) != 0 {
				t.Errorf("claimed again: %+v", again)
			}
			if status := p.merge(m); status != "" {
				t.Errorf("ended again: %s", status)
			}
			if status, err := w.FailMerge(t.Context(), p.mergeTask(), "too late"); status != "" || err != nil {
				t.Errorf("FailMerge = %s, %v", status, err)
			}
			if after := p.batchNow(); !cmp.Equal(b, after) {
				t.Errorf("-before +after:\n%s", cmp.Diff(b, after))
			}
		})
		w.wantMerges(1)
		w.wantNoOrphans()
	})
}

func TestMergedFileLacksDocuments(t *testing.T) {
	failed := docgen.Failures{Errors: []string{"it is broken"}}
	for name, tt := range map[string]struct {
		end    func(p *press, claim *docgen.Claim)
		status docgen.Status
		words  []string // of the failures, errors first
	}{
		"that could not be made": {func(p *press, claim *docgen.Claim) {
			p.complete(claim, []docgen.Result{p.document(claim.Jobs[0], "one"), {Job: claim.Jobs[1], Failures: failed}})
		}, docgen.StatusCompletedWithError, []string{"1 of the 2 documents could not be generated"}},
		"that are deleted for good": {func(p *press, claim *docgen.Claim) {
			p.complete(claim, p.results(claim, "one"))
			must(p.t, p.TrashFile(p.t.Context(), p.alice, p.jobs(p.batchID)[1].OutputFileID, ""))
			must(p.t, p.Purge(p.t.Context(), p.alice, docgen.File, p.jobs(p.batchID)[1].OutputFileID))
		}, docgen.StatusCompleted, []string{"1 of the 2 documents were permanently deleted"}},
		"all of them": {func(p *press, claim *docgen.Claim) {
			_, err := p.FailBatch(p.t.Context(), p.batchID, "no attempt came to an end")
			must(p.t, err)
		}, docgen.StatusFailed, []string{"2 of the 2 documents could not be generated", "No documents are left"}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				p := w.newPDFPress(merging, "a", "b")
				tt.end(p, p.claim())
				w.wantMerges(1)
				if m := p.claimMerge(); len(m.Parts) > 0 {
					p.merge(m)
				}
				merged := p.batchNow().Merged
				said := slices.Concat(merged.Failures.Errors, merged.Failures.Warnings)
				if merged.Status != tt.status || len(said) != len(tt.words) || (merged.OutputFileID == 0) != (tt.status == docgen.StatusFailed) {
					t.Fatalf("merged %+v, want %s with failures of %q", merged, tt.status, tt.words)
				}
				for i, words := range tt.words {
					if !strings.Contains(said[i], words) {
						t.Errorf("failure %q, want one of %q", said[i], words)
					}
				}
			})
		})
	}
}

// TestMergedFileCannotBeWritten shows that a merge that cannot be written fails with a reason, and leaves nothing behind.
func TestMergedFileCannotBeWritten(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		t.Run("with its destination", func(t *testing.T) {
			p := w.newPDFPress(merging, "a")
			must(t, p.work("one"))
			m := p.claimMerge()
			must(t, w.TrashFolder(t.Context(), w.alice, p.folder, true, ""))
			if status := p.merge(m); status != docgen.StatusFailed {
				t.Errorf("the merge is %s", status)
			}
			if f := p.batchNow().Merged.Failures; len(f.Errors) != 1 || !strings.Contains(f.Errors[0], "destination folder") {
				t.Errorf("failures %+v", f)
			}
		})
		t.Run("when no attempt succeeds", func(t *testing.T) {
			p := w.newPDFPress(merging, "a")
			must(t, p.work("one"))
			if status, err := w.FailMerge(t.Context(), p.mergeTask(), "it is too large"); status != docgen.StatusFailed || err != nil {
				t.Errorf("FailMerge = %s, %v", status, err)
			}
			if f := p.batchNow().Merged.Failures; !slices.Equal(f.Errors, []string{"it is too large"}) {
				t.Errorf("failures %+v", f)
			}
		})
		w.wantNoOrphans()
		if n := w.count("SELECT COUNT(*) FROM docgen_endings"); n != 0 {
			t.Errorf("%d batches still have something to be done", n)
		}
	})
}

// TestLastJobsAtOnce has workers end the last jobs of batches at the same moment: one of them starts the merge.
func TestLastJobsAtOnce(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		const batches, workers = 10, 4
		for i := range batches {
			p := w.newPDFPress(merging, numbered("document %d", workers)...)
			claim := p.claim()
			results := make([]docgen.Result, workers)
			for j, job := range claim.Jobs {
				results[j] = docgen.Result{Job: job, Failures: docgen.Failures{Errors: []string{"it is broken"}}}
				if i%2 == 0 || j == 0 { // failed jobs write to no folder, and do not wait there
					results[j] = p.document(job, "x")
				}
			}
			errs := make([]error, workers)
			var group sync.WaitGroup
			for j, result := range results {
				group.Go(func() { _, errs[j] = p.CompleteJobs(t.Context(), claim, []docgen.Result{result}) })
			}
			group.Wait()
			must(t, errors.Join(errs...))
			w.wantMerges(i + 1)
		}
	})
}

// TestPasswordsAreDeleted shows that passwords are stored only while documents are generated, and that only workers
// get them.
func TestPasswordsAreDeleted(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for name, merged := range map[string]*docgen.MergedFile{"without a merged file": nil, "with a merged file": {Name: "All"}} {
			t.Run(name, func(t *testing.T) {
				p := w.newPDFPress(docgen.PDFOptions{Password: secret("correct horse"), OwnerPassword: secret("battery"), Merged: merged}, "a", "b")
				kept := func(want int) {
					t.Helper()
					if n := w.count("SELECT COUNT(*) FROM docgen_endings WHERE passwords LIKE '%correct horse%'"); n != want {
						t.Errorf("passwords of %d batches are kept, want %d", n, want)
					}
					rows := query[string](w, "SELECT options FROM docgen_batches")
					rows = append(rows, query[string](w, "SELECT CAST(args AS TEXT) FROM river_job")...)
					if all := strings.Join(rows, "\n"); strings.Contains(all, "horse") || strings.Contains(all, "battery") {
						t.Errorf("a password is elsewhere: %s", all)
					}
					o := p.batchNow().Options.PDF
					if o.Password == nil || *o.Password != "" || o.OwnerPassword == nil || *o.OwnerPassword != "" {
						t.Errorf("the batch shows %v and %v, want that there are passwords alone", o.Password, o.OwnerPassword)
					}
				}
				claim := p.claim()
				if got := claim.Options.PDF.Protection(); got == nil || got.Password != "correct horse" || got.OwnerPassword != "battery" {
					t.Errorf("the maker gets %+v", got)
				}
				p.complete(claim, p.results(claim, "x")[:1])
				kept(1)
				must(t, p.work("y"))
				if merged != nil {
					kept(1)
					m := p.claimMerge()
					if got := m.Options.PDF.Protection(); got == nil || got.Password != "correct horse" {
						t.Errorf("the merge task gets %+v", got)
					}
					p.merge(m)
				}
				kept(0)
				if again := p.claim(); len(again.Jobs) != 0 {
					t.Errorf("claimed again: %+v", again.Jobs)
				}
			})
		}
	})
}

// TestBatch reads batches that were created with and without options.
func TestBatch(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		plain := w.batch(batchOf(template.ID, 0, "{}", "{}"))
		got, err := w.Batch(ctx, w.alice, plain)
		must(t, err)
		want := docgen.Batch{
			ID: plain, TemplateID: template.ID, TemplateVersionID: template.VersionID, OutputType: docgen.OutputDocx,
			Jobs:      map[docgen.Status]int{docgen.StatusPending: 2},
			CreatedAt: noon, CreatedBy: w.alice.User.ID, EnterpriseID: got.EnterpriseID, Source: docgen.InputSource,
			Number: w.jobs(plain)[0].ID,
		}
		if !cmp.Equal(got, want) {
			t.Errorf("-want +got:\n%s", cmp.Diff(want, got))
		}
		t.Run("is visible only to its creator", func(t *testing.T) {
			for _, id := range []string{plain, "", "x", "64528422-fbf4-4f8d-b6a0-b099c6572cf2"} {
				c := w.alice
				if id == plain {
					c = w.bob
				}
				_, err := w.Batch(ctx, c, id)
				wantCode(t, err, docgen.CodeNotFound)
			}
		})
		t.Run("keeps its options", func(t *testing.T) {
			o := docgen.PDFOptions{Standard: docgen.PDFA3b, AttachData: true, Bookmarks: new(false), Watermark: "DRAFT",
				Pictures: &docgen.PDFPictures{Quality: new(int64(50))}}
			p := w.newPDFPress(o, "a")
			if got := p.batchNow(); !cmp.Equal(got.Options.PDF, &o) || got.DestinationID != p.folder || got.Merged != nil {
				t.Errorf("batch %+v with options %+v", got, got.Options.PDF)
			}
			if claim := p.claim(); !cmp.Equal(claim.Options.PDF, &o) {
				t.Errorf("options %+v", claim.Options.PDF)
			}
		})
	})
}
