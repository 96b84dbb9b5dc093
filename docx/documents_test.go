package docx_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"platen/docx"
	"platen/docx/chart"
	"platen/docx/lang"
	"platen/docx/validate"
)

const namespaceDecls = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"`

// rootOf gives the elements around the content of a part, by its file name.
func rootOf(name string) (open, end string) {
	switch {
	case name == "document.xml":
		return `<w:document ` + namespaceDecls + `><w:body>`, `</w:body></w:document>`
	case strings.HasPrefix(name, "header"):
		return `<w:hdr ` + namespaceDecls + `>`, `</w:hdr>`
	case strings.HasPrefix(name, "footer"):
		return `<w:ftr ` + namespaceDecls + `>`, `</w:ftr>`
	case name == "footnotes.xml":
		return `<w:footnotes ` + namespaceDecls + `>`, `</w:footnotes>`
	case name == "endnotes.xml", name == "comments.xml", name == "numbering.xml", name == "styles.xml":
		root := "w:" + strings.TrimSuffix(name, ".xml")
		return "<" + root + " " + namespaceDecls + ">", "</" + root + ">"
	case strings.HasPrefix(name, "chart"):
		return `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">`, `</c:chartSpace>`
	}
	switch name {
	case "diagram1.xml":
		return `<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">`, `</dgm:dataModel>`
	case "core.xml":
		return `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">`, `</cp:coreProperties>`
	}
	panic("no part is called " + name)
}

// pathOf is where build puts a part.
func pathOf(name string) string {
	if name == "core.xml" {
		return "docProps/core.xml"
	}
	return "word/" + name
}

// relationshipOf is the type of the relationship that leads to a part of some kind.
func relationshipOf(kind string) string {
	if kind == "diagram" {
		kind = "diagramData"
	}
	return "http://schemas.openxmlformats.org/officeDocument/2006/relationships/" + kind
}

// build makes a document of the contents of its parts: "document.xml", "header1.xml", ….
func build(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	const wml = "application/vnd.openxmlformats-officedocument.wordprocessingml."
	var types, rels strings.Builder
	files := map[string]string{}
	packageRels := ""
	for i, name := range sortedKeys(parts) {
		if name == "links" {
			for line := range strings.Lines(parts[name]) {
				id, address, _ := strings.Cut(strings.TrimSpace(line), " ")
				fmt.Fprintf(&rels, `<Relationship Id="%s" Type="%s" Target="%s" TargetMode="External"/>`, id, relationshipOf("hyperlink"), address)
			}
			continue
		}
		open, end := rootOf(name)
		files[pathOf(name)] = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n" + open + parts[name] + end
		kind := strings.TrimRight(strings.TrimSuffix(name, ".xml"), "0123456789")
		contentType := wml + kind + "+xml"
		switch kind {
		case "document":
			contentType = wml + "document.main+xml"
		case "diagram":
			contentType = "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml"
		case "core":
			contentType = "application/vnd.openxmlformats-package.core-properties+xml"
			packageRels = `<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/>`
		case "chart":
			contentType = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
			files["word/_rels/"+name+".rels"] = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rIdBook" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/package" Target="` + name + `.xlsx"/></Relationships>`
			files["word/"+name+".xlsx"] = workbook(t)
		}
		if kind != "document" && kind != "core" {
			fmt.Fprintf(&rels, `<Relationship Id="rId%d" Type="%s" Target="%s"/>`, i, relationshipOf(kind), name)
		}
		fmt.Fprintf(&types, `<Override PartName="/%s" ContentType="%s"/>`, pathOf(name), contentType)
	}
	files["[Content_Types].xml"] = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="xlsx" ContentType="` + chart.WorkbookType + `"/>` + types.String() + `</Types>`
	files["_rels/.rels"] = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>` + packageRels + `</Relationships>`
	files["word/_rels/document.xml.rels"] = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + rels.String() + `</Relationships>`
	return pack(t, files)
}

// workbook returns an Excel workbook.
func workbook(t testing.TB) string {
	t.Helper()
	const bars = `<chartSpace><barChart><ser><val/></ser></barChart></chartSpace>`
	filled, err := chart.Fill([]byte(bars), &chart.Data{Categories: []string{"old"}, Series: []chart.Series{{Name: "old", Values: []string{"1"}}}}, "rIdBook")
	if err != nil {
		t.Fatal(err)
	}
	return string(filled.Workbook)
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func pack(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	for _, name := range sortedKeys(files) {
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

// unpack returns the contents of a package's entries.
func unpack(t testing.TB, file []byte) map[string]string {
	t.Helper()
	zr, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range zr.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		files[f.Name] = string(b)
	}
	return files
}

func parse(file []byte) (*docx.Template, error) {
	return docx.Parse(bytes.NewReader(file), int64(len(file)))
}

// check returns what is wrong with a document, but for what every program passes over.
func check(file []byte) []validate.Problem {
	return slices.DeleteFunc(validate.Package(bytes.NewReader(file), int64(len(file))), func(p validate.Problem) bool { return p.Warning })
}

func decode(t testing.TB, json string) lang.Value {
	t.Helper()
	data, err := lang.Decode([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// execute fills a template and has the output checked.
func execute(t testing.TB, tpl *docx.Template, data lang.Value) ([]byte, docx.Report) {
	t.Helper()
	var out bytes.Buffer
	report, err := tpl.Execute(t.Context(), &out, data, docx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range check(out.Bytes()) {
		t.Errorf("the output is unsound: %v", &problem)
	}
	return out.Bytes(), report
}
