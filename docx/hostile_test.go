package docx_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"platen/budget"
	"platen/docx"
)

// Templates made to be slow or to go deep are compiled in about the time of their size, or refused.
func TestHostileTemplates(t *testing.T) {
	const n = 1500
	many := strings.Repeat
	paragraph := func(text string) string { return `<w:p><w:r><w:t>` + text + `</w:t></w:r></w:p>` }
	row := `<w:tr><w:tc>` + paragraph("{{if a}}x") + `</w:tc><w:tc>` + paragraph("y{{endif}}") + `</w:tc></w:tr>`
	for name, body := range map[string]string{
		"many blocks in one text": paragraph(many("{{if a}}x{{endif}}", n)),
		"many texts in one run": `<w:p><w:r>` + many(`<w:t>{{if a}}</w:t><w:br/><w:t>x</w:t><w:br/><w:t>{{endif}}</w:t><w:br/>`,
			n) + `</w:r></w:p>`,
		"many runs":       `<w:p>` + many(`<w:r><w:t>{{if a}}</w:t></w:r><w:r><w:t>x{{endif}}</w:t></w:r>`, n) + `</w:p>`,
		"many rows":       `<w:tbl>` + many(row, n) + `<w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl><w:p/>`,
		"many tables":     many(`<w:tbl>`+row+`</w:tbl>`, n) + `<w:p/>`,
		"many paragraphs": many(paragraph("{{if a}}")+paragraph("x")+paragraph("{{endif}}"), n),
		"many sections":   many(paragraph("{{if a}}")+`<w:p><w:pPr><w:sectPr/></w:pPr></w:p>`+paragraph("{{endif}}"), n),
		"many parts in one row": `<w:tbl><w:tr><w:tc>` + paragraph("{{if a}}") + many(paragraph("{{elseif a}}"), n) +
			`</w:tc><w:tc>` + paragraph("{{endif}}") + `</w:tc></w:tr></w:tbl><w:p/>`,
		"blocks as deep as allowed":         paragraph(many("{{for x in a}}", 100)) + paragraph("z") + paragraph(many("{{endfor}}", 100)),
		"blocks deeper than allowed":        paragraph(many("{{if a}}", 101)) + paragraph(many("{{endif}}", 101)),
		"blocks never closed":               paragraph(many("{{if a}}", n)),
		"more tags than allowed":            paragraph(many("{{a}}", 20_001)),
		"braces that are not part of a tag": paragraph(many("{{a ", 50*n)),
		"quotes that are never closed":      paragraph(many(`{{ ' " `, 50*n)),
		"a tag longer than allowed":         paragraph("{{" + many("a+", 50*n) + "a}}"),
		"parentheses deeper than sense":     paragraph("{{" + many("(", n) + "}}"),
		"elements deeper than allowed":      many("<w:smartTag>", n) + many("</w:smartTag>", n),
		"more attributes than allowed":      `<w:p ` + manyNumbered(`a%d="" `, 100*n) + `/>` + paragraph("{{a}}"),
		"splits of deep elements": many(`<w:p><w:r><w:t>x{{if a}}y</w:t></w:r>`+many(`<w:smartTag>`, 100)+
			`<w:r><w:t>x{{endif}}y</w:t></w:r>`+many(`</w:smartTag>`, 100)+`</w:p>`, 100),
	} {
		t.Run(name, func(t *testing.T) {
			tpl, err := parse(build(t, map[string]string{"document.xml": body}))
			if err != nil {
				if !explains(err) || len(err.Error()) > 200_000 {
					t.Errorf("the error is of no known kind or %d bytes long", len(err.Error()))
				}
				return
			}
			execute(t, tpl, decode(t, `{"a":true}`))
		})
	}
}

func TestTooManyTagsAreReportedOnce(t *testing.T) {
	_, err := parse(build(t, map[string]string{"document.xml": strings.Repeat(para("{{a}} {{b}}"), 10_200)}))
	problems, ok := errors.AsType[docx.Errors](err)
	if !ok || len(problems) != 1 || !strings.Contains(problems[0].Message, "more than 20000 tags") {
		t.Errorf("error %.300v, want one about the number of tags", err)
	}
}

