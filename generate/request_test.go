package generate_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"platen/docgen"
	"platen/docx"
	"platen/generate"
	"platen/pdf/raster"
	"platen/store"
	"platen/store/storetest"
)

// letter returns a request with a template in it.
func letter(t testing.TB, data string, paragraphs ...string) docgen.DocumentRequest {
	t.Helper()
	return docgen.DocumentRequest{Inline: docxOf(t, paragraphs...), InlineName: "Letter.docx", OutputType: docgen.OutputDocx,
		Input: new(docgen.Inputs).Parse([]byte(data))}
}

// second returns a caller for another user.
func (w *world) second() *docgen.Caller {
	w.t.Helper()
	_, err := w.service.CreateUser(w.t.Context(), docgen.NewUser{Login: "bob@example.com", Name: "Bob"})
	must(w.t, err)
	token, err := w.service.CreateToken(w.t.Context(), docgen.NewToken{Login: "bob@example.com"})
	must(w.t, err)
	caller, err := w.service.Authenticate(w.t.Context(), token)
	must(w.t, err)
	return caller
}

func TestDocumentOnRequest(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		ctx := t.Context()
		r := letter(t, `{"name": "Ada"}`, "Dear {{name}},")
		document, err := w.maker.Document(ctx, w.caller, r)
		must(t, err)
		if got := documentText(t, document.Content); got != "Dear Ada," || document.Name != "Letter.docx" ||
			document.Status() != docgen.StatusCompleted || document.Pages != 0 || document.Stored != nil {
			t.Errorf("the document reads %q: %+v", got, document)
		}

		stored := w.template("Offer.docx", docxOf(t, "Hello {{name}}"))
		r.Inline, r.TemplateID, r.DestinationID = nil, stored.ID, &w.folder
		document, err = w.maker.Document(ctx, w.caller, r)
		must(t, err)
		if got := documentText(t, document.Content); got != "Hello Ada" || document.Stored == nil || document.Stored.Name != "Offer.docx" {
			t.Errorf("the document of a stored template reads %q: %+v", got, document)
		}
		if names := w.names(); !slices.Equal(names, []string{"Offer.docx"}) {
			t.Errorf("the folder has %q", names)
		}
		_, err = w.maker.Document(ctx, w.second(), r)
		wantCode(t, err, docgen.CodeNotFound)
	})
}

// wantCode checks the code of an error.
func wantCode(t testing.TB, err error, code docgen.Code) {
	t.Helper()
	if !docgen.IsCode(err, code) {
		t.Errorf("error %v, want one with the code %s", err, code)
	}
}

func TestDocumentsOnRequestThatFail(t *testing.T) {
	w := newWorldAs(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t), generate.Config{Limits: docx.Limits{Content: 20_000}})
	incomplete := letter(t, `{}`, "Dear {{name}},")
	document, err := w.maker.Document(t.Context(), w.caller, incomplete)
	if err != nil || document.Status() != docgen.StatusCompletedWithError || len(document.Failures.Errors) != 1 {
		t.Errorf("an incomplete document: %+v, %v", document, err)
	}
	for name, tt := range map[string]struct {
		change func(*docgen.DocumentRequest)
		want   string // the beginning of the first error
	}{
		"missing data": {func(r *docgen.DocumentRequest) { r.Options.Missing = "error" }, "The tag 'name' was not provided"},
		"surplus data": {func(r *docgen.DocumentRequest) {
			r.Input, r.Options.Strict = new(docgen.Inputs).Parse([]byte(`{"name":"A","x":1}`)), true
		}, "The tag 'x' was provided"},
		"not a Word document":  {func(r *docgen.DocumentRequest) { r.Inline = []byte("text") }, "The template cannot be read"},
		"a mistake":            {func(r *docgen.DocumentRequest) { r.Inline = docxOf(t, "{{if}}") }, "document.xml"},
		"another file":         {func(r *docgen.DocumentRequest) { r.Inline = docxOf(t, `{{include "a.docx"}}`) }, ""},
		"a document too large": {func(r *docgen.DocumentRequest) { r.Inline = docxOf(t, strings.Repeat("text {{name}}", 2000)) }, ""},
		"no PDF engine":        {func(r *docgen.DocumentRequest) { r.OutputType = docgen.OutputPDF }, "PDFs are not available"},
	} {
		t.Run(name, func(t *testing.T) {
			r := incomplete
			tt.change(&r)
			_, err := w.maker.Document(t.Context(), w.caller, r)
			failed, ok := errors.AsType[*docgen.Error](err)
			if !ok || failed.Code != docgen.CodeDocumentFailed || failed.Failures == nil || len(failed.Failures.Errors) == 0 {
				t.Fatalf("error %v, want the failures of the document", err)
			}
			if got := failed.Failures.Errors[0]; !strings.Contains(got, tt.want) || failed.Message != got {
				t.Errorf("error %q, message %q, want %q", got, failed.Message, tt.want)
			}
		})
	}
}

