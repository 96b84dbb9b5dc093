package fidelitytest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"platen/pdf/fidelitytest"
)

const serif, sans = "Liberation Serif", "Liberation Sans"

// documents returns the input of TestCompare. Each document differs from another in one thing.
func documents(t *testing.T) map[string][]byte {
	contract, err := os.ReadFile("../../examples/contract/template.docx")
	if err != nil {
		t.Fatal(err)
	}
	texts := prose(1, 20)
	words := strings.Fields(texts[2])
	words[60] = "changed"
	edited := slices.Replace(slices.Clone(texts), 2, 3, strings.Join(words, " "))
	illustrated := func(c color.Color) []byte {
		return document{font: serif, parts: slices.Insert(paragraphs(texts[:6]...), 2, picture(c))}.write()
	}
	return map[string][]byte{
		"contract.docx":       contract,
		"contract-again.docx": contract,
		"letter.fodt":         document{font: serif, running: true, parts: paragraphs(texts...)}.write(),
		"letter-again.fodt":   document{font: serif, running: true, parts: paragraphs(texts...)}.write(),
		"edited.fodt":         document{font: serif, running: true, parts: paragraphs(edited...)}.write(),
		"landscape.fodt":      document{font: serif, running: true, landscape: true, parts: paragraphs(texts...)}.write(),
		"other.fodt":          document{font: serif, running: true, parts: paragraphs(prose(2, 20)...)}.write(),
		"plain.fodt":          document{font: serif, parts: paragraphs(texts...)}.write(),
		"plain-sans.fodt":     document{font: sans, parts: paragraphs(texts...)}.write(),
		"table.fodt":          document{font: serif, running: true, parts: []string{table(60)}}.write(),
		"table-sans.fodt":     document{font: sans, running: true, parts: []string{table(60)}}.write(),
		"book.fodt":           book(4),
		"inserted.fodt":       book(4, prose(5, 1)...),
		"three.fodt":          book(3),
		"red.fodt":            illustrated(color.NRGBA{R: 200, A: 255}),
		"blue.fodt":           illustrated(color.NRGBA{B: 90, A: 255}),
		"white.fodt":          illustrated(color.White),
		"empty.fodt":          document{font: serif}.write(),
	}
}

// book returns n chapters of two pages each. The texts go into the first chapter, whose second page has space for
// one.
func book(n int, texts ...string) []byte {
	d := document{font: serif, running: true}
	for i := range n {
		d.parts = append(d.parts, chapter(slices.Insert(prose(uint64(10+i), 7), 2, texts...)...)...)
		texts = nil
	}
	return d.write()
}

// A span is the range of a value in a score.
type span struct{ low, high float64 }

var all, none = span{1, 1}, span{0, 0}

