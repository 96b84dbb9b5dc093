package docx_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"platen/docx"
)

func richTemplate(t *testing.T, content string) *docx.Template {
	t.Helper()
	tpl, err := parse(build(t, map[string]string{"document.xml": content}))
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// A document without lists gets a new numbering part, with its content type and its relationship.
func TestListsOfValuesInATemplateWithoutNumbering(t *testing.T) {
	tpl := richTemplate(t, `<w:p><w:r><w:t>{{x}}</w:t></w:r></w:p><w:p><w:r><w:t>{{x}}</w:t></w:r></w:p>`)
	out, _ := execute(t, tpl, decode(t, `{"x":"<ol><li>a</ol><ul><li>b</ul>"}`))
	files := unpack(t, out)
	numbering := files["word/numbering.xml"]
	for what, n := range map[string]int{"<w:abstractNum ": 2, "<w:num ": 3, "<w:startOverride ": 2} {
		if got := strings.Count(numbering, what); got != n {
			t.Errorf("the numbering has %s %d times, want %d:\n%s", what, got, n, numbering)
		}
	}
	if !strings.Contains(files["[Content_Types].xml"], "numbering+xml") || !strings.Contains(files["word/_rels/document.xml.rels"],
		"numbering.xml") {
		t.Errorf("the numbering is not declared")
	}
	without, _ := execute(t, tpl, decode(t, `{"x":"text"}`))
	if _, ok := unpack(t, without)["word/numbering.xml"]; ok {
		t.Errorf("a document without lists has a numbering")
	}
}

// An address that could do harm is no link, wherever it comes from.
func TestLinksOfRichText(t *testing.T) {
	tpl := richTemplate(t, `<w:p><w:r><w:t>{{x}}</w:t></w:r></w:p>`)
	out, _ := execute(t, tpl, decode(t,
		`{"x":"<a href='JavaScript:alert(1)'>a</a><a href='file:///etc/passwd'>b</a><a href='\\\\host\\share'>c</a><a `+
			`href='https://example.com/?a=1&amp;b=%22'>d</a>"}`))
	rels := unpack(t, out)["word/_rels/document.xml.rels"]
	if n := strings.Count(rels, "TargetMode"); n != 1 || !strings.Contains(rels, `Target="https://example.com/?a=1&amp;b=%22"`) {
		t.Errorf("the links are %s", rels)
	}
}

func TestMarkupBeyondTheLimitsIsToldOf(t *testing.T) {
	tpl := richTemplate(t, `<w:p><w:r><w:t>{{x}}</w:t></w:r></w:p>`)
	out, report := execute(t, tpl, decode(t, `{"x":"`+strings.Repeat("<div>", 1000)+`text"}`))
	if len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0], "too deep") {
		t.Errorf("the warnings are %q", report.Warnings)
	}
	if !strings.Contains(unpack(t, out)["word/document.xml"], ">text<") {
		t.Errorf("the text is lost")
	}
}

// Blocks of many values in one paragraph, where it is held back because it may vanish.
func TestRichTextWithinABlockOfAParagraph(t *testing.T) {
	tpl := richTemplate(t, `<w:p><w:r><w:t>{{if x}}{{for i in x}}{{i}}{{endfor}}{{endif}}</w:t></w:r></w:p><w:p/>`)
	out, _ := execute(t, tpl, decode(t, `{"x":["<p>1</p><p>2</p>","<table><tr><td>3</table>","<ul><li>4</ul>"]}`))
	document := unpack(t, out)["word/document.xml"]
	at := 0
	for _, text := range []string{">1<", ">2<", "<w:tbl>", ">3<", "</w:tbl>", ">4<"} {
		i := strings.Index(document[at:], text)
		if i < 0 {
			t.Fatalf("%s is not there, or not in its place:\n%s", text, document)
		}
		at += i
	}
}

// Pictures of data URIs are in the document with their alternative texts; of those that cannot be had there is that text alone.
func TestPicturesInRichText(t *testing.T) {
	tpl := richTemplate(t, `<w:p><w:r><w:t>{{x}}</w:t></w:r></w:p>`)
	out, report := execute(t, tpl, decode(t, `{"x":"<p>a <img alt='A &quot;dot&quot;' width=96 height=48 src='data:image/png;base64,`+
		pictureOf(t, 4, 4)+`'> b <img src='cid:logo' alt='our logo'></p><p>c</p>"}`))
	files := unpack(t, out)
	document := files["word/document.xml"]
	if !strings.Contains(document, `descr="A &quot;dot&quot;"`) || !strings.Contains(document, `<wp:extent cx="914400" cy="457200"/>`) ||
		!strings.Contains(document, ">our logo<") {
		t.Errorf("the document is %s", document)
	}
	if rels := files["word/_rels/document.xml.rels"]; strings.Count(rels, "relationships/image") != 1 {
		t.Errorf("the relationships are %s", rels)
	}
	if len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0], "'x'") {
		t.Errorf("the warnings are %q", report.Warnings)
	}
}

