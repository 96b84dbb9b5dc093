package docx_test

import (
	"bytes"
	"slices"
	"testing"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/lang"
	"platen/docx/validate"
	"platen/ooxml/ooxmltest"
)

// build returns a document with the contents of its parts.
func build(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	return compiletest.Build(t, parts)
}

// unpack returns the contents of a package's entries.
var unpack = ooxmltest.Unpack

func parse(file []byte) (*docx.Template, error) {
	return docx.Parse(bytes.NewReader(file), int64(len(file)))
}

// check returns what is wrong with a document, but for what every program passes over.
func check(file []byte) []validate.Problem {
	return slices.DeleteFunc(validate.Package(bytes.NewReader(file), int64(len(file))), func(p validate.Problem) bool { return p.Warning })
}

func decode(t testing.TB, json string) lang.Value {
	t.Helper()
	data, err := lang.Decode([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// execute fills a template and has the output checked.
func execute(t testing.TB, tpl *docx.Template, data lang.Value) ([]byte, docx.Report) {
	t.Helper()
	var out bytes.Buffer
	report, err := tpl.Execute(t.Context(), &out, data, docx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range check(out.Bytes()) {
		t.Errorf("the output is unsound: %v", &problem)
	}
	return out.Bytes(), report
}
