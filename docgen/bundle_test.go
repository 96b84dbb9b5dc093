package docgen_test

import (
	"slices"
	"testing"

	"platen/docgen"
)

// bundled returns the names in a bundle, and what it says about documents that it lacks.
func (w *world) bundled(batchID string) (names, left []string) {
	w.t.Helper()
	bundle, err := w.BatchBundle(w.t.Context(), w.alice, batchID)
	must(w.t, err)
	for file, err := range bundle.Files {
		must(w.t, err)
		must(w.t, file.Reader.Close())
		names = append(names, file.Path)
	}
	_, left = bundle.Missing()
	return names, left
}

func TestBatchBundle(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		p := w.newPress("c", "a", "b", "d")
		_, err := w.BatchBundle(ctx, w.alice, p.batchID)
		wantCode(t, err, docgen.CodeConflict)
		claim := p.claim()
		results := p.results(claim, "text")
		results[3].Output, results[3].Failures.Errors = nil, []string{"no data"}
		p.complete(claim, results)
		_, err = w.BatchBundle(ctx, w.bob, p.batchID)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.BatchBundle(ctx, w.caller("alice", docgen.ScopeDocGen), p.batchID)
		wantCode(t, err, docgen.CodeScope)

		names, left := w.bundled(p.batchID)
		if !slices.Equal(names, []string{"c.docx", "a.docx", "b.docx"}) || len(left) != 1 {
			t.Errorf("the bundle has %q, and says %q", names, left)
		}
		jobs, err := w.Jobs(ctx, w.alice, docgen.JobFilter{BatchID: &p.batchID}, docgen.PageRequest{})
		must(t, err)
		_, err = w.UpdateFile(ctx, w.alice, jobs.Entries[0].OutputFileID, docgen.ItemChange{Name: new("moved.docx"), ParentID: new(int64(0))})
		must(t, err)
		must(t, w.TrashFile(ctx, w.alice, jobs.Entries[1].OutputFileID, ""))
		w.version(w.alice, jobs.Entries[2].OutputFileID, "corrected")
		names, left = w.bundled(p.batchID)
		if !slices.Equal(names, []string{"moved.docx", "b.docx"}) || len(left) != 2 {
			t.Errorf("the bundle has %q, and says %q", names, left)
		}
		must(t, w.TrashFolder(ctx, w.alice, p.folder, true, ""))
		if names, _ = w.bundled(p.batchID); !slices.Equal(names, []string{"moved.docx"}) {
			t.Errorf("the bundle has %q after its folder was trashed", names)
		}
	})
}

// TestLargeBatchBundle reads more documents than one portion.
func TestLargeBatchBundle(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress(slices.Repeat([]string{"letter"}, 1001)...)
		for {
			claim := p.claim()
			if len(claim.Jobs) == 0 {
				break
			}
			p.complete(claim, p.results(claim, "text"))
		}
		if names, left := w.bundled(p.batchID); len(slices.Compact(names)) != 1001 || len(left) > 0 {
			t.Errorf("the bundle has %d documents, and says %q", len(names), left)
		}
	})
}
