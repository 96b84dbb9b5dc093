package fidelitytest_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A document is the input for a PDF from LibreOffice.
type document struct {
	font      string
	landscape bool
	running   bool // with a header, and a footer with the page number
	parts     []string
}

func (d document) write() []byte {
	width, height := "21cm", "29.7cm"
	if d.landscape {
		width, height = height, width
	}
	running, margin := "", ""
	if d.running {
		running = `<style:header><text:p>Alder &amp; Finch Ltd, general terms</text:p></style:header>` +
			`<style:footer><text:p>Page <text:page-number/> of <text:page-count/></text:p></style:footer>`
		margin = `<style:header-style><style:header-footer-properties fo:min-height="1cm" fo:margin-bottom="5mm"/></style:header-style>` +
			`<style:footer-style><style:header-footer-properties fo:min-height="1cm" fo:margin-top="5mm"/></style:footer-style>`
	}
	return []byte(`<?xml version="1.0" encoding="UTF-8"?><office:document ` +
		`office:mimetype="application/vnd.oasis.opendocument.text" office:version="1.2"` +
		` xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"` +
		` xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"` +
		` xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"` +
		` xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0">` +
		`<office:font-face-decls><style:font-face style:name="F" svg:font-family="'` + d.font + `'"/></office:font-face-decls>` +
		`<office:styles><style:default-style style:family="paragraph"><style:paragraph-properties fo:margin-bottom="3mm" ` +
		`fo:orphans="1" fo:widows="1"/>` +
		`<style:text-properties style:font-name="F" fo:font-size="12pt" fo:language="en" fo:country="GB" ` +
		`fo:hyphenate="false"/></style:default-style></office:styles>` +
		`<office:automatic-styles><style:style style:name="New" style:family="paragraph"><style:paragraph-properties ` +
		`fo:break-before="page"/></style:style>` +
		`<style:page-layout style:name="L"><style:page-layout-properties fo:page-width="` + width + `" fo:page-height="` + height +
		`" fo:margin="2cm"/>` + margin + `</style:page-layout></office:automatic-styles>` +
		`<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="L">` + running +
		`</style:master-page></office:master-styles>` +
		`<office:body><office:text>` + strings.Join(d.parts, "") + `</office:text></office:body></office:document>`)
}

// paragraphs returns a paragraph for each text.
func paragraphs(texts ...string) []string {
	var parts []string
	for _, t := range texts {
		parts = append(parts, `<text:p>`+t+`</text:p>`)
	}
	return parts
}

// chapter returns paragraphs of which the first starts on a new page.
func chapter(texts ...string) []string {
	return append([]string{`<text:p text:style-name="New">` + texts[0] + `</text:p>`}, paragraphs(texts[1:]...)...)
}

// picture returns a paragraph with an image of one color.
func picture(c color.Color) string {
	m := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		m.Set(i%8, i/8, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err) // encoding a small image in memory does not fail
	}
	return `<text:p><draw:frame text:anchor-type="as-char" svg:width="6cm" svg:height="4cm"><draw:image><office:binary-data>` +
		base64.StdEncoding.EncodeToString(b.Bytes()) + `</office:binary-data></draw:image></draw:frame></text:p>`
}

// prose returns n texts of 120 made-up words. The same seed returns the same texts.
func prose(seed uint64, n int) []string {
	random := rand.New(rand.NewPCG(seed, seed))
	syllables := strings.Fields("ba den fi gor lu mas ne pol ri sta tum vel wo ze kin lo")
	texts := make([]string, n)
	for i := range texts {
		words := make([]string, 120)
		for j := range words {
			for range 1 + random.IntN(3) {
				words[j] += syllables[random.IntN(len(syllables))]
			}
		}
		texts[i] = strings.Join(words, " ")
	}
	return texts
}

// table returns rows with cells whose text wraps, below a header row that repeats on every page.
func table(rows int) string {
	var b strings.Builder
	row := func(texts ...string) {
		b.WriteString("<table:table-row>")
		for _, cell := range paragraphs(texts...) {
			b.WriteString("<table:table-cell>" + cell + "</table:table-cell>")
		}
		b.WriteString("</table:table-row>")
	}
	b.WriteString(`<table:table><table:table-column table:number-columns-repeated="3"/><table:table-header-rows>`)
	row("Number", "What it is", "Who made it")
	b.WriteString(`</table:table-header-rows>`)
	for i, text := range prose(3, rows) {
		words := strings.Fields(text)
		row(fmt.Sprintf("No. %d", i), strings.Join(words[:5+i%20], " "), strings.Join(words[30:40], " "))
	}
	b.WriteString(`</table:table>`)
	return b.String()
}

// convert converts files to PDF with LibreOffice, all in one run. It returns the folder of the PDFs, which have the
// same names with another extension.
func convert(tb testing.TB, files map[string][]byte) string {
	tb.Helper()
	office, err := exec.LookPath("soffice")
	if err != nil {
		tb.Skip("LibreOffice is not installed: soffice is not on the PATH")
	}
	needPoppler(tb)
	dir := tb.TempDir()
	args := []string{"--headless", "-env:UserInstallation=file://" + filepath.Join(dir, "profile"), "--convert-to", "pdf", "--outdir", dir}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			tb.Fatal(err)
		}
		args = append(args, path)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), 15*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, office, args...).CombinedOutput(); err != nil {
		tb.Fatalf("soffice: %v\n%s", err, out)
	}
	return dir
}

func needPoppler(tb testing.TB) {
	tb.Helper()
	for _, program := range []string{"pdftotext", "pdftoppm"} {
		if _, err := exec.LookPath(program); err != nil {
			tb.Skipf("poppler-utils is not installed: %s is not on the PATH", program)
		}
	}
}
