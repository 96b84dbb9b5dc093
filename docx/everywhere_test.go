package docx_test

import (
	"platen/docx/compile/compiletest"
	"strings"
	"testing"
)

// everywhere is a document with tags in a chart, a diagram, the address of a link and the document's properties.
func everywhere(t *testing.T) []byte {
	t.Helper()
	files := unpack(t, build(t, map[string]string{
		"document.xml": `<w:p><w:r><w:t>{{for p in people}}</w:t></w:r></w:p><w:p><w:hyperlink ` +
			`r:id="rIdL"><w:r><w:t>{{p.name}}</w:t></w:r></w:hyperlink></w:p><w:p><w:r><w:t>{{endfor}}</w:t></w:r></w:p>`,
	}))
	const drawing = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`
	files["word/charts/chart1.xml"] = `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" ` + drawing +
		`><c:chart><c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:rPr lang="en"/><a:t>Sales of {{ti</a:t></a:r><a:r><a:t>tle}}{{if ` +
		`more}} and more{{endif}}</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea/></c:chart></c:chartSpace>`
	files["word/diagrams/data1.xml"] = `<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" ` + drawing +
		`><dgm:ptLst><dgm:pt><dgm:t><a:bodyPr/><a:p><a:r><a:t>{{title}}</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`
	files["docProps/core.xml"] = `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" ` +
		`xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>About {{title}}</dc:title></cp:coreProperties>`
	files["docProps/custom.xml"] = `<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties" ` +
		`xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"><property ` +
		`fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="2" name="n"><vt:lpwstr>{{title}}</vt:lpwstr></property></Properties>`
	const base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	files["word/_rels/document.xml.rels"] = strings.Replace(files["word/_rels/document.xml.rels"], "</Relationships>",
		`<Relationship Id="rIdC" Type="`+base+`chart" Target="charts/chart1.xml"/><Relationship Id="rIdD" Type="`+base+
			`diagramData" Target="diagrams/data1.xml"/>`+
			`<Relationship Id="rIdL" Type="`+base+
			`hyperlink" Target="https://example.com/%7B%7Bp.id%7D%7D?x=1" TargetMode="External"/></Relationships>`, 1)
	files["_rels/.rels"] = strings.Replace(files["_rels/.rels"], "</Relationships>",
		`<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" `+
			`Target="docProps/core.xml"/><Relationship Id="rId3" Type="`+base+`custom-properties" Target="docProps/custom.xml"/></Relationships>`, 1)
	files["[Content_Types].xml"] = strings.Replace(files["[Content_Types].xml"], "</Types>",
		`<Override PartName="/word/charts/chart1.xml" `+
			`ContentType="application/vnd.openxmlformats-officedocument.drawingml.chart+xml"/><Override `+
			`PartName="/word/diagrams/data1.xml" ContentType="application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml"/>`+
			`<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/><Override `+
			`PartName="/docProps/custom.xml" ContentType="application/vnd.openxmlformats-officedocument.custom-properties+xml"/></Types>`, 1)
	return compiletest.Pack(t, files)
}

func TestTagsStandWhereverTextDoes(t *testing.T) {
	tpl, err := parse(everywhere(t))
	if err != nil {
		t.Fatal(err)
	}
	file, report := execute(t, tpl, decode(t, `{"title":"A & \"B\"\nC","more":true,"people":[{"name":"Ada","id":1},{"name":"Bob","id":2}]}`))
	if len(report.Errors)+len(report.Warnings) > 0 {
		t.Errorf("report %+v", report)
	}
	out := unpack(t, file)
	for part, want := range map[string][]string{
		"word/charts/chart1.xml":       {`<a:t>Sales of A &amp; "B"</a:t></a:r><a:br/><a:r><a:rPr lang="en"/><a:t>C</a:t>`, "and more"},
		"word/diagrams/data1.xml":      {`<a:t>A &amp; "B"</a:t></a:r><a:br/><a:r><a:t>C</a:t>`},
		"docProps/core.xml":            {"<dc:title>About A &amp; &quot;B&quot; C</dc:title>"},
		"docProps/custom.xml":          {"<vt:lpwstr>A &amp; &quot;B&quot; C</vt:lpwstr>"},
		"word/document.xml":            {`r:id="rIdV1"`, `r:id="rIdV2"`},
		"word/_rels/document.xml.rels": {`Target="https://example.com/1?x=1"`, `Target="https://example.com/2?x=1"`},
	} {
		for _, text := range want {
			if !strings.Contains(out[part], text) {
				t.Errorf("%s lacks %s:\n%s", part, text, out[part])
			}
		}
	}
	var listed []string
	for _, tag := range tpl.Tags() {
		listed = append(listed, tag.Content)
	}
	if got, want := strings.Join(listed, " "), "{{for p in people}} {{p.id}} {{p.name}} {{title}} {{if more}}"; got != want {
		t.Errorf("the listing is %s, want %s", got, want)
	}
}

func TestAddressesOfLinksAreJudged(t *testing.T) {
	tpl, err := parse(everywhere(t))
	if err != nil {
		t.Fatal(err)
	}
	_, report := execute(t, tpl, decode(t, `{"title":"","more":false,"people":[{"name":"Ada","id":"a\nb"}]}`))
	if len(report.Errors) != 1 || !strings.Contains(report.Errors[0], "'p.id'") || len(report.Details) != 1 ||
		!strings.HasSuffix(report.Details[0].Place, "address of a link") {
		t.Errorf("report %+v", report)
	}
}

// Tags in an embedded workbook stay, and a warning says so.
func TestTagsInEmbeddedDocuments(t *testing.T) {
	workbook := compiletest.Pack(t, map[string]string{
		"[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ` +
			`ContentType="application/xml"/></Types>`,
		"xl/sharedStrings.xml": `<sst><si><t>{{order.total &gt; 1}}</t></si></sst>`,
	})
	for name, embedded := range map[string][]byte{"workbook": workbook, "no package": []byte("{{a}}")} {
		files := unpack(t, build(t, map[string]string{"document.xml": `<w:p><w:r><w:object><v:shape id="s"/><o:OLEObject ` +
			`xmlns:o="urn:schemas-microsoft-com:office:office" ShapeID="s" r:id="rIdBook"/></w:object></w:r></w:p>`}))
		files["word/embeddings/book.xlsx"] = string(embedded)
		files["[Content_Types].xml"] = strings.Replace(files["[Content_Types].xml"], "</Types>", `<Override `+
			`PartName="/word/embeddings/book.xlsx" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"/></Types>`, 1)
		files["word/_rels/document.xml.rels"] = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="rIdBook" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/package" ` +
			`Target="embeddings/book.xlsx"/></Relationships>`
		tpl, err := parse(compiletest.Pack(t, files))
		if err != nil {
			t.Fatal(err)
		}
		warnings := strings.Join(tpl.Warnings().Messages(), "\n")
		if name == "workbook" && warnings != "The tag '{{order.total > 1}}' is in an embedded document, and stays there." ||
			name != "workbook" && warnings != "" {
			t.Errorf("%s: warnings %q", name, warnings)
		}
	}
}
