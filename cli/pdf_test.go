package cli

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"platen/client"
	"platen/pdf/office"
)

const pdfType = client.CreateBatchRequestOutputTypePdf

// A batch of PDFs is generated from end to end.
func TestBatchOfPDFs(t *testing.T) {
	t.Parallel()
	if _, err := office.Find(""); err != nil {
		t.Skip(err)
	}
	data := t.TempDir()
	v := newVisitor(t, newServer(t, data, "--pdf-workers=2"), "--data="+data)
	template, _ := v.mustTemplate("Letter.docx", exampleLetter(t))
	folder := v.mustFolder("Letters")
	documents, _ := letters(5)
	jobs := v.mustAwait(v.mustBatchOf(pdfType, template, folder, documents))
	want := []string{"Letter 001.pdf", "Letter 002.pdf", "Letter 003.pdf", "Letter 004.pdf", "Letter 005.pdf"}
	if got := slices.Sorted(maps.Values(v.files(folder))); !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
	for i, job := range jobs {
		if text, want := textOfPDF(t, v.mustDownload(job.OutputFile.Id)), fmt.Sprintf("Recipient %d of the letters",
			i+1); !strings.Contains(text, want) {
			t.Errorf("PDF %d lacks %q:\n%s", i+1, want, text)
		}
	}
}

// A server without LibreOffice generates Word documents. Its log, and the errors of requests for PDFs, say what to
// install.
func TestServerWithoutLibreOffice(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data, "--libreoffice=/nowhere")
	if log := server.logged(); !strings.Contains(log, `"level":"WARN"`) || !strings.Contains(log, office.Install) {
		t.Errorf("the log does not say that LibreOffice is missing:\n%s", log)
	}
	v := newVisitor(t, server, "--data="+data)
	template, _ := v.mustTemplate("Letter.docx", exampleLetter(t))
	folder := v.mustFolder("Letters")
	documents, _ := letters(2)
	v.mustAwait(v.mustBatch(template, folder, documents))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	jobs, err := awaitBatch(ctx, v.Client, v.mustBatchOf(pdfType, template, folder, documents), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs {
		if job.Status != client.JobStatusFailed || job.Failures == nil || !strings.Contains(strings.Join(job.Failures.Errors, " "),
			office.Install) {
			t.Errorf("a job for a PDF ended as %s with %+v; want it failed with what to install", job.Status, job.Failures)
		}
	}
}

// textOfPDF reads a PDF with poppler.
func textOfPDF(t *testing.T, document []byte) string {
	t.Helper()
	pdftotext := exec.CommandContext(t.Context(), "pdftotext", "-", "-")
	pdftotext.Stdin = bytes.NewReader(document)
	text, err := pdftotext.Output()
	if err != nil {
		t.Fatalf("pdftotext: %v", err)
	}
	return string(text)
}
