package generate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"platen/blob"
	"platen/blob/blobtest"
	"platen/docgen"
	"platen/generate"
	"platen/pdf/finish"
	"platen/store"
	"platen/store/storetest"
)

// mergeable creates a batch of PDFs to merge, and the contents to use as its documents.
func (w *world) mergeable(o docgen.PDFOptions, texts ...string) docgen.MergeDocuments {
	w.t.Helper()
	ctx := w.t.Context()
	o.Merged = &docgen.MergedFile{Name: "All"}
	template := w.template("T.docx", docxOf(w.t, "{{a}}"))
	batch := w.batchWith(docgen.BatchOptions{PDF: &o}, template.ID, docgen.OutputPDF, slices.Repeat([]string{"{}"}, len(texts))...)
	for i := 0; i < len(texts); {
		claim, err := w.service.ClaimJobs(ctx, docgen.GenerateDocuments{UserID: w.caller.User.ID, Lane: docgen.LanePDF})
		must(w.t, err)
		var results []docgen.Result
		for _, job := range claim.Jobs {
			output, err := w.service.SaveOutput(ctx, job, strings.NewReader(texts[i]))
			must(w.t, err)
			results = append(results, docgen.Result{Job: job, Output: &output})
			i++
		}
		_, err = w.service.CompleteJobs(ctx, claim, results)
		must(w.t, err)
	}
	return docgen.MergeDocuments{BatchID: batch}
}

func (w *world) merged(task docgen.MergeDocuments) docgen.Merged {
	w.t.Helper()
	batch, err := w.service.Batch(w.t.Context(), w.caller, task.BatchID)
	must(w.t, err)
	return *batch.Merged
}

// content returns the content of a version of a file.
func (w *world) content(file, version int64) string {
	w.t.Helper()
	content, err := w.service.Content(w.t.Context(), w.caller, file, version)
	must(w.t, err)
	r, err := content.Open(w.t.Context(), 0, -1)
	must(w.t, err)
	defer r.Close()
	data, err := io.ReadAll(r)
	must(w.t, err)
	return string(data)
}

// pageOf returns a PDF of one page with a word on it.
func pageOf(word string) string {
	content := "BT /F1 24 Tf 20 40 Td (" + word + ") Tj ET"
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 " +
			"R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
		fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(content), content),
	}
	file, table := "%PDF-1.7\n", ""
	for i, object := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", len(file))
		file += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	return fmt.Sprintf("%sxref\n0 5\n0000000000 65535 f \n%strailer\n<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", file, table, len(file))
}

// mergedFile runs the merge task, and returns the merged file.
func (w *world) mergedFile(g *generate.Generator, task docgen.MergeDocuments) string {
	w.t.Helper()
	must(w.t, g.MergeDocuments(w.t.Context(), task))
	must(w.t, g.MergeDocuments(w.t.Context(), task)) // it has nothing left to do
	made := w.merged(task)
	if made.Status != docgen.StatusCompleted {
		w.t.Fatalf("merged %+v", made)
	}
	if names := w.names(); !slices.Equal(names, []string{"All.pdf", "Document 1.pdf", "Document 2.pdf"}) {
		w.t.Errorf("the folder holds %q", names)
	}
	return w.content(made.OutputFileID, made.OutputVersionID)
}

// wantBothPages checks that a PDF has the pages one and two.
func wantBothPages(t *testing.T, file string) {
	t.Helper()
	if n, err := finish.Pages([]byte(file)); n != 2 || err != nil {
		t.Errorf("%d pages, %v, want 2", n, err)
	}
	if !strings.Contains(file, "(one)") || !strings.Contains(file, "(two)") {
		t.Error("a page is missing")
	}
}

func TestDocumentsAreMerged(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		g := generate.New(generate.Config{Service: w.service, Log: slog.New(slog.DiscardHandler)})
		wantBothPages(t, w.mergedFile(g, w.mergeable(docgen.PDFOptions{}, pageOf("one"), pageOf("two"))))
	})
}

