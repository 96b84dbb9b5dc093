package docx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/ooxml/ooxmltest"
)

// Each file of testdata has a template, its data, and the expected output. The lines "shows: " in its head name the features of the
// language that it shows. Parts are given without their root element: document.xml (required), header1.xml, footer2.xml, footnotes.xml,
// endnotes.xml, chart1.xml and chartEx1.xml (with workbooks), diagram1.xml, and core.xml (the properties of the document). There may
// also be
//
//	links                a line "id address" for each external link
//	settings             a docx.Settings in JSON
//	name.docx/part.xml   a part of a file that is included by that name
//
// The rest is the expected output:
//
//	want.xml             the document, and want-header1.xml etc. the other parts
//	want-links           the addresses of links
//	tags.json            the listing
//	report               errors and warnings of the execution; absent if there are none
//	errors               those of the template, or of the execution if it generates no document; then there is no other output
//
// and, if the file has such a section, further output:
//
//	details              the places of errors and warnings of the execution
//	comments             those in the copy of the template that shows the errors, or else the details
//	files                the names and types of all parts
func TestGolden(t *testing.T) { ooxmltest.Golden(t, runGolden) }

// runGolden returns the archive with the outputs that its inputs give.
func runGolden(t *testing.T, archive *txtar.Archive) *txtar.Archive {
	got := &txtar.Archive{Comment: archive.Comment}
	parts, data := compiletest.Input(archive)
	for _, f := range archive.Files {
		if _, ok := parts[f.Name]; ok || f.Name == "data.json" || f.Name == "settings" || strings.Contains(f.Name, "/") {
			got.Files = append(got.Files, f)
		}
	}
	section := func(name, content string) {
		if content != "" && (!slices.Contains(onDemand, name) || sectionOf(archive, name) != "") {
			got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(strings.TrimSuffix(content, "\n") + "\n")})
		}
	}
	file := build(t, parts)
	tpl, err := docx.ParseWith(t.Context(), bytes.NewReader(file), int64(len(file)), docx.ParseOptions{Include: goldenFiles(t, archive)})
	if err != nil {
		if _, ok := errors.AsType[docx.Errors](err); !ok {
			t.Fatal(err)
		}
		section("errors", err.Error())
		section("comments", commentsOn(t, file, err))
		return got
	}
	var output bytes.Buffer
	report, err := tpl.Execute(t.Context(), &output, decode(t, data), goldenOptions(t, archive))
	if err != nil {
		section("errors", err.Error())
		section("report", formatReport(report))
		section("details", formatDetails(report))
		return got
	}
	for _, problem := range check(output.Bytes()) {
		t.Errorf("the output is unsound: %v", &problem)
	}
	out := unpack(t, output.Bytes())
	section("files", formatFiles(out))
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if name == "links" {
			section("want-links", strings.Join(addressOfLink.FindAllString(out["word/_rels/document.xml.rels"], -1), "\n"))
			continue
		}
		open, end := compiletest.RootOf(name)
		_, content, ok := strings.Cut(out[compiletest.PathOf(name)], open)
		content, ok2 := strings.CutSuffix(content, end)
		if !ok || !ok2 {
			t.Fatalf("the root element of %s changed:\n%s", name, out[compiletest.PathOf(name)])
		}
		want := "want.xml"
		if name != "document.xml" {
			want = "want-" + name
		}
		section(want, content)
	}
	section("tags.json", formatTags(t, tpl.Tags()))
	section("report", formatReport(report))
	section("details", formatDetails(report))
	section("comments", commentsOn(t, file, docx.Errors(report.Details)))
	return got
}

// onDemand are the sections that only those golden files have that ask for them.
var onDemand = []string{"details", "comments", "files"}

var addressOfLink = regexp.MustCompile(`Id="[^"]*"[^>]*Target="[^"]*" TargetMode="External"`)

func sectionOf(archive *txtar.Archive, name string) string {
	for _, f := range archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func goldenOptions(t *testing.T, archive *txtar.Archive) docx.Options {
	t.Helper()
	var settings struct {
		docx.Settings
		WordML bool
	}
	if text := sectionOf(archive, "settings"); text != "" {
		if err := json.Unmarshal([]byte(text), &settings); err != nil {
			t.Fatal(err)
		}
	}
	options, wrong := settings.Options()
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	options.WordML = settings.WordML
	return options
}

var commentText = regexp.MustCompile(`<w:t(?: [^>]*)?>([^<]*)</w:t>|</w:comment>`)

// commentsOn returns the texts of the comments that lead to what is wrong with a template.
func commentsOn(t *testing.T, file []byte, err error) string {
	t.Helper()
	problems, _ := errors.AsType[docx.Errors](err)
	var copied bytes.Buffer
	if err := docx.Annotate(&copied, bytes.NewReader(file), int64(len(file)), problems); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range commentText.FindAllStringSubmatch(unpack(t, copied.Bytes())["word/comments.xml"], -1) {
		b.WriteString(m[1] + "\n")
	}
	return b.String()
}

func formatDetails(r docx.Report) string {
	return docx.Errors(r.Details).Error()
}

var typeOfPart = regexp.MustCompile(`(?:Extension|PartName)="[^"]*" ContentType="[^"]*"`)

func formatFiles(out map[string]string) string {
	return strings.Join(append(slices.Sorted(maps.Keys(out)), typeOfPart.FindAllString(out["[Content_Types].xml"], -1)...), "\n")
}

// goldenFiles returns what opens the files that a golden template includes; nil if it has none.
func goldenFiles(t *testing.T, archive *txtar.Archive) func(string) ([]byte, error) {
	t.Helper()
	files := map[string]map[string]string{}
	for _, f := range archive.Files {
		if i := strings.LastIndexByte(f.Name, '/'); i >= 0 {
			name, part := f.Name[:i], f.Name[i+1:]
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
