package raster_test

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"testing"

	"platen/pdf"
	"platen/pdf/office"
	"platen/pdf/pdftest"
	"platen/pdf/raster"
)

// convert returns the PDF of a document, by LibreOffice.
func convert(tb testing.TB, document []byte) []byte {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	engine, err := office.New(office.Config{Worker: self, Folder: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	defer engine.Close()
	if err := engine.Available(); err != nil {
		tb.Skip(err)
	}
	result, err := pdf.Convert(tb.Context(), engine, pdf.Request{Document: document, Options: pdf.Options{Tagged: true}})
	if err != nil {
		tb.Fatal(err)
	}
	return result.PDF
}

// The page of a letter by LibreOffice has text, and is white elsewhere.
func TestOffice(t *testing.T) {
	r := newRasterizer(t, raster.Config{})
	drawn, err := draw(t, r, convert(t, pdftest.Letter("Amara Okafor")), raster.Options{})
	if err != nil || len(drawn) != 1 {
		t.Fatalf("%d pages, %v; want 1", len(drawn), err)
	}
	drawing, err := png.Decode(bytes.NewReader(drawn[0].PNG))
	if err != nil {
		t.Fatal(err)
	}
	dark, total := 0, drawn[0].Width*drawn[0].Height
	for y := range drawn[0].Height {
		for x := range drawn[0].Width {
			if red, _, _, _ := drawing.At(x, y).RGBA(); red < 0x8000 {
				dark++
			}
		}
	}
	if dark*1000 < total || dark*5 > total {
		t.Errorf("%d of %d pixels are dark, want some", dark, total)
	}
}

// BenchmarkDraw measures the time for a page: of a letter with one page, and of a longer document.
func BenchmarkDraw(b *testing.B) {
	r := newRasterizer(b, raster.Config{})
	for name, document := range map[string][]byte{"letter": pdftest.Letter("Amara Okafor"), "contract": pdftest.Contract(50)} {
		made := convert(b, document)
		for _, dpi := range []int{96, 150} {
			b.Run(fmt.Sprintf("%s/%d", name, dpi), func(b *testing.B) {
				count, size := 0, 0
				for b.Loop() {
					drawn, err := draw(b, r, made, raster.Options{DPI: dpi})
					if err != nil {
						b.Fatal(err)
					}
					count, size = count+len(drawn), size+len(drawn[0].PNG)
				}
				b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(count), "ms/page")
				b.ReportMetric(float64(count)/float64(b.N), "pages")
				b.ReportMetric(float64(size)/float64(b.N)/1000, "kB/first-page")
			})
		}
	}
}
