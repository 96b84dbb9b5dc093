package expect_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/expect"
	"platen/docx/lang"
	"platen/ooxml"
	"platen/ooxml/ooxmltest"
)

func TestParse(t *testing.T) {
	for file, want := range map[string]string{
		`{}`: "",
		`{"contains": ["a"], "lacks": ["b"], "pages": 2, "errors": [], "warnings": ["w"]}`: "",
		`{"pages": {"min": 2}}`:                  "",
		`{"fails": "no value", "errors": ["x"]}`: "",
		"\ufeff{}":                               "",

		``:                                      "the JSON ends too early",
		`{"contains": ["a"]`:                    "the JSON ends too early",
		"{\n\"contains\": x}":                   "line 2: ",
		`[]`:                                    "expectations are an object",
		`null`:                                  "expectations are an object",
		`{} {}`:                                 "text after the end",
		`{"contain": ["a"]}`:                    `there is no field "contain". The fields are contains, lacks,`,
		`{"Contains": ["a"]}`:                   `there is no field "Contains"`,
		`{"lacks": ["a"], "lacks": ["b"]}`:      `"lacks" occurs twice`,
		`{"contains": "a"}`:                     `"contains" must be a list of texts`,
		`{"contains": null}`:                    `"contains" must be a list of texts`,
		`{"contains": [1]}`:                     `"contains" must be a list of texts`,
		`{"contains": [null]}`:                  `"contains" contains null`,
		`{"contains": [" \u00a0"]}`:             `"contains" contains an empty text`,
		`{"lacks": ["a", "a"]}`:                 `"lacks" contains "a" twice`,
		`{"contains": ["a b"], "lacks": ["b"]}`: `no document can contain "a b" and lack "b"`,
		`{"pages": 0}`:                          `"pages" must be at least 1`,
		`{"pages": "2"}`:                        `"pages" must be a number, or a range`,
		`{"pages": null}`:                       `"pages" must be a number, or a range`,
		`{"pages": 1.5}`:                        `"pages" must be a number, or a range`,
		`{"pages": {"min": 3, "max": 2}}`:       `"pages" has a min of 3 that is greater than its max of 2`,
		`{"pages": {"least": 3}}`:               `"pages" has no field "least"`,
		`{"pages": {"min": "3"}}`:               `"pages" has a "min" that is not a number`,
		`{"pages": {}}`:                         `"pages" has neither "min" nor "max"`,
		`{"contains": []}`:                      `"contains" has no texts`,
		`{"lacks": [ ]}`:                        `"lacks" has no texts`,
		`{"errors": [], "warnings": []}`:        "",
		`{"pages": 1000000}`:                    `"pages" must be at most 100000`,
		`{"fails": ""}`:                         `"fails" contains an empty text`,
		`{"fails": true}`:                       `"fails" must be a part of the message`,
		`{"fails": "x", "pages": 1}`:            `"fails" cannot be combined`,
		`{"contains": ["` + strings.Repeat("a", 20_000) + `"]}`: `"contains" contains a text of more than 10000 bytes`,
		strings.Repeat(" ", 2<<20):                              "more than 1048576 bytes",
	} {
		_, err := expect.Parse([]byte(file))
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: error %v, want %q", file, err, want)
		}
	}
}