// Wherever a tag stands and whatever markup comes, the document is sound and has every word once.
func TestRichTextEverywhere(t *testing.T) {
	run := func(text string) string {
		return `<w:r><w:rPr><w:sz w:val="20"/></w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
	}
	par := func(content string) string {
		return `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr><w:jc w:val="both"/></w:pPr>` + content + `</w:p>`
	}
	cell := func(content string) string {
		return `<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w="4000"/></w:tblGrid><w:tr><w:tc><w:tcPr><w:tcW w:w="4000" ` +
			`w:type="dxa"/></w:tcPr>` + content + `</w:tc></w:tr></w:tbl>`
	}
	tag := run("{{x}}")
	places := []string{
		par(tag), par(run("a {{x}} b")), par(tag + run("b")), par(run("a") + tag), par(run("{{") + run("x") + run("}}")),
		par(run("a {{x") + run("}}")),
		par(`<w:bookmarkStart w:id="7" w:name="m"/>` + tag + `<w:bookmarkEnd w:id="7"/>`), par(tag + tag),
		par(`<w:proofErr w:type="spellStart"/>` + tag),
		par(`<w:hyperlink w:anchor="m">` + tag + `</w:hyperlink>`), par(`<w:ins w:id="9" w:author="A">` + tag + `</w:ins>`),
		par(`<w:fldSimple w:instr="TITLE">` + tag + `</w:fldSimple>`),
		par(`<w:sdt><w:sdtContent>` + tag + `</w:sdtContent></w:sdt>`), `<w:sdt><w:sdtContent>` + par(tag) + `</w:sdtContent></w:sdt>`,
		`<w:p><w:pPr><w:sectPr/></w:pPr>` + tag + `</w:p>`, cell(par(tag)), cell(par(run("a: {{x}}"))),
		cell(par(run("{{tablerow i in list}}{{x}}{{i}}{{endtablerow}}"))),
		par(run("{{if yes}}{{x}}{{endif}}")), par(run("a{{if yes}}b {{x}} c{{endif}}d")), par(run("{{for i in list}}{{x}}, {{endfor}}")),
		par(run("{{for i in list}}")) + par(tag) + par(run("{{endfor}}")), par(run("{{if yes}}")) + cell(par(tag)) + par(tag) +
			par(run("{{endif}}")), par(run("text")),
	}
	fragments := []string{
		"word", "<b>bold</b>", "<p>par</p>", "<p align=right>right</p>", "<ul><li>item<ol><li>deep</ol></ul>",
		"<table><tr><td>cell<td rowspan=2>tall<tr><td>low</table>",
		"<h1>head</h1>", "<a href='https://example.com'>link</a>", "<br>", "<hr>", "<pre>a  b</pre>",
		"<blockquote><table><tr><td>quoted</table></blockquote>", "<table></table>", "<p></p>", " ", "\x01",
	}
	rapid.Check(t, func(rt *rapid.T) {
		body := strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(places), 1, 6, rapid.ID).Draw(rt, "body"), "")
		value := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 6).Draw(rt, "value"), "")
		tpl, err := parse(build(t, map[string]string{"document.xml": body + `<w:p/><w:sectPr/>`, "header1.xml": cell(par(tag)) + par(tag)}))
		if err != nil {
			rt.Fatal(err)
		}
		data, err := json.Marshal(map[string]any{"x": value, "yes": true, "list": []string{"1", "2"}})
		if err != nil {
			rt.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := tpl.Execute(t.Context(), &out, decode(t, string(data)), docx.Options{}); err != nil {
			rt.Fatalf("%v\n%s\nof\n%s", err, value, body)
		}
		if problems := check(out.Bytes()); len(problems) > 0 {
			rt.Fatalf("%v\n%s\nof\n%s\ngives\n%s", problems, value, body, unpack(t, out.Bytes())["word/document.xml"])
		}
	})
}