func TestCompare(t *testing.T) {
	dir := convert(t, documents(t))
	same := [6]span{all, all, all, all, all, all}
	tests := []struct {
		a, b       string
		want       [6]span // words, line and page breaks, within 1 and 3 points, SSIM
		difference string  // a part of Difference; "" if the pages are the same
	}{
		{"letter", "letter-again", same, ""},
		{"contract", "contract-again", same, ""},
		{"empty", "empty", same, ""},
		// One word differs, so the words after it on the same line move.
		{"letter", "edited", [6]span{{0.9995, 0.9997}, all, all, {0.99, 0.9995}, {0.99, 0.9995}, {0.99, 0.999}}, `"changed" at (`},
		{"plain", "plain-sans", [6]span{all, {0.05, 0.5}, none, {0, 0.1}, {0, 0.1}, {0, 0.3}}, `" at (56.80, 56.50) `},
		// In reading order, 8 % fewer words would match.
		{"table", "table-sans", [6]span{{0.97, 0.999}, {0.4, 0.9}, none, {0, 0.2}, {0, 0.2}, {0, 0.3}}, "page 1: "},
		{"letter", "landscape", [6]span{all, {0.1, 0.5}, none, {0, 0.1}, {0, 0.1}, {0, 0.3}}, "page 1: is 596×842 points, and 842×596 in B"},
		{"letter", "other", [6]span{{0.05, 0.25}, {0, 0.1}, none, {0, 0.1}, {0, 0.1}, {0, 0.4}}, "is only in A"},
		{"letter", "empty", [6]span{none, none, none, none, none, {0, 0.05}}, "A has 4 pages, B 1"},
		// Only the break within the first of four chapters moves.
		{"book", "inserted", [6]span{{0.98, 0.99}, {0.98, 0.99}, {6.0 / 7, 6.0 / 7}, {0.75, 0.9}, {0.75, 0.9}, {0.7, 0.9}}, "is only in B"},
		// Two of eight pages are missing, and the footers of all others show the number of pages.
		{"book", "three", [6]span{{0.85, 0.86}, {0.85, 0.86}, {10.0 / 12, 10.0 / 12}, {0.85, 0.86}, {0.85, 0.86}, {0.7, 0.8}},
			"A has 8 pages, B 6"},
		{"red", "blue", [6]span{all, all, all, all, all, {0.5, 0.95}}, "pixels differ"},
		{"red", "white", [6]span{all, all, all, all, all, {0.5, 0.95}}, "pixels differ"},
	}
	for _, tt := range tests {
		t.Run(tt.a+" and "+tt.b, func(t *testing.T) {
			t.Parallel()
			s := compare(t, filepath.Join(dir, tt.a+".pdf"), filepath.Join(dir, tt.b+".pdf"))
			for i, value := range []float64{s.WordMatch, s.LineBreaks, s.PageBreaks, s.Within1, s.Within3, s.SSIM} {
				if value < tt.want[i].low || value > tt.want[i].high {
					t.Errorf("score: %s, want %v", s, tt.want)
					break
				}
			}
			if s.Same() != (tt.difference == "") || !strings.Contains(s.Difference(), tt.difference) {
				t.Errorf("Same() = %v, Difference() =\n%s\nwant %q in it", s.Same(), s.Difference(), tt.difference)
			}
		})
	}
}

func compare(t *testing.T, a, b string) fidelitytest.Score {
	t.Helper()
	s, err := fidelitytest.Compare(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A page is the input of handmade.
type page struct {
	content string // drawing operators
	entries string // additional entries of the page's dictionary
}

// handmade writes a PDF. Its font F is Helvetica. Its font X maps each A to a control character.
func handmade(t *testing.T, title string, pages ...page) string {
	t.Helper()
	const toUnicode = "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange\n" +
		"2 beginbfchar <41> <0001> <42> <D800> endbfchar endcmap end"
	stream := func(text string) string { return fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(text), text) }
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "", "<</Title(" + title + ")>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>", stream(toUnicode),
	}
	kids := ""
	for _, p := range pages {
		kids += fmt.Sprintf("%d 0 R ", len(objects)+1)
		objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/Contents %d 0 R/Resources<</Font<</F 4 0 R/X 5 0 R>>>>%s>>",
			len(objects)+2, p.entries), stream(p.content))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/MediaBox[0 0 300 200]/Kids[%s]/Count %d>>", kids, len(pages))
	var b, table bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	for i, object := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %[1]d/Root 1 0 R/Info 3 0 R>>\nstartxref\n%d\n%%%%EOF\n",
		len(objects)+1, &table, start)
	path := filepath.Join(t.TempDir(), "handmade.pdf")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// line draws a line of text at a height above the bottom of the page.
func line(font string, height int, text string) string {
	return fmt.Sprintf("BT /%s 12 Tf 20 %d Td (%s) Tj ET\n", font, height, text)
}

