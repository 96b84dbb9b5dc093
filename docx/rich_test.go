package docx_test

import (
	"strings"
	"testing"

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

// A document without lists gets a numbering of its own, with its content type and its relationship.
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
	if !strings.Contains(files["[Content_Types].xml"], "numbering+xml") || !strings.Contains(files["word/_rels/document.xml.rels"], "numbering.xml") {
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
	out, _ := execute(t, tpl, decode(t, `{"x":"<a href='JavaScript:alert(1)'>a</a><a href='file:///etc/passwd'>b</a><a href='\\\\host\\share'>c</a><a href='https://example.com/?a=1&amp;b=%22'>d</a>"}`))
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
	out, report := execute(t, tpl, decode(t, `{"x":"<p>a <img alt='A &quot;dot&quot;' width=96 height=48 src='data:image/png;base64,`+pictureOf(t, 4, 4)+`'> b <img src='cid:logo' alt='our logo'></p><p>c</p>"}`))
	files := unpack(t, out)
	document := files["word/document.xml"]
	if !strings.Contains(document, `descr="A &quot;dot&quot;"`) || !strings.Contains(document, `<wp:extent cx="914400" cy="457200"/>`) || !strings.Contains(document, ">our logo<") {
		t.Errorf("the document is %s", document)
	}
	if rels := files["word/_rels/document.xml.rels"]; strings.Count(rels, "relationships/image") != 1 {
		t.Errorf("the relationships are %s", rels)
	}
	if len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0], "'x'") {
		t.Errorf("the warnings are %q", report.Warnings)
	}
}
