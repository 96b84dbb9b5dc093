package docx_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/lang"
	"platen/docx/validate"
	"platen/ooxml"
)

const corpus = "../../shared/corpus"

// Of how many real documents one is looked at: with the race detector, which makes everything slow and has other tests
// to watch, and with -short.
const (
	raceShare  = 8
	shortShare = 3
)

// corpusFiles returns the real documents by path below the corpus, or skips.
func corpusFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(corpus, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".docx") {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, corpus+"/")] = b
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the corpus of real files is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// someCorpusFiles returns the real documents, or with the race detector or -short some of them.
func someCorpusFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := corpusFiles(t)
	for i, name := range sortedNames(files) {
		if raceEnabled && i%raceShare != 0 || testing.Short() && i%shortShare != 0 {
			delete(files, name)
		}
	}
	return files
}

const (
	// The bytes that opening, listing, and executing a document twice may allocate: anyMemory, and maxCorpusMemory times its
	// unpacked size. The sum of all allocations counts, not what is in use at one moment.
	maxCorpusMemory = 20
	anyMemory       = 16 << 20
)

// A real document gives an error that says why, or a template whose output is as sound as the document was, without data
// and with all that it reads; one without tags comes out with the bytes it had.
func TestCorpusSurvives(t *testing.T) {
	parsed, filled := 0, 0
	files := someCorpusFiles(t)
	for _, name := range sortedNames(files) {
		file := files[name]
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			tpl, outputs := survive(t, file)
			runtime.ReadMemStats(&after)
			if used, size := after.TotalAlloc-before.TotalAlloc, unpackedSize(file); used > anyMemory+maxCorpusMemory*size {
				t.Errorf("it took %d bytes of memory, %d times its size", used, used/size)
			}
			if tpl == nil {
				return
			}
			parsed++
			for _, out := range outputs {
				for _, problem := range newProblems(file, out) {
					t.Errorf("the output has a problem that the template had not: %v", &problem)
				}
			}
			if len(tpl.Tags()) > 0 {
				filled++
				return
			}
			in, got := unpack(t, file), unpack(t, outputs[0])
			for part, content := range in {
				if got[part] != content && !strings.HasSuffix(part, "/") {
					t.Errorf("%s changed, and there is no tag in the document", part)
				}
			}
		})
	}
	t.Logf("%d files are templates, %d of them with tags", parsed, filled)
	if !raceEnabled && (parsed < len(files)*2/5 || filled < len(files)/10) {
		t.Errorf("only %d files are templates, %d of them with tags", parsed, filled)
	}
}

// survive opens a file, lists its tags, and executes it without data and with all that it reads. The template is nil if it
// was refused.
func survive(t *testing.T, file []byte) (tpl *docx.Template, outputs [][]byte) {
	tpl, err := parse(file)
	if err != nil {
		if !explains(err) {
			t.Errorf("the error is of no known kind: %v", err)
		}
		return nil, nil
	}
	tpl.Tags()
	for _, data := range []lang.Value{new(lang.Object), sampleData(t, tpl)} {
		var out bytes.Buffer
		if _, err := tpl.Execute(t.Context(), &out, data, docx.Options{}); err != nil {
			t.Fatal(err)
		}
		outputs = append(outputs, out.Bytes())
	}
	return tpl, outputs
}

// unpackedSize is the size of all parts of a file, or of the file if it is no package.
func unpackedSize(file []byte) uint64 {
	zr, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return uint64(len(file))
	}
	size := uint64(0)
	for _, f := range zr.File {
		size += min(f.UncompressedSize64, 1<<30)
	}
	return size
}

func explains(err error) bool {
	if _, ok := errors.AsType[*ooxml.Error](err); ok {
		return true
	}
	_, ok := errors.AsType[docx.Errors](err)
	return ok
}

// newProblems returns those of the output that the template had not.
func newProblems(template, output []byte) []validate.Problem {
	problems := check(output)
	if len(problems) == 0 {
		return nil
	}
	before := map[string]bool{}
	for _, problem := range check(template) {
		before[problem.Key()] = true
	}
	return slices.DeleteFunc(problems, func(problem validate.Problem) bool { return before[problem.Key()] })
}

