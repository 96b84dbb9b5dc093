package office_test

import (
	"fmt"
	"strings"
	"testing"

	"platen/pdf"
	"platen/pdf/office"
	"platen/pdf/pdftest"

	"github.com/prometheus/client_golang/prometheus"
)

// A document whose fonts cannot be listed may embed fonts, which LibreOffice would use for the documents of others. So its
// process is not used again.
func TestUnknownFontsEndTheProcess(t *testing.T) {
	registry := prometheus.NewRegistry()
	engine := newOffice(t, office.Config{Workers: 1, Metrics: registry})
	convert := func(document []byte) (starts float64) {
		t.Helper()
		if _, err := pdf.Convert(t.Context(), engine, pdf.Request{Document: document}); err != nil {
			t.Fatal(err)
		}
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			if family.GetName() == "platen_pdf_worker_starts_total" {
				starts = family.GetMetric()[0].GetCounter().GetValue()
			}
		}
		return starts
	}
	var attributes strings.Builder
	for i := range 1001 { // more than an element may have
		fmt.Fprintf(&attributes, ` a%d=""`, i)
	}
	unknown := new(pdftest.Document).XML(`<w:p` + attributes.String() + `><w:r><w:t>text</w:t></w:r></w:p>`).Bytes()
	if _, err := engine.Fonts(unknown); err == nil {
		t.Fatal("the fonts of the document can be listed")
	}
	for i, want := range []float64{1, 1, 1, 2} {
		document := pdftest.Letter("somebody")
		if i == 2 {
			document = unknown
		}
		if starts := convert(document); starts != want {
			t.Errorf("after document %d, %v processes were started, want %v", i+1, starts, want)
		}
	}
}
