package docx_test

import (
	"bytes"
	"strings"
	"testing"

	"platen/docx"
	"platen/docx/validate"
	"platen/ooxml/ooxmltest"
)

// FuzzParse feeds whole files.
func FuzzParse(f *testing.F) {
	f.Add(build(f, map[string]string{"document.xml": `<w:p><w:r><w:t>{{a}}</w:t></w:r></w:p>`, "header1.xml": `<w:p/>`}))
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if tpl, err := parse(file); err == nil {
			tpl.Tags()
		} else if !explains(err) {
			t.Errorf("the error is of no known kind: %v", err)
		}
	})
}

// FuzzDocument feeds the content of a document's body: what is accepted must give well-formed output with any data.
func FuzzDocument(f *testing.F) {
	for _, archive := range ooxmltest.Archives(f, "testdata") {
		f.Add(string(archive.Files[0].Data))
	}
	data := decode(f, `{"a":"<&\n","x":1,"no":false,"yes":true,"items":[{"name":"n","qty":1},{"name":"m"}],"groups":[{"members":[1,2]}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		if strings.Contains(body, "]]>") { // build puts the body between tags as it is
			return
		}
		file := build(t, map[string]string{"document.xml": body})
		tpl, err := parse(file)
		if err != nil {
			if !explains(err) {
				t.Errorf("the error is of no known kind: %v", err)
			}
			return
		}
		var out bytes.Buffer
		if _, err := tpl.Execute(t.Context(), &out, data, docx.Options{}); err != nil {
			return
		}
		for _, problem := range newProblems(file, out.Bytes()) {
			if problem.Code == validate.CodeXML || len(check(file)) == 0 {
				t.Errorf("the output has a problem that the template had not: %v", &problem)
			}
		}
	})
}
