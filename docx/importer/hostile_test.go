package importer_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"platen/docx/compile/compiletest"
	"platen/docx/importer"
)

func paragraphs(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString("<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>")
	}
	return b.String()
}

func TestDeeplyNestedSectionsHaveComments(t *testing.T) {
	const depth = 300
	var open, end []string
	for i := range depth {
		open = append(open, fmt.Sprintf("{#a%d}{x%d}", i, i))
		end = append(end, fmt.Sprintf("{/a%d}", depth-1-i))
	}
	file := compiletest.Build(t, map[string]string{"document.xml": paragraphs(append(open, end...)...)})
	_, report := convert(t, file, importer.Options{From: "docxtemplater"})
	if report.Tags != 3*depth || report.Commented != 2*(depth-100) {
		t.Errorf("%d of %d tags have a comment; the blocks below the first 100 should", report.Commented, report.Tags)
	}
}

func BenchmarkConvert(b *testing.B) {
	for _, language := range []struct{ from, text string }{
		{"docxtemplater", "{#items}{name}{/items}{^items}none{/items}"},
		{"easy-template-x", "{#items}{name}{/items}"},
		{"carbone", "{d.items[0].name} {d.vip:ifEQ(true):showBegin}vip{d.vip:showEnd}"},
		{"docxtpl", "{% for i in items %}{{ i.name }}{% endfor %}"},
		{"docx-templates", "+++FOR i IN items+++ +++$i.name+++ +++END-FOR i+++"},
		{"handlebars", "{{#each items}}{{name}}{{/each}}"},
		{"box", "{{for i in items}}{{i.name}}{{endfor}}"},
	} {
		for _, n := range []int{1000, 4000} {
			b.Run(fmt.Sprintf("%s/%d", language.from, n), func(b *testing.B) {
				texts := make([]string, n)
				for i := range texts {
					texts[i] = language.text
				}
				file := compiletest.Build(b, map[string]string{"document.xml": paragraphs(texts...)})
				for b.Loop() {
					var out bytes.Buffer
					opt := importer.Options{From: language.from}
					if _, err := importer.Convert(&out, bytes.NewReader(file), int64(len(file)), opt); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
