package docx_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var (
	joinedTables = regexp.MustCompile(`</w:tbl>(</?w:sdt(Content)?>)*<w:tbl>`)
	needlessLine = regexp.MustCompile(`</w:tbl><w:p(/>|><w:r><w:t[^>]*></w:t></w:r></w:p>)<w:p><w:r><w:t[^>]*>text`)
)

// However values, blocks, tables and content controls follow each other: no two tables come to be one, and there is no empty
// paragraph between a table and a text.
func TestTablesStayApart(t *testing.T) {
	const data = `{"empty":"","table":"<table border=0><tr><td>cell</table>","list":[1,2],"none":[]}`
	w := blockWriter{rand.New(rand.NewPCG(1, 2))}
	rounds := 1000
	if testing.Short() {
		rounds = 250
	}
	for range rounds {
		source := w.blocks(3) + `<w:sectPr/>`
		tpl, err := parse(build(t, map[string]string{"document.xml": source}))
		if err != nil {
			continue // blocks that split each other
		}
		out, _ := execute(t, tpl, decode(t, data))
		document := unpack(t, out)["word/document.xml"]
		for _, bad := range []*regexp.Regexp{joinedTables, needlessLine} {
			if found := bad.FindString(document); found != "" {
				t.Fatalf("%s\nis in\n%s\nof\n%s", found, document, source)
			}
		}
	}
}

// blockWriter writes paragraphs, tables and controls at random.
type blockWriter struct{ *rand.Rand }

func (w blockWriter) blocks(depth int) string {
	var b strings.Builder
	for range 1 + w.IntN(4) {
		b.WriteString(w.block(depth))
	}
	return b.String()
}

func (w blockWriter) block(depth int) string {
	par := func(choice ...string) string {
		return `<w:p><w:r><w:t>` + choice[w.IntN(len(choice))] + `</w:t></w:r></w:p>`
	}
	if depth == 0 {
		return par("text", "{{table}}", "text {{table}}", w.line(2))
	}
	switch w.IntN(8) {
	case 0, 1:
		return par("{{for x in list}}", "{{for x in none}}", "{{for x in list}}text", "text {{for x in list}}") + w.blocks(depth-1) +
			par("{{endfor}}")
	case 2:
		return par("{{if list}}", "{{if none}}") + w.blocks(depth-1) + par("{{endif}}")
	case 3:
		return par("{{if list}}", "{{if none}}") + w.blocks(depth-1) + par("{{else}}") + w.blocks(depth-1) + par("{{endif}}")
	case 4:
		return `<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr><w:tc>` + w.blocks(depth-1) + par("text") +
			`</w:tc></w:tr></w:tbl>` + par("{{if none}}text{{endif}}")
	case 5:
		return `<w:sdt><w:sdtContent>` + w.blocks(depth-1) + `</w:sdtContent></w:sdt>`
	}
	return w.block(0)
}

// line is what a paragraph holds: values, and blocks around them.
func (w blockWriter) line(depth int) string {
	var b strings.Builder
	for range 1 + w.IntN(3) {
		open, end, _ := strings.Cut([]string{"", "", "{{if list}}|{{endif}}", "{{if none}}text{{else}}|{{endif}}",
			"{{for x in list}}|{{endfor}}", "{{for x in none}}|{{endfor}}"}[w.IntN(6)], "|")
		within := []string{"{{table}}", "{{table}} ", "text", "{{table}}{{empty}}"}[w.IntN(4)]
		if depth > 0 && open != "" {
			within = w.line(depth - 1)
		}
		b.WriteString(open + within + end)
	}
	return b.String()
}
