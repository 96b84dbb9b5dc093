// Package styletest writes Word documents for tests of formatting and fonts.
package styletest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Namespaces are the declarations of a root element.
const Namespaces = wordNS + otherNS

const (
	wordNS  = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" `
	otherNS = `xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
		`xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml" ` +
		`xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" `
	relType    = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	relsStart  = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	relsEnd    = `</Relationships>`
	xmlProlog  = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`
	partPrefix = "application/vnd.openxmlformats-officedocument.wordprocessingml."
)

// Parts are the parts of a document by short names: "document" is the content of its body, the others are the content of their root
// elements.
type Parts map[string]string

// roots are the root elements of parts.
var roots = map[string]string{
	"document": "document", "styles": "styles", "numbering": "numbering", "settings": "settings", "fontTable": "fonts",
	"footnotes": "footnotes", "endnotes": "endnotes", "header": "hdr", "footer": "ftr",
}

// Docx writes a document. The name of a part is also the ID of its relationship. Files such as fonts are added with relationships of the
// font table, under their names.
func (p Parts) Docx(t testing.TB, files map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	write := func(name, text string) {
		w, err := zw.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	types, rels := "", ""
	for name, content := range p {
		kind := strings.TrimRight(name, "0123456789")
		path := "word/" + name + ".xml"
		switch kind {
		case "theme":
			path = "word/theme/theme1.xml"
			write(path, xmlProlog+`<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="x"><a:themeElements>`+
				`<a:fontScheme name="x">`+content+`</a:fontScheme><a:fmtScheme name="x"/></a:themeElements></a:theme>`)
		case "chart":
			write(path, xmlProlog+`<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" `+
				`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">`+content+`</c:chartSpace>`)
		case "document":
			write(path, xmlProlog+`<w:document `+Namespaces+`><w:body>`+content+`</w:body></w:document>`)
		default:
			write(path, xmlProlog+`<w:`+roots[kind]+` `+Namespaces+`>`+content+`</w:`+roots[kind]+`>`)
		}
		switch kind {
		case "theme":
			types += `<Override PartName="/` + path + `" ContentType="application/vnd.openxmlformats-officedocument.theme+xml"/>`
		case "chart":
			types += `<Override PartName="/` + path + `" ContentType="application/vnd.openxmlformats-officedocument.drawingml.chart+xml"/>`
		default:
			types += `<Override PartName="/` + path + `" ContentType="` +
				partPrefix + strings.Replace(kind, "document", "document.main", 1) + `+xml"/>`
		}
		if kind != "document" {
			rels += `<Relationship Id="` + name + `" Type="` + relType + kind + `" Target="` + strings.TrimPrefix(path, "word/") + `"/>`
		}
	}
	write("[Content_Types].xml", xmlProlog+`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">`+
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>`+
		`<Default Extension="xml" ContentType="application/xml"/>`+
		`<Default Extension="odttf" ContentType="application/vnd.openxmlformats-officedocument.obfuscatedFont"/>`+types+`</Types>`)
	write("_rels/.rels", xmlProlog+relsStart+`<Relationship Id="r1" Type="`+relType+`officeDocument" Target="word/document.xml"/>`+relsEnd)
	write("word/_rels/document.xml.rels", xmlProlog+relsStart+rels+relsEnd)
	var fonts strings.Builder
	for name, content := range files {
		write("word/fonts/"+name, string(content))
		fonts.WriteString(`<Relationship Id="` + name + `" Type="` + relType + `font" Target="fonts/` + name + `"/>`)
	}
	if fonts.Len() > 0 {
		write("word/_rels/fontTable.xml.rels", xmlProlog+relsStart+fonts.String()+relsEnd)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Replace returns a document with another text in one part.
func Replace(t testing.TB, docx []byte, part, text string) []byte {
	t.Helper()
	return rewrite(t, docx, part, func(zw *zip.Writer) (io.Writer, error) { return zw.Create(part) }, text)
}

// Lying returns a document whose main part claims to be larger than it is.
func Lying(t testing.TB, docx []byte, size uint64) []byte {
	t.Helper()
	const part = "word/document.xml"
	return rewrite(t, docx, part, func(zw *zip.Writer) (io.Writer, error) {
		return zw.CreateRaw(&zip.FileHeader{Name: part, Method: zip.Deflate, UncompressedSize64: size, CompressedSize64: 3})
	}, "\x03\x00\x00")
}

func rewrite(t testing.TB, docx []byte, part string, create func(*zip.Writer) (io.Writer, error), text string) []byte {
	t.Helper()
	zr, err := zip.NewReader(bytes.NewReader(docx), int64(len(docx)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	for _, f := range zr.File {
		if f.Name != part {
			err = zw.Copy(f)
		} else if w, failed := create(zw); failed != nil {
			err = failed
		} else {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Run is a run with properties and text.
func Run(properties, text string) string {
	return `<w:r><w:rPr>` + properties + `</w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
}