func TestCompareHandmade(t *testing.T) {
	needPoppler(t)
	first, second := line("F", 150, "the first line"), line("F", 100, "and the second")
	plain := handmade(t, "plain", page{content: first + second})
	t.Run("drawn in another order", func(t *testing.T) {
		if s := compare(t, plain, handmade(t, "", page{content: second + first})); !s.Same() {
			t.Errorf("%s\n%s", s, s.Difference())
		}
	})
	t.Run("turned", func(t *testing.T) {
		turned := handmade(t, "", page{first + second, "/Rotate 90"})
		s := compare(t, plain, turned)
		if s.WordMatch != 1 || s.Within3 > 0.4 || s.SSIM > 0.2 || !strings.Contains(s.Difference(), "is 300×200 points, and 200×300 in B") {
			t.Errorf("%s\n%s", s, s.Difference())
		}
		if back := compare(t, turned, plain); back.String() != s.String() {
			t.Errorf("%s, swapped %s", s, back)
		}
		if s := compare(t, turned, turned); !s.Same() {
			t.Errorf("a rotated page and itself: %s", s)
		}
	})
	t.Run("hostile text", func(t *testing.T) {
		content := line("X", 150, "xAy BAB") + line("F", 100, `<word> & "a" \001\377 </doc>`)
		hostile := handmade(t, `\001 <doc> <page> & ]]>`, page{content: content})
		s := compare(t, hostile, hostile)
		if !s.Same() || s.WordsA < 6 {
			t.Errorf("%s\n%s", s, s.Difference())
		}
	})
	t.Run("lines without words", func(t *testing.T) {
		lines := handmade(t, "", page{content: "20 20 100 100 re S"}, page{content: "40 20 100 100 re S"})
		s := compare(t, lines, handmade(t, "", page{content: "20 20 100 100 re S"}))
		if s.WordsA != 0 || s.WordMatch != 1 || s.PageBreaks != 1 || s.SSIM < 0.4 || s.SSIM > 0.6 || s.Pages[0].SSIM != 1 ||
			s.Pages[1].SSIM > 0.1 || s.Same() {
			t.Errorf("%s\n%s", s, s.Difference())
		}
	})
	t.Run("a path that looks like an option", func(t *testing.T) {
		t.Chdir(filepath.Dir(plain))
		if err := os.Link("handmade.pdf", "-v"); err != nil {
			t.Fatal(err)
		}
		if s := compare(t, "-v", "handmade.pdf"); !s.Same() || s.WordsA != 6 {
			t.Errorf("%s", s)
		}
	})
}

func TestCompareFails(t *testing.T) {
	needPoppler(t)
	good := handmade(t, "", page{content: line("F", 150, "Hello")})
	broken := filepath.Join(t.TempDir(), "broken.pdf")
	if err := os.WriteFile(broken, []byte("%PDF-1.4\nnothing else"), 0o600); err != nil {
		t.Fatal(err)
	}
	huge := handmade(t, "", page{entries: "/MediaBox[0 0 9000 9000]"})
	for name, path := range map[string]string{"missing": "missing.pdf", "not a PDF": broken, "a huge page": huge} {
		for _, paths := range [][2]string{{good, path}, {path, good}} {
			if s, err := fidelitytest.Compare(t.Context(), paths[0], paths[1]); err == nil || !strings.Contains(err.Error(), filepath.Base(path)) {
				t.Errorf("%s: %s, %v", name, s, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := fidelitytest.Compare(ctx, good, good); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %s, %v", s, err)
	}
}

// BenchmarkCompare compares 50 pages with the same text in another font.
func BenchmarkCompare(b *testing.B) {
	text := paragraphs(prose(1, 300)...)
	dir := convert(b, map[string][]byte{
		"a.fodt": document{font: serif, running: true, parts: text}.write(),
		"b.fodt": document{font: sans, running: true, parts: text}.write(),
	})
	for _, pair := range [][2]string{{"a", "a"}, {"a", "b"}} {
		b.Run(pair[0]+" and "+pair[1], func(b *testing.B) {
			var s fidelitytest.Score
			for b.Loop() {
				var err error
				if s, err = fidelitytest.Compare(b.Context(), filepath.Join(dir, pair[0]+".pdf"), filepath.Join(dir, pair[1]+".pdf")); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(s.PagesA+s.PagesB)*float64(b.N)/b.Elapsed().Seconds(), "pages/s")
			b.Log(s)
		})
	}
}
