package importer_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"platen/docx"
	"platen/docx/importer"
	"platen/docx/lang"
	"platen/docx/locale"
	"platen/ooxml/ooxmltest"
)

var (
	examplesDir  = flag.String("examples", "", "the folder with the examples of other products, which scripts/import-examples captures")
	examplesShow = flag.String("examples-show", "", "show the tags and the texts of the examples whose path contains this")
)

// score is what the import makes of the examples of one product.
type score struct {
	product                              string
	examples, tags, converted            int
	equal, commented, silent, noDocument int

	unconverted map[string][]string // the tags that were not converted, by the reason
}

// exampleInfo is the file example.json of an example.
type exampleInfo struct {
	Test       string   // the name of the test that made the document
	Delimiters []string // what tags begin and end with, and what opens and closes a block
	Locale     string
	TimeZone   string
	Code       []string // what the application does with code: options that are functions, and classes of values
}

// example is a template of another product with its data, and the document that the product makes of them.
type example struct {
	path     string
	info     exampleInfo
	template []byte
	data     []byte
	want     []byte // nil if the product makes no document
}

// TestExamples measures the import with the examples of other products: -examples is a folder with PRODUCT/NAME/template.docx, and next
// to it data.json, example.json, and the product's document, output.docx. Blanks and empty paragraphs of the documents do not count.
// Each example that differs although all of its tags were converted must be explained.
func TestExamples(t *testing.T) {
	if *examplesDir == "" {
		t.Skip("scripts/import-examples runs this with the examples of other products")
	}
	products, err := os.ReadDir(*examplesDir)
	if err != nil {
		t.Fatal(err)
	}
	table := []string{fmt.Sprintf("%-16s %8s %6s %9s %6s %9s %7s %12s",
		"", "examples", "tags", "converted", "equal", "commented", "silent", "no document")}
	var silent, unconverted []string
	for _, p := range products {
		if !p.IsDir() {
			continue
		}
		s, differences := scoreOf(t, p.Name())
		table = append(table, fmt.Sprintf("%-16s %8d %6d %8.1f%% %6d %9d %7d %12d", s.product, s.examples, s.tags,
			100*float64(s.converted)/float64(max(s.tags, 1)), s.equal, s.commented, s.silent, s.noDocument))
		silent = append(silent, differences...)
		unconverted = append(unconverted, s.reasons()...)
	}
	t.Logf("\n%s\n\nDifferences without a comment:\n%s\n\nTags that were not converted:\n%s",
		strings.Join(table, "\n"), strings.Join(silent, "\n"), strings.Join(unconverted, "\n"))
}

// reasons returns a line for each reason why tags were not converted, the most frequent first, with some of the tags.
func (s *score) reasons() []string {
	reasons := slices.SortedFunc(maps.Keys(s.unconverted), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(s.unconverted[b]), len(s.unconverted[a])), cmp.Compare(a, b))
	})
	lines := make([]string, len(reasons))
	for i, reason := range reasons {
		tags := s.unconverted[reason]
		slices.Sort(tags)
		lines[i] = fmt.Sprintf("%-16s %4d  %s: %.300s", s.product, len(tags), reason, strings.Join(slices.Compact(slices.Clone(tags)), " "))
	}
	return lines
}

