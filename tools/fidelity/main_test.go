package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"platen/pdf/fidelitytest"
)

func TestCompare(t *testing.T) {
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("poppler-utils is not installed: pdftotext is not on the PATH")
	}
	a, b, broken := write(t, "Hello"), write(t, "World"), filepath.Join(t.TempDir(), "missing.pdf")
	tests := []struct {
		name   string
		paths  []string
		status int
		out    []string // prefixes of lines
		errs   string
	}{
		{"same", []string{a, a}, same, []string{"pages 1/1, words 1/1: match 1.0000"}, ""},
		{"different", []string{a, b}, different, []string{
			"pages 1/1, words 1/1: match 0.0000", "page 1: SSIM ", "page 1: ", `page 1: "Hello" at (`, `page 1: "World" at (`,
		}, ""},
		{"missing", []string{a, broken}, failed, nil, "missing.pdf"},
		{"one path", []string{a}, failed, nil, "usage"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if status := compare(t.Context(), tt.paths, &out, &errs); status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			for i, want := range tt.out {
				if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
					t.Fatalf("printed\n%s\nwant lines that start with %q", &out, tt.out)
				}
			}
			if !strings.Contains(errs.String(), tt.errs) || (tt.errs == "") != (errs.Len() == 0) {
				t.Errorf("errors %q, want %q", &errs, tt.errs)
			}
		})
	}
}

// write writes a PDF with one word, as short as poppler can read.
func write(t *testing.T, word string) string {
	t.Helper()
	content := fmt.Sprintf("BT /F 12 Tf 20 20 Td (%s) Tj ET", word)
	path := filepath.Join(t.TempDir(), "one.pdf")
	if err := os.WriteFile(path, fmt.Appendf(nil, "%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"+
		"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"+
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 "+
		"R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n"+
		"4 0 obj<</Length %d>>stream\n%s\nendstream endobj\ntrailer<</Root 1 0 R>>\n", len(content), content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWorst(t *testing.T) {
	var pages []fidelitytest.Page
	for n, ssim := range []float64{1, 0.5, 0.9, 0.1, 0.8, 0.5, 1} {
		pages = append(pages, fidelitytest.Page{Number: n + 1, SSIM: ssim})
	}
	var got []int
	for _, p := range worst(pages) {
		got = append(got, p.Number)
	}
	if want := "[4 2 6 5 3]"; fmt.Sprint(got) != want {
		t.Errorf("worst pages: %v, want %s", got, want)
	}
	if pages[0].Number != 1 {
		t.Error("worst sorted its argument")
	}
}
