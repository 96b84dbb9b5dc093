// Package compiletest builds Word documents for tests from the contents of their parts, as the golden files of docx have them.
package compiletest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"platen/docx/chart"
	"platen/ooxml/names"
)

// Namespaces declares the namespaces that the parts use.
const Namespaces = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"` +
	` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"` +
	` xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"` +
	` xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"` +
	` xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"` +
	` xmlns:w15="http://schemas.microsoft.com/office/word/2012/wordml"` +
	` xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"` +
	` xmlns:v="urn:schemas-microsoft-com:vml" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"`

// RootOf returns the elements around the content of a part, by its file name.
func RootOf(name string) (open, end string) {
	switch {
	case name == "document.xml":
		return `<w:document ` + Namespaces + `><w:body>`, `</w:body></w:document>`
	case strings.HasPrefix(name, "header"):
		return `<w:hdr ` + Namespaces + `>`, `</w:hdr>`
	case strings.HasPrefix(name, "footer"):
		return `<w:ftr ` + Namespaces + `>`, `</w:ftr>`
	case name == "footnotes.xml":
		return `<w:footnotes ` + Namespaces + `>`, `</w:footnotes>`
	case name == "endnotes.xml", name == "comments.xml", name == "numbering.xml", name == "styles.xml":
		root := "w:" + strings.TrimSuffix(name, ".xml")
		return "<" + root + " " + Namespaces + ">", "</" + root + ">"
	case strings.HasPrefix(name, "chartEx"):
		return `<cx:chartSpace xmlns:cx="` + names.Namespace("cx", false) + `" xmlns:a="` + names.Namespace("a", false) + `" xmlns:r="` +
			names.Namespace("r", false) + `">`, `</cx:chartSpace>`
	case strings.HasPrefix(name, "chart"):
		return `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"` +
			` xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">`, `</c:chartSpace>`
	}
	switch name {
	case "diagram1.xml":
		return `<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"` +
			` xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">`, `</dgm:dataModel>`
	case "core.xml":
		return `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"` +
			` xmlns:dc="http://purl.org/dc/elements/1.1/">`, `</cp:coreProperties>`
	}
	panic("no part is called " + name)
}

// PathOf returns where Build puts a part.
func PathOf(name string) string {
	if name == "core.xml" {
		return "docProps/core.xml"
	}
	return "word/" + name
}

// relationshipOf returns the type of the relationship that leads to a part of some kind.
func relationshipOf(kind string) string {
	switch kind {
	case "diagram":
		kind = "diagramData"
	case "chartEx":
		return names.RelExtendedChart
	}
	return "http://schemas.openxmlformats.org/officeDocument/2006/relationships/" + kind
}

// Build returns a document with the contents of its parts: "document.xml", "header1.xml", ….
func Build(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	const wml = "application/vnd.openxmlformats-officedocument.wordprocessingml."
	var types, rels strings.Builder
	files := map[string]string{}
	packageRels := ""
	for i, name := range slices.Sorted(maps.Keys(parts)) {
		if name == "links" {
			for line := range strings.Lines(parts[name]) {
				id, address, _ := strings.Cut(strings.TrimSpace(line), " ")
				fmt.Fprintf(&rels, `<Relationship Id="%s" Type="%s" Target="%s" TargetMode="External"/>`, id, relationshipOf("hyperlink"), address)
			}
			continue
		}
		open, end := RootOf(name)
		files[PathOf(name)] = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n" + open + parts[name] + end
		kind := strings.TrimRight(strings.TrimSuffix(name, ".xml"), "0123456789")
		contentType := wml + kind + "+xml"
		switch kind {
		case "document":
			contentType = wml + "document.main+xml"
		case "diagram":
			contentType = "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml"
		case "core":
			contentType = "application/vnd.openxmlformats-package.core-properties+xml"
			packageRels = `<Relationship Id="rId2"` +
				` Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"` +
				` Target="docProps/core.xml"/>`
		case "chart", "chartEx":
			contentType = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
			if kind == "chartEx" {
				contentType = "application/vnd.ms-office.chartex+xml"
			}
			files["word/_rels/"+name+".rels"] = `<Relationships` +
				` xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rIdBook"` +
				` Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/package" Target="` + name + `.xlsx"/></Relationships>`
			files["word/"+name+".xlsx"] = workbook(t)
		}
		if kind != "document" && kind != "core" {
			fmt.Fprintf(&rels, `<Relationship Id="rId%d" Type="%s" Target="%s"/>`, i, relationshipOf(kind), name)
		}
		fmt.Fprintf(&types, `<Override PartName="/%s" ContentType="%s"/>`, PathOf(name), contentType)
	}
	files["[Content_Types].xml"] = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default` +
		` Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml"` +
		` ContentType="application/xml"/><Default Extension="xlsx" ContentType="` + names.TypeWorkbook + `"/>` + types.String() + `</Types>`
	files["_rels/.rels"] = `<Relationships` +
		` xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1"` +
		` Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"` +
		` Target="word/document.xml"/>` + packageRels + `</Relationships>`
	files["word/_rels/document.xml.rels"] = `<Relationships` +
		` xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + rels.String() + `</Relationships>`
	return Pack(t, files)
}

// workbook returns an Excel workbook.
func workbook(t testing.TB) string {
	t.Helper()
	const bars = `<chartSpace><barChart><ser><val/></ser></barChart></chartSpace>`
	data := &chart.Data{Categories: []string{"old"}, Series: []chart.Series{{Name: "old", Values: []string{"1"}}}}
	filled, err := chart.Fill([]byte(bars), data, "rIdBook")
	if err != nil {
		t.Fatal(err)
	}
	return string(filled.Workbook)
}

// Pack returns a zip file with these entries.
func Pack(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := zw.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// Input returns the parts and the data of a golden file.
func Input(archive *txtar.Archive) (parts map[string]string, data string) {
	parts = map[string]string{}
	for _, f := range archive.Files {
		switch {
		case f.Name == "data.json":
			data = string(f.Data)
		case f.Name == "links":
			parts[f.Name] = string(f.Data)
		case strings.HasSuffix(f.Name, ".xml") && !strings.HasPrefix(f.Name, "want") && !strings.Contains(f.Name, "/"):
			parts[f.Name] = string(f.Data)
		}
	}
	return parts, data
}
