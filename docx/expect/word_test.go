package expect_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"bytes"
	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/expect"
)

// A document that Word saved without a change equals the one that Platen generated.
func TestCompareWithDocumentsSavedByWord(t *testing.T) {
	compared := 0
	for _, pattern := range []string{"../testdata/*.txtar", "testdata/*.txtar"} {
		golden, err := filepath.Glob(pattern)
		if err != nil || len(golden) == 0 {
			t.Fatalf("no golden files: %v", err)
		}
		for _, name := range golden {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			parts, data := compiletest.Input(archive)
			file := compiletest.Build(t, parts)
			if template, err := docx.Parse(bytes.NewReader(file), int64(len(file))); err == nil && data != "" {
				file, err = generate(t, template, data)
				if errors.Is(err, docx.ErrIncomplete) {
					continue
				}
			}
			compared++
			checkSaved(t, name, file)
		}
	}
	for _, name := range []string{"contract", "invoice", "letter"} {
		file, err := os.ReadFile("../../examples/" + name + "/template.docx")
		if err != nil {
			t.Fatal(err)
		}
		checkSaved(t, name, file)
	}
	if compared < 150 {
		t.Errorf("only %d documents were compared", compared)
	}
}

func checkSaved(t *testing.T, name string, file []byte) {
	t.Helper()
	saved := savedByWord(t, file)
	if bytes.Equal(file, saved) {
		t.Errorf("%s: nothing differs", name)
	}
	if found := expect.Compare(outline(t, file), outline(t, saved)); len(found) > 0 {
		t.Errorf("%s differs after it was saved:\n%s", name, formatDifferences(found))
	}
}
