package docgen_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
)

// TestPDFParts lists the PDFs of folders for one PDF.
func TestPDFParts(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		top := w.folder(w.alice, 0, "Top")
		inner := w.folder(w.alice, top, "inner")
		w.upload(w.alice, inner, "b.PDF", "b")
		deleted := w.upload(w.alice, top, "a.pdf", "a")
		w.folder(w.alice, top, "empty")
		hook := w.hook(w.alice, top, docgen.FolderDownloaded, docgen.FileDownloaded)
		pdf := docgen.NewZip{Items: []docgen.ZipItem{folderIn(top)}, OutputType: docgen.OutputPDF, Name: "All.pdf"}
		zip, err := w.CreateZip(ctx, w.alice, pdf)
		must(t, err)
		if got := w.notices(hook.ID); len(got) > 0 {
			t.Errorf("notifications before the download: %q", got)
		}
		bundle, err := w.StartZip(ctx, w.alice, zip.ID)
		must(t, err)
		parts, err := bundle.Parts()
		must(t, err)
		var texts []string
		for _, part := range parts {
			r, err := part.Open(ctx)
			must(t, err)
			text, err := io.ReadAll(r)
			must(t, err)
			must(t, r.Close())
			texts = append(texts, part.Path+" "+part.Title()+" "+string(text))
		}
		if want := []string{"Top/a.pdf a a", "Top/inner/b.PDF b b"}; !slices.Equal(texts, want) || bundle.FileName() != "All.pdf" {
			t.Errorf("%s has %q, want %q", bundle.FileName(), texts, want)
		}
		must(t, w.TrashFile(ctx, w.alice, deleted.ID, ""))
		must(t, w.Purge(ctx, w.alice, docgen.File, deleted.ID))
		_, err = parts[0].Open(ctx)
		wantCode(t, err, docgen.CodeConflict)
		bundle.End(ctx, nil)
		w.wantStatus(w.alice, zip, docgen.ZipStatus{Files: 2, Downloaded: 2, State: docgen.ZipSucceeded})
		if got := w.notices(hook.ID); !slices.Equal(got, []string{"FOLDER.DOWNLOADED folder Top", "FILE.DOWNLOADED file a.pdf",
			"FILE.DOWNLOADED file b.PDF"}) {
			t.Errorf("notifications: %q", got)
		}
	})
}

// TestPDFsThatCannotBe requests PDFs of files that cannot be merged. All of them are named.
func TestPDFsThatCannotBe(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		top := w.folder(w.alice, 0, "Top")
		refused := func(folder int64, texts ...string) {
			t.Helper()
			_, err := w.CreateZip(ctx, w.alice, docgen.NewZip{Items: []docgen.ZipItem{folderIn(folder)}, OutputType: docgen.OutputPDF})
			for _, text := range texts {
				if !docgen.IsCode(err, docgen.CodeConflict) || !strings.Contains(err.Error(), text) {
					t.Errorf("error %v, want %q", err, text)
				}
			}
		}
		refused(top, "no files")
		w.upload(w.alice, top, "a.pdf", "a")
		for i := range 12 {
			w.upload(w.alice, top, fmt.Sprintf("%c.docx", 'a'+i), "x")
		}
		refused(top, "Top/a.docx, Top/b.docx", "Top/j.docx, and 2 more")
		_, err := w.CreateZip(ctx, w.alice, docgen.NewZip{Items: []docgen.ZipItem{folderIn(top)}, OutputType: "tar"})
		wantCode(t, err, docgen.CodeBadRequest)

		many := w.folder(w.alice, 0, "Many")
		for i := range 10 {
			w.upload(w.alice, many, fmt.Sprint(i, ".pdf"), "x")
		}
		full := w.folder(w.alice, 0, "Full")
		for i := range 100 {
			_, err := w.CopyFolder(ctx, w.alice, docgen.NewCopy{ItemID: many, ParentID: full, Name: fmt.Sprint("copy ", i)})
			must(t, err)
		}
		zip, err := w.CreateZip(ctx, w.alice, docgen.NewZip{Items: []docgen.ZipItem{folderIn(full)}, OutputType: docgen.OutputPDF})
		must(t, err)
		w.upload(w.alice, full, "one more.pdf", "x")
		refused(full, "At most 1000 PDFs")
		bundle, err := w.StartZip(ctx, w.alice, zip.ID)
		must(t, err)
		_, err = bundle.Parts()
		wantCode(t, err, docgen.CodeConflict)
		bundle.End(ctx, err)
		w.wantStatus(w.alice, zip, docgen.ZipStatus{Files: 1000, State: docgen.ZipFailed})
		must(t, w.exec("UPDATE file_versions SET size = $1 WHERE name = '0.pdf'", int64(200<<20)))
		refused(many, "At most 1000 PDFs of 209715200 bytes")
		must(t, w.exec("UPDATE file_versions SET size = 1 WHERE name = '0.pdf'"))

		late, err := w.CreateZip(ctx, w.alice, docgen.NewZip{Items: []docgen.ZipItem{folderIn(many), folderIn(full)}})
		must(t, err)
		must(t, w.TrashFolder(ctx, w.alice, full, true, ""))
		bundle, err = w.StartZip(ctx, w.alice, late.ID)
		must(t, err)
		if _, err = bundle.Parts(); !docgen.IsCode(err, docgen.CodeConflict) || !strings.Contains(err.Error(), "would not be complete") {
			t.Errorf("error %v", err)
		}
	})
}

func TestBatchParts(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress("a", "b")
		claim := p.claim()
		p.complete(claim, p.results(claim, "text"))
		bundle, err := w.BatchBundle(t.Context(), w.alice, p.batchID)
		must(t, err)
		if _, err := bundle.Parts(); !docgen.IsCode(err, docgen.CodeConflict) || !strings.Contains(err.Error(), "a.docx, b.docx") {
			t.Errorf("error %v", err)
		}
	})
}
