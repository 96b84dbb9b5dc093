package docgen_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

// oneDocument returns a valid request with a template in it.
func oneDocument() docgen.DocumentRequest {
	return docgen.DocumentRequest{Inline: []byte("a template"), InlineName: "Letter.docx", OutputType: docgen.OutputDocx,
		Input: new(docgen.Inputs).Parse([]byte(`{"name":"Ada"}`))}
}

func TestDocumentRequestProblems(t *testing.T) {
	limits := docgen.Limits{InputBytes: 100, TemplateBytes: 20}
	merged := &docgen.PDFOptions{Merged: &docgen.MergedFile{}}
	for name, tt := range map[string]struct {
		change func(*docgen.DocumentRequest)
		want   string // the fields with problems
	}{
		"valid":                {func(*docgen.DocumentRequest) {}, ""},
		"two templates":        {func(r *docgen.DocumentRequest) { r.TemplateID = 7 }, "template"},
		"a version of nothing": {func(r *docgen.DocumentRequest) { r.VersionID = 7 }, "file_version"},
		"no template":          {func(r *docgen.DocumentRequest) { r.Inline = nil }, "file"},
		"an empty template":    {func(r *docgen.DocumentRequest) { r.Inline = []byte{} }, "template"},
		"a large template":     {func(r *docgen.DocumentRequest) { r.Inline = make([]byte, 21) }, "template"},
		"an unknown type":      {func(r *docgen.DocumentRequest) { r.OutputType = "odt" }, "output_type"},
		"no input":             {func(r *docgen.DocumentRequest) { r.Input = docgen.Input{} }, "user_input"},
		"a large input": {func(r *docgen.DocumentRequest) {
			r.Input = new(docgen.Inputs).Parse(fmt.Appendf(nil, `{"a":"%0100d"}`, 1))
		}, "user_input"},
		"an invalid name":        {func(r *docgen.DocumentRequest) { r.Name = "a/b" }, "generated_file_name"},
		"an unknown locale":      {func(r *docgen.DocumentRequest) { r.Options.Locale = "xx" }, "options.locale"},
		"PDF options for Word":   {func(r *docgen.DocumentRequest) { r.Options.PDF = &docgen.PDFOptions{} }, "options.pdf"},
		"a merged file":          {func(r *docgen.DocumentRequest) { r.Options.PDF = merged }, "options.pdf.merged"},
		"image options for Word": {func(r *docgen.DocumentRequest) { r.Images.DPI = 96 }, "options.png"},

		"a resolution out of range": {func(r *docgen.DocumentRequest) { r.OutputType, r.Images.DPI = docgen.OutputPNG, 301 }, "options.png.dpi"},
		"unknown pages": {func(r *docgen.DocumentRequest) {
			r.OutputType, r.Images.Pages = docgen.OutputPNG, "x"
		}, "options.png.pages"},
		"stored images": {func(r *docgen.DocumentRequest) {
			r.OutputType, r.DestinationID = docgen.OutputPNG, new(int64(0))
		}, "destination_folder"},
	} {
		t.Run(name, func(t *testing.T) {
			r := oneDocument()
			tt.change(&r)
			var fields []string
			for _, p := range r.Problems(limits) {
				fields = append(fields, p.Name)
			}
			if got := strings.Join(fields, " "); got != tt.want {
				t.Errorf("problems with %q, want %q: %+v", got, tt.want, r.Problems(limits))
			}
		})
	}
}