func TestCanceledRequestForDocument(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t))
	stopped := errors.New("the client is gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := w.maker.Document(ctx, w.caller, letter(t, `{}`, "x")); err == nil {
		t.Error("a document for a client that is gone")
	}
}

// compiled returns the number of templates that were compiled.
func (w *world) compiled() int {
	w.t.Helper()
	families, err := w.metrics.Gather()
	must(w.t, err)
	for _, family := range families {
		if family.GetName() == "platen_templates_compiled_total" {
			n := 0.0
			for _, m := range family.GetMetric() {
				n += m.GetCounter().GetValue()
			}
			return int(n)
		}
	}
	w.t.Fatal("compiled templates are not counted")
	return 0
}

// TestInlineTemplatesAreCached checks that a template is compiled once for each user: nobody finds out from the time of a request whether
// another user has the same template.
func TestInlineTemplatesAreCached(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t))
	r := letter(t, `{"name": "Ada"}`, "Dear {{name}},")
	for range 3 {
		_, err := w.maker.Document(t.Context(), w.caller, r)
		must(t, err)
	}
	if n := w.compiled(); n != 1 {
		t.Errorf("compiled %d times for one user, want once", n)
	}
	_, err := w.maker.Document(t.Context(), w.second(), r)
	must(t, err)
	if n := w.compiled(); n != 2 {
		t.Errorf("compiled %d times for two users, want twice", n)
	}
}

// TestInlineTemplatesHaveShareOfCache sends many templates, and checks that those of others stay in the cache.
func TestInlineTemplatesHaveShareOfCache(t *testing.T) {
	w := newWorldAs(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t), generate.Config{TemplateCache: 4 << 20})
	stored := docgen.DocumentRequest{TemplateID: w.template("Offer.docx", docxOf(t, "Hello {{name}}")).ID, OutputType: docgen.OutputDocx,
		Input: new(docgen.Inputs).Parse([]byte(`{"name": "Ada"}`))}
	ask := func(c *docgen.Caller, r docgen.DocumentRequest) {
		t.Helper()
		_, err := w.maker.Document(t.Context(), c, r)
		must(t, err)
	}
	ask(w.caller, stored)
	bob, before := w.second(), w.compiled()
	const templates = 300
	for i := range templates {
		ask(bob, letter(t, `{"name": "Ada"}`, fmt.Sprintf("%d: {{name}} %s", i, strings.Repeat("text ", 4000))))
	}
	ask(w.caller, stored)
	if n := w.compiled() - before; n != templates {
		t.Errorf("%d templates were compiled, want %d: the other user's template stays in the cache", n, templates)
	}
	ask(bob, letter(t, `{"name": "Ada"}`, fmt.Sprintf("0: {{name}} %s", strings.Repeat("text ", 4000))))
	if n := w.compiled() - before; n != templates+1 {
		t.Errorf("%d templates were compiled, want %d: the first template of the user left the cache", n, templates+1)
	}
}

