package font

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"
)

const (
	wordNS     = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" `
	otherNS    = `xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" `
	relType    = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	relsStart  = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	relsEnd    = `</Relationships>`
	xmlProlog  = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`
	partPrefix = "application/vnd.openxmlformats-officedocument.wordprocessingml."
)

// parts are what a test's document is made of, by short names: "document" is the content of its body; the others are the
// whole content of their root element.
type parts map[string]string

// roots are the root elements of parts.
var roots = map[string]string{
	"document": "document", "styles": "styles", "numbering": "numbering", "settings": "settings", "fontTable": "fonts",
	"footnotes": "footnotes", "endnotes": "endnotes", "header": "hdr", "footer": "ftr",
}

// docx writes a document. Parts are related to it by their names: "header1" has the relationship "header1". Files beside
// the parts, such as fonts, are related to the table of fonts by their names.
func (p parts) docx(t testing.TB, files map[string][]byte) []byte {
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
			write(path, xmlProlog+`<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="x"><a:themeElements><a:fontScheme name="x">`+content+`</a:fontScheme><a:fmtScheme name="x"/></a:themeElements></a:theme>`)
		case "chart":
			write(path, xmlProlog+`<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">`+content+`</c:chartSpace>`)
		case "document":
			write(path, xmlProlog+`<w:document `+wordNS+otherNS+`><w:body>`+content+`</w:body></w:document>`)
		default:
			write(path, xmlProlog+`<w:`+roots[kind]+` `+wordNS+otherNS+`>`+content+`</w:`+roots[kind]+`>`)
		}
		switch kind {
		case "theme":
			types += `<Override PartName="/` + path + `" ContentType="application/vnd.openxmlformats-officedocument.theme+xml"/>`
		case "chart":
			types += `<Override PartName="/` + path + `" ContentType="application/vnd.openxmlformats-officedocument.drawingml.chart+xml"/>`
		default:
			types += `<Override PartName="/` + path + `" ContentType="` + partPrefix + strings.Replace(kind, "document", "document.main", 1) + `+xml"/>`
		}
		if kind != "document" {
			rels += `<Relationship Id="` + name + `" Type="` + relType + kind + `" Target="` + strings.TrimPrefix(path, "word/") + `"/>`
		}
	}
	write("[Content_Types].xml", xmlProlog+`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="odttf" ContentType="application/vnd.openxmlformats-officedocument.obfuscatedFont"/>`+types+`</Types>`)
	write("_rels/.rels", xmlProlog+relsStart+`<Relationship Id="r1" Type="`+relType+`officeDocument" Target="word/document.xml"/>`+relsEnd)
	write("word/_rels/document.xml.rels", xmlProlog+relsStart+rels+relsEnd)
	fonts := ""
	for name, content := range files {
		write("word/fonts/"+name, string(content))
		fonts += `<Relationship Id="` + name + `" Type="` + relType + `font" Target="fonts/` + name + `"/>`
	}
	if fonts != "" {
		write("word/_rels/fontTable.xml.rels", xmlProlog+relsStart+fonts+relsEnd)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read reads a document that must be one.
func read(t testing.TB, docx []byte) *Document {
	t.Helper()
	d, err := Read(bytes.NewReader(docx), int64(len(docx)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// replace writes a document again with another text in one part.
func replace(t testing.TB, docx []byte, part, text string) []byte {
	t.Helper()
	return rewrite(t, docx, part, func(zw *zip.Writer) (io.Writer, error) { return zw.Create(part) }, text)
}

// lying writes a document again whose main part says that it is larger than it is.
func lying(t testing.TB, docx []byte, size uint64) []byte {
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
