package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"platen/client"
	"platen/docgen"
)

// Letters that servers generate as PDFs while they are killed, and the checks of the result.

// pdfs creates a batch of PDFs. If the server is to be killed when some of them are generated, it triggers the kill.
func (w *killWorker) pdfs(ctx context.Context, m killMoment, struck <-chan struct{}, strike func()) {
	err := w.batchOfPDFs(ctx, m)
	if m.pdfs > 0 {
		if err == nil {
			err = w.awaitMade(ctx, w.asked[len(w.asked)-1], m.pdfs)
		}
		defer strike()
	}
	w.judge(err, struck)
}

// batchOfPDFs creates a batch of letters to different people. Each file is named after the addressee.
func (w *killWorker) batchOfPDFs(ctx context.Context, m killMoment) error {
	w.named++
	documents := make([]client.DocumentToMake, m.documents)
	for i := range documents {
		to := fmt.Sprintf("%d of %d in %d-%d", i+1, m.documents, w.number, w.named)
		documents[i] = client.DocumentToMake{GeneratedFileName: to, UserInput: map[string]any{"to": to + endOfLetter}}
	}
	request := client.CreateBatchRequest{
		File:                   client.TemplateFileRef{Id: w.letter, Type: client.TemplateFileRefTypeFile},
		OutputType:             pdfType,
		DocumentGenerationData: documents,
	}
	if m.merged {
		request.Options = &client.BatchOptions{Pdf: &client.PdfOptions{Merged: &client.PdfMerged{Name: fmt.Sprintf("All in %d-%d", w.number,
			w.named)}}}
	}
	return w.ask(ctx, request)
}

// endOfLetter ends the name in a letter, so that no name is a prefix of another.
const endOfLetter = "."

// awaitMade waits until the given number of files of a batch are generated. It polls without a pause, to be there in
// time.
func (w *killWorker) awaitMade(ctx context.Context, batch string, files int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		answer, err := w.visitor.GetBatch(ctx, batch, nil)
		if err != nil {
			return fmt.Errorf("while %d files are made: %w", files, err)
		}
		jobs, merged := answer.JSON200.Jobs, answer.JSON200.Merged
		made := int(jobs.Total - jobs.Pending - jobs.Submitted)
		if merged != nil && merged.OutputFile != nil {
			made++
		}
		if made >= files {
			return nil
		}
	}
}

// letterBatch is the final state of a batch of PDFs.
type letterBatch struct {
	merged bool // a merged file was requested
	jobs   []letterFile
	merge  *letterFile
}

// letterFile is a job or a merge, with its file.
type letterFile struct{ name, status, file, failures string }

// checkBatches checks that all accepted batches exist, and then those of PDFs: each job has generated its letter or has
// failed, and all letters of a batch are in its merged file. The server must be idle.
func (a *accounts) checkBatches() {
	a.t.Helper()
	there, files := a.letters(), a.pdfFiles()
	for _, w := range a.workers {
		for _, id := range w.asked {
			if there[id] == nil {
				a.t.Errorf("batch %s was accepted but does not exist", id)
			}
		}
	}
	count := map[string]int{"batches": len(there), "PDFs": len(files)}
	for id, b := range there {
		a.checkBatch(id, b, files, count)
	}
	for id, name := range files {
		a.t.Errorf("PDF %s, %s, belongs to no job or batch", id, name)
	}
	a.each("SELECT batch_id FROM docgen_endings", 1, func(row []string) { a.t.Errorf("batch %s has not ended", row[0]) })
	a.t.Log(count)
}

// checkBatch checks a batch, removes its PDFs from files, and updates the counts.
func (a *accounts) checkBatch(id string, b *letterBatch, files map[string]string, count map[string]int) {
	a.t.Helper()
	var pages []string // the text that each page of the merged file must have
	for _, job := range b.jobs {
		if a.checkJob(id, job, files) {
			pages = append(pages, job.says())
		} else {
			count["jobs of PDFs that failed"]++
		}
	}
	if len(b.jobs) > 0 {
		count["batches of PDFs"]++
	}
	if (b.merge != nil) != b.merged {
		a.t.Errorf("batch %s asks for a merged file: %t, and has %+v", id, b.merged, b.merge)
		return
	}
	if b.merged {
		count["to be merged"]++
		if a.checkMerged(id, b, pages, files) {
			count["merged PDFs"]++
		}
	}
}

// says returns the text that the letter of a job must have.
func (f letterFile) says() string { return "To " + strings.TrimSuffix(f.name, ".pdf") + endOfLetter }

