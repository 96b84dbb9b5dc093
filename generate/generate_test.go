package generate_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

func TestDocumentsAreGenerated(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		template := w.template("Letter.docx", docxOf(t, "Dear {{name}},", "{{for line in lines}}{{line.text}} {{endfor}}"))
		jobs := w.jobs(w.batch(template.ID, docgen.OutputDocx,
			`{"name": "Ada", "lines": [{"text": "one"}, {"text": "two"}]}`,
			`{"name": "Bob", "lines": [], "spare": 1}`,
			`{"lines": [{"text": "three"}]}`))

		if got, want := w.text(jobs[0]), "Dear Ada,\none two"; got != want {
			t.Errorf("the first document reads %q, want %q", got, want)
		}
		type outcome struct {
			Status   docgen.Status
			Errors   []string
			Warnings []string
		}
		got := []outcome{}
		for _, job := range jobs {
			got = append(got, outcome{job.Status, job.Failures.Errors, job.Failures.Warnings})
		}
		want := []outcome{
			{docgen.StatusCompleted, nil, nil},
			{docgen.StatusCompleted, []string{}, []string{"The tag 'spare' was provided but not used in the template."}},
			{docgen.StatusCompletedWithError, []string{"The tag 'name' was not provided in the input data."}, []string{}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
		counted := `
			# HELP platen_documents_total Jobs that this process ended, by status.
			# TYPE platen_documents_total counter
			platen_documents_total{status="completed"} 2
			platen_documents_total{status="completed_with_error"} 1
			platen_documents_total{status="failed"} 0
		`
		waitFor(t, "the documents to be counted", func() bool { // after their jobs have ended
			return testutil.GatherAndCompare(w.metrics, strings.NewReader(counted), "platen_documents_total") == nil
		})
		if got := w.text(jobs[2]); !strings.HasPrefix(got, "Dear {{name}},") {
			t.Errorf("a tag without a value does not stay as it is: %q", got)
		}
		if diff := cmp.Diff([]string{"Document 1.docx", "Document 2.docx", "Document 3.docx"}, w.names()); diff != "" {
			t.Errorf("the folder (-want +got):\n%s", diff)
		}
	})
}

func TestTagsAreRead(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		template := w.template("Letter.docx", docxOf(t, "{{ letter.date }}", "{{for l in lines}}{{l.text}}{{endfor}}"))
		tags := func() (docgen.Page[docgen.Tag], bool) {
			page, ready, err := w.service.Tags(t.Context(), w.caller, template.ID, 0, docgen.PageRequest{})
			must(t, err)
			return page.Page, ready
		}
		if _, ready := tags(); ready {
			t.Error("the tags are ready before anyone has read them")
		}
		w.start()
		waitFor(t, "the tags", func() bool { _, ready := tags(); return ready })
		want := []docgen.Tag{
			{Content: "{{ letter.date }}", Type: "text", JSONPaths: []string{"letter", "letter.date"}},
			{Content: "{{for l in lines}}", Type: "for-loop", JSONPaths: []string{"lines"}},
			{Content: "{{l.text}}", Type: "text", JSONPaths: []string{"lines", "lines.text"}},
		}
		got, _ := tags()
		if diff := cmp.Diff(want, got.Entries); diff != "" {
			t.Errorf("tags (-want +got):\n%s", diff)
		}
	})
}

func TestJobsThatCannotSucceed(t *testing.T) {
	tests := []struct {
		name     string
		template []byte
		output   string
		input    string
		want     string // part of the only error
	}{
		{"no Word file", []byte("random bytes"), docgen.OutputDocx, `{}`, "template cannot be read"},
		{"empty file", nil, docgen.OutputDocx, `{}`, "template cannot be read"},
		{"encrypted", append([]byte{0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1}, make([]byte, 512)...), docgen.OutputDocx, `{}`, "password"},
		{"zip without a main part", zipOf(t, [2]string{"readme.txt", "hello"}), docgen.OutputDocx, `{}`, "template cannot be read"},
		{"zip that climbs out", zipOf(t, [2]string{"../../x", "hello"}), docgen.OutputDocx, `{}`, "../../x"},
		{"zip bomb", zipOf(t, [2]string{"word/document.xml", strings.Repeat("0", 50<<20)}), docgen.OutputDocx, `{}`, "template cannot be read"},
		{"entity bomb", docxOf(t, `</w:t></w:r></w:p><!DOCTYPE b [<!ENTITY a "aaaa">]><w:p><w:r><w:t>`), docgen.OutputDocx, `{}`,
			"document type declaration"},
		{"block never closed", docxOf(t, "{{if a}}"), docgen.OutputDocx, `{}`, "{{if a}}"},
		{"pdf", docxOf(t, "{{a}}"), docgen.OutputPDF, `{"a": 1}`, "without a PDF engine"},
	}
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				template := w.template(test.name+".docx", test.template)
				job := w.jobs(w.batch(template.ID, test.output, test.input))[0]
				if job.Status != docgen.StatusFailed || job.OutputFileID != 0 {
					t.Errorf("status %s and output %d, want failed and none", job.Status, job.OutputFileID)
				}
				if len(job.Failures.Errors) != 1 || !strings.Contains(job.Failures.Errors[0], test.want) {
					t.Errorf("errors %q, want one about %q", job.Failures.Errors, test.want)
				}
			})
		}
		if names := w.names(); len(names) > 0 {
			t.Errorf("failed jobs left files: %q", names)
		}
	})
}