// TestDocumentsOnRequestComeFirst requests a document while a batch is generated on one core.
func TestDocumentsOnRequestComeFirst(t *testing.T) {
	w := newWorldAs(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t), generate.Config{Cores: 1})
	template := w.template("Letter.docx", docxOf(t, "Dear {{name}},"))
	batch := w.batch(template.ID, docgen.OutputDocx, slices.Repeat([]string{`{"name": "Ada"}`}, 5000)...)
	w.start()
	waitFor(t, "the batch to begin", func() bool {
		found, err := w.service.Batch(t.Context(), w.caller, batch)
		must(t, err)
		return found.Jobs[docgen.StatusCompleted] > 0
	})
	_, err := w.maker.Document(t.Context(), w.second(), letter(t, `{"name": "Bob"}`, "Dear {{name}},"))
	must(t, err)
	found, err := w.service.Batch(t.Context(), w.caller, batch)
	must(t, err)
	if found.Jobs[docgen.StatusPending] == 0 {
		t.Errorf("the document came after all documents of the batch: %v", found.Jobs)
	}
}

func TestRequestedDocumentsAreCounted(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t))
	for _, r := range []docgen.DocumentRequest{
		letter(t, `{"name": "A"}`, "{{name}}"), letter(t, `{}`, "{{name}}"), letter(t, `{}`, "{{if}}"),
	} {
		if _, err := w.maker.Document(t.Context(), w.caller, r); err != nil {
			wantCode(t, err, docgen.CodeDocumentFailed)
		}
	}
	if n, err := testutil.GatherAndCount(w.metrics, "platen_requested_document_seconds"); err != nil || n != 3 {
		t.Errorf("%d series of requested documents, %v, want one for each status", n, err)
	}
}

func TestPDFOnRequest(t *testing.T) {
	w := newWorldWithPDF(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t), newOffice(t))
	r := letter(t, `{"name": "Ada"}`, "Dear {{name}},")
	r.OutputType, r.Name = docgen.OutputPDF, "Offer 7"
	document, err := w.maker.Document(t.Context(), w.caller, r)
	must(t, err)
	if document.Name != "Offer 7.pdf" || document.Pages != 1 || document.Failures.Fonts == nil {
		t.Errorf("the document is %q with %d pages and the fonts %v", document.Name, document.Pages, document.Failures.Fonts)
	}
	file := filepath.Join(t.TempDir(), "offer.pdf")
	must(t, os.WriteFile(file, document.Content, 0o600))
	text, err := exec.CommandContext(t.Context(), "pdftotext", file, "-").Output()
	if err != nil || !strings.Contains(string(text), "Dear Ada,") {
		t.Errorf("the PDF reads %q, %v", text, err)
	}

	r.Options.PDF = &docgen.PDFOptions{Password: new(docgen.Secret("open sesame"))}
	document, err = w.maker.Document(t.Context(), w.caller, r)
	must(t, err)
	if !bytes.Contains(document.Content, []byte("/Encrypt")) || document.Pages != 1 {
		t.Errorf("the PDF with a password is not encrypted, or has %d pages", document.Pages)
	}
}

func TestPageImagesOnRequest(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	drawer := raster.New(raster.Config{Worker: self})
	if err := drawer.Available(); err != nil {
		t.Skip(err)
	}
	w := newWorldAs(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t), generate.Config{PDF: newOffice(t), Pages: drawer})
	r := letter(t, `{"name": "Ada"}`, "{{name}}", `</w:t><w:br w:type="page"/><w:t>`, "2", `</w:t><w:br w:type="page"/><w:t>`, "3")
	r.OutputType, r.Images = docgen.OutputPNG, docgen.PageImages{Pages: "1,3-", DPI: 72}
	document, err := w.maker.Document(t.Context(), w.caller, r)
	must(t, err)
	if document.Pages != 3 || len(document.Images) != 2 || document.Images[1].Page != 3 || document.Content != nil {
		t.Fatalf("%d images of %d pages", len(document.Images), document.Pages)
	}
	for _, image := range document.Images {
		drawn, err := png.DecodeConfig(bytes.NewReader(image.PNG))
		if err != nil || drawn.Width != image.Width || drawn.Height != image.Height || drawn.Width < 590 || drawn.Width > 613 {
			t.Errorf("page %d: %+v, %v, declared %d x %d", image.Page, drawn, err, image.Width, image.Height)
		}
	}
	r.Images.Pages = "4"
	_, err = w.maker.Document(t.Context(), w.caller, r)
	wantCode(t, err, docgen.CodeDocumentFailed)
}

