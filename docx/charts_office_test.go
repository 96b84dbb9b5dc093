package docx_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// LibreOffice draws the charts that get new kinds of data: it prints the labels of their axes. It opens those that it does not know.
func TestOfficeDrawsCharts(t *testing.T) {
	run := otherPrograms(t, "soffice", "pdftotext")
	labels := map[string][]string{
		"chart-empty": {"Jan", "Feb"}, "chart-error-bars": {"Jan", "Feb"}, "chart-bubbles": {"2.5"}, "chart-funnel": nil,
	}
	dir := t.TempDir()
	args := []string{"--headless", "-env:UserInstallation=file://" + filepath.Join(dir, "profile"), "--convert-to", "pdf", "--outdir", dir}
	for name := range labels {
		file, _ := chartGolden(t, name)
		path := filepath.Join(dir, name+".docx")
		writeFile(t, path, file)
		args = append(args, path)
	}
	run("soffice", args...)
	for name, want := range labels {
		text := run("pdftotext", filepath.Join(dir, name+".pdf"), "-")
		for _, label := range want {
			if !strings.Contains(text, label) {
				t.Errorf("%s: the axes have the labels %q, without %s", name, text, label)
			}
		}
	}
}
