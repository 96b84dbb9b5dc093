package generate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"platen/docgen"
	"platen/pdf"
	"platen/pdf/font"
	"platen/pdf/office"
	"platen/pdf/pdftest"
	"platen/store"
	"platen/store/storetest"
)

// newOffice returns the real engine.
func newOffice(t testing.TB) *office.Office {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	engine, err := office.New(office.Config{Worker: self, Folder: t.TempDir(), Workers: pdfWorkers})
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	if err := engine.Available(); err != nil {
		t.Skip(err)
	}
	return engine
}

// pdfText returns the text of a job's PDF.
func (w *world) pdfText(job docgen.Job, options ...string) string {
	w.t.Helper()
	out, err := exec.CommandContext(w.t.Context(), "pdftotext", append(append([]string{"-layout"}, options...), w.pdfFile(job),
		"-")...).CombinedOutput()
	if err != nil {
		w.t.Errorf("pdftotext: %v\n%s", err, out)
	}
	return string(out)
}

func (w *world) pdfFile(job docgen.Job) string {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "job.pdf")
	must(w.t, os.WriteFile(file, []byte(w.content(job.OutputFileID, job.OutputVersionID)), 0o600))
	return file
}

func TestPDFsAreGenerated(t *testing.T) {
	engine := newOffice(t)
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorldWithPDF(t, db, newBlobs(t), engine)
		w.start()
		template := w.template("Letter.docx", new(pdftest.Document).Heading("Letter").Paragraph("Dear {{name}},").
			XML(`<w:p><w:r><w:rPr><w:rFonts w:ascii="Frutiger LT" w:hAnsi="Frutiger LT"/></w:rPr><w:t>Yours, 中 </w:t></w:r></w:p>`).Bytes())
		inputs := []string{}
		for i := range 9 {
			inputs = append(inputs, fmt.Sprintf(`{"name": "Reader %d"}`, i))
		}
		for i, job := range w.jobs(w.batch(template.ID, docgen.OutputPDF, inputs...)) {
			if job.Status != docgen.StatusCompleted {
				t.Fatalf("job %d is %s: %q", i, job.Status, job.Failures.Errors)
			}
			if text := w.pdfText(job); !strings.Contains(text, fmt.Sprintf("Dear Reader %d,", i)) {
				t.Errorf("document %d reads %q", i, text)
			}
			if fonts := job.Failures.Fonts; fonts == nil || len(fonts.Fonts) != 3 || !strings.Contains(strings.Join(fonts.Used, " "), "Carlito") {
				t.Errorf("the fonts of document %d are %+v", i, fonts)
			}
			if warnings := strings.Join(job.Failures.Warnings, "\n"); !strings.Contains(warnings, `"Frutiger LT" is not installed`) {
				t.Errorf("document %d warns of %q", i, warnings)
			}
		}
		var contract docgen.Contract
		waitFor(t, "the template to be read", func() (ready bool) {
			var err error
			contract, ready, err = w.service.Contract(t.Context(), w.caller, template.ID, 0)
			must(t, err)
			return ready
		})
		if warnings := strings.Join(contract.Warnings, "\n"); !strings.Contains(warnings, `"Frutiger LT" is not installed`) {
			t.Errorf("the template warns of %q", warnings)
		}
	})
}

// What LibreOffice does not support is applied to its PDF.
func TestPDFsAreFinished(t *testing.T) {
	engine := newOffice(t)
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorldWithPDF(t, db, newBlobs(t), engine)
		w.start()
		template := w.template("Letter.docx", new(pdftest.Document).Paragraph("Dear {{name}},").Bytes())
		one := func(o docgen.PDFOptions) docgen.Job {
			job := w.jobs(w.batchWith(docgen.BatchOptions{PDF: &o}, template.ID, docgen.OutputPDF, `{"name":  "Ada"}`))[0]
			if job.Status != docgen.StatusCompleted {
				t.Fatalf("%s: %q", job.Status, job.Failures.Errors)
			}
			return job
		}
		archived := w.pdfFile(one(docgen.PDFOptions{Standard: docgen.PDFA3b, AttachData: true}))
		folder := t.TempDir()
		if out, err := exec.CommandContext(t.Context(), "pdfdetach", "-saveall", "-o", folder, archived).CombinedOutput(); err != nil {
			t.Fatalf("pdfdetach: %v\n%s", err, out)
		}
		if data, err := os.ReadFile(filepath.Join(folder, "data.json")); err != nil || string(data) != `{"name":  "Ada"}` {
			t.Errorf("attached is %q: %v", data, err)
		}
		password := docgen.Secret("Geheimnis ä")
		secret := one(docgen.PDFOptions{Password: &password})
		if text := w.pdfText(secret, "-upw", string(password)); !strings.Contains(text, "Dear Ada,") {
			t.Errorf("with its password it reads %q", text)
		}
		if out, err := exec.CommandContext(t.Context(), "pdftotext", w.pdfFile(secret), "-").CombinedOutput(); err == nil {
			t.Errorf("without its password it reads %q", out)
		}
	})
}