func TestCheck(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t))
	r := docgen.CheckRequest{DocumentRequest: letter(t, `{"nmae": "Ada"}`, "Dear {{name}},"), HasInput: true, Annotated: true}
	check, err := w.maker.Check(t.Context(), w.caller, r)
	must(t, err)
	if r := check.Reading; len(r.Tags) != 1 || !bytes.Contains(check.Sample, []byte(`"name"`)) || !bytes.Contains(r.Schema, []byte(`"name"`)) {
		t.Errorf("the check of a template is %+v", check)
	}
	if d := check.Data; d == nil || d.Status != docgen.StatusCompletedWithError || d.Failures.Details[0].Nearest != "nmae" {
		t.Errorf("the check of the data is %+v", d)
	}
	comments, err := zip.NewReader(bytes.NewReader(check.Annotated), int64(len(check.Annotated)))
	must(t, err)
	if _, err := comments.Open("word/comments.xml"); err != nil {
		t.Errorf("the annotated template has no comments: %v", err)
	}

	r.Options.Missing = "error"
	if check, err = w.maker.Check(t.Context(), w.caller, r); err != nil || check.Data.Status != docgen.StatusFailed {
		t.Errorf("the check with missing: error is %+v, %v", check, err)
	}
	r.Inline = docxOf(t, "{{if}}")
	check, err = w.maker.Check(t.Context(), w.caller, r)
	if err != nil || check.Reading.Problem == "" || len(check.Failures.Errors) == 0 || check.Data != nil || check.Annotated == nil {
		t.Errorf("the check of a template with a mistake is %+v, %v", check, err)
	}
	r.Inline = []byte("text")
	check, err = w.maker.Check(t.Context(), w.caller, r)
	if err != nil || check.Reading.Problem == "" || check.Annotated != nil {
		t.Errorf("the check of a file that is not a Word document is %+v, %v", check, err)
	}
	if names := w.names(); len(names) > 0 {
		t.Errorf("the folder has %q, want nothing", names)
	}
}

func TestPreview(t *testing.T) {
	w := newWorldWithPDF(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t), newOffice(t))
	r := letter(t, `{"name": "Ada", "lines": [{"n": 1}, {"n": 2}]}`, "Dear {{name}},", "{{for line in lines}}{{line.n}} {{endfor}}")
	preview, err := w.maker.Preview(t.Context(), w.caller, r)
	must(t, err)
	var paths []string
	for _, v := range preview.Values {
		if len(v.Areas) != 1 || v.Areas[0].Page != 1 || v.Areas[0].Width <= 0 {
			t.Errorf("%s: areas %+v", v.Tag.Tag, v.Areas)
		}
		paths = append(paths, v.DataPath)
	}
	if want := []string{"name", "lines[0].n", "lines[1].n"}; !slices.Equal(paths, want) {
		t.Errorf("the values are %q, want %q", paths, want)
	}
	if bytes.Contains(preview.Content, []byte(docx.MarkAddress)) || preview.Pages != 1 || len(preview.PageSizes) != 1 || preview.Omitted != 0 {
		t.Errorf("the preview has %d pages, or marks in its PDF", preview.Pages)
	}
	r.Inline = docxOf(t, strings.Repeat("{{name}} ", docgen.MaxMarks+2))
	if preview, err = w.maker.Preview(t.Context(), w.caller, r); err != nil || preview.Omitted != 2 || len(preview.Values) != docgen.MaxMarks {
		t.Errorf("a preview of many values: %v, %d omitted", err, preview.Omitted)
	}
}