// TestEncryptedDocumentsAreMerged shows that the merged file has the same protection as its documents.
func TestEncryptedDocumentsAreMerged(t *testing.T) {
	for name, o := range map[string]docgen.PDFOptions{
		"by a password":  {Password: new(docgen.Secret("s3cret")), OwnerPassword: new(docgen.Secret("owner"))},
		"by permissions": {Permissions: &docgen.PDFPermissions{Print: docgen.PrintNone}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t))
			g := generate.New(generate.Config{Service: w.service, Log: slog.New(slog.DiscardHandler)})
			password := o.Protection().Password
			sealed := make([]string, 2)
			for i, word := range []string{"one", "two"} {
				file, err := finish.Encrypt([]byte(pageOf(word)), finish.Protection{UserPassword: string(password)})
				must(t, err)
				sealed[i] = string(file)
			}
			made := w.mergedFile(g, w.mergeable(o, sealed...))
			if strings.Contains(made, "(one)") || !strings.Contains(made, "/Encrypt") {
				t.Error("the merged file is not encrypted")
			}
			var opened bytes.Buffer
			must(t, finish.Merge(&opened, []finish.Document{{
				Name: "all", Password: string(password), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(made)), nil },
			}}, nil))
			wantBothPages(t, opened.String())
		})
	}
}

// TestMergingFails checks a batch whose merged file cannot be generated.
func TestMergingFails(t *testing.T) {
	wantFailure := func(t *testing.T, w *world, task docgen.MergeDocuments, want string) {
		t.Helper()
		made := w.merged(task)
		if made.Status != docgen.StatusFailed || len(made.Failures.Errors) != 1 || !strings.Contains(made.Failures.Errors[0], want) {
			t.Errorf("merged %+v, want a failure that says %q", made, want)
		}
		if names := w.names(); !slices.Equal(names, []string{"Document 1.pdf", "Document 2.pdf"}) {
			t.Errorf("the folder holds %q", names)
		}
	}
	t.Run("of an invalid document", func(t *testing.T) {
		w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t))
		g := generate.New(generate.Config{Service: w.service, Log: slog.New(slog.DiscardHandler)})
		task := w.mergeable(docgen.PDFOptions{}, pageOf("one"), "no PDF")
		must(t, g.MergeDocuments(t.Context(), task))
		wantFailure(t, w, task, `document "Document 2"`)
	})
	t.Run("for a fault of the server", func(t *testing.T) {
		blobs := &lostBlobs{Store: newBlobs(t)}
		w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), blobs)
		g := generate.New(generate.Config{Service: w.service, Log: slog.New(slog.DiscardHandler)})
		task := w.mergeable(docgen.PDFOptions{}, pageOf("one"), pageOf("two"))
		blobs.lost.Store(true)
		for range 4 {
			err := g.MergeDocuments(t.Context(), task)
			if paused, ok := errors.AsType[*generate.PauseError](err); !ok || !errors.Is(err, errLost) || paused.For == 0 {
				t.Fatalf("error %v, want that of the blobs, and a pause", err)
			}
		}
		must(t, g.MergeDocuments(t.Context(), task))
		wantFailure(t, w, task, "an error in the server")
	})
}

// A merged file waits for disk space, however often it is tried.
func TestMergingWaitsForDiskSpace(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		blobs := blobtest.NewFaulty(newBlobs(t))
		w := newWorld(t, db, blobs)
		task := w.mergeable(docgen.PDFOptions{}, pageOf("one"), pageOf("two"))
		blobs.Room(0)
		last := time.Duration(0)
		for range 8 {
			err := w.maker.MergeDocuments(t.Context(), task)
			paused, ok := errors.AsType[*generate.PauseError](err)
			if !ok || paused.For <= last {
				t.Fatalf("error %v, want a pause of more than %v", err, last)
			}
			last = paused.For
			if made := w.merged(task); made.Status != docgen.StatusSubmitted || made.WaitingFor != docgen.ShortOfDiskSpace {
				t.Fatalf("merged %+v, want that it waits for disk space", made)
			}
		}
		blobs.Room(-1)
		wantBothPages(t, w.mergedFile(w.maker, task))
		if made := w.merged(task); made.WaitingFor != docgen.NoShortage {
			t.Errorf("merged %+v", made)
		}
	})
}

