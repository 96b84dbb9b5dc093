package server_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"platen/docgen"
)

// TestDownloadBatch downloads documents with names that do not suit every system, and large ones.
func TestDownloadBatch(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		ctx := w.t.Context()
		large := strings.Repeat("0123456789abcdef", 40_000)
		names := []string{"CON", "a:b", "a?b", "Größe", "..."}
		batch := docgen.NewBatch{TemplateID: s.file, InputSource: docgen.InputSource, DestinationID: s.folder, OutputType: docgen.OutputDocx}
		for _, name := range append(names, "failed") {
			batch.Documents = append(batch.Documents, docgen.NewDocument{Name: name, Input: new(docgen.Inputs).Parse([]byte(`{}`))})
		}
		made, err := w.CreateBatch(ctx, w.owner, batch)
		must(w.t, err)
		w.do("GET /docgen_batches/"+made+"/content", request{}).want(w.t, 409, "conflict")
		claim := claimBatch(ctx, w.t, w.Service, w.owner.User.ID, docgen.LaneDocx, made)
		results := make([]docgen.Result, len(claim.Jobs))
		for i, job := range claim.Jobs {
			text := "document " + job.FileName
			if i == 0 {
				text = large
			}
			output, err := w.SaveOutput(ctx, job, strings.NewReader(text))
			must(w.t, err)
			results[i] = docgen.Result{Job: job, Output: &output}
		}
		results[len(names)] = docgen.Result{Job: claim.Jobs[len(names)], Failures: docgen.Failures{Errors: []string{"it is broken"}}}
		_, err = w.CompleteJobs(ctx, claim, results)
		must(w.t, err)

		res := w.do("GET /docgen_batches/"+made+"/content", request{})
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/zip" {
			w.t.Fatalf("status %d, %v", res.StatusCode, res.Header)
		}
		archive, err := zip.NewReader(bytes.NewReader(res.text), int64(len(res.text)))
		must(w.t, err)
		want := []string{"_CON.docx", "a_b.docx", "a_b (1).docx", "Größe.docx", "....docx", "Missing documents.txt"}
		for i, file := range archive.File {
			if file.Name != want[i] {
				w.t.Errorf("entry %d is %q, want %q", i, file.Name, want[i])
			}
			r, err := file.Open()
			must(w.t, err)
			text, err := io.ReadAll(r) // checks the checksum
			must(w.t, err)
			if i == 0 && string(text) != large || i == 1 && string(text) != "document a:b.docx" {
				w.t.Errorf("%s has %d bytes", file.Name, len(text))
			}
		}
		w.unzip(res.text)
		w.do("GET /docgen_batches/"+made+"/content", request{as: "other"}).want(w.t, 404)
	})
}

// unzip tests a ZIP file with another program.
func (w *world) unzip(content []byte) {
	w.t.Helper()
	program, err := exec.LookPath("unzip")
	if err != nil {
		w.t.Log("unzip is not installed")
		return
	}
	file := filepath.Join(w.t.TempDir(), "batch.zip")
	must(w.t, os.WriteFile(file, content, 0o600))
	if out, err := exec.CommandContext(w.t.Context(), program, "-t", file).CombinedOutput(); err != nil {
		w.t.Errorf("unzip: %v\n%s", err, out)
	}
}