func TestOrderDocument(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "Letters")
		template := w.template(w.alice, folder, "Offer.docx")
		r := oneDocument()
		r.Inline, r.TemplateID, r.DestinationID = nil, template.ID, &folder
		order, err := w.OrderDocument(ctx, w.alice, r)
		if err != nil || order.FileName != "Offer.docx" || order.VersionID != template.VersionID {
			t.Errorf("OrderDocument = %+v, %v, want the name and the version of the template", order, err)
		}
		_, err = w.OrderDocument(ctx, w.bob, r)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.OrderDocument(ctx, w.caller("alice", docgen.ScopeRead), r)
		wantCode(t, err, docgen.CodeScope)

		w.share(docgen.Folder, folder, w.bob, docgen.RoleViewer)
		_, err = w.OrderDocument(ctx, w.bob, r)
		wantCode(t, err, docgen.CodeForbidden) // cannot write to the folder
		r.DestinationID = nil
		_, err = w.OrderDocument(ctx, w.bob, r)
		must(t, err)
		r.DestinationID = new(template.ID)
		_, err = w.OrderDocument(ctx, w.alice, r)
		wantCode(t, err, docgen.CodeBadRequest) // not a folder
		r.DestinationID, r.VersionID = nil, 1
		_, err = w.OrderDocument(ctx, w.alice, r)
		wantCode(t, err, docgen.CodeNotFound)
	})
}

func TestStoreDocument(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "Letters")
		r := oneDocument()
		r.DestinationID = &folder
		order, err := w.OrderDocument(ctx, w.alice, r)
		must(t, err)
		var names []string
		for range 2 {
			file, err := w.StoreDocument(ctx, w.alice, order, reader("text"))
			must(t, err)
			names = append(names, file.Name)
		}
		if want := []string{"Letter.docx", "Letter (1).docx"}; !slices.Equal(names, want) {
			t.Errorf("stored as %q, want %q", names, want)
		}
		must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
		_, err = w.StoreDocument(ctx, w.alice, order, reader("text"))
		wantCode(t, err, docgen.CodeTrashed)
	})
}

// finish plays the worker for the job of a document on request.
func (w *world) finish(job docgen.Job) docgen.Job {
	w.t.Helper()
	ctx := w.t.Context()
	claim, err := w.ClaimBatch(ctx, job.BatchID)
	must(w.t, err)
	output, err := w.SaveOutput(ctx, claim.Jobs[0], reader("Dear Ada"))
	must(w.t, err)
	_, err = w.CompleteJobs(ctx, claim, []docgen.Result{{Job: claim.Jobs[0], Output: &output}})
	must(w.t, err)
	job, err = w.Job(ctx, w.alice, job.ID)
	must(w.t, err)
	return job
}

// removeTemporary runs the task, and checks the number of folders that it deletes.
func (w *world) removeTemporary(want int) {
	w.t.Helper()
	if got, err := w.RemoveTemporary(w.t.Context()); err != nil || got != want {
		w.t.Errorf("RemoveTemporary = %d, %v, want %d", got, err, want)
	}
}

func TestTemporaryDocuments(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		job, err := w.RequestDocument(ctx, w.alice, oneDocument())
		if err != nil || job.Status != docgen.StatusPending {
			t.Fatalf("RequestDocument = %+v, %v", job, err)
		}
		w.clock.advance(2 * docgen.TemporaryTime)
		w.removeTemporary(0) // the job has not ended
		job = w.finish(job)
		if got := w.text(w.alice, job.OutputFileID, 0); got != "Dear Ada" {
			t.Errorf("the document reads %q", got)
		}
		_, err = w.Content(ctx, w.bob, job.OutputFileID, 0)
		wantCode(t, err, docgen.CodeNotFound)
		if names := w.names(w.alice, 0); len(names) > 0 {
			t.Errorf("the root folder has %q, want no temporary documents", names)
		}
		batch, err := w.Batch(ctx, w.alice, job.BatchID)
		must(t, err)
		_, err = w.CreateFile(ctx, w.alice, docgen.NewFile{Name: "lost.txt", ParentID: batch.DestinationID}, reader("text"))
		wantCode(t, err, docgen.CodeForbidden)
		_, err = w.CreateBatch(ctx, w.alice, batchOf(w.template(w.alice, w.folder(w.alice, 0, "T"), "t.docx").ID, batch.DestinationID, "{}"))
		wantCode(t, err, docgen.CodeForbidden)
		w.clock.advance(docgen.TemporaryTime - time.Minute)
		w.removeTemporary(0)
		w.clock.advance(2 * time.Minute)
		w.removeTemporary(1)
		_, err = w.Content(ctx, w.alice, job.OutputFileID, 0)
		wantCode(t, err, docgen.CodeNotFound)
		if job, err := w.Job(ctx, w.alice, job.ID); err != nil || job.Status != docgen.StatusCompleted {
			t.Errorf("the job afterward: %+v, %v", job, err)
		}
		for _, table := range []string{"temporary_folders", "items WHERE parent_id IS NULL AND name <> 'All Files'",
			"items WHERE id = " + strconv.FormatInt(job.OutputFileID, 10)} {
			if n := w.count("SELECT COUNT(*) FROM " + table); n != 0 {
				t.Errorf("%d rows are left in %s", n, table)
			}
		}
	})
}