func TestCheckOfMessages(t *testing.T) {
	detail := &docx.Error{Part: "/word/document.xml", Place: "table 1, row 1, cell 2", Message: "{{qty}} has no value."}
	report := docx.Report{Errors: []string{detail.Message}, Warnings: []string{"unused: a", "unused: b"}, Details: []*docx.Error{detail}}
	for name, test := range map[string]struct {
		expectations string
		result       expect.Result
		want         string
	}{
		"an error that nothing expects": {
			`{}`, expect.Result{Report: report},
			"unexpected_message: /word/document.xml, table 1, row 1, cell 2: The generation reported an unexpected error of the template.\n" +
				"    got:  {{qty}} has no value.\n",
		},
		"an expected error": {`{"errors": ["{{qty}} has"]}`, expect.Result{Report: report}, "none"},
		"another error": {
			`{"errors": ["{{qty}}", "{{price}}"]}`, expect.Result{Report: report},
			"missing_message: The generation did not report this error.\n    want: {{price}}\n    got:  {{qty}} has no value.\n",
		},
		"warnings": {
			`{"errors": ["qty"], "warnings": ["unused: b"]}`, expect.Result{Report: report},
			"unexpected_message: The generation reported an unexpected warning.\n    got:  unused: a\n",
		},
		"no warnings": {`{"warnings": []}`, expect.Result{}, "none"},
		"a failure": {
			`{}`, expect.Result{Failure: "too large"},
			"failed: The document could not be generated.\n    got:  too large\n",
		},
		"an expected failure": {`{"fails": "large"}`, expect.Result{Failure: "too large"}, "none"},
		"another failure": {
			`{"fails": "small"}`, expect.Result{Failure: "too large"},
			"failed: The generation failed with another message.\n    want: small\n    got:  too large\n",
		},
		"no failure": {
			`{"fails": "small"}`, expect.Result{},
			"not_failed: The document was generated, but should have failed.\n    want: small\n",
		},
		"pages": {`{"pages": {"min": 2, "max": 3}}`, expect.Result{Pages: 3}, "none"},
		"too many pages": {
			`{"pages": {"max": 3}}`, expect.Result{Pages: 4},
			"wrong_pages: The document has another number of pages.\n    want: at most 3\n    got:  4\n",
		},
		"pages that nobody counted": {
			`{"pages": 3}`, expect.Result{}, "wrong_pages: The pages were not counted.\n    want: 3\n",
		},
	} {
		e, err := expect.Parse([]byte(test.expectations))
		if err != nil {
			t.Fatal(err)
		}
		if got := formatDifferences(e.Check(&test.result)); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

// The outlines of two documents from the same template and data are equal, and so is that of a document with its own.
func TestOutlineOfTheSameDocument(t *testing.T) {
	all, compared := 0, 0
	for name, archive := range ooxmltest.Archives(t, "../testdata") {
		all++
		parts, data := compiletest.Input(archive)
		file := compiletest.Build(t, parts)
		template, err := docx.Parse(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			continue // it shows errors of templates
		}
		first, err := generate(t, template, data)
		if errors.Is(err, docx.ErrIncomplete) {
			continue
		}
		second, err2 := generate(t, parse(t, file), data)
		if err != nil || err2 != nil {
			t.Fatal(name, err, err2)
		}
		compared++
		want := outline(t, first)
		if found := expect.Compare(want, outline(t, second)); len(found) > 0 {
			t.Errorf("%s differs from itself:\n%s", name, formatDifferences(found))
		}
		checkCovers(t, name, want)
	}
	if compared < all/2 {
		t.Errorf("only %d of %d documents were compared", compared, all)
	}
}

// checkCovers checks that each difference between an outline and a part of it is found.
func checkCovers(t *testing.T, name string, lines []expect.Line) {
	t.Helper()
	for i := range lines {
		if lines[i].Kind != expect.Paragraph || lines[i].Text == "" {
			continue
		}
		changed := append([]expect.Line{}, lines...)
		changed[i].Text += " more"
		changed[i].Formats = append(slices.Clip(changed[i].Formats), expect.Format{Text: " more"})
		if found := expect.Compare(lines, changed); len(found) != 1 || found[0].Kind != expect.ChangedText {
			t.Errorf("%s: with a changed paragraph, the differences are\n%s", name, formatDifferences(found))
		}
		return
	}
}

func generate(t *testing.T, template *docx.Template, data string) ([]byte, error) {
	t.Helper()
	value, err := lang.Decode([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	_, err = template.Execute(t.Context(), &out, value, docx.Options{})
	return out.Bytes(), err
}

// Images differ by their content and their size, not by their names or the order of parts.
func TestCompareOfImages(t *testing.T) {
	template := parse(t, compiletest.Build(t, map[string]string{
		"document.xml": `<w:p><w:r><w:t>{{for i in list}}{{i :: image("2cm")}}{{endfor}}</w:t></w:r></w:p>`,
	}))
	of := func(images ...string) []expect.Line {
		t.Helper()
		data, err := json.Marshal(map[string][]string{"list": images})
		if err != nil {
			t.Fatal(err)
		}
		file, err := generate(t, template, string(data))
		if err != nil {
			t.Fatal(err)
		}
		return outline(t, file)
	}
	red, blue, wide := dataURI(t, color.RGBA{R: 255, A: 255}, 4), dataURI(t, color.RGBA{B: 255, A: 255}, 4), dataURI(t, color.Black, 8)
	if found := expect.Compare(of(red, blue, red), of(red, blue, red)); len(found) > 0 {
		t.Errorf("equal images differ:\n%s", formatDifferences(found))
	}
	for name, test := range map[string]struct {
		images []string
		want   string
	}{
		"content": {[]string{red, red}, `changed_format.* image differs.*\n +want: content \w+\n +got:  content \w+\n$`},
		"order":   {[]string{blue, red}, `content`},
		"size":    {[]string{red, wide}, `want: .*size 56.7 × 56.7 pt`},
		"one":     {[]string{red}, `removed: .*This image is missing`},
	} {
		got := formatDifferences(expect.Compare(of(red, blue), of(test.images...)))
		if !regexp.MustCompile(test.want).MatchString(got) {
			t.Errorf("%s: the differences are\n%s", name, got)
		}
	}
}

// dataURI returns an image of one color, 4 pixels high.
func dataURI(t *testing.T, c color.Color, width int) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, 4))
	draw.Draw(m, m.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// Real documents have an outline.
func TestOutlinesOfRealDocuments(t *testing.T) {
	files, err := filepath.Glob("../../../shared/corpus/*/*/*.docx")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the corpus of real files is not here")
	}
	for i, name := range files {
		if testing.Short() && i%5 > 0 {
			continue
		}
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := expect.Outline(bytes.NewReader(file), int64(len(file)))
		if _, ok := errors.AsType[*ooxml.Error](err); ok {
			continue
		}
		if err != nil || len(lines) < 2 {
			t.Errorf("%s has %d lines, error %v", name, len(lines), err)
		}
		if found := expect.Compare(lines, lines); len(found) > 0 {
			t.Errorf("%s differs from itself:\n%s", name, formatDifferences(found))
		}
	}
}

// FuzzOutline feeds the content of a document's body, and compares the outline with that of another one.
func FuzzOutline(f *testing.F) {
	for _, archive := range ooxmltest.Archives(f, "testdata") {
		parts, _ := compiletest.Input(archive)
		f.Add(parts["document.xml"], parts["document.xml"])
	}
	f.Add(`<w:p><w:r><w:t>a</w:t></w:r></w:p><w:p><w:r><w:t>b</w:t></w:r></w:p>`, `<w:p><w:r><w:t>b</w:t></w:r></w:p><w:tbl/>`)
	f.Fuzz(func(t *testing.T, a, b string) {
		one, two := fuzzOutline(t, a), fuzzOutline(t, b)
		if found := expect.Compare(one, one); len(found) > 0 {
			t.Errorf("an outline differs from itself:\n%s", formatDifferences(found))
		}
		same := withoutNumbers(one) == withoutNumbers(two)
		if found := expect.Compare(one, two); !same && len(found) == 0 {
			t.Errorf("no difference between\n%s\nand\n%s", formatOutline(one), formatOutline(two))
		}
		e := &expect.Expectations{Contains: []string{a}, Lacks: []string{"a"}}
		e.Check(&expect.Result{Outline: two})
	})
}

// withoutNumbers returns an outline without numbers, because lengths may differ a little, and without the results of fields.
func withoutNumbers(lines []expect.Line) string {
	text := regexp.MustCompile(`"[^"]*" \([^"]*field (?:PAGE|NUMPAGES|SECTION|DATE|TIME)`).ReplaceAllString(formatOutline(lines), "field")
	return regexp.MustCompile(`[-.0-9]+`).ReplaceAllString(text, "0")
}

func fuzzOutline(t *testing.T, body string) []expect.Line {
	if strings.Contains(body, "]]>") { // Build puts the body between tags as it is
		return nil
	}
	file := compiletest.Build(t, map[string]string{"document.xml": body})
	lines, err := expect.Outline(bytes.NewReader(file), int64(len(file)))
	if _, ok := errors.AsType[*ooxml.Error](err); err != nil && !ok {
		t.Errorf("the error is of no known kind: %v", err)
	}
	return lines
}
