package validate_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"platen/docx/validate"
)

const (
	namespaces = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
		`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
		`xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" ` +
		`xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" ` +
		`xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" ` +
		`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`
	types = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ` +
		`ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="png" ContentType="image/png"/><Override PartName="/word/document.xml" ` +
		`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>` +
		`<Override PartName="/word/footnotes.xml" ` +
		`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"/></Types>`
	relsOpen = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	office   = `http://schemas.openxmlformats.org/officeDocument/2006/relationships/`
	rootRels = relsOpen + `<Relationship Id="rId1" Type="` + office + `officeDocument" Target="word/document.xml"/></Relationships>`
)

// document returns a file with the given body. parts replace the usual parts, or are added to them.
func document(t testing.TB, body string, parts map[string]string) []byte {
	t.Helper()
	files := map[string]string{
		"[Content_Types].xml": types, "_rels/.rels": rootRels,
		"word/document.xml": `<w:document ` + namespaces + `><w:body>` + body + `</w:body></w:document>`,
	}
	maps.Copy(files, parts)
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := zw.Create(name)
		if err == nil {
			_, err = io.WriteString(w, files[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// problems lists the problems of a document, one a line.
func problems(file []byte) string {
	var lines []string
	for _, p := range validate.Package(bytes.NewReader(file), int64(len(file))) {
		level := ""
		if p.Warning {
			level = "warning: "
		}
		lines = append(lines, fmt.Sprintf("%s%s: %s", level, p.Code, p.Message))
	}
	return strings.Join(lines, "\n")
}

const (
	par   = `<w:p><w:r><w:t>x</w:t></w:r></w:p>`
	cell  = `<w:tc>` + par + `</w:tc>`
	grid  = `<w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>`
	inner = `<wp:extent cx="1" cy="1"/><wp:docPr id="1" name="p"/><a:graphic/>`
)

// mark returns a mark of a field: its begin, separator, or end.
func mark(kind string) string { return `<w:fldChar w:fldCharType="` + kind + `"/>` }

// TestBodies has a body that breaks each rule of the tables, and one that follows it where that is not obvious.
func TestBodies(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"plain", par + `<w:sectPr/>`, ""},
		{"range marks anywhere", `<w:bookmarkStart w:id="1" w:name="a"/><w:tbl><w:bookmarkEnd w:id="1"/>` + grid + `<w:tr>` + cell +
			`</w:tr></w:tbl>` + par, ""},
		{"content controls count as their content", `<w:tbl>` + grid + `<w:sdt><w:sdtContent><w:tr><w:sdt><w:sdtContent>` + cell +
			`</w:sdtContent></w:sdt></w:tr></w:sdtContent></w:sdt></w:tbl>` + par, ""},
		{"cell ends with a control that ends with a paragraph", `<w:tbl>` + grid + `<w:tr><w:tc><w:sdt><w:sdtContent>` + par +
			`</w:sdtContent></w:sdt></w:tc></w:tr></w:tbl>` + par, ""},
		{"tracked changes", `<w:p><w:ins w:id="1"><w:r><w:t>x</w:t></w:r></w:ins><w:del ` +
			`w:id="2"><w:r><w:delText>y</w:delText></w:r></w:del></w:p>`, ""},
		{"foreign elements", `<w:p><w:r><f:x xmlns:f="urn:f"><f:y>text</f:y></f:x></w:r></w:p>`, ""},
		{"both alternatives may have the same ids", `<w:p><w:r><mc:AlternateContent><mc:Choice Requires="w14"><w:drawing><wp:inline>` +
			inner + `</wp:inline></w:drawing></mc:Choice><mc:Fallback><w:drawing><wp:inline>` + inner +
			`</wp:inline></w:drawing></mc:Fallback></mc:AlternateContent></w:r></w:p>`, ""},

		{"paragraph in paragraph", `<w:p>` + par + `</w:p>`, "nesting: w:p is not allowed in w:p"},
		{"table in paragraph", `<w:p><w:tbl>` + grid + `<w:tr>` + cell + `</w:tr></w:tbl></w:p>`, "nesting: w:tbl is not allowed in w:p"},
		{"run in run", `<w:p><w:r><w:r/></w:r></w:p>`, "nesting: w:r is not allowed in w:r"},
		{"link in tracked changes", `<w:p><w:ins w:id="1"><w:hyperlink><w:r/></w:hyperlink></w:ins></w:p>`,
			"nesting: w:hyperlink is not allowed in w:ins"},
		{"text in run", `<w:p><w:r>x</w:r></w:p>`, "nesting: text is not allowed here"},
		{"text in paragraph", `<w:p>x</w:p>`, "nesting: text is not allowed here"},
		{"run in body", `<w:r/>` + par, "nesting: w:r is not allowed in w:body"},
		{"paragraph in row", `<w:tbl>` + grid + `<w:tr>` + par + cell + `</w:tr></w:tbl>` + par, "nesting: w:p is not allowed in w:tr"},
		{"cell in table", `<w:tbl>` + grid + cell + `<w:tr>` + cell + `</w:tr></w:tbl>` + par, "nesting: w:tc is not allowed in w:tbl"},

		{"cell ends with table", `<w:tbl>` + grid + `<w:tr><w:tc><w:tbl>` + grid + `<w:tr>` + cell +
			`</w:tr></w:tbl></w:tc></w:tr></w:tbl>` + par, "end: w:tc does not end with a paragraph (ISO 29500-1 §17.4.65)"},
		{"empty cell", `<w:tbl>` + grid + `<w:tr><w:tc/></w:tr></w:tbl>` + par, "empty: w:tc contains no w:p"},
		{"no cell", `<w:tbl>` + grid + `<w:tr/></w:tbl>` + par, "empty: w:tr contains no w:tc"},
		{"no row", `<w:tbl>` + grid + `</w:tbl>` + par, "empty: w:tbl contains no w:tr"},
		{"empty control", `<w:sdt><w:sdtContent/></w:sdt>` + par, "empty: w:sdtContent contains no w:p"},
		{"empty text box", `<w:p><w:r><w:pict><w:txbxContent/></w:pict></w:r></w:p>`, "empty: w:txbxContent contains no w:p"},
		{"no table properties", `<w:tbl><w:tblGrid/><w:tr>` + cell + `</w:tr></w:tbl>` + par,
			"warning: missing: w:tbl has no tblPr (ISO 29500-1 §17.4.37)"},
		{"no extent", `<w:p><w:r><w:drawing><wp:inline><wp:docPr id="1" name="p"/><a:graphic/></wp:inline></w:drawing></w:r></w:p>`,
			"missing: wp:inline has no wp:extent (ISO 29500-1 §20.4.2.8)"},

		{"properties after runs", `<w:p><w:r/><w:pPr/></w:p>`,
			"order: w:pPr follows an element that it must precede in w:p (ISO 29500-1 §17.3.1.22)"},
		{"order of paragraph properties", `<w:p><w:pPr><w:jc/><w:pStyle w:val="a"/></w:pPr></w:p>`,
			"order: w:pStyle follows an element that it must precede in w:pPr (ISO 29500-1 §17.3.1.26)\nwarning: reference: there is no style a"},
		{"order of run properties", `<w:p><w:r><w:rPr><w:i/><w:b/></w:rPr></w:r></w:p>`,
			"warning: order: w:b follows an element that it must precede in w:rPr (ISO 29500-1 §17.3.2.28)"},
		{"order of cell properties", `<w:tbl>` + grid +
			`<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/><w:gridSpan w:val="2"/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>` + par,
			"order: w:gridSpan follows an element that it must precede in w:tcPr (ISO 29500-1 §17.4.69)"},
		{"two sections at the end", par + `<w:sectPr/><w:sectPr/>`, "order: w:sectPr occurs twice in w:body (ISO 29500-1 §17.2.2)"},
		{"paragraph after the section", `<w:sectPr/>` + par,
			"order: w:p follows an element that it must precede in w:body (ISO 29500-1 §17.2.2)"},

		{"drawing ids", `<w:p><w:r><w:drawing><wp:inline>` + inner + `</wp:inline></w:drawing><w:drawing><wp:inline>` + inner +
			`</wp:inline></w:drawing></w:r></w:p>`, "duplicate_id: the id 1 of a drawing is used twice"},
		{"bookmarks", `<w:p><w:bookmarkStart w:id="1" w:name="a"/><w:bookmarkEnd w:id="1"/><w:bookmarkStart w:id="2" ` +
			`w:name="a"/><w:bookmarkEnd w:id="2"/></w:p>`, "duplicate_id: the id a of a bookmark name is used twice"},
		{"bookmark without a start", `<w:p><w:bookmarkEnd w:id="1"/></w:p>`, "warning: reference: there is no bookmark 1"},
		{"content controls", strings.Repeat(`<w:sdt><w:sdtPr><w:id w:val="7"/></w:sdtPr><w:sdtContent>`+par+`</w:sdtContent></w:sdt>`, 2),
			"duplicate_id: the id 7 of a content control is used twice"},
		{"paragraph ids", strings.Repeat(`<w:p w14:paraId="00000001"/>`, 2), "duplicate_id: the id 00000001 of a paragraph is used twice"},
		{"missing list", `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr></w:pPr></w:p>`,
			"warning: reference: there is no list 3"},
		{"missing note", `<w:p><w:r><w:footnoteReference w:id="3"/></w:r></w:p>`, "reference: there is no footnote 3"},
		{"missing comment", `<w:p><w:r><w:commentReference w:id="3"/></w:r></w:p>`, "reference: there is no comment 3"},
		{"missing relationship", `<w:p><w:hyperlink r:id="rId9"><w:r/></w:hyperlink></w:p>`,
			"relationship: the relationship rId9 is used but not defined"},

		{"field without an end", `<w:p><w:r>` + mark("begin") + mark("separate") + `</w:r></w:p>`, "field: a field begins but does not end"},
		{"field without a begin", `<w:p><w:r>` + mark("end") + `</w:r></w:p>`, "field: a field ends but has not begun"},
		{"field with two results", `<w:p><w:r>` + mark("begin") + mark("separate") + mark("separate") + mark("end") + `</w:r></w:p>`,
			"field: the result of a field begins outside a field"},
		{"field in a field, across paragraphs", `<w:p><w:r>` + mark("begin") + mark("begin") + mark("end") + `</w:r></w:p><w:p><w:r>` +
			mark("separate") + mark("end") + `</w:r></w:p>`, ""},
		{"field that leaves a text box", `<w:p><w:r><w:pict><w:txbxContent><w:p><w:r>` + mark("begin") +
			`</w:r></w:p></w:txbxContent></w:pict>` + mark("end") + `</w:r></w:p>`,
			"field: a field begins but does not end\nfield: a field ends but has not begun"},

		{"row wider than the grid", `<w:tbl>` + grid + `<w:tr>` + cell +
			`<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>` + par,
			"warning: table: a row covers 3 columns, and its table has 2"},
		{"skipped columns count", `<w:tbl>` + grid + `<w:tr><w:trPr><w:gridBefore w:val="1"/><w:gridAfter w:val="1"/></w:trPr>` + cell +
			`</w:tr></w:tbl>` + par, "warning: table: a row covers 3 columns, and its table has 2"},
		{"continues no merge", `<w:tbl>` + grid + `<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>` + par,
			"warning: table: a cell continues a merge that no cell above it begins"},

		{"undeclared prefix", `<w:p><x:y/></w:p>`, `namespace: the namespace prefix "x" is not declared`},
		{"undeclared prefix of an attribute", `<w:p x:y="1"/>`, `namespace: the namespace prefix "x" is not declared`},
		{"undeclared ignorable prefix", `<w:p mc:Ignorable="w14 w99"/>`, `namespace: the namespace prefix "w99" is not declared`},
		{"open element", `<w:p><w:r></w:p>`, "xml: </w:p> ends an element that is not open"},
		{"ampersand", `<w:p><w:r><w:t>a & b</w:t></w:r></w:p>`, "xml: an & does not begin a character reference"},
		{"entity", `<w:p><w:r><w:t>&nbsp;</w:t></w:r></w:p>`, "xml: an & does not begin a character reference"},
		{"attribute twice", `<w:p w:a="1" w:a="2"/>`, "xml: w:p has the attribute w:a twice"},
		{"control character", "<w:p><w:r><w:t>a\x01</w:t></w:r></w:p>", "xml: byte 467 is the control character U+0001"},
		{"not UTF-8", "<w:p><w:r><w:t>a\xff</w:t></w:r></w:p>", "xml: the text is not UTF-8"},
		{"noncharacter", "<w:p><w:r><w:t>a\uFFFF</w:t></w:r></w:p>", "xml: the text contains U+FFFE or U+FFFF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := problems(document(t, tt.body, nil)); got != tt.want {
				t.Errorf("problems = %q\nwant       %q", got, tt.want)
			}
		})
	}
}