func TestTemporaryDocumentIsKeptByMovingIt(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		job, err := w.RequestDocument(t.Context(), w.alice, oneDocument())
		must(t, err)
		job = w.finish(job)
		_, err = w.UpdateFile(t.Context(), w.alice, job.OutputFileID, docgen.ItemChange{ParentID: new(int64(0))})
		must(t, err)
		w.clock.advance(docgen.TemporaryTime + time.Second)
		w.removeTemporary(1)
		if got := w.text(w.alice, job.OutputFileID, 0); got != "Dear Ada" {
			t.Errorf("the document reads %q", got)
		}
	})
}

func TestRequestedDocumentWithDestination(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		folder := w.folder(w.alice, 0, "Letters")
		r := oneDocument()
		r.DestinationID = &folder
		job, err := w.RequestDocument(t.Context(), w.alice, r)
		must(t, err)
		w.finish(job)
		w.clock.advance(docgen.TemporaryTime + time.Second)
		w.removeTemporary(1) // its template
		if names := w.names(w.alice, folder); !slices.Equal(names, []string{"Letter.docx"}) {
			t.Errorf("the folder has %q", names)
		}
		stored := w.template(w.alice, folder, "Offer.docx")
		r.Inline, r.TemplateID = nil, stored.ID
		_, err = w.RequestDocument(t.Context(), w.alice, r)
		must(t, err)
		if n := w.count("SELECT COUNT(*) FROM temporary_folders"); n != 0 {
			t.Errorf("%d temporary folders, although nothing is temporary", n)
		}
	})
}

func TestTemporaryDocumentsOfDeletedUser(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		admin := w.contentManager("admin")
		manager := w.caller("admin")
		job, err := w.RequestDocument(t.Context(), w.alice, oneDocument())
		must(t, err)
		w.finish(job)
		must(t, w.DeleteUser(t.Context(), manager, w.alice.User.ID, false))
		w.removeTemporary(1)
		_, err = w.Content(t.Context(), admin, job.OutputFileID, 0)
		wantCode(t, err, docgen.CodeNotFound)
	})
}

func TestPageImagesAreNotRequestedAsJobs(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		r := oneDocument()
		r.OutputType = docgen.OutputPNG
		_, err := w.RequestDocument(t.Context(), w.alice, r)
		wantCode(t, err, docgen.CodeBadRequest)
	})
}

func TestTemporaryDocumentsAreLimited(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		must(t, w.exec(`INSERT INTO temporary_folders (folder_id, user_id, job_id, expires_at)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) SELECT i, $1, 0, 9000000000000000 FROM n`,
			w.alice.User.ID))
		_, err := w.RequestDocument(t.Context(), w.alice, oneDocument())
		must(t, err)
		_, err = w.RequestDocument(t.Context(), w.alice, oneDocument())
		wantCode(t, err, docgen.CodeConflict)
		w.wantNoOrphans()
		_, err = w.RequestDocument(t.Context(), w.bob, oneDocument())
		must(t, err)
	})
}
