package generate_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/lang"
	"platen/examples"
	"platen/pdf"
	"platen/pdf/fidelitytest"
	"platen/pdf/finish"
)

// A preview is a PDF with its marks, and the same PDF without marks ever.
type preview struct {
	marks  []docx.Mark
	marked *finish.Marked
	plain  []byte
}

// previewOf generates a document with and without marks.
func previewOf(t *testing.T, engine pdf.Engine, file, data []byte) preview {
	t.Helper()
	tpl, err := docx.Parse(bytes.NewReader(file), int64(len(file)))
	must(t, err)
	input, err := lang.Decode(data)
	must(t, err)
	var p preview
	for _, most := range []int{0, 1000} {
		var document bytes.Buffer
		report, err := tpl.Execute(t.Context(), &document, input, docx.Options{Marks: most})
		must(t, err)
		result, err := pdf.Convert(t.Context(), engine, pdf.Request{Document: document.Bytes()})
		must(t, err)
		if most == 0 {
			p.plain = result.PDF
			continue
		}
		p.marks = report.Marks
		p.marked, err = finish.Marks(result.PDF, docx.MarkAddress)
		must(t, err)
	}
	return p
}

// checkLayout compares the pages with and without marks.
func (p *preview) checkLayout(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	plain, marked := filepath.Join(folder, "plain.pdf"), filepath.Join(folder, "marked.pdf")
	must(t, os.WriteFile(plain, p.plain, 0o600))
	must(t, os.WriteFile(marked, p.marked.PDF, 0o600))
	score, err := fidelitytest.Compare(t.Context(), plain, marked)
	must(t, err)
	if score.PagesA != score.PagesB || score.WordMatch < 1 || score.LineBreaks < 1 || score.PageBreaks < 1 || score.Within1 < 1 {
		t.Errorf("the layout changes: %v\n%s", score, score.Difference())
	}
}

// word is a word of a PDF with its position.
type word struct {
	Left   float64 `xml:"xMin,attr"`
	Right  float64 `xml:"xMax,attr"`
	Top    float64 `xml:"yMin,attr"`
	Bottom float64 `xml:"yMax,attr"`
	Text   string  `xml:",chardata"`
}

// texts returns the words inside each rectangle of the marks, by the ID of the mark and the page.
func (p *preview) texts(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "pdftotext", "-bbox", "-", "-")
	cmd.Stdin = bytes.NewReader(p.marked.PDF)
	out, err := cmd.Output()
	must(t, err)
	var document struct {
		Pages []struct {
			Words []word `xml:"word"`
		} `xml:"body>doc>page"`
	}
	must(t, xml.Unmarshal(bytes.Replace(out, []byte(`"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd"`), nil, 1), &document))
	found := map[string][]string{}
	for _, m := range p.marked.Marks {
		tag := p.marks[m.ID]
		key := fmt.Sprintf("%s %s, page %d", tag.Tag.Tag, tag.DataPath, m.Page)
		for _, r := range m.Rects {
			var line []string
			for _, w := range document.Pages[m.Page-1].Words {
				x, y := (w.Left+w.Right)/2, (w.Top+w.Bottom)/2
				if r.X <= x && x <= r.X+r.Width && r.Y <= y && y <= r.Y+r.Height {
					line = append(line, w.Text)
				}
			}
			found[key] = append(found[key], strings.Join(line, " "))
		}
	}
	return found
}

