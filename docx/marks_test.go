package docx_test

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/lang"
	"platen/ooxml/ooxmltest"
)

// executeMarked returns a document with up to most marks.
func executeMarked(t testing.TB, tpl *docx.Template, data lang.Value, opt docx.Options, most int) ([]byte, docx.Report, error) {
	t.Helper()
	var b bytes.Buffer
	opt.Marks = most
	report, err := tpl.Execute(t.Context(), &b, data, opt)
	return b.Bytes(), report, err
}

func TestMarks(t *testing.T) {
	tpl := mustParse(t, map[string]string{
		"document.xml": `<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Dear {{customer.name}}{{customer.none :: uppercase}},</w:t></w:r></w:p>` +
			`<w:p><w:r><w:t>{{for i in items}}{{i.qty * 2}} of {{i.name :: bold}} {{endfor}}</w:t></w:r></w:p>` +
			`<w:p><w:r><w:t>{{site :: link("https://example.com")}}</w:t></w:r></w:p>` +
			`<w:p><w:r><w:t>{{text}}</w:t></w:r></w:p>` +
			`<w:p><w:hyperlink w:anchor="there"><w:r><w:t>{{site}}</w:t></w:r></w:hyperlink></w:p>`,
		"header1.xml": `<w:p><w:r><w:t>{{items[1].name}}</w:t></w:r></w:p>`,
	})
	data := decode(t, `{"customer": {"name": "Ada", "none": ""}, "items": [{"name": "a", "qty": 1}, {"name": "b", "qty": 2}], "site": "here",
		"text": "<b>one</b> <a href='https://example.com'>two</a>"}`)
	file, report, err := executeMarked(t, tpl, data, docx.Options{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range check(file) {
		t.Errorf("the output is unsound: %v", &problem)
	}
	var got []string
	for _, m := range report.Marks {
		got = append(got, fmt.Sprintf("%s %s %s", path.Base(m.Tag.Part), m.Tag.Tag, m.DataPath))
	}
	want := []string{
		"document.xml {{customer.name}} customer.name",
		"document.xml {{i.qty * 2}} ", "document.xml {{i.name :: bold}} items[0].name",
		"document.xml {{i.qty * 2}} ", "document.xml {{i.name :: bold}} items[1].name",
		`document.xml {{site :: link("https://example.com")}} site`,
		"document.xml {{text}} text",
		"header1.xml {{items[1].name}} items[1].name",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the marks are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	out := unpack(t, file)
	for i := range want {
		address := fmt.Sprintf(`Target="platen-tag:%d"`, i)
		if n := strings.Count(out["word/_rels/document.xml.rels"]+out["word/_rels/header1.xml.rels"], address); n != 1 {
			t.Errorf("mark %d has %d relationships, want 1", i, n)
		}
	}
	if !strings.Contains(out["word/styles.xml"], `w:styleId="PlatenMark"`) {
		t.Errorf("the style of marks is missing:\n%s", out["word/styles.xml"])
	}
}

func TestMarksAreLimited(t *testing.T) {
	tpl := mustParse(t, map[string]string{"document.xml": `<w:p><w:r><w:t>{{for i in items}}{{i}} {{endfor}}</w:t></w:r></w:p>`})
	data := decode(t, `{"items": [1, 2, 3, 4, 5]}`)
	_, report, err := executeMarked(t, tpl, data, docx.Options{}, 3)
	if err != nil || len(report.Marks) != 3 || report.OmittedMarks != 2 {
		t.Errorf("%d marks, %d omitted, %v; want 3 and 2", len(report.Marks), report.OmittedMarks, err)
	}
	many := decode(t, `{"items": [1`+strings.Repeat(",1", docx.MaxMarks)+`]}`)
	_, report, err = executeMarked(t, tpl, many, docx.Options{}, 1e6)
	if err != nil || len(report.Marks) != docx.MaxMarks || report.OmittedMarks != 1 {
		t.Errorf("%d marks, %d omitted, %v; want %d and 1", len(report.Marks), report.OmittedMarks, err, docx.MaxMarks)
	}
	if _, report, err := executeMarked(t, tpl, data, docx.Options{}, 0); err != nil || report.Marks != nil || report.OmittedMarks != 0 {
		t.Errorf("%d marks, %d omitted, %v; want none without the option", len(report.Marks), report.OmittedMarks, err)
	}
}

var (
	anyTag   = regexp.MustCompile(`<[^>]*>`)
	anyBreak = regexp.MustCompile(`</w:p>|<w:br[ />]|<w:tab/>`)
)

// textIn returns the text of a part, with line breaks between paragraphs.
func textIn(part string) string {
	return anyTag.ReplaceAllString(anyBreak.ReplaceAllString(part, "\n$0"), "")
}

// A document with marks is valid, and has the same text in the same paragraphs.
func TestMarksKeepText(t *testing.T) {
	for name, archive := range ooxmltest.Archives(t, "testdata") {
		t.Run(name, func(t *testing.T) {
			parts, input := compiletest.Input(archive)
			file := build(t, parts)
			tpl, err := docx.ParseWith(t.Context(), bytes.NewReader(file), int64(len(file)),
				docx.ParseOptions{Include: goldenFiles(t, archive)})
			if err != nil {
				t.Skip("the template has errors")
			}
			data, opt := decode(t, input), goldenOptions(t, archive)
			plain, _, err := executeMarked(t, tpl, data, opt, 0)
			if err != nil {
				t.Skip("there is no document")
			}
			marked, _, err := executeMarked(t, tpl, data, opt, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range check(marked) {
				t.Errorf("the output is unsound: %v", &problem)
			}
			out := unpack(t, marked)
			for name, part := range unpack(t, plain) {
				if path.Ext(name) == ".xml" && textIn(out[name]) != textIn(part) {
					t.Errorf("the text of %s is\n%s\nwant\n%s", name, out[name], part)
				}
			}
		})
	}
}
