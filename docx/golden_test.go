package docx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"platen/docx"
)

var update = flag.Bool("update", false, "write what the tests get into their golden files")

// Each file of testdata is a template, its data and what comes of them. Parts are given without their root element:
// document.xml (required), header1.xml, footer2.xml, footnotes.xml, endnotes.xml, chart1.xml (with a workbook). The rest is what must come out:
//
//	name.docx/part.xml   a part of a file that is included by that name
//	want.xml             the document, and want-header1.xml etc. the other parts
//	tags.json            the listing
//	report               errors and warnings of the execution; absent if there are none
//	errors               those of the template; then nothing else comes out
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := runGolden(t, archive)
			if *update {
				if err := os.WriteFile(name, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
				t.Errorf("run with -update to accept (-want +got):\n%s", diff)
			}
		})
	}
}

// runGolden returns the archive with the outputs that its inputs give.
func runGolden(t *testing.T, archive *txtar.Archive) *txtar.Archive {
	got := &txtar.Archive{Comment: archive.Comment}
	parts, data := goldenInput(archive)
	for _, f := range archive.Files {
		if _, ok := parts[f.Name]; ok || f.Name == "data.json" || strings.Contains(f.Name, "/") {
			got.Files = append(got.Files, f)
		}
	}
	section := func(name, content string) {
		if content != "" {
			got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(strings.TrimSuffix(content, "\n") + "\n")})
		}
	}
	file := build(t, parts)
	tpl, err := docx.ParseWith(bytes.NewReader(file), int64(len(file)), docx.ParseOptions{Include: goldenFiles(t, archive)})
	if err != nil {
		if _, ok := errors.AsType[docx.Errors](err); !ok {
			t.Fatal(err)
		}
		section("errors", err.Error())
		return got
	}
	output, report := execute(t, tpl, decode(t, data))
	out := unpack(t, output)
	for _, name := range sortedKeys(parts) {
		open, end := rootOf(name)
		_, content, ok := strings.Cut(out["word/"+name], open)
		content, ok2 := strings.CutSuffix(content, end)
		if !ok || !ok2 {
			t.Fatalf("the root element of %s changed:\n%s", name, out["word/"+name])
		}
		want := "want.xml"
		if name != "document.xml" {
			want = "want-" + name
		}
		section(want, content)
	}
	section("tags.json", formatTags(t, tpl.Tags()))
	section("report", formatReport(report))
	return got
}

// goldenInput returns the parts and the data of a golden file.
func goldenInput(archive *txtar.Archive) (parts map[string]string, data string) {
	parts = map[string]string{}
	for _, f := range archive.Files {
		switch {
		case f.Name == "data.json":
			data = string(f.Data)
		case strings.HasSuffix(f.Name, ".xml") && !strings.HasPrefix(f.Name, "want") && !strings.Contains(f.Name, "/"):
			parts[f.Name] = string(f.Data)
		}
	}
	return parts, data
}

// goldenFiles returns what opens the files that a golden template includes; nil if it has none.
func goldenFiles(t *testing.T, archive *txtar.Archive) func(string) ([]byte, error) {
	t.Helper()
	files := map[string]map[string]string{}
	for _, f := range archive.Files {
		if name, part, ok := strings.Cut(f.Name, "/"); ok {
			if files[name] == nil {
				files[name] = map[string]string{}
			}
			files[name][part] = string(f.Data)
		}
	}
	if len(files) == 0 {
		return nil
	}
	return func(name string) ([]byte, error) {
		if files[name] == nil {
			return nil, errors.New("is not there")
		}
		return build(t, files[name]), nil
	}
}

func formatTags(t *testing.T, tags []docx.Tag) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, tag := range tags {
		if err := enc.Encode(tag); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func formatReport(r docx.Report) string {
	var lines []string
	for _, e := range r.Errors {
		lines = append(lines, "error: "+e)
	}
	for _, w := range r.Warnings {
		lines = append(lines, "warning: "+w)
	}
	return strings.Join(slices.Clip(lines), "\n")
}
