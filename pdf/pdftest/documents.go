// Package pdftest contains the test suite that every PDF engine must pass, and the documents that benchmarks convert.
package pdftest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Document builds a Word document from the given elements only, without the template engine.
type Document struct {
	body   strings.Builder
	parts  map[string]string // additional parts, by name
	rels   strings.Builder   // additional relationships of the document
	styles string            // additional styles in styles.xml
}

const namespaces = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
	`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
	`xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" ` +
	`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ` +
	`xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"`

// Paragraph adds a paragraph.
func (d *Document) Paragraph(text string) *Document {
	return d.XML(`<w:p><w:r><w:t xml:space="preserve">` + escape(text) + `</w:t></w:r></w:p>`)
}

// Heading adds a heading of the first level.
func (d *Document) Heading(text string) *Document {
	return d.XML(`<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>` + escape(text) + `</w:t></w:r></w:p>`)
}

// PageBreak adds a page break.
func (d *Document) PageBreak() *Document {
	return d.XML(`<w:p><w:r><w:br w:type="page"/></w:r></w:p>`)
}

// Row adds a row to the table that XML("<w:tbl>…") started.
func (d *Document) Row(cells ...string) *Document {
	d.XML(`<w:tr>`)
	for _, cell := range cells {
		d.XML(`<w:tc><w:tcPr><w:tcW w:w="2000" w:type="dxa"/></w:tcPr>`).Paragraph(cell).XML(`</w:tc>`)
	}
	return d.XML(`</w:tr>`)
}

// XML adds elements to the body unchanged.
func (d *Document) XML(xml string) *Document {
	d.body.WriteString(xml)
	return d
}

// Part adds a part, and a relationship of the document to it.
func (d *Document) Part(id, kind, name, content string) *Document {
	if d.parts == nil {
		d.parts = map[string]string{}
	}
	d.parts["word/"+name] = content
	fmt.Fprintf(&d.rels, `<Relationship Id=%q Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target=%q/>`,
		id, kind, name)
	return d
}

// Link adds an external relationship of the document.
func (d *Document) Link(id, kind, target string) *Document {
	fmt.Fprintf(&d.rels, `<Relationship Id=%q Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" `+
		`Target=%q TargetMode="External"/>`,
		id, kind, escape(target))
	return d
}

// Picture adds an image of 6 × 4 cm, referenced as r:embed="id" or r:link="id".
func (d *Document) Picture(reference string) *Document {
	return d.XML(`<w:p><w:r><w:drawing><wp:inline><wp:extent cx="2160000" cy="1440000"/><wp:docPr id="1" name="P"/><a:graphic>` +
		`<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" ` +
		`name="P"/><pic:cNvPicPr/></pic:nvPicPr>` +
		`<pic:blipFill><a:blip ` + reference +
		`/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="2160000" cy="1440000"/></a:xfrm>` +
		`<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`)
}

// Bytes returns the document.
func (d *Document) Bytes() []byte {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	add := func(name, content string) {
		w, err := archive.Create(name)
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			panic(err) // writing to a buffer does not fail
		}
	}
	add("[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">`+
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" `+
		`ContentType="application/xml"/>`+
		`<Default Extension="png" ContentType="image/png"/><Default Extension="jpeg" ContentType="image/jpeg"/>`+
		`<Override PartName="/word/document.xml" `+
		`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>`+
		`<Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>`)
	add("_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" `+
		`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`)
	add("word/_rels/document.xml.rels",
		`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="styles" `+
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>`+d.rels.String()+
			`</Relationships>`)
	add("word/styles.xml", `<w:styles `+namespaces+
		`><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:cs="Calibri"/><w:sz w:val="22"/>`+
		`<w:lang w:val="en-GB"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after="120"/></w:pPr></w:pPrDefault></w:docDefaults>`+
		`<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>`+
		`<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/><w:next `+
		`w:val="Normal"/><w:pPr><w:keepNext/><w:outlineLvl w:val="0"/></w:pPr>`+
		`<w:rPr><w:b/><w:sz w:val="28"/></w:rPr></w:style>`+d.styles+`</w:styles>`)
	add("word/document.xml", `<w:document `+namespaces+`><w:body>`+d.body.String()+
		`<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1134" w:right="1134" w:bottom="1134" w:left="1134" w:header="567" `+
		`w:footer="567"/></w:sectPr></w:body></w:document>`)
	for name, content := range d.parts {
		add(name, content)
	}
	if err := archive.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace

// Letter returns a letter of one page.
func Letter(to string) []byte {
	d := new(Document).Paragraph("Harrow & Vale LLP").Paragraph("To " + to).Heading("Your appointment")
	for i := range 5 {
		d.Paragraph(prose(i, 60))
	}
	return d.Paragraph("Yours sincerely").Bytes()
}

// Invoice returns an invoice with the given number of rows. 100 rows fill five pages.
func Invoice(rows int) []byte {
	d := new(Document).Heading("Invoice 2026-0187").Paragraph("Riverside Public Library, 3 Quay Street, Cardiff")
	d.XML(`<w:tbl><w:tblPr><w:tblW w:w="5000" w:type="pct"/><w:tblBorders><w:insideH w:val="single" w:sz="4" ` +
		`w:color="808080"/></w:tblBorders></w:tblPr>` +
		`<w:tblGrid><w:gridCol w:w="900"/><w:gridCol w:w="4800"/>` + strings.Repeat(`<w:gridCol w:w="1300"/>`, 3) + `</w:tblGrid>`)
	for i := range rows {
		d.Row(fmt.Sprint(i+1), "Reading table, "+prose(i, 8), fmt.Sprint(i%24+1), fmt.Sprintf("%d.00", 96+i),
			fmt.Sprintf("%d.00", (96+i)*(i%24+1)))
	}
	return d.XML(`</w:tbl>`).Paragraph("Total 12,345.00").Bytes()
}

// Contract returns a contract with the given number of sections, one page each.
func Contract(sections int) []byte {
	d := new(Document)
	for s := range sections {
		d.Heading(fmt.Sprintf("%d. %s", s+1, prose(s, 4)))
		for p := range 9 {
			d.XML(`<w:p><w:pPr><w:jc w:val="both"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">` + fmt.Sprintf("%d.%d ", s+1, p+1) +
				`</w:t></w:r><w:r><w:t>` + prose(s*9+p, 70) + `</w:t></w:r></w:p>`)
		}
	}
	return d.Bytes()
}

// prose returns the given number of meaningless words, which depend on the seed.
func prose(seed, words int) string {
	vocabulary := strings.Fields("the parties agree that each obligation under this contract shall be performed with due care and " +
		"in accordance with applicable law unless otherwise provided in writing by notice to be delivered within " +
		"thirty days after receipt of the invoice of supplier confidential information liability damages termination")
	var b strings.Builder
	state := uint32(seed)*2654435761 + 1
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		state = state*1664525 + 1013904223
		b.WriteString(vocabulary[int(state>>16)%len(vocabulary)])
	}
	return b.String()
}

// Replace returns a copy of a document with all occurrences of a text in its parts replaced.
func Replace(document []byte, old, replacement string) []byte {
	archive, err := zip.NewReader(bytes.NewReader(document), int64(len(document)))
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, entry := range archive.File {
		if err := replace(out, entry, old, replacement); err != nil {
			panic(err)
		}
	}
	if err := out.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func replace(out *zip.Writer, entry *zip.File, old, replacement string) error {
	r, err := entry.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	w, err := out.Create(entry.Name)
	if err == nil {
		_, err = w.Write(bytes.ReplaceAll(content, []byte(old), []byte(replacement)))
	}
	return err
}