// letters returns all batches by id, with the jobs and merges of the batches of PDFs.
func (a *accounts) letters() map[string]*letterBatch {
	a.t.Helper()
	found := map[string]*letterBatch{}
	a.each("SELECT id, options FROM docgen_batches", 2, func(row []string) {
		found[row[0]] = &letterBatch{merged: strings.Contains(row[1], `"merged"`)}
	})
	a.each(`SELECT j.batch_id, j.file_name, j.status, j.output_file_id, j.failures FROM docgen_jobs j JOIN docgen_batches b ON b.id =
		j.batch_id
		WHERE b.output_type = 'pdf' ORDER BY j.id`, 5, func(row []string) {
		b := found[row[0]]
		b.jobs = append(b.jobs, letterFile{row[1], row[2], row[3], row[4]})
	})
	a.each("SELECT batch_id, file_name, status, output_file_id, failures FROM docgen_merges", 5, func(row []string) {
		found[row[0]].merge = &letterFile{row[1], row[2], row[3], row[4]}
	})
	return found
}

// pdfFiles returns the names of all PDFs in the folders, by id.
func (a *accounts) pdfFiles() map[string]string {
	a.t.Helper()
	files := map[string]string{}
	for _, folder := range a.folders {
		for id, name := range a.visitor.files(folder) {
			if strings.HasSuffix(name, ".pdf") {
				files[id] = name
			}
		}
	}
	return files
}

// checkJob checks the letter of a job, removes it from files, and reports whether it exists.
func (a *accounts) checkJob(batch string, job letterFile, files map[string]string) bool {
	a.t.Helper()
	if job.status != "completed" {
		a.t.Errorf("the job of %q in batch %s is %s: %s", job.name, batch, job.status, job.failures)
		return false
	}
	a.checkPDF(job, files, job.says())
	return true
}

// checkMerged checks the merged file of a batch, whose pages must have the given texts, and reports whether it exists.
func (a *accounts) checkMerged(id string, b *letterBatch, pages []string, files map[string]string) bool {
	a.t.Helper()
	want := "completed"
	if len(pages) < len(b.jobs) {
		want = "completed_with_error"
	}
	m := *b.merge
	switch {
	case len(pages) == 0 && m.status == "failed" && m.hasErrors(): // there is nothing to be merged
		return false
	case m.status != want || (want == "completed_with_error") != m.hasErrors():
		a.t.Errorf("the merged file of batch %s, of %d PDFs for %d jobs, is %s: %s", id, len(pages), len(b.jobs), m.status, m.failures)
		return false
	}
	a.checkPDF(m, files, pages...)
	return true
}

func (f letterFile) hasErrors() bool {
	var said docgen.Failures
	return json.Unmarshal([]byte(f.failures), &said) == nil && len(said.Errors) > 0
}

// checkPDF checks a PDF that must be in the folders under its name, with the given texts on its pages. It removes the
// PDF from files: PDFs that remain belong to no job, and a second use of the same PDF fails.
func (a *accounts) checkPDF(f letterFile, files map[string]string, pages ...string) {
	a.t.Helper()
	if files[f.file] != f.name {
		a.t.Errorf("the file of %q is %s, %q", f.name, f.file, files[f.file])
		return
	}
	delete(files, f.file)
	content := a.visitor.mustDownload(f.file)
	if !bytes.HasPrefix(content, []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(content), []byte("%%EOF")) {
		a.t.Errorf("%q, of %d bytes, is no whole PDF", f.name, len(content))
		return
	}
	text := strings.Split(strings.TrimSuffix(textOfPDF(a.t, content), "\f"), "\f")
	if !slices.EqualFunc(text, pages, strings.Contains) {
		a.t.Errorf("%q has the pages %q, want %q", f.name, text, pages)
	}
}

// checkWorkers checks that the killed servers have left no worker and no file of LibreOffice once a later server is
// idle. The folder of a worker that was writing when the next server started may remain.
func (k *killing) checkWorkers(left []string) {
	k.t.Helper()
	for _, folder := range left {
		awaitTrue(k.t, "the workers of a dead server end", func() bool { return len(workersIn(k.t, folder)) == 0 })
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				k.t.Errorf("a dead server has left %s", path)
			}
			return ignoreGone(err)
		})
		if err != nil {
			k.t.Error(err)
		}
	}
	if workers := workersIn(k.t, k.pdfFolder); len(workers) > killPDFWorkers+spareWorkers {
		k.t.Errorf("the server has the workers %q, more than %d and a spare one", workers, killPDFWorkers)
	}
}

// tellMemory logs the peak memory of a server.
func (k *killing) tellMemory(server *child) {
	k.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", server.cmd.Process.Pid))
	if err != nil {
		k.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if held, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			k.t.Logf("the last server has held %s", strings.TrimSpace(held))
		}
	}
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// checkNoWorkers checks that nothing of LibreOffice is left when the last server has stopped.
func (k *killing) checkNoWorkers() {
	k.t.Helper()
	if left := append(workersIn(k.t, k.pdfFolder), glob(k.t, filepath.Join(k.pdfFolder, "*"))...); len(left) > 0 {
		k.t.Errorf("of LibreOffice there is left %q", left)
	}
}
