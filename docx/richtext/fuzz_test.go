package richtext_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"platen/docx/richtext"
	"platen/ooxml/ooxmltest"
)

// Whatever the input, a document can hold the output.
func FuzzHTML(f *testing.F) {
	addGolden(f, "html")
	f.Add(`<table><tr><td colspan=99999 rowspan=99999>x<tr><td><table><tr><td>y</table>` + strings.Repeat("<td>z", 70))
	f.Add("<ol start=99999999999><li value=-1><blockquote><table></table><li><hr><li><h2>x")
	f.Add("\x00\xff<p style='width:1e309px;font-size:-1em;color:rgb(1)'>\x01&#0;&#xFFFF;</p><img src=data: width=9e99>")
	f.Fuzz(func(t *testing.T, s string) { checkDoc(t, read(t, richtext.HTML, s)) })
}

func FuzzMarkdown(f *testing.F) {
	addGolden(f, "markdown")
	f.Add("> - 1. > # x\n\n| a |\n|---|\n| <b> | c |\n")
	f.Fuzz(func(t *testing.T, s string) { checkDoc(t, read(t, richtext.Markdown, s)) })
}

func addGolden(f *testing.F, name string) {
	f.Helper()
	for _, archive := range ooxmltest.Archives(f, "testdata") {
		for _, in := range archive.Files {
			if in.Name == name {
				f.Add(string(in.Data))
			}
		}
	}
}

var tagRun = []byte(`<w:rFonts w:ascii="A"/><w:b/><w:color w:val="000000"/><w:lang w:val="de"/>`)
var tagParagraph = []byte(`<w:pStyle w:val="S"/><w:framePr w:w="1"/><w:numPr><w:ilvl w:val="0"/><w:numId ` +
	`w:val="3"/></w:numPr><w:ind w:left="99"/><w:rPr><w:i/></w:rPr><w:sectPr><w:x/></w:sectPr>`)

func checkDoc(t *testing.T, doc *richtext.Doc) {
	t.Helper()
	for _, styles := range []string{"",
		"character Hyperlink\ntable Table Grid\nparagraph heading 1\nparagraph Quote\nparagraph List Paragraph"} {
		h := &host{styles: styles}
		c := richtext.Context{Prefix: "w:", RelNamespace: "REL", RunProps: tagRun, ParaProps: tagParagraph, Strict: styles != "",
			MustEndWithParagraph: true}
		body := checkContent(t, doc.AppendBlocks(nil, c, h), "body")
		if n := len(body.children); n == 0 || body.children[n-1].name != "p" {
			t.Errorf("the blocks do not end with a paragraph")
		}
		c.MustEndWithParagraph = false
		body = checkContent(t, doc.AppendBlocks(nil, c, h), "body")
		if n := len(body.children); doc.EndsWithTable() != (n > 0 && body.children[n-1].name == "tbl") {
			t.Errorf("whether the blocks end with a table is told wrong")
		}
		c.InLink = styles == ""
		checkContent(t, doc.AppendInline(nil, c, h), "p")
		if doc.Reduced() {
			t.Skip("beyond the limits")
		}
	}
}

// Of what a reader would see nothing is lost and nothing is there twice, however the elements nest.
func TestNoTextIsLost(t *testing.T) {
	names := strings.Fields("p div b i u a ul ol li table thead tr td th caption blockquote h1 h3 pre span dl dd q unknown center small")
	rapid.Check(t, func(t *rapid.T) {
		var s strings.Builder
		count := rapid.IntRange(1, 60).Draw(t, "count")
		for i := range count {
			name := rapid.SampledFrom(names).Draw(t, "name")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				fmt.Fprintf(&s, "</%s>", name)
			case 1:
				fmt.Fprintf(&s, "<%s colspan=%d rowspan=%d>", name, rapid.IntRange(0, 40).Draw(t, "colspan"), rapid.IntRange(0, 5).Draw(t, "rowspan"))
			default:
				fmt.Fprintf(&s, "<%s>[%d] ", name, i)
			}
		}
		want := strings.Count(s.String(), "[")
		doc := read(t, richtext.HTML, s.String())
		blocks, err := parseXML(doc.AppendBlocks(nil, richtext.Context{Prefix: "w:"}, &host{}))
		if err != nil {
			t.Fatal(err)
		}
		blocks.name = "body"
		if problems := blocks.problems(nil); len(problems) > 0 {
			t.Fatalf("%s gives %q", s.String(), problems)
		}
		inline, err := parseXML(doc.AppendInline(nil, richtext.Context{Prefix: "w:"}, &host{}))
		if err != nil {
			t.Fatal(err)
		}
		for how, got := range map[string]string{"blocks": blocks.plain(), "inline": inline.plain(), "text": doc.Text()} {
			for i := range count {
				word := fmt.Sprintf("[%d]", i)
				if n := strings.Count(got, word); n != strings.Count(s.String(), word) {
					t.Fatalf("%s of %s hold %s %d times:\n%s", how, s.String(), word, n, got)
				}
			}
			if n := strings.Count(got, "["); n != want {
				t.Fatalf("%s hold %d words, want %d", how, n, want)
			}
		}
	})
}
