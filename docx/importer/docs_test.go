package importer_test

import (
	"bytes"
	"errors"
	"html"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"platen/docx/compile/compiletest"
	"platen/docx/importer"
	"platen/ooxml/ooxmltest"
)

var (
	languageHeading = regexp.MustCompile("(?m)^## .*`([a-z-]+)`.*$")
	mappingRow      = regexp.MustCompile("(?m)^\\| (`.+`) \\| (.+) \\|$")
)

// docs/import.md has a table for each language. Each row is a line of a template, and what it becomes; or the word comment.
func TestDocumentedTagsBecomeWhatIsShown(t *testing.T) {
	page, err := os.ReadFile("../../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	headings := languageHeading.FindAllStringSubmatchIndex(text, -1)
	if len(headings) < 5 {
		t.Fatalf("the page has %d languages", len(headings))
	}
	for i, h := range headings {
		end := len(text)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		language := text[h[2]:h[3]]
		rows := mappingRow.FindAllStringSubmatch(text[h[1]:end], -1)
		if len(rows) < 4 {
			t.Errorf("the table of %s has %d rows", language, len(rows))
		}
		for _, row := range rows {
			checkRow(t, language, code(row[1]), row[2])
		}
	}
}

// code returns the text of a code span in a table.
func code(span string) string {
	return strings.ReplaceAll(strings.TrimSpace(strings.Trim(span, "`")), `\|`, "|")
}

func checkRow(t *testing.T, language, line, want string) {
	t.Helper()
	body := `<w:p><w:r><w:t xml:space="preserve">` + html.EscapeString(line) + `</w:t></w:r></w:p>`
	if language == "mailmerge" {
		body = `<w:p><w:fldSimple w:instr="` + html.EscapeString(strings.Trim(line, "{ }")) + `"><w:r><w:t>x</w:t></w:r></w:fldSimple></w:p>`
	}
	file := compiletest.Build(t, map[string]string{"document.xml": body})
	var out bytes.Buffer
	report, err := importer.Convert(&out, bytes.NewReader(file), int64(len(file)), importer.Options{From: language})
	if err != nil {
		t.Fatal(err)
	}
	got := html.UnescapeString(strings.TrimSpace(textOf(ooxmltest.Unpack(t, out.Bytes())["word/document.xml"])))
	switch {
	case want == "comment" && report.Commented == 0:
		t.Errorf("%s: %s became %s, want a comment", language, line, got)
	case want != "comment" && got != code(want):
		t.Errorf("%s: %s became %s, want %s", language, line, got, code(want))
	}
}

func TestDelimiters(t *testing.T) {
	for _, c := range []struct{ from, open, end, template, want string }{
		{"docxtemplater", "[[", "]]", "[[#items]][[name]] {x}[[/items]]", "{{for item in items}}{{item.name}} {x}{{endfor}}"},
		{"docxtemplater", "%", "%", "%a% of %b%", "{{a}} of {{b}}"},
		{"easy-template-x", "<<", ">>", "<<a>>", "{{a}}"},
		{"docx-templates", "{", "}", "{a} {FOR x IN list}{$x}{END-FOR x}", "{{a}} {{for x in list}}{{x}}{{endfor}}"},
	} {
		file := compiletest.Build(t, map[string]string{"document.xml": "<w:p><w:r><w:t>" + escapeText(c.template) + "</w:t></w:r></w:p>"})
		out, _ := convert(t, file, importer.Options{From: c.from, Open: c.open, End: c.end})
		if got := strings.TrimSpace(html.UnescapeString(textOf(ooxmltest.Unpack(t, out)["word/document.xml"]))); got != c.want {
			t.Errorf("%s with %s %s: %s became %s, want %s", c.from, c.open, c.end, c.template, got, c.want)
		}
	}
	file := compiletest.Build(t, map[string]string{"document.xml": "<w:p><w:r><w:t>{{ a }}</w:t></w:r></w:p>"})
	for _, opt := range []importer.Options{
		{From: "docxtpl", Open: "[[", End: "]]"}, {From: "docxtemplater", Open: "[["}, {From: "docxtemplater", Open: "[ ", End: "]"},
		{From: "docxtemplater", Open: strings.Repeat("[", 21), End: "]"},
	} {
		_, err := importer.Convert(io.Discard, bytes.NewReader(file), int64(len(file)), opt)
		if _, ok := errors.AsType[*importer.LanguageError](err); !ok {
			t.Errorf("%+v: %v, want a language error", opt, err)
		}
	}
}

func escapeText(s string) string { return strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(s) }