// The rectangles of marks contain the values, wherever these are in a document.
func TestMarksShowValues(t *testing.T) {
	engine := newOffice(t)
	paragraph := func(text string) string { return `<w:p><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>` }
	cell := func(text string) string {
		return `<w:tc><w:tcPr><w:tcW w:w="3000" w:type="dxa"/></w:tcPr>` + paragraph(text) + `</w:tc>`
	}
	long := strings.TrimSpace(strings.Repeat("many words ", 12))
	file := compiletest.Build(t, map[string]string{
		"header1.xml":   paragraph("Number {{number}}"),
		"footnotes.xml": `<w:footnote w:id="2">` + paragraph("Note: {{note}}") + `</w:footnote>`,
		"document.xml": paragraph("Dear {{customer.name :: bold}} , hello {{none}}!") + paragraph("We write {{long}} to you.") +
			`<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w="3000"/><w:gridCol w:w="3000"/></w:tblGrid>` +
			`<w:tr>` + cell("{{for i in items}}{{i.name}}") + cell("{{i.price :: format(\"0.00\")}}{{endfor}}") + `</w:tr></w:tbl>` +
			`<w:p><w:r><w:br w:type="page"/></w:r></w:p>` +
			`<w:p><w:r><w:t>Noted</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>` + paragraph("{{rich}}") +
			paragraph(`{{logo :: image("2cm")}}`) +
			paragraph(`{{site :: link("https://example.com")}}`) +
			`<w:sectPr><w:headerReference w:type="default" r:id="rId2"/></w:sectPr>`,
	})
	var logo bytes.Buffer
	must(t, png.Encode(&logo, image.NewGray(image.Rect(0, 0, 10, 10))))
	data, err := json.Marshal(map[string]any{
		"number": "2026-17", "note": "small", "customer": map[string]string{"name": "Ada"}, "none": "", "long": long,
		"items": []map[string]any{{"name": "Table", "price": 12}, {"name": "Chair", "price": 3.5}}, "rich": "<b>bold</b> and <i>italic</i>",
		"site": "here", "logo": base64.StdEncoding.EncodeToString(logo.Bytes()),
	})
	must(t, err)
	p := previewOf(t, engine, file, data)
	got := p.texts(t)
	want := map[string][]string{
		"{{number}} number, page 1": {"2026-17"}, "{{number}} number, page 2": {"2026-17"},
		"{{customer.name :: bold}} customer.name, page 1": {"Ada"},
		"{{i.name}} items[0].name, page 1":                {"Table"}, "{{i.name}} items[1].name, page 1": {"Chair"},
		`{{i.price :: format("0.00")}} items[0].price, page 1`: {"12.00"}, `{{i.price :: format("0.00")}} items[1].price, page 1`: {"3.50"},
		"{{note}} note, page 2": {"small"}, "{{rich}} rich, page 2": {"bold and italic"},
		`{{site :: link("https://example.com")}} site, page 2`: {"https://example.com"},
		`{{logo :: image("2cm")}} logo, page 2`:                {""},
	}
	lines := got["{{long}} long, page 1"]
	delete(got, "{{long}} long, page 1")
	if len(lines) != 2 || strings.Join(lines, " ") != long {
		t.Errorf("the long value is %q, want several lines", lines)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the values (-want +got):\n%s", diff)
	}
	if i := slices.IndexFunc(p.marked.Marks, func(m finish.Mark) bool { return p.marks[m.ID].DataPath == "logo" }); i >= 0 {
		const twoCentimeters = 56.7
		if r := p.marked.Marks[i].Rects[0]; math.Abs(r.Width-twoCentimeters) > 1 || math.Abs(r.Height-twoCentimeters) > 1 {
			t.Errorf("the picture has the size %v x %v, want 2 cm", r.Width, r.Height)
		}
	}
	p.checkLayout(t)
}

// In the examples, every mark is found, and no line breaks elsewhere.
func TestMarksOfExamples(t *testing.T) {
	engine := newOffice(t)
	for _, name := range []string{"contract", "invoice", "letter"} {
		t.Run(name, func(t *testing.T) {
			file, err := examples.Files.ReadFile(name + "/template.docx")
			must(t, err)
			data, err := examples.Files.ReadFile(name + "/data.json")
			must(t, err)
			p := previewOf(t, engine, file, data)
			found := map[int]bool{}
			for _, m := range p.marked.Marks {
				found[m.ID] = true
			}
			for i, m := range p.marks {
				if !found[i] {
					t.Errorf("the value of %s (%s) is not on a page", m.Tag.Tag, m.DataPath)
				}
			}
			if len(p.marks) < 10 || slices.Contains(p.marked.Pages, finish.Size{}) {
				t.Errorf("%d marks on pages of %v, want more", len(p.marks), p.marked.Pages)
			}
			p.checkLayout(t)
		})
	}
}