// fickle is an engine that misbehaves on cue: documents with the word are suspects, and then either poisonous or not.
type fickle struct {
	pdf.Engine
	t     testing.TB
	mu    sync.Mutex
	tries map[string]int // by kind of misbehavior
}

func (f *fickle) Convert(ctx context.Context, r pdf.Request) (*pdf.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, word := range []string{"poison", "slow"} {
		if !strings.Contains(f.text(r), word) {
			continue
		}
		f.tries[word]++
		switch {
		case !r.Again:
			return nil, &pdf.SuspectError{Reason: "it took too long"}
		case word == "poison":
			return nil, &pdf.DocumentError{Reason: "LibreOffice ended. It was tried twice.", Poison: true}
		}
	}
	if r.Again != strings.Contains(f.text(r), "slow") {
		return nil, errors.New("a document is tried again that did no harm")
	}
	return &pdf.Result{PDF: r.Document}, nil
}

func (f *fickle) text(r pdf.Request) string { return documentText(f.t, r.Document) }

func (f *fickle) Available() error { return nil }

func (f *fickle) Fonts([]byte) (*font.Report, error) { return &font.Report{}, nil }

func TestSuspectsAreIsolated(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		engine := &fickle{t: t, tries: map[string]int{}}
		w := newWorldWithPDF(t, db, newBlobs(t), engine)
		w.start()
		template := w.template("Letter.docx", docxOf(t, "{{word}}"))
		jobs := w.jobs(w.batch(template.ID, docgen.OutputPDF, `{"word": "a"}`, `{"word": "poison"}`, `{"word": "b"}`, `{"word": "slow"}`,
			`{"word": "c"}`))
		for i, want := range []string{"a", "", "b", "slow", "c"} {
			switch job := jobs[i]; {
			case want == "" && (job.Status != docgen.StatusFailed ||
				strings.Join(job.Failures.Errors, "") != "LibreOffice ended. It was tried twice."):
				t.Errorf("job %d is %s: %q", i, job.Status, job.Failures.Errors)
			case want != "" && (job.Status != docgen.StatusCompleted || w.text(job) != want):
				t.Errorf("job %d is %s: %q", i, job.Status, job.Failures.Errors)
			}
		}
		if engine.tries["poison"] != 2 || engine.tries["slow"] != 2 {
			t.Errorf("they were tried so often: %v", engine.tries)
		}
	})
}

func TestNoEngine(t *testing.T) {
	absent, err := office.New(office.Config{Program: t.TempDir()})
	must(t, err)
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorldWithPDF(t, db, newBlobs(t), absent)
		w.start()
		template := w.template("Letter.docx", docxOf(t, "{{word}}"))
		job := w.jobs(w.batch(template.ID, docgen.OutputPDF, `{"word": "a"}`))[0]
		if job.Status != docgen.StatusFailed || !strings.Contains(strings.Join(job.Failures.Errors, ""),
			"apt-get install libreoffice-writer-nogui") {
			t.Errorf("the job is %s: %q", job.Status, job.Failures.Errors)
		}
		if job := w.jobs(w.batch(template.ID, docgen.OutputDocx, `{"word": "a"}`))[0]; job.Status != docgen.StatusCompleted {
			t.Errorf("a Word document is %s: %q", job.Status, job.Failures.Errors)
		}
	})
}

func TestMergedFileOfBatch(t *testing.T) {
	engine := newOffice(t)
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorldWithPDF(t, db, newBlobs(t), engine)
		w.start()
		template := w.template("T.docx", new(pdftest.Document).Paragraph("Dear {{name}},").Bytes())
		for name, o := range map[string]docgen.PDFOptions{
			"All":       {},
			"Protected": {Password: new(docgen.Secret("Geheimnis")), Permissions: &docgen.PDFPermissions{Print: docgen.PrintNone}},
		} {
			o.Merged = &docgen.MergedFile{Name: name}
			batch := w.batchWith(docgen.BatchOptions{PDF: &o}, template.ID, docgen.OutputPDF, `{"name": "Ada"}`, `{"name": "Bob"}`,
				`{"name": "Cleo"}`)
			var made docgen.Merged
			waitFor(t, "the merged file", func() bool {
				found, err := w.service.Batch(t.Context(), w.caller, batch)
				must(t, err)
				made = *found.Merged
				return made.Status == docgen.StatusCompleted || made.Status == docgen.StatusFailed
			})
			if made.Status != docgen.StatusCompleted {
				t.Fatalf("merged %+v", made)
			}
			text := w.pdfText(docgen.Job{OutputFileID: made.OutputFileID, OutputVersionID: made.OutputVersionID}, "-upw", "Geheimnis")
			if words := strings.Fields(text); !slices.Equal(words, []string{"Dear", "Ada,", "Dear", "Bob,", "Dear", "Cleo,"}) {
				t.Errorf("the merged file reads %q", text)
			}
			must(t, w.maker.MergeDocuments(t.Context(), docgen.MergeDocuments{BatchID: batch})) // it has nothing left to do
		}
	})
}