// scoreOf imports the examples of a product, and returns those that differ although all of their tags were converted.
func scoreOf(t *testing.T, product string) (*score, []string) {
	s := &score{product: product, unconverted: map[string][]string{}}
	paths, err := filepath.Glob(filepath.Join(*examplesDir, product, "*", "template.docx"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no examples: %v", product, err)
	}
	var silent []string
	seen := map[string]bool{}
	for _, path := range paths {
		e := readExample(t, filepath.Dir(path))
		key := string(e.template) + string(e.data)
		if seen[key] {
			continue
		}
		seen[key] = true
		if difference := s.add(t, e); difference != "" {
			if len(e.info.Code) > 0 {
				difference = "the application sets " + strings.Join(e.info.Code, ", ") + ": " + difference
			}
			silent = append(silent, fmt.Sprintf("%s (%s): %s", e.path, e.info.Test, difference))
		}
	}
	return s, silent
}

func readExample(t *testing.T, dir string) *example {
	t.Helper()
	path, err := filepath.Rel(*examplesDir, dir)
	if err != nil {
		t.Fatal(err)
	}
	e := &example{path: path}
	for name, content := range map[string]*[]byte{"template.docx": &e.template, "data.json": &e.data, "output.docx": &e.want} {
		file, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		*content = file
	}
	info, err := os.ReadFile(filepath.Join(dir, "example.json"))
	if err == nil {
		err = json.Unmarshal(info, &e.info)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return e
}

// add imports an example, and counts it. The result is the difference of its documents if no tag has a comment.
func (s *score) add(t *testing.T, e *example) string {
	file, report, err := e.convert()
	if _, ok := errors.AsType[*importer.LanguageError](err); ok { // it has no tags
		return ""
	}
	if err != nil {
		if e.want != nil { // else the product rejects the template, too
			s.examples++
			s.noDocument++
			return "not read: " + err.Error()
		}
		return ""
	}
	s.examples++
	s.tags += report.Tags
	s.converted += report.Converted
	for _, r := range report.Results {
		if r.Reason != "" {
			s.unconverted[r.Reason] = append(s.unconverted[r.Reason], r.Original)
		}
	}
	got, problems, err := e.generate(t, file)
	if *examplesShow != "" && strings.Contains(e.path, *examplesShow) {
		t.Logf("%s: %s\n%s%s\n%s", e.path, e.info.Test, formatReport(report), got, strings.Join(problems, "\n"))
	}
	if e.want == nil || includesFiles(report) || bytes.Contains(mainPart(t, e.want), []byte("<w:altChunk")) {
		s.noDocument++ // for comparison: the files that it includes are missing, or Word reads its HTML
		return ""
	}
	want := textForComparison(t, e.want)
	switch {
	case err == nil && withoutUndefined(got) == withoutUndefined(want):
		s.equal++
	case report.Commented+report.Elsewhere > 0:
		s.commented++
	default:
		s.silent++
		return strings.Join(append([]string{firstDifference(got, want)}, problems...), "; ")
	}
	return ""
}

func includesFiles(r *importer.Report) bool {
	return slices.ContainsFunc(r.Results, func(t importer.Result) bool { return strings.HasPrefix(t.Converted, "{{include ") })
}

func mainPart(t *testing.T, file []byte) []byte {
	return []byte(ooxmltest.Unpack(t, file)["word/document.xml"])
}

// convert imports an example with its data.
func (e *example) convert() ([]byte, *importer.Report, error) {
	opt := importer.Options{From: strings.TrimSuffix(filepath.ToSlash(filepath.Dir(e.path)), "/")}
	if e.data != nil {
		decoder := json.NewDecoder(bytes.NewReader(e.data))
		decoder.UseNumber()
		var data any
		if err := decoder.Decode(&data); err != nil {
			return nil, nil, err
		}
		opt.Data = []any{data}
	}
	if d := e.info.Delimiters; len(d) > 1 {
		opt.Open, opt.End = d[0], d[1]
		if len(d) > 3 {
			opt.BlockOpen, opt.BlockEnd = d[2], d[3]
		}
	}
	var out bytes.Buffer
	report, err := importer.Convert(&out, bytes.NewReader(e.template), int64(len(e.template)), opt)
	return out.Bytes(), report, err
}

// generate returns the text of the document that a converted template generates, and what Platen reports. Values that are missing are
// blank.
func (e *example) generate(t *testing.T, template []byte) (text string, problems []string, err error) {
	parsed, err := docx.Parse(bytes.NewReader(template), int64(len(template)))
	if err != nil {
		return "", []string{err.Error()}, err
	}
	data := e.data
	if data == nil {
		data = []byte("{}")
	}
	input, err := lang.Decode(data)
	if err != nil {
		return "", []string{err.Error()}, err
	}
	options, invalid := docx.Settings{TimeZone: e.info.TimeZone, Missing: "blank"}.Options()
	if len(invalid) > 0 {
		return "", []string{invalid[0].Error()}, invalid[0]
	}
	options.WordML = true
	if l, ok := locale.Find(e.info.Locale); ok {
		options.Locale = l
	}
	var out bytes.Buffer
	report, err := parsed.Execute(t.Context(), &out, input, options)
	if err != nil {
		return "", []string{err.Error()}, err
	}
	return textForComparison(t, out.Bytes()), append(report.Errors, report.Warnings...), nil
}

// textForComparison returns the text of a document without blanks, a line for each paragraph that is not empty.
func textForComparison(t *testing.T, file []byte) string {
	t.Helper()
	files := ooxmltest.Unpack(t, file)
	var names []string
	for name := range files {
		if textPart.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var lines []string
	for _, name := range names {
		lines = append(lines, paragraphsOf(files[name])...)
	}
	return strings.Join(lines, "\n")
}

// paragraphsOf returns the texts of the paragraphs in a part.
func paragraphsOf(part string) []string {
	decoder := xml.NewDecoder(strings.NewReader(part))
	decoder.Strict = false
	var lines []string
	var line strings.Builder
	inText, skipped := false, 0
	type cell struct {
		from   int  // the number of lines before it
		merged bool // with the cell above it: Word does not show its text
	}
	var cells []cell
	for {
		token, err := decoder.RawToken()
		if err != nil && token == nil { // the end, or damaged XML
			return lines
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = inText || token.Name.Local == "t"
			if token.Name.Local == "Fallback" || skipped > 0 {
				skipped++
			}
			switch {
			case token.Name.Local == "tc":
				cells = append(cells, cell{from: len(lines)})
			case token.Name.Local == "vMerge" && len(cells) > 0:
				cells[len(cells)-1].merged = !slices.ContainsFunc(token.Attr, func(a xml.Attr) bool { return a.Value == "restart" })
			}
		case xml.EndElement:
			inText = inText && token.Name.Local != "t"
			skipped = max(skipped-1, 0)
			if token.Name.Local == "p" && line.Len() > 0 {
				lines = append(lines, line.String())
				line.Reset()
			}
			if last := len(cells) - 1; token.Name.Local == "tc" && last >= 0 {
				if cells[last].merged {
					lines = lines[:cells[last].from]
				}
				cells = cells[:last]
			}
		case xml.CharData:
			if inText && skipped == 0 {
				line.WriteString(withoutBlanks(string(token)))
			}
		}
	}
}

// withoutUndefined returns text without what JavaScript prints for missing values.
func withoutUndefined(text string) string {
	return strings.Trim(emptyLines.ReplaceAllString(strings.ReplaceAll(text, "undefined", ""), "\n"), "\n")
}

var emptyLines = regexp.MustCompile(`\n+`)

func withoutBlanks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}

// firstDifference shows where two texts begin to differ.
func firstDifference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	from := max(at-20, 0)
	return fmt.Sprintf("%.120q, want %.120q", got[from:], want[from:])
}
