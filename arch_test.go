package main_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the files that the tests generate")

// room is a package of Platen, with its purpose and the only rooms that it may import.
type room struct{ path, holds, imports string }

// rooms is the map of the source. The table in CONTRIBUTING.md is generated from it: go test . -run=Rooms -update
//
// Packages below internal/ and test-support packages, such as storetest, belong to the room that contains them. They may import that room
// and everything that it may import. Tests may also import every room that their own reaches through others.
//
// If you change the map, change ARCHITECTURE.md in the same commit, and say why in an ADR (docs/adr).
var rooms = []room{
	{".", "`main`, which only calls `cli`", "cli"},
	{"cli", "commands, configuration, and, in `serve.go`, the only wiring", everything},
	{"server", "HTTP: decodes a request, calls one operation, encodes the result", "docgen generate mcp"},
	{
		"generate", "template and data become a document: on request, and as tasks of the queue",
		"budget docgen docx docx/expect docx/lang fair pdf pdf/finish pdf/pages pdf/raster",
	},
	{"webhook", "deliveries: sign, dial safely, POST, judge the response", "docgen fair"},
	{"docgen", "the service: its objects, their rules, and their operations", "blob docx docx/expect docx/lang fair pdf/font pdf/pages store"},
	{"store", "the database: schema, queries, transactions, and the job queue", "fair"},
	{"blob", "the contents of files", ""},
	{"fair", "slots shared fairly among users", ""},
	{"budget", "limits on what one document may cost", ""},
	{"mcp", "the tools for AI assistants, over the Model Context Protocol", "client"},
	{"client", "the generated Go client of the API", ""},
	{"examples", "example templates and data, embedded", ""},

	{
		"docx", "the template engine",
		"budget docx/compile docx/include docx/lang docx/locale docx/program docx/wml ooxml ooxml/names ooxml/scan",
	},
	{
		"docx/compile", "turns templates into programs",
		"budget docx/include docx/lang docx/picture docx/program docx/style docx/wml ooxml ooxml/names ooxml/scan",
	},
	{
		"docx/program", "turns programs and data into documents",
		"budget docx/chart docx/lang docx/locale docx/picture docx/richtext docx/validate docx/wml docx/wordml ooxml ooxml/deflate " +
			"ooxml/names ooxml/scan",
	},
	{"docx/lang", "the tag language; knows no XML", "budget docx/locale"},
	{
		"docx/importer", "turns templates of other products into templates of Platen",
		"docx docx/lang docx/wml ooxml ooxml/names ooxml/scan",
	},
	{
		"docx/expect", "checks generated documents against what their authors expect",
		"docx docx/program docx/style docx/wml ooxml ooxml/names ooxml/scan",
	},
	{"docx/locale", "numbers, dates, and words in the languages of the world", ""},
	{"docx/wml", "the elements of a part and their positions; knows no tag language", "ooxml ooxml/scan"},
	{"docx/style", "the effective formatting of a document, and where it comes from", "docx/wml ooxml ooxml/names ooxml/scan"},
	{"docx/fonts", "the fonts that a document asks for", "docx/style docx/wml ooxml ooxml/names ooxml/scan"},
	{"docx/include", "merges the content of one document into another", "ooxml ooxml/names ooxml/scan"},
	{"docx/richtext", "turns HTML and Markdown into WordprocessingML", "budget docx/wml"},
	{"docx/wordml", "reads fragments of WordprocessingML from the data", "budget docx/richtext ooxml/scan"},
	{"docx/picture", "image files, barcodes, and QR codes", "budget"},
	{"docx/chart", "charts and their workbooks", "ooxml/names ooxml/scan"},
	{"docx/validate", "decides whether a document is valid", "ooxml ooxml/names"},
	{"ooxml", "the container of an Office file, and its limits", "budget ooxml/deflate ooxml/names ooxml/scan"},
	{"ooxml/names", "the namespaces, relationship types, and content types of Office files", ""},
	{"ooxml/scan", "the streaming reader of the XML of Office files", "ooxml/names"},
	{"ooxml/deflate", "compressed streams assembled from known pieces", ""},

	{"pdf", "the interface of an engine that converts Word files to PDF", "pdf/font"},
	{"pdf/office", "LibreOffice as such an engine", "docx/fonts ooxml/names ooxml/scan pdf pdf/font"},
	{"pdf/font", "the fonts that are installed, substitutes for others, and those in a PDF", "docx/fonts"},
	{"pdf/finish", "merges, encrypts, and attaches files to finished PDFs, and finds marked values", ""},
	{"pdf/pages", "selections of pages, such as 1-3,5", ""},
	{"pdf/raster", "draws pages of PDFs as images, with pdftoppm", "pdf pdf/finish pdf/pages"},

	{"tools/cldr", "a command that writes the tables of docx/locale from Unicode's data", ""},
	{"tools/fidelity", "a command that compares the pages of two PDFs", "pdf"},
}

// everything stands for all rooms in the imports of a room.
const everything = "*"

const (
	module = "platen"

	maxFileLines         = 800
	maxFunctionLines     = 100
	maxArchitectureLines = 300
	maxReadmeLines       = 200
)

// forTests are the rooms that every test may import: real templates, a real PDF engine with its interface, and the harness of golden files.
var forTests = []string{"examples", "ooxml", "pdf", "pdf/office"}

// allowed returns the rooms that this one may import, or only everything.
func (r room) allowed() []string { return strings.Fields(r.imports) }

// findRoom returns the room with a path.
func findRoom(name string) (room, bool) {
	i := slices.IndexFunc(rooms, func(r room) bool { return r.path == name })
	if i < 0 {
		return room{}, false
	}
	return rooms[i], true
}

