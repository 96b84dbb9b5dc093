package importer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/importer"
	"platen/docx/lang"
	"platen/docx/validate"
	"platen/ooxml/ooxmltest"
)

// Each file of testdata has a template in the language that its name begins with: the parts without their root elements, as in
// the golden files of docx. data.json, if there is one, is sample data. The rest is the expected output:
//
//	want-document.xml  the parts of the converted template
//	report             what became of each tag
//	text               the text of the document that the converted template generates with the data
func TestGolden(t *testing.T) { ooxmltest.Golden(t, runGolden) }

// runGolden returns the archive with the outputs that its inputs give.
func runGolden(t *testing.T, archive *txtar.Archive) *txtar.Archive {
	from, _, _ := strings.Cut(path.Base(t.Name()), "_")
	got := &txtar.Archive{Comment: archive.Comment}
	parts := map[string]string{}
	data := ""
	for _, f := range archive.Files {
		switch {
		case f.Name == "data.json":
			data = string(f.Data)
		case !strings.HasSuffix(f.Name, ".xml") || strings.HasPrefix(f.Name, "want-"):
			continue
		default:
			parts[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
		}
		got.Files = append(got.Files, f)
	}
	file := compiletest.Build(t, parts)
	opt := importer.Options{From: from}
	if data != "" {
		opt.Data = decodeSamples(t, data)
	}
	out, report := convert(t, file, opt)
	converted := ooxmltest.Unpack(t, out)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		open, end := compiletest.RootOf(name)
		content := strings.TrimSuffix(strings.TrimPrefix(afterHeader(converted[compiletest.PathOf(name)]), open), end)
		got.Files = append(got.Files, txtar.File{Name: "want-" + name, Data: []byte(content + "\n")})
	}
	got.Files = append(got.Files, txtar.File{Name: "report", Data: []byte(formatReport(report))})
	if data != "" {
		got.Files = append(got.Files, txtar.File{Name: "text", Data: []byte(generate(t, out, data))})
	}
	return got
}

// afterHeader returns a part without its XML declaration.
func afterHeader(part string) string {
	if _, rest, ok := strings.Cut(part, "?>"); ok && strings.HasPrefix(part, "<?xml") {
		return strings.TrimLeft(rest, "\r\n")
	}
	return part
}

// convert imports a template, and checks that the result is a template without mistakes.
func convert(t *testing.T, file []byte, opt importer.Options) ([]byte, *importer.Report) {
	t.Helper()
	var out bytes.Buffer
	report, err := importer.Convert(&out, bytes.NewReader(file), int64(len(file)), opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range validate.Package(bytes.NewReader(out.Bytes()), int64(out.Len())) {
		if !problem.Warning {
			t.Errorf("the converted template is unsound: %v", &problem)
		}
	}
	return out.Bytes(), report
}

func formatReport(r *importer.Report) string {
	var b strings.Builder
	for i := range r.Results {
		t := &r.Results[i]
		fmt.Fprintf(&b, "%s: %s", t.Place, t.Original)
		switch {
		case t.Reason != "":
			fmt.Fprintf(&b, "\n  not converted: %s: %s\n", t.Reason, t.Advice)
		case t.Removed:
			b.WriteString(" removed\n")
		default:
			b.WriteString(" → " + t.Converted + "\n")
		}
		for _, note := range t.Notes {
			fmt.Fprintf(&b, "  %s\n", note)
		}
	}
	fmt.Fprintf(&b, "%d tags, %d converted, %d commented\n", r.Tags, r.Converted, r.Commented)
	return b.String()
}

func decodeSamples(t *testing.T, data string) []any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(data))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return []any{v}
}

// generate returns the text of the document that a template generates, a line for each paragraph.
func generate(t *testing.T, template []byte, data string) string {
	t.Helper()
	parsed, err := docx.Parse(bytes.NewReader(template), int64(len(template)))
	if err != nil {
		t.Fatal(err)
	}
	input, err := lang.Decode([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := parsed.Execute(t.Context(), &out, input, docx.Options{WordML: true}); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	files := ooxmltest.Unpack(t, out.Bytes())
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if textPart.MatchString(name) {
			b.WriteString(textOf(files[name]))
		}
	}
	return b.String()
}

var (
	textPart  = regexp.MustCompile(`^word/(document|header\d*|footer\d*|footnotes|endnotes)\.xml$`)
	paragraph = regexp.MustCompile(`(?s)<w:p[ >].*?</w:p>`)
	text      = regexp.MustCompile(`<w:t(?: [^>]*)?>([^<]*)</w:t>|<w:(?:tab|br|cr)/>`)
)

func textOf(xml string) string {
	var b strings.Builder
	for _, p := range paragraph.FindAllString(xml, -1) {
		for _, m := range text.FindAllStringSubmatch(p, -1) {
			if b.WriteString(m[1]); !strings.HasPrefix(m[0], "<w:t>") && !strings.HasPrefix(m[0], "<w:t ") {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