func TestPackages(t *testing.T) {
	rels := func(all string) string { return relsOpen + all + `</Relationships>` }
	for _, tt := range []struct {
		name  string
		parts map[string]string
		want  string
	}{
		{"missing target", map[string]string{"word/_rels/document.xml.rels": rels(`<Relationship Id="a" Type="` + office +
			`image" Target="media/x.png"/>`)}, `relationship: the relationship "a" points to /word/media/x.png, which is missing`},
		{"id twice", map[string]string{"word/_rels/document.xml.rels": rels(strings.Repeat(`<Relationship Id="a" Type="`+office+
			`hyperlink" TargetMode="External" Target="https://a.example"/>`, 2))}, `relationship: the relationship "a" is defined twice`},
		{"part without type", map[string]string{"word/media/x.tiff": "II"}, "content_type: the part has no content type"},
		{"image of another type", map[string]string{"word/media/x.png": "GIF89a"},
			"warning: content_type: the image does not have the type image/png"},
		{"empty note", map[string]string{"word/footnotes.xml": `<w:footnotes ` + namespaces + `><w:footnote w:id="1"/></w:footnotes>`},
			"empty: w:footnote contains no w:p"},
		{"two roots", map[string]string{"word/footnotes.xml": strings.Repeat(`<w:footnotes `+namespaces+`/>`, 2)},
			"xml: there is more than one root element"},
		{"document type", map[string]string{"word/footnotes.xml": `<!DOCTYPE a><w:footnotes ` + namespaces + `/>`},
			"xml: a document type declaration is not allowed in a part"},
		{"no main part", map[string]string{"[Content_Types].xml": `<Types`},
			"package: /[Content_Types].xml: the XML is not well formed (line 1: it ends too early): open it in Word and " +
				"save it again as .docx"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, _, _ := strings.Cut(problems(document(t, par, tt.parts)), "\n"); got != tt.want {
				t.Errorf("problems = %q\nwant       %q", got, tt.want)
			}
		})
	}
}