// roomOf returns the room that a package belongs to, or "" if it is not on the map.
func roomOf(pkg string) string {
	if _, ok := findRoom(pkg); ok {
		return pkg
	}
	if outer, _, ok := strings.Cut(pkg, "/internal/"); ok {
		return roomOf(outer)
	}
	if isTestSupport(pkg) {
		return roomOf(path.Dir(pkg))
	}
	return ""
}

// mayImport reports whether code in one room may import another. A test may also import the rooms that its own reaches through others, and
// those in forTests.
func mayImport(from, to string, test bool) bool {
	r, _ := findRoom(from)
	allowed := r.allowed()
	if from == to || slices.Contains(allowed, to) || slices.Contains(allowed, everything) || test && slices.Contains(forTests, to) {
		return true
	}
	return test && slices.ContainsFunc(allowed, func(below string) bool { return mayImport(below, to, true) })
}

func TestArchitecture(t *testing.T) {
	files := sources(t)
	for name, check := range rules {
		t.Run(name, func(t *testing.T) {
			for _, f := range files {
				check(f, func(line int, format string, args ...any) {
					t.Errorf("%s:%d: %s", f.path, line, fmt.Sprintf(format, args...))
				})
			}
		})
	}
	t.Run("packages have comments", func(t *testing.T) {
		for _, pkg := range undocumented(files) {
			t.Errorf("package %s has no package comment: describe its purpose and its contract in its main file", pkg)
		}
	})
	t.Run("the map has no unused entries", func(t *testing.T) {
		for _, entry := range unused(rooms, files) {
			t.Errorf("the map in arch_test.go: %s; remove it", entry)
		}
	})
}

// unused returns the rooms without Go files, and the imports that a room does not use. Imports by tests do not count, because tests reach
// those rooms through others.
func unused(rooms []room, files []*file) []string {
	exists, used := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		from := roomOf(f.dir())
		exists[from] = true
		for _, spec := range f.ours() {
			if !strings.HasSuffix(f.path, "_test.go") {
				used[from+" "+roomOf(spec.pkg)] = true
			}
		}
	}
	var found []string
	for _, r := range rooms {
		if !exists[r.path] {
			found = append(found, "package "+r.path+" does not exist")
			continue
		}
		for _, to := range r.allowed() {
			if to != everything && !used[r.path+" "+to] {
				found = append(found, r.path+" does not import "+to)
			}
		}
	}
	return found
}

func TestUnusedEntriesAreFound(t *testing.T) {
	var files []*file
	for name, text := range map[string]string{
		"cli/cli.go":            `package cli; import _ "platen/docgen"`,
		"docgen/item.go":        `package docgen; import _ "platen/blob"`,
		"docgen/item_test.go":   `package docgen; import _ "platen/fair"`,
		"store/store.go":        `package store`,
		"store/internal/q/q.go": `package q; import _ "platen/fair"`,
	} {
		f, err := parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	plan := []room{{"cli", "", everything}, {"docgen", "", "blob fair"}, {"store", "", "fair"}, {"console", "", "store"}}
	want := []string{"docgen does not import fair", "package console does not exist"}
	if got := unused(plan, files); !slices.Equal(got, want) {
		t.Errorf("unused entries: %q, want %q", got, want)
	}
}

const (
	tableBegins = "<!-- Generated from the map in arch_test.go: go test . -run=Rooms -update -->\n"
	tableEnds   = "<!-- End of the generated table. -->\n"
)

// TestRoomsAreInContributing checks that the table in CONTRIBUTING.md matches the map.
func TestRoomsAreInContributing(t *testing.T) {
	const name = "CONTRIBUTING.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatalf("%s lacks the marks of the generated table, %q and %q", name, tableBegins, tableEnds)
	}
	want := before + tableBegins + roomTable() + tableEnds + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("the table in %s does not match the map: run go test . -run=Rooms -update", name)
	}
	if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// roomTable returns the map as a Markdown table.
func roomTable() string {
	var b strings.Builder
	b.WriteString("\n| package | holds | may import |\n|---|---|---|\n")
	for _, r := range rooms {
		imports := "none"
		switch allowed := r.allowed(); {
		case slices.Contains(allowed, everything):
			imports = "everything"
		case len(allowed) > 0:
			imports = "`" + strings.Join(allowed, "` `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.path, r.holds, imports)
	}
	return b.String() + "\n"
}

func TestDocumentsAreShort(t *testing.T) {
	for name, limit := range map[string]int{"README.md": maxReadmeLines, "ARCHITECTURE.md": maxArchitectureLines} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > limit {
			t.Errorf("%s has %d lines, over %d: move what only some readers need to docs/", name, n, limit)
		}
	}
}

// TestFilesOfTheService checks that the package comment of docgen lists every file once.
func TestFilesOfTheService(t *testing.T) {
	comment, err := os.ReadFile("docgen/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(comment), "// Files by subject:\n")
	table, _, _ = strings.Cut(table, "\npackage")
	var want []string
	for line := range strings.Lines(table) {
		const names = len("//\tpermissions  ") // the column of the file names
		if len(line) > names {
			want = append(want, strings.Fields(line[names:])...)
		}
	}
	paths, err := filepath.Glob("docgen/*.go")
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, path := range paths {
		if name := strings.TrimSuffix(filepath.Base(path), ".go"); name != "doc" && !strings.HasSuffix(name, "_test") {
			got = append(got, name)
		}
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("docgen has the files %v,\nbut docgen/doc.go lists %v", got, want)
	}
}