func TestRealTemplateIsFilled(t *testing.T) {
	file, ok := corpusFiles(t)["doc-gen-workshop/MovieScriptSummaryTemplate.docx"]
	if !ok {
		t.Fatal("the template is not in the corpus")
	}
	tpl, err := parse(file)
	if err != nil {
		t.Fatal(err)
	}
	out, report := execute(t, tpl, decode(t, `{"script": {
		"title": "The Long Take", "genre": "Drama", "date_written": "2026-11-20", "props": [{"name": "Lamp", "description": "green"}],
		"character_list": [], "directors": [], "producers": [], "produced_movies": [], "companies_worked_with": [], "accomplishments": [],
			"author": "A. Nobody", "plot_summary": "Somebody walks.\nNobody cuts.",
		"locations": [{"name": "Harbour", "description": "fog & gulls"}, {"name": "Attic", "description": "dust"}],
		"other_scripts": [{"description": "First"}, {"description": "Second"}, {"description": "Third"}]}}`))
	if len(report.Errors) > 0 || len(report.Warnings) > 0 {
		t.Errorf("report = %+v, want none", report)
	}
	text := textOf(unpack(t, out)["word/document.xml"])
	for _, want := range []string{"The Long Take", "A. Nobody", "Harbour - fog &amp; gulls", "Attic - dust", "First,  Second, and  Third"} {
		if !strings.Contains(text, want) {
			t.Errorf("the document does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "{{") {
		t.Errorf("a tag is left:\n%s", text)
	}
}

// textOf is a document's text without its elements.
func textOf(xml string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(xml, "<")
		b.WriteString(before)
		tag, after, _ := strings.Cut(rest, ">")
		if tag == "/w:p" {
			b.WriteByte('\n')
		}
		if xml = after; !ok {
			return b.String()
		}
	}
}

var textElement = regexp.MustCompile(`<w:t(?: [^>]*)?>([^<]+)</w:t>`)

// Blocks at random places of real documents are refused, or give a sound document whether they repeat, show or hide
// what they hold.
func TestRandomBlocksKeepDocumentsSound(t *testing.T) {
	documents, refused := randomDocuments(t, corpusFiles(t))
	for _, d := range documents {
		for _, problem := range newProblems(d.template, d.output) {
			t.Errorf("%s with %q: %v", d.name, tagsIn(unpack(t, d.template)["word/document.xml"]), &problem)
		}
	}
	t.Logf("%d templates accepted, %d refused", len(documents), refused)
}

// randomDocuments puts blocks into real documents without tags and executes them.
func randomDocuments(t *testing.T, from map[string][]byte) (documents []made, refused int) {
	t.Helper()
	pairs := [][2]string{{"{{for i in items}}", "{{endfor}}"}, {"{{if yes}}", "{{endif}}"}, {"{{if no}}", "{{endif}}"},
		{"{{for i in none}}", "{{endfor}}"}, {"{{tablerow i in items}}", "{{endtablerow}}"}}
	data := decode(t, `{"items": [1, 2, 3], "none": [], "yes": true}`)
	for _, name := range sortedNames(from) {
		file := from[name]
		files := map[string]string{}
		if tpl, err := parse(file); err == nil && len(tpl.Tags()) == 0 {
			files = unpack(t, file)
		}
		document := files["word/document.xml"]
		if len(textElement.FindAllString(document, 2)) < 2 || len(document) > 20_000 {
			continue
		}
		random := rand.New(rand.NewPCG(1, uint64(len(file))))
		for range 1 + random.IntN(3) {
			places := textElement.FindAllStringSubmatchIndex(document, -1)
			i := random.IntN(len(places))
			j := min(i+random.IntN(8), len(places)-1)
			document = withTags(random, document, places[i], places[j], pairs[random.IntN(len(pairs))])
		}
		files["word/document.xml"] = document
		tagged := compiletest.Pack(t, files)
		tpl, err := parse(tagged)
		if err != nil {
			refused++
			if _, ok := errors.AsType[docx.Errors](err); !ok {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var out bytes.Buffer
		if _, err := tpl.Execute(t.Context(), &out, data, docx.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		documents = append(documents, made{"random-" + strings.ReplaceAll(strings.TrimSuffix(name, ".docx"), "/", "-"), tagged, out.Bytes()})
	}
	return documents, refused
}

// withTags puts the first tag somewhere into one text of a document and the second into that or a later one.
func withTags(random *rand.Rand, document string, first, second []int, pair [2]string) string {
	at := first[2] + random.IntN(3)*(first[3]-first[2])/2
	until := max(at, second[2]+random.IntN(3)*(second[3]-second[2])/2)
	for !utf8.RuneStart(document[at]) || !utf8.RuneStart(document[until]) || splitsEntity(document[first[2]:at]) ||
		splitsEntity(document[second[2]:until]) {
		at, until = first[2], second[3]
	}
	return document[:at] + pair[0] + document[at:until] + pair[1] + document[until:]
}

// tagsIn returns the surroundings of the tags of a document.
func tagsIn(document string) []string {
	return regexp.MustCompile(`.{0,40}{{[^}]*}}.{0,40}`).FindAllString(document, -1)
}

// splitsEntity reports whether text ends within a character reference.
func splitsEntity(text string) bool {
	return strings.LastIndexByte(text, '&') > strings.LastIndexByte(text, ';')
}