// TestOutputInPieces checks that it does not matter how a part is split into writes and segments.
func TestOutputInPieces(t *testing.T) {
	body := `<w:p w14:paraId="00000001"><w:r><w:t xml:space="preserve">a &amp; b > c</w:t></w:r></w:p><!-- > --><w:tbl>` + grid +
		`<w:tr>` + cell + `</w:tr></w:tbl>`
	whole := []byte(`<w:document ` + namespaces + `><w:body>` + body + `</w:body></w:document>`)
	var m validate.Memory
	segments := make([]validate.Segment, 2)
	for range 3 {
		for at := range whole {
			for name, write := range map[string]func(*validate.Output){
				"bytes":        func(o *validate.Output) { o.Write(whole[:at]); o.Write(whole[at:]) },
				"segments":     func(o *validate.Output) { o.Segment(0, whole[:at]); o.Segment(1, whole[at:]) },
				"segment last": func(o *validate.Output) { o.Write(whole[:at]); o.Segment(1, whole[at:]) },
			} {
				o := m.NewOutput(new(validate.Faults), nil)
				o.Part("/a", segments)
				write(o)
				if err := o.End(); err != nil && at != strings.Index(string(whole), "&amp;")+1 {
					if cut := string(whole[:at]); strings.LastIndexByte(cut, '&') <= strings.LastIndexByte(cut, ';') {
						t.Fatalf("%s at %d: %v", name, at, err)
					}
				}
			}
		}
	}
}