// Paragraph is a paragraph with properties and content.
func Paragraph(properties, content string) string {
	return `<w:p><w:pPr>` + properties + `</w:pPr>` + content + `</w:p>`
}

// Face is the property that sets text in a font.
func Face(name string) string { return `<w:rFonts w:ascii="` + name + `" w:hAnsi="` + name + `"/>` }

// Style is a style of a kind that is based on another one.
func Style(kind, id, base, content string) string {
	return `<w:style w:type="` + kind + `" w:styleId="` + id + `"><w:name w:val="` + id + `"/><w:basedOn w:val="` + base + `"/>` +
		content + `</w:style>`
}

// Styled are run properties that set text in a font.
func Styled(name string) string { return `<w:rPr>` + Face(name) + `</w:rPr>` }

const (
	// Theme is the fonts of a theme.
	Theme = `<a:majorFont><a:latin typeface="Major"/><a:ea typeface=""/><a:cs typeface=""/>` +
		`<a:font script="Jpan" typeface="MajorJapanese"/><a:font script="Arab" typeface="MajorArabic"/></a:majorFont>` +
		`<a:minorFont><a:latin typeface="Minor"/><a:ea typeface=""/><a:cs typeface="MinorComplex"/>` +
		`<a:font script="Jpan" typeface="MinorJapanese"/><a:font script="Hang" typeface="MinorKorean"/>` +
		`<a:font script="Hant" typeface="MinorTaiwan"/></a:minorFont>`
	// Defaults set text in the minor fonts of the theme.
	Defaults = `<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:asciiTheme="minorHAnsi" w:hAnsiTheme="minorHAnsi" ` +
		`w:eastAsiaTheme="minorEastAsia" w:cstheme="minorBidi"/></w:rPr></w:rPrDefault></w:docDefaults>`
)

// Contract returns a document of about fifty pages: numbered clauses, some words in other formats, a table.
func Contract(tb testing.TB) []byte {
	tb.Helper()
	var text strings.Builder
	for i := range 50 {
		text.WriteString(Paragraph(`<w:pStyle w:val="Head"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/>`+
			`</w:numPr>`, Run("", fmt.Sprintf("Clause %d: Duties of the parties", i))))
		for range 14 {
			text.WriteString(Paragraph(`<w:pStyle w:val="Body"/>`,
				Run(`<w:lang w:val="en-GB"/>`, "The Supplier shall, at its own cost and within the time set out in Schedule 2, deliver the "+
					"“Services” to the ")+
					Run(`<w:rStyle w:val="Term"/><w:b/>`, "Customer")+Run(`<w:rFonts w:ascii="Georgia" w:hAnsi="Georgia"/><w:i/>`, " – inter alia –")+
					Run("", " and shall keep all information confidential that it receives in connection with this Agreement, whether or not "+
						"it is marked as such.")))
		}
	}
	return Parts{
		"document": text.String(), "theme": Theme,
		"styles": Defaults + Style("paragraph", "Body", "", Styled("Calibri")) +
			Style("paragraph", "Head", "Body", Styled("Cambria")) + Style("character", "Term", "", Styled("Arial")),
		"numbering": `<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>` +
			`</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>`,
	}.Docx(tb, nil)
}
