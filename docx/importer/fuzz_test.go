package importer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/importer"
	"platen/docx/validate"
	"platen/ooxml"
	"platen/ooxml/ooxmltest"
)

// FuzzImport imports the content of a document's body from each language, with sample data if it is JSON. The converted template must be
// sound if the document is, and a template without mistakes, which Convert checks: all errors are about the document or the language.
func FuzzImport(f *testing.F) {
	for name, archive := range ooxmltest.Archives(f, "testdata") {
		from, _, _ := strings.Cut(filepath.Base(name), "_")
		var body, data string
		for _, file := range archive.Files {
			switch file.Name {
			case "document.xml":
				body = string(file.Data)
			case "data.json":
				data = string(file.Data)
			}
		}
		f.Add(uint8(slices.Index(importer.Names(), from)), body, data)
	}
	f.Fuzz(func(t *testing.T, language uint8, body, data string) {
		if strings.Contains(body, "]]>") { // Build puts the body between tags as it is
			return
		}
		names := importer.Names()
		opt := importer.Options{From: names[int(language)%len(names)]}
		decoder := json.NewDecoder(strings.NewReader(data))
		decoder.UseNumber()
		if sample := any(nil); decoder.Decode(&sample) == nil {
			opt.Data = []any{sample}
		}
		file := compiletest.Build(t, map[string]string{"document.xml": body})
		var out bytes.Buffer
		report, err := importer.Convert(&out, bytes.NewReader(file), int64(len(file)), opt)
		if err != nil {
			_, isFile := errors.AsType[*ooxml.Error](err)
			_, isLanguage := errors.AsType[*importer.LanguageError](err)
			_, isMistake := errors.AsType[docx.Errors](err) // of tags in double braces that are not of the language, such as those in names
			if !isFile && !isLanguage && !isMistake {
				t.Errorf("the error is of no known kind: %v", err)
			}
			return
		}
		if report.Converted+report.Commented+report.Elsewhere != report.Tags || len(report.Results) != report.Tags {
			t.Errorf("%d of %d tags converted, %d commented, %d elsewhere, and %d results", report.Converted, report.Tags,
				report.Commented, report.Elsewhere, len(report.Results))
		}
		if len(problems(file)) > 0 {
			return
		}
		for _, problem := range problems(out.Bytes()) {
			t.Errorf("the converted template has a problem that the document had not: %v", &problem)
		}
	})
}

// problems returns the faults of a file, without warnings.
func problems(file []byte) []validate.Problem {
	return slices.DeleteFunc(validate.Package(bytes.NewReader(file), int64(len(file))), func(p validate.Problem) bool { return p.Warning })
}