func TestTemplateChangesWhileBatchWaits(t *testing.T) {
	changes := map[string]func(*testing.T, *world, int64) error{
		"a new version": func(t *testing.T, w *world, id int64) error {
			_, err := w.service.CreateVersion(t.Context(), w.caller, docgen.NewVersion{FileID: id}, bytes.NewReader(docxOf(t, "new {{a}}")))
			return err
		},
		"into the trash": func(t *testing.T, w *world, id int64) error {
			return w.service.TrashFile(t.Context(), w.caller, id, "")
		},
		"no template any more": func(t *testing.T, w *world, id int64) error {
			return w.service.UnmarkTemplate(t.Context(), w.caller, id)
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, db *store.DB) {
				w := newWorld(t, db, newBlobs(t))
				template := w.template("T.docx", docxOf(t, "old {{a}}"))
				batch := w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`)
				must(t, change(t, w, template.ID))
				w.start()
				job := w.jobs(batch)[0]
				if job.Status != docgen.StatusCompleted || job.TemplateVersionID != template.VersionID {
					t.Fatalf("status %s, version %d: want completed with the version of the request, %d", job.Status, job.TemplateVersionID,
						template.VersionID)
				}
				if got := w.text(job); got != "old 1" {
					t.Errorf("the document reads %q, want %q", got, "old 1")
				}
			})
		})
	}
}

// TestTemplateDeletedWhileBatchWaits shows that a job whose template was permanently deleted fails with the
// reason.
func TestTemplateDeletedWhileBatchWaits(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		template := w.template("Letter.docx", docxOf(t, "Dear {{name}},"))
		batch := w.batch(template.ID, docgen.OutputDocx, `{"name":"Ada"}`, `{"name":"Bob"}`)
		must(t, w.service.TrashFile(t.Context(), w.caller, template.ID, ""))
		must(t, w.service.Purge(t.Context(), w.caller, docgen.File, template.ID))
		w.start()
		for _, job := range w.jobs(batch) {
			if job.Status != docgen.StatusFailed || len(job.Failures.Errors) != 1 ||
				!strings.Contains(job.Failures.Errors[0], "permanently deleted") {
				t.Errorf("job %s: %+v", job.Status, job.Failures)
			}
		}
	})
}

func TestDestinationDeletedWhileBatchWaits(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		template := w.template("T.docx", docxOf(t, "{{a}}"))
		batch := w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`, `{"a": 2}`)
		must(t, w.service.TrashFolder(t.Context(), w.caller, w.folder, true, ""))
		w.start()
		for _, job := range w.jobs(batch) {
			if job.Status != docgen.StatusFailed || !strings.Contains(strings.Join(job.Failures.Errors, " "), "destination folder") {
				t.Errorf("status %s with %q, want failed because of the destination folder", job.Status, job.Failures.Errors)
			}
		}
	})
}

func TestEqualNamesAreNumbered(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		template := w.template("T.docx", docxOf(t, "{{a}}"))
		first, second := w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`), w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`)
		w.jobs(first)
		w.jobs(second)
		if diff := cmp.Diff([]string{"Document 1 (1).docx", "Document 1.docx"}, w.names()); diff != "" {
			t.Errorf("the folder (-want +got):\n%s", diff)
		}
	})
}

func TestEachDocumentIsGeneratedOnce(t *testing.T) {
	const documents = 500
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		template := w.template("T.docx", docxOf(t, "number {{n}}"))
		inputs := make([]string, documents)
		for i := range inputs {
			inputs[i] = fmt.Sprintf(`{"n": %d}`, i)
		}
		jobs := w.jobs(w.batch(template.ID, docgen.OutputDocx, inputs...))
		files := map[int64]bool{}
		for i, job := range jobs {
			if job.Status != docgen.StatusCompleted {
				t.Fatalf("job %d: %s %q", i, job.Status, job.Failures.Errors)
			}
			files[job.OutputFileID] = true
		}
		names := w.names()
		slices.Sort(names)
		if len(jobs) != documents || len(files) != documents || len(slices.Compact(names)) != documents {
			t.Errorf("%d jobs, %d files, %d names, want %d of each", len(jobs), len(files), len(names), documents)
		}
		if got, want := w.text(jobs[123]), "number 123"; got != want {
			t.Errorf("job 123 generated %q, want %q", got, want)
		}
	})
}