// Servers crash while they merge, more often than a task is tried. Then a separate process merges the documents. If
// that process crashes, the merged file fails with the reason, and the documents stay.
func TestMergingIsIsolatedAfterCrashes(t *testing.T) {
	for _, deadly := range []bool{false, true} {
		t.Run(fmt.Sprint("deadly ", deadly), func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, db *store.DB) {
				isolated := atomic.Bool{}
				blobs := &watchedBlobs{Store: newBlobs(t)}
				w := newWorldAs(t, db, blobs, generate.Config{Program: "/proc/self/exe"})
				task := w.mergeable(docgen.PDFOptions{}, pageOf("one"), pageOf("two"))
				for range 7 { // a server claims, and crashes
					m, err := w.service.ClaimMerge(t.Context(), task, true)
					if err != nil || len(m.Parts) != 2 {
						t.Fatalf("claimed %+v, %v", m, err)
					}
				}
				blobs.watch = func() {
					if deadly && killIsolated(t) || !deadly && len(isolatedProcesses(t)) == 1 {
						isolated.Store(true)
					}
				}
				if !deadly {
					wantBothPages(t, w.mergedFile(w.maker, task))
				} else {
					must(t, w.maker.MergeDocuments(t.Context(), task))
					made := w.merged(task)
					if said := strings.Join(made.Failures.Errors, " "); made.Status != docgen.StatusFailed ||
						!strings.Contains(said, "in isolation ended (signal: killed)") {
						t.Errorf("merged %+v, want a failure that names the process", made)
					}
				}
				if !isolated.Load() {
					t.Error("the documents were not merged by a process of their own")
				}
			})
		})
	}
}

// A server that stops in the middle of merging has not crashed.
func TestMergingIsInterrupted(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		blobs := &watchedBlobs{Store: newBlobs(t)}
		w := newWorld(t, db, blobs)
		task := w.mergeable(docgen.PDFOptions{}, pageOf("one"), pageOf("two"))
		for range 7 {
			ctx, cancel := context.WithCancel(t.Context())
			blobs.watch = cancel
			if err := w.maker.MergeDocuments(ctx, task); !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v, want that it was broken off", err)
			}
		}
		blobs.watch = nil
		if m, err := w.service.ClaimMerge(t.Context(), task, true); err != nil || m.Isolated || len(m.Parts) != 2 {
			t.Errorf("claimed %+v, %v", m, err)
		}
	})
}

// An earlier release gave up a task after five crashes. Its merged file is generated nevertheless.
func TestLostMergeIsRetried(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), newBlobs(t))
	task := w.mergeable(docgen.PDFOptions{}, pageOf("one"), pageOf("two"))
	must(t, w.maker.TaskFailed(t.Context(), task.Kind(), []byte(`{"batch_id":"`+task.BatchID+`"}`), store.ErrLost))
	w.start()
	waitFor(t, "the merged file", func() bool { return w.merged(task).Status == docgen.StatusCompleted })
}

// watchedBlobs is a blob store that notifies a test of each content that is read.
type watchedBlobs struct {
	blob.Store
	watch func()
}

func (b *watchedBlobs) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if b.watch != nil {
		b.watch()
	}
	return b.Store.Open(ctx, key, offset, length)
}

// lostBlobs is a blob store that can be switched to fail reading.
type lostBlobs struct {
	blob.Store
	lost atomic.Bool
}

var errLost = errors.New("a secret of the server")

func (l *lostBlobs) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if l.lost.Load() {
		return nil, errLost
	}
	return l.Store.Open(ctx, key, offset, length)
}