func TestLoopsInLoopsEnd(t *testing.T) {
	tpl := mustParse(t, map[string]string{"document.xml": `<w:p><w:r><w:t>` + strings.Repeat("{{for x in a}}", 10) +
		strings.Repeat("{{endfor}}", 10) + `</w:t></w:r></w:p>`})
	data := decode(t, `{"a":[`+strings.Repeat("0,", 9999)+`0]}`)
	if _, err := tpl.Execute(t.Context(), io.Discard, data, docx.Options{}); err == nil || !strings.Contains(err.Error(), "steps of work") {
		t.Errorf("error = %v, want one about steps of work", err)
	}
}

// manyNumbered repeats a text with the number of the repetition in it.
func manyNumbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// A part with 30,000 nested and adjacent namespace declarations is accepted. With a lookup that copies the declarations of
// all ancestors, this test takes minutes.
func TestManyNamespaces(t *testing.T) {
	const deep, wide = 300, 30_000
	body := `<w:p>` + manyNumbered(`<x%[1]d:y xmlns:x%[1]d="urn:%[1]d">`, deep) + manyNumbered(`<z:y xmlns:z="urn:%d"/>`, wide)
	for i := deep - 1; i >= 0; i-- {
		body += fmt.Sprintf("</x%d:y>", i)
	}
	body += `</w:p><w:p><w:r><w:t>{{a}}</w:t></w:r></w:p>`
	tpl := mustParse(t, map[string]string{"document.xml": body})
	if _, err := tpl.Execute(t.Context(), io.Discard, decode(t, `{"a":"A"}`), docx.Options{}); err != nil {
		t.Fatal(err)
	}
}

// Templates of a few megabytes that once took minutes to compile: for each tag, all paragraphs or rows were looked at.
func TestLongTemplatesAreCompiled(t *testing.T) {
	many, n := strings.Repeat, 40_000
	noise := make([]byte, 100_000) // as a part may not unpack to very many times its size
	for i := range noise {
		noise[i] = "abcdefghijklmnopqrstuvwxyz"[(i*i/7+i*i*i/1013)%26]
	}
	row := func(text string) string { return `<w:tr><w:tc>` + para(text) + `</w:tc></w:tr>` }
	for name, body := range map[string]string{
		"paragraphs": many(para("{{a}}"), 9000) + many(para("x"), n),
		"headings":   many(`<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>{{a}}</w:t></w:r></w:p>`, 9000),
		"rows": `<w:tbl>` + many(row("{{if a}}")+row("{{endif}}"), 1000) + row("{{if a}}") + many(row("x"), n/4) + row("{{endif}}") +
			`</w:tbl><w:p/>`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(build(t, map[string]string{"document.xml": para(string(noise)) + body})); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A template whose rows would have to be compared with very many blocks exceeds the budget of compiling, also within an included file, and
// what ends the context ends compiling.
func TestCompilingHasABudget(t *testing.T) {
	many := strings.Repeat
	row := func(text string) string { return `<w:tr><w:tc>` + para(text) + `</w:tc></w:tr>` }
	var noise strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&noise, "%x", i*i*i)
	}
	file := build(t, map[string]string{"document.xml": para(noise.String()) + `<w:tbl>` + many(row("{{if a}}")+row("{{endif}}"), 9000) +
		row("{{if a}}") + many(row("x"), 60_000) + row("{{endif}}") + `</w:tbl><w:p/>`})
	outer := build(t, map[string]string{"document.xml": para(`{{include "long.docx"}}`)})
	for name, template := range map[string][]byte{"itself": file, "included": outer} {
		_, err := docx.ParseWith(t.Context(), bytes.NewReader(template), int64(len(template)), docx.ParseOptions{
			Include: func(string) ([]byte, error) { return file, nil }, Time: budget.Unlimited,
		})
		exceeded, ok := errors.AsType[*docx.BudgetError](err)
		if !ok || exceeded.Budget != budget.TemplateWork || !strings.Contains(err.Error(), "steps to compile") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	reason := errors.New("the server stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := docx.ParseWith(ctx, bytes.NewReader(outer), int64(len(outer)), docx.ParseOptions{}); !errors.Is(err, reason) {
		t.Errorf("error %v, want why the context ended", err)
	}
	_, err := docx.ParseWith(t.Context(), bytes.NewReader(outer), int64(len(outer)), docx.ParseOptions{Time: 1})
	if exceeded, ok := errors.AsType[*docx.BudgetError](err); !ok || exceeded.Budget != budget.TemplateTime ||
		!strings.Contains(err.Error(), "--template-time") {
		t.Errorf("error %v, want one of the time", err)
	}
}
