package docx_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// LibreOffice draws the charts that get new kinds of data: it prints the labels of their axes. It opens those that it does not know.
func TestOfficeDrawsCharts(t *testing.T) {
	run := otherPrograms(t, "soffice", "pdftotext")
	for name, want := range map[string][]string{
		"chart-empty": {"Jan", "Feb"}, "chart-error-bars": {"Jan", "Feb"}, "chart-bubbles": {"2.5"}, "chart-funnel": nil,
	} {
		t.Run(name, func(t *testing.T) {
			file, _ := chartGolden(t, name)
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "chart.docx"), file)
			run("soffice", "--headless", "-env:UserInstallation=file://"+filepath.Join(dir, "profile"), "--convert-to", "pdf", "--outdir", dir,
				filepath.Join(dir, "chart.docx"))
			text := run("pdftotext", filepath.Join(dir, "chart.pdf"), "-")
			for _, label := range want {
				if !strings.Contains(text, label) {
					t.Errorf("the axes have the labels %q, without %s", text, label)
				}
			}
		})
	}
}