func TestOutputFindsProblems(t *testing.T) {
	open, end := `<w:document `+namespaces+`><w:body>`, `</w:body></w:document>`
	for _, tt := range []struct {
		name     string
		segments []string // written in this order
		want     string
	}{
		{"valid", []string{open, par, par, end}, ""},
		{"an id in a segment that is written twice", []string{open, `<w:p w14:paraId="00000001"/>`, `<w:p w14:paraId="00000001"/>`, end},
			"an id of the template is written twice"},
		{"nesting across segments", []string{open, `<w:p>`, `<w:p>`, `</w:p></w:p>`, end}, "w:p is not allowed in w:p"},
		{"an element that is not closed", []string{open, `<w:p>`, end}, "</w:body> ends an element that is not open"},
		{"a field across segments", []string{open, `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r></w:p>`,
			`<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`, end}, ""},
		{"a field that ends in a segment written twice", []string{open, `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r></w:p>`,
			`<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`, `<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`, end},
			"a field ends but has not begun"},
		{"a field that does not end", []string{open, `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r></w:p>`, end},
			"a field begins but does not end"},
		{"a part that ends early", []string{open, par}, "the XML ends inside an element"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			numbers := map[string]int{}
			for _, s := range tt.segments {
				numbers[s] = len(numbers)
			}
			var m validate.Memory
			segments := make([]validate.Segment, len(tt.segments)+1)
			for range 2 { // the second time, from memory
				o := m.NewOutput(new(validate.Faults), nil)
				o.Part("/a", segments)
				for _, s := range tt.segments {
					o.Segment(numbers[s], []byte(s))
				}
				got := ""
				if p, ok := validate.AsProblem(o.End()); ok {
					got = p.Message
				}
				if got != tt.want {
					t.Errorf("problem = %q, want %q", got, tt.want)
				}
			}
		})
	}
}

func FuzzPackage(f *testing.F) {
	f.Add(`<w:p><w:r><w:t>x</w:t></w:r></w:p>`)
	f.Add(`<w:tbl>` + grid + `<w:tr>` + cell + `</w:tr></w:tbl><!-- x --><?y?><![CDATA[z]]>`)
	f.Fuzz(func(t *testing.T, body string) {
		file := document(t, body, nil)
		if got, again := problems(file), problems(file); got != again {
			t.Errorf("the same document has problems\n%s\nand then\n%s", got, again)
		}
	})
}

func BenchmarkPackage(b *testing.B) {
	row := `<w:tr w:rsidR="00A1">` + strings.Repeat(`<w:tc><w:tcPr><w:tcW w:w="2000" w:type="dxa"/></w:tcPr><w:p><w:pPr><w:jc `+
		`w:val="right"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">some text in a cell</w:t></w:r></w:p></w:tc>`, 2) + `</w:tr>`
	body := `<w:tbl>` + grid + strings.Repeat(row, 20_000) + `</w:tbl>` + par
	file := document(b, body, nil)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if got := problems(file); got != "" {
			b.Fatal(got)
		}
	}
}
