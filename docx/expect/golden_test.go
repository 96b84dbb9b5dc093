package expect_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/expect"
	"platen/ooxml/ooxmltest"
)

// Each file of testdata has a document: its parts without their root elements, as in the golden files of docx. Parts in the folder "got"
// replace those of the same name in another document, which is compared with the first one. The file expect.json has expectations of that
// document, or else of the first one. The rest is the expected output:
//
//	outline      the outline of the document
//	differences  the differences of the other document
//	check        the differences from the expectations
func TestGolden(t *testing.T) { ooxmltest.Golden(t, runGolden) }

// runGolden returns the archive with the outputs that its inputs give.
func runGolden(t *testing.T, archive *txtar.Archive) *txtar.Archive {
	got := &txtar.Archive{Comment: archive.Comment}
	parts, other, expectations := map[string]string{}, map[string]string{}, ""
	for _, f := range archive.Files {
		content := strings.TrimSuffix(string(f.Data), "\n")
		if part, ok := strings.CutPrefix(f.Name, "got/"); ok {
			other[part] = content
		} else if strings.HasSuffix(f.Name, ".xml") || f.Name == "links" {
			parts[f.Name] = content
		} else if f.Name == "expect.json" {
			expectations = content
		} else {
			continue
		}
		got.Files = append(got.Files, f)
	}
	lines := outline(t, compiletest.Build(t, parts))
	section := func(name, content string) {
		got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(strings.TrimSuffix(content, "\n") + "\n")})
	}
	section("outline", formatOutline(lines))
	if len(other) > 0 {
		for name, content := range parts {
			if _, ok := other[name]; !ok {
				other[name] = content
			}
		}
		changed := outline(t, compiletest.Build(t, other))
		section("differences", formatDifferences(expect.Compare(lines, changed)))
		lines = changed
	}
	if expectations != "" {
		wanted, err := expect.Parse([]byte(expectations))
		if err != nil {
			t.Fatal(err)
		}
		section("check", formatDifferences(wanted.Check(&expect.Result{Outline: lines})))
	}
	return got
}

func outline(t testing.TB, file []byte) []expect.Line {
	t.Helper()
	lines, err := expect.Outline(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func formatOutline(lines []expect.Line) string {
	var b strings.Builder
	for i := range lines {
		b.WriteString(lines[i].String() + "\n")
	}
	return b.String()
}

func formatDifferences(differences []expect.Difference) string {
	if len(differences) == 0 {
		return "none"
	}
	var b strings.Builder
	for i := range differences {
		fmt.Fprintf(&b, "%s: %s\n", differences[i].Kind, &differences[i])
	}
	return b.String()
}

func parse(t testing.TB, file []byte) *docx.Template {
	t.Helper()
	template, err := docx.Parse(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return template
}
