package docx_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"platen/docx"
	"platen/docx/compile/compiletest"
)

// What the users of template engines ask for most, and the bugs that return in each of them: one case for each, so that
// none of them comes back here unseen. Every output is also judged as a whole, by execute.
func TestRegressions(t *testing.T) {
	for _, tt := range []struct {
		name      string
		body      string            // of the document
		more      map[string]string // parts
		data      string
		want, not []string // in the XML of the document
		own       bool     // the template has a problem itself
	}{
		{name: "a tag that is split into runs is found, with the formatting of its first character",
			body: `<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{{cust</w:t></w:r><w:r><w:rPr><w:i/></w:rPr><w:t>omer.na</w:t></w:r><w:proofErr ` +
				`w:type="spellStart"/><w:r><w:t>me}}!</w:t></w:r></w:p>`,
			data: `{"customer":{"name":"Ada"}}`, want: []string{`<w:b/></w:rPr><w:t xml:space="preserve">Ada</w:t>`}, not: []string{"{{", "omer"}},
		{name: "a false condition leaves no blank line, and a blank line of the author stays",
			body: para("one") + para("{{if no}}") + para("two") + para("{{endif}}") + `<w:p/>` + para("three"),
			data: `{"no":false}`, want: []string{para("one") + `<w:p/>` + para("three")}},
		{name: "a loop leaves no blank line",
			body: para("one") + para("{{for i in items}}") + para("x{{i}}") + para("{{endfor}}") + para("three"),
			data: `{"items":[1,2]}`, want: []string{para("one") + kept("x1") + kept("x2") + para("three")}},
		{name: "Shift+Enter leaves no blank line",
			body: `<w:p><w:r><w:t>one</w:t><w:br/><w:t>{{if ` +
				`no}}</w:t><w:br/><w:t>two</w:t><w:br/><w:t>{{endif}}</w:t><w:br/><w:t>three</w:t></w:r></w:p>`,
			data: `{"no":false}`, want: []string{`<w:t>one</w:t><w:br/><w:t>three</w:t>`}},
		{name: "quotes of all kinds are equivalent",
			body: para(`{{a :: default(“x”)}}{{b :: default(‘y’)}}{{c :: default(«z»)}}{{if d == „e”}}yes{{endif}}`),
			data: `{"d":"e"}`, want: []string{"x", "y", "z", "yes"}, not: []string{"{{"}},
		{name: "columns are repeated",
			body: table(2, row(cellOf("{{tablecolumn c in cols}}{{c}}{{endtablecolumn}}"), cellOf("end"))) + `<w:p/>`,
			data: `{"cols":["x","y","z"]}`, want: []string{"x", "y", "z", "end"}, not: []string{"{{"}},
		{name: "equal cells of a repeated row are merged",
			body: table(1, row(cellOf("{{tablerow i in items}}{{i.g :: merge}}{{endtablerow}}"))) + `<w:p/>`,
			data: `{"items":[{"g":"a"},{"g":"a"},{"g":"b"}]}`, want: []string{`<w:vMerge w:val="restart"/>`, `<w:vMerge/>`}},
		{name: "numbering restarts in each round, in a separate list",
			body: para("{{for g in groups}}") +
				`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>{{g}}</w:t></w:r></w:p>` + para("{{endfor}}"),
			more: map[string]string{"numbering.xml": `<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt ` +
				`w:val="decimal"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`},
			data: `{"groups":["a","b"]}`, want: []string{`<w:numId w:val="1"/>`}},
		{name: "the page breaks between items, and not after the last",
			body: para("{{for i in items}}") + para("x{{i}}{{pagebreak}}") + para("{{endfor}}") + para("end"),
			data: `{"items":[1,2]}`, want: []string{"x1", "x2", `w:type="page"`}},
		{name: "the formatting stays where a block splits a run",
			body: `<w:p><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">a {{for i in items}}b{{i}} {{endfor}}c</w:t></w:r></w:p>`,
			data: `{"items":[1,2]}`, want: []string{`<w:b/>`}, not: []string{`<w:r><w:t`}},
		{name: "line breaks and tabs in values become breaks and tabs",
			body: para("{{a}}"), data: `{"a":"x\r\ny\tz"}`, want: []string{`x</w:t><w:br/>`, `y</w:t><w:tab/>`}},
		{name: "braces in values are not tags",
			body: para("{{a}}"), data: `{"a":"{{b}} }} {{for","b":"wrong"}`, want: []string{"{{b}} }} {{for"}, not: []string{"wrong"}},
		{name: "braces in prose are text",
			body: para("}} a {{ b, {c} {{x}}"), data: `{"x":1}`, want: []string{"}} a {{ b, {c} 1"}},

		{name: "ids of drawings are unique",
			body: para("{{for i in items}}") + `<w:p><w:r><w:t>{{i}}</w:t><w:drawing>` + inline(3) + `</w:drawing></w:r></w:p>` +
				para("{{endfor}}") + `<w:p><w:r><w:drawing>` + inline(4) + `</w:drawing></w:r></w:p>`,
			data: `{"items":[1,2,3]}`, want: []string{`<wp:docPr id="3"`, `<wp:docPr id="4"`}},
		{name: "documents of a template with duplicate ids are delivered",
			body: strings.Repeat(para("{{for i in items}}")+`<w:p><w:r><w:t>{{i}}</w:t><w:drawing>`+inline(3)+`</w:drawing></w:r></w:p>`+
				para("{{endfor}}"), 2),
			data: `{"items":[1,2]}`, own: true, want: []string{`<wp:docPr id="3"`}},
		{name: "documents of a template with an unfinished field are delivered",
			body: `<w:p><w:r><w:t>{{if a}}b</w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:t>c{{endif}}d</w:t></w:r></w:p>` +
				para("{{for i in items}}") + `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r></w:p>` + para("{{endfor}}"),
			data: `{"a":true,"items":[1,2]}`, own: true, want: []string{">b<", ">c<", ">d<"}},
		{name: "a cell is never empty",
			body: table(1, row(`<w:tc>`+para("{{if no}}")+para("x")+para("{{endif}}")+`</w:tc>`)) + `<w:p/>`,
			data: `{"no":false}`, want: []string{`<w:tc><w:p/></w:tc>`}},
		{name: "a content control is never empty",
			body: `<w:sdt><w:sdtContent>` + para("{{if no}}") + para("x") + para("{{endif}}") + `</w:sdtContent></w:sdt>`,
			data: `{"no":false}`, want: []string{`<w:sdtContent><w:p/></w:sdtContent>`}},
		{name: "a header is never empty",
			body: para("{{a}}"), more: map[string]string{"header1.xml": para("{{if no}}") + para("x") + para("{{endif}}")},
			data: `{"a":1,"no":false}`},
		{name: "a text box is never empty",
			body: `<w:p><w:r><w:pict><v:textbox><w:txbxContent>` + para("{{if no}}") + para("x") + para("{{endif}}") +
				`</w:txbxContent></v:textbox></w:pict></w:r></w:p>`,
			data: `{"no":false}`, want: []string{`<w:txbxContent><w:p/></w:txbxContent>`}},
		{name: "a cell does not end with a table",
			body: table(1, row(`<w:tc>`+table(1, row(cellOf("x")))+para("{{if no}}")+para("y")+para("{{endif}}")+`</w:tc>`)) + `<w:p/>`,
			data: `{"no":false}`, want: []string{`</w:tbl><w:p/></w:tc>`}},
		{name: "the last section is written once",
			body: para("{{for i in items}}") + para("{{i}}") + `<w:p><w:pPr><w:sectPr><w:pgSz w:w="100" w:h="200"/></w:sectPr></w:pPr></w:p>` +
				para("{{endfor}}") + `<w:sectPr><w:pgSz w:w="300" w:h="400"/></w:sectPr>`,
			data: `{"items":[1,2]}`, want: []string{`<w:sectPr><w:pgSz w:w="300" w:h="400"/></w:sectPr>`}},
		{name: "both alternatives get values",
			body: `<w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:pict><w:txbxContent>` + para("{{a}}") +
				`</w:txbxContent></w:pict></mc:Choice><mc:Fallback><w:pict><w:txbxContent>` + para("{{a}}") +
				`</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>`,
			data: `{"a":"A"}`, not: []string{"{{"}},
		{name: "bookmarks and comments in loops have new ids",
			body: para("{{for i in items}}") +
				`<w:p><w:bookmarkStart w:id="1" w:name="b"/><w:commentRangeStart w:id="2"/><w:r><w:t>{{i}}</w:t></w:r><w:commentRangeEnd ` +
				`w:id="2"/><w:r><w:commentReference w:id="2"/></w:r><w:bookmarkEnd w:id="1"/></w:p>` + para("{{endfor}}"),
			more: map[string]string{"comments.xml": `<w:comment w:id="2" w:author="A"><w:p/></w:comment>`}, data: `{"items":[1,2]}`,
			want: []string{`w:name="b"`, `w:name="b_`}},
		{name: "spaces at the ends of values count",
			body: para("{{a}}"), data: `{"a":" x "}`, want: []string{`<w:t xml:space="preserve"> x </w:t>`}},
		{name: "control characters in values are omitted",
			body: para("{{a}}"), data: `{"a":"x\u0000\u0007\u001b\ufffey"}`, want: []string{"xy"}},
		{name: "deleted text has no tags",
			body: `<w:p><w:del w:id="1" w:author="A"><w:r><w:delText>{{a}}</w:delText></w:r></w:del><w:r><w:t>{{b}}</w:t></w:r></w:p>`,
			data: `{"b":1}`, want: []string{`<w:delText>{{a}}</w:delText>`}},
		{name: "field codes have no tags",
			body: `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>{{a}}</w:instrText></w:r><w:r><w:fldChar ` +
				`w:fldCharType="end"/></w:r><w:r><w:t>{{b}}</w:t></w:r></w:p>`,
			data: `{"b":1}`, want: []string{`<w:instrText>{{a}}</w:instrText>`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			parts := map[string]string{"document.xml": tt.body}
			maps.Copy(parts, tt.more)
			file := build(t, parts)
			tpl, err := parse(file)
			if err != nil {
				t.Fatal(err)
			}
			var buf bytes.Buffer
			report, err := tpl.Execute(t.Context(), &buf, decode(t, tt.data), docx.Options{})
			if err != nil {
				t.Fatal(err)
			}
			out := buf.Bytes()
			for _, problem := range newProblems(file, out) {
				t.Errorf("the output is unsound: %v", &problem)
			}
			if tt.own != (len(check(file)) > 0) {
				t.Errorf("the template has the problems %v", check(file))
			}
			if len(report.Errors) > 0 {
				t.Errorf("errors = %q", report.Errors)
			}
			document := unpack(t, out)["word/document.xml"]
			for _, want := range tt.want {
				if !strings.Contains(document, want) {
					t.Errorf("the document lacks %s:\n%s", want, document)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(document, not) {
					t.Errorf("the document has %s:\n%s", not, document)
				}
			}
		})
	}
}

func para(text string) string {
	return `<w:p><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

// kept is a paragraph that a tag has been in.
func kept(text string) string {
	return `<w:p><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>`
}

func table(columns int, rows ...string) string {
	return `<w:tbl><w:tblPr/><w:tblGrid>` + strings.Repeat(`<w:gridCol w:w="2000"/>`, columns) + `</w:tblGrid>` +
		strings.Join(rows, "") + `</w:tbl>`
}

func row(cells ...string) string { return `<w:tr>` + strings.Join(cells, "") + `</w:tr>` }

func cellOf(text string) string { return `<w:tc>` + para(text) + `</w:tc>` }

func inline(id int) string {
	return fmt.Sprintf(`<wp:inline><wp:extent cx="9525" cy="9525"/><wp:docPr id="%d" name="p"/><a:graphic `+
		`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"/></wp:inline>`, id)
}

// The error about a template has everything that leads to its place.
func TestErrorsLeadToTheirPlace(t *testing.T) {
	heading := `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Prices</w:t></w:r></w:p>`
	styles := `<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>`
	_, err := parse(build(t, map[string]string{"styles.xml": styles, "document.xml": heading + table(2, row(cellOf("a"), cellOf("b")),
		row(cellOf("c"), cellOf("so {{a +}} so"))) + `<w:p/>`}))
	if err == nil {
		t.Fatal("the template is accepted")
	}
	for _, want := range []string{"/word/document.xml", "table 1, row 2, cell 2", `under "Prices"`, "so {{a +}} so", "^"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}

// A long table takes no more memory than a short one, and so no more than time for what it writes.
func TestLongTablesAreStreamed(t *testing.T) {
	tpl := mustParse(t, map[string]string{"document.xml": table(1,
		row(cellOf("{{tablerow i in items}}{{i.name}} {{i.qty}}{{endtablerow}}"))) + `<w:p/>`})
	allocations := func(rows int) float64 {
		data := decode(t, `{"items":[`+strings.Repeat(`{"name":"x","qty":2},`, rows-1)+`{"name":"y","qty":3}]}`)
		return testing.AllocsPerRun(3, func() {
			if _, err := tpl.Execute(t.Context(), io.Discard, data, docx.Options{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	const slack = 200
	if short, long := allocations(10), allocations(20_000); long > short+slack {
		t.Errorf("20,000 rows take %.0f allocations, 10 rows %.0f", long, short)
	}
}

// Executions at the same time do not see each other.
func TestParallelExecutions(t *testing.T) {
	tpl := mustParse(t, map[string]string{"document.xml": para("{{for i in items}}") +
		`<w:p><w:bookmarkStart w:id="1" w:name="b"/><w:r><w:t>{{name}} {{i}}</w:t></w:r><w:bookmarkEnd w:id="1"/></w:p>` + para("{{endfor}}")})
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			data := decode(t, fmt.Sprintf(`{"name":"n%d","items":[%s0]}`, n, strings.Repeat("0,", n)))
			var first []byte
			for range 20 {
				var out bytes.Buffer
				if _, err := tpl.Execute(t.Context(), &out, data, docx.Options{}); err != nil {
					t.Error(err)
					return
				}
				if first == nil {
					first = out.Bytes()
				}
				if !bytes.Equal(first, out.Bytes()) {
					t.Errorf("execution %d gave two different documents", n)
				}
			}
			if got := strings.Count(unpack(t, first)["word/document.xml"], fmt.Sprintf("n%d ", n)); got != n+1 {
				t.Errorf("execution %d has its name %d times, want %d", n, got, n+1)
			}
		})
	}
	wg.Wait()
}

// Packages that others pack otherwise than we do are read, or refused with the reason.
func TestUnusualPackages(t *testing.T) {
	files := unpack(t, build(t, map[string]string{"document.xml": para("{{a}}")}))
	types := files["[Content_Types].xml"]
	with := func(name, content string) map[string]string {
		more := map[string]string{name: content, "[Content_Types].xml": strings.Replace(types, "<Override",
			`<Default Extension="png" ContentType="image/png"/><Override`, 1)}
		for n, c := range files {
			if _, ok := more[n]; !ok {
				more[n] = c
			}
		}
		return more
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string // of the error; empty if it is accepted
	}{
		{"a data descriptor behind each entry", files, ""}, // as archive/zip writes them
		{"a long name that is not ASCII", with("word/media/"+strings.Repeat("ü", 100)+" 图.png", "\x89PNG"), ""},
		{"an absolute name", with("/word/media/a.png", "\x89PNG"), "the name is not relative"},
		{"a name that leads out", with("word/../../a.png", "\x89PNG"), "the name has an empty or dotted segment"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := packAsNamed(t, tt.files)
			tpl, err := parse(file)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error = %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			out, _ := execute(t, tpl, decode(t, `{"a":"A"}`))
			got := unpack(t, out)
			for name, content := range tt.files {
				if name != "word/document.xml" && got[name] != content {
					t.Errorf("%s changed", name)
				}
			}
		})
	}
}

// packAsNamed packs files under the very names.
func packAsNamed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := zw.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
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

// A template in the strict form of the standard, a Word template and one with macros give documents of their kind.
func TestKindsOfDocuments(t *testing.T) {
	transitional := unpack(t, build(t, map[string]string{"document.xml": para(`{{a :: link("x")}}`) + para("{{for i in items}}") +
		para("{{i}}") + para("{{endfor}}")}))
	changed := func(pairs ...string) map[string]string {
		files := map[string]string{}
		for name, content := range transitional {
			files[name] = strings.NewReplacer(pairs...).Replace(content)
		}
		return files
	}
	const main = "wordprocessingml.document.main+xml"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string // in [Content_Types].xml or the relationships
		not   string // in any part
	}{
		{"strict", changed("http://schemas.openxmlformats.org/wordprocessingml/2006/main", "http://purl.oclc.org/ooxml/wordprocessingml/main",
			"http://schemas.openxmlformats.org/officeDocument/2006/relationships", "http://purl.oclc.org/ooxml/officeDocument/relationships"),
			`"http://purl.oclc.org/ooxml/officeDocument/relationships/hyperlink"`,
			"http://schemas.openxmlformats.org/officeDocument/2006/relationships"},
		{"dotx", changed(main, "wordprocessingml.template.main+xml"), main, "template.main"},
		{"docm", changed("application/vnd.openxmlformats-officedocument."+main, "application/vnd.ms-word.document.macroEnabled.main+xml"),
			main, "macroEnabled"},
		{"dotm", changed("application/vnd.openxmlformats-officedocument."+main,
			"application/vnd.ms-word.template.macroEnabledTemplate.main+xml"), main, "macroEnabled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tpl, err := parse(compiletest.Pack(t, tt.files))
			if err != nil {
				t.Fatal(err)
			}
			out, _ := execute(t, tpl, decode(t, `{"a":"https://a.example/","items":[1,2]}`))
			got := unpack(t, out)
			if text := strings.TrimSpace(textOf(got["word/document.xml"])); text != "x\n1\n2" {
				t.Errorf("the document says %q", text)
			}
			if all := got["[Content_Types].xml"] + got["word/_rels/document.xml.rels"]; !strings.Contains(all, tt.want) {
				t.Errorf("the package lacks %s:\n%s", tt.want, all)
			}
			for name, content := range got {
				if tt.not != "" && strings.Contains(content, tt.not) {
					t.Errorf("%s has %s:\n%s", name, tt.not, content)
				}
			}
		})
	}
}
