package finish

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"platen/pdf"
	"platen/pdf/office"
)

func TestMain(m *testing.M) {
	office.Worker(os.Args)
	code := m.Run()
	for _, end := range ending {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

var ending []func() error // functions to call after all tests

// engine returns the LibreOffice engine, shared by all tests.
var engine = sync.OnceValues(func() (pdf.Engine, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	o, err := office.New(office.Config{Worker: self})
	if err == nil {
		ending = append(ending, o.Close)
	}
	return o, err
})

var converted sync.Map // PDFs by document and options

// convert returns the PDF of a document. Tests share equal conversions.
func convert(t testing.TB, document []byte, options pdf.Options) []byte {
	t.Helper()
	key := fmt.Sprintf("%x %v", document, options)
	if made, ok := converted.Load(key); ok {
		return made.([]byte)
	}
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	result, err := e.Convert(t.Context(), pdf.Request{Document: document, Options: options})
	if err != nil {
		t.Fatal(err)
	}
	converted.Store(key, result.PDF)
	return result.PDF
}

// archived returns the letter as tagged PDF/A-3, to which files can be attached.
func archived(t testing.TB) []byte {
	return convert(t, letter("Ms Ada Byron"), pdf.Options{Archive: pdf.PDFA3b, Tagged: true, Bookmarks: true})
}

// tagged returns the same letter as tagged PDF.
func tagged(t testing.TB) []byte {
	return convert(t, letter("Ms Ada Byron"), pdf.Options{Tagged: true, Bookmarks: true})
}

// letter returns a document of one page, with a heading, an image, and a table.
func letter(to string) []byte {
	return word(heading("Offer to "+to) + paragraph("Dear "+to+", it is a pleasure — in writing.") + picture + table)
}

// contract returns a document with the given number of pages, each with a heading.
func contract(pages int) []byte {
	var body strings.Builder
	for i := range pages {
		if i > 0 {
			body.WriteString(`<w:p><w:r><w:br w:type="page"/></w:r></w:p>`)
		}
		body.WriteString(heading(fmt.Sprintf("Clause %d", i+1)))
		for j := range 20 {
			body.WriteString(paragraph(fmt.Sprintf("§ %d.%d The parties agree to what was agreed by the parties.", i+1, j+1)))
		}
	}
	return word(body.String() + picture)
}

func heading(text string) string {
	return `<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>` + text + `</w:t></w:r></w:p>`
}

func paragraph(text string) string {
	return `<w:p><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>`
}

const (
	table = `<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w="3000"/><w:gridCol w:w="3000"/></w:tblGrid><w:tr>` +
		`<w:tc><w:p><w:r><w:t>Total</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>12.50</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p/>`
	picture = `<w:p><w:r><w:drawing><wp:inline><wp:extent cx="1800000" cy="900000"/><wp:docPr id="1" name="logo" descr="Our logo"/>` +
		`<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>` +
		`<pic:cNvPr id="1" name="logo"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="rId1"/><a:stretch><a:fillRect/></a:stretch>` +
		`</pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1800000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr>` +
		`</pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`
)

// word returns a .docx with the given body.
func word(body string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, part := range []struct{ name, content string }{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Default Extension="png" ContentType="image/png"/><Override PartName="/word/document.xml" ` +
			`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
			`Target="word/document.xml"/></Relationships>`},
		{"word/_rels/document.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="logo.png"/></Relationships>`},
		{"word/logo.png", logo()},
		{"word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
			`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
			`xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" ` +
			`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ` +
			`xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><w:body>` + body + `</w:body></w:document>`},
	} {
		w, err := z.Create(part.name)
		if err != nil {
			panic(err)
		}
		if _, err := w.Write([]byte(part.content)); err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// logo returns an image without repeated rows, so that it does not compress well.
func logo() string {
	m := image.NewRGBA(image.Rect(0, 0, 200, 100))
	for i := range m.Pix {
		m.Pix[i] = byte(i * i / 7)
	}
	for x := range 200 {
		m.Set(x, 50, color.RGBA{200, 30, 30, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.String()
}

// saved writes a PDF to a file for a tool, and returns its path.
func saved(t testing.TB, pdf []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.pdf")
	if err := os.WriteFile(path, pdf, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tool runs a program, which must succeed, and returns its output.
func tool(t testing.TB, name string, arguments ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, arguments, err, out)
	}
	return string(out)
}

// refuses reports whether a program fails.
func refuses(t testing.TB, name string, arguments ...string) bool {
	t.Helper()
	return exec.CommandContext(t.Context(), name, arguments...).Run() != nil
}

// packedAway returns a PDF with object streams and a cross-reference stream, as other engines write it.
func packedAway(t testing.TB, pdf []byte) []byte {
	t.Helper()
	from := saved(t, pdf)
	to := from + ".packed"
	tool(t, "qpdf", "--object-streams=generate", from, to)
	packed, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func TestPages(t *testing.T) {
	for name, pdf := range map[string][]byte{
		"table":  convert(t, contract(4), pdf.Options{}),
		"stream": packedAway(t, convert(t, contract(4), pdf.Options{})),
	} {
		t.Run(name, func(t *testing.T) {
			if n, err := Pages(pdf); n != 4 || err != nil {
				t.Errorf("%d pages, %v; want 4", n, err)
			}
		})
	}
}
