package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms is the map of the source: every package of ours, and which others of ours it may import. Nothing else may.
//
// A package under internal/ and a test-support package (storetest, blobtest), with what stands below it, belong to the room
// they stand in: they may import what the room may, and the room itself. Tests may also reach the rooms below theirs, however far down.
//
// To change the map, change ARCHITECTURE.md in the same commit, and say why in an ADR (docs/adr).
var rooms = map[string][]string{
	".":         {"cli"},
	"cli":       {everything},
	"server":    {"docgen"},
	"generate":  {"docgen", "fair", "docx", "docx/lang", "budget", "pdf", "pdf/font", "pdf/finish"},
	"webhook":   {"docgen", "fair"},
	"docgen":    {"store", "blob", "fair", "docx", "docx/lang", "pdf/font"},
	"store":     {"fair"},
	"fair":      {},
	"blob":      {},
	"docx":      {"docx/compile", "docx/program", "docx/include", "docx/wml", "ooxml", "docx/lang", "docx/locale", "budget"},
	"ooxml":     {"ooxml/deflate", "budget"},
	"docx/lang": {"docx/locale", "budget"},

	"pdf":        {"pdf/font"},        // what an engine promises
	"pdf/font":   {},                  // the fonts that a document asks for, and those that there are
	"pdf/finish": {"pdf"},             // what is done to a finished PDF, by whichever engine
	"pdf/office": {"pdf", "pdf/font"}, // LibreOffice as an engine

	"docx/compile": {"docx/program", "docx/include", "docx/picture", "docx/wml", "ooxml", "docx/lang", "budget"}, // templates become programs
	"docx/program": { // and documents
		"docx/wml", "ooxml", "docx/lang", "docx/locale", "docx/picture", "docx/richtext", "docx/chart", "docx/validate", "ooxml/deflate",
		"budget",
	},
	"docx/wml": {"ooxml"}, // the elements of a part, by their places

	"docx/locale":   {},                     // numbers, dates and words of languages
	"budget":        {},                     // what a document may cost
	"docx/picture":  {"budget"},             // picture files and codes
	"docx/richtext": {"docx/wml", "budget"}, // HTML and Markdown as WordprocessingML
	"docx/chart":    {},                     // charts and the workbooks behind them
	"docx/include":  {"ooxml"},              // the content of a document in another
	"docx/validate": {"ooxml"},
	"ooxml/deflate": {}, // compressed streams stitched from pieces

	"client":   {},
	"console":  {},
	"docs":     {}, // embeds the user documentation
	"examples": {}, // embeds the example templates and data
}

const everything = "*"

const (
	module = "platen"

	maxFileLines         = 800
	maxFunctionLines     = 100
	maxArchitectureLines = 300
	maxReadmeLines       = 200
)

// Names that say nothing about what is inside, so that anything could be put there.
var emptyNames = []string{"util", "utils", "common", "models", "types", "helpers", "interfaces", "mocks", "manager"}

var rules = map[string]func(*file, reporter){
	"imports are on the map":                  checkImports,
	"packages are named for what they hold":   checkPackageName,
	"files are short":                         checkFileLength,
	"functions are short":                     checkFunctionLength,
	"nothing runs before main":                checkNoInit,
	"only cli reads the environment":          checkEnvironment,
	"nothing sleeps but in a synctest bubble": checkNoSleep,
	"no test asserts wall time":               checkNoWallTime,
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
	t.Run("packages say what they are for", func(t *testing.T) {
		for _, pkg := range undocumented(files) {
			t.Errorf("package %s has no package comment: say in its main file what it is for and what it promises", pkg)
		}
	})
}

func TestDocumentsAreShort(t *testing.T) {
	for name, limit := range map[string]int{"README.md": maxReadmeLines, "ARCHITECTURE.md": maxArchitectureLines} {
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			t.Logf("there is no %s yet", name)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > limit {
			t.Errorf("%s has %d lines, over %d: move what is not for every reader into docs/", name, n, limit)
		}
	}
}

// The comment of docgen says what its files are about, each once.
func TestFilesOfTheService(t *testing.T) {
	comment, err := os.ReadFile("docgen/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(comment), "what they are about:\n")
	table, _, _ = strings.Cut(table, "\npackage")
	var want []string
	for line := range strings.Lines(table) {
		if len(line) > len("//\thow documents arise  ") {
			want = append(want, strings.Fields(line[len("//\thow documents arise  "):])...)
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
		t.Errorf("docgen has the files %v,\nand docgen/doc.go tells of %v", got, want)
	}
}

// A file of Go source, parsed; path and room are relative to the module's root.
type file struct {
	path      string
	test      bool // _test.go, or part of a test-support package
	generated bool
	lines     int
	fset      *token.FileSet
	syntax    *ast.File
}

// A reporter takes a breach of a rule.
type reporter func(line int, format string, args ...any)

func (f *file) dir() string { return path.Dir(f.path) }

func (f *file) line(pos token.Pos) int { return f.fset.Position(pos).Line }

// sources parses every Go file of the module, whatever its build constraints.
func sources(t *testing.T) []*file {
	t.Helper()
	var files []*file
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && foreign(name):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parse(filepath.ToSlash(name), string(text))
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// foreign reports whether a directory holds no source of this module.
func foreign(dir string) bool {
	if dir == "." {
		return false
	}
	base := filepath.Base(dir)
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil || base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_'
}

func parse(name, text string) (*file, error) {
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &file{
		path:      name,
		test:      strings.HasSuffix(name, "_test.go") || isTestSupport(path.Dir(name)),
		generated: ast.IsGenerated(syntax),
		lines:     strings.Count(text, "\n"),
		fset:      fset,
		syntax:    syntax,
	}, nil
}

// isTestSupport tells a package that helps tests, such as blob/blobtest, by its name, or by that of one it stands below.
func isTestSupport(pkg string) bool {
	return slices.ContainsFunc(strings.Split(pkg, "/"), func(name string) bool {
		return name != "test" && strings.HasSuffix(name, "test")
	})
}

// roomOf returns the room a package belongs to, or "" when it is not on the map.
func roomOf(pkg string) string {
	if _, ok := rooms[pkg]; ok {
		return pkg
	}
	if room, _, ok := strings.Cut(pkg, "/internal/"); ok {
		return roomOf(room)
	}
	if isTestSupport(pkg) {
		return roomOf(path.Dir(pkg))
	}
	return ""
}

func checkImports(f *file, report reporter) {
	const remedy = "if it must be, change the map in arch_test.go and ARCHITECTURE.md and say why in docs/adr"
	room := roomOf(f.dir())
	if room == "" {
		report(1, "package %s is not on the map: put the file into a package that is; %s", f.dir(), remedy)
		return
	}
	for _, spec := range f.syntax.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		pkg, ours := strings.CutPrefix(imported, module+"/")
		if !ours {
			continue
		}
		switch to := roomOf(pkg); {
		case to == "":
			report(f.line(spec.Pos()), "imports %s, which is not on the map; %s", pkg, remedy)
		case isTestSupport(pkg) && !f.test:
			report(f.line(spec.Pos()), "imports %s, which is for tests alone", pkg)
		case !mayImport(room, to, f.test):
			report(f.line(spec.Pos()), "%s may not import %s; %s", room, to, remedy)
		}
	}
}

// forTests are rooms that any test may use: real templates, and the engine that makes real PDFs of them.
var forTests = []string{"examples", "pdf/office"}

// mayImport reports whether code in one room may import from another; a test may also from the rooms further down and
// from those that are for tests.
func mayImport(from, to string, test bool) bool {
	if from == to || slices.Contains(rooms[from], to) || slices.Contains(rooms[from], everything) || test && slices.Contains(forTests, to) {
		return true
	}
	return test && slices.ContainsFunc(rooms[from], func(below string) bool { return mayImport(below, to, true) })
}

func checkPackageName(f *file, report reporter) {
	if name := strings.TrimSuffix(f.syntax.Name.Name, "_test"); slices.Contains(emptyNames, name) {
		report(1, "package %s: name it for what it holds, in the field's own word", name)
	}
}

func checkFileLength(f *file, report reporter) {
	if !f.generated && f.lines > maxFileLines {
		report(f.lines, "%d lines, over %d: there are two subjects in this file", f.lines, maxFileLines)
	}
}

// checkFunctionLength leaves out tests, where a long function is most often a long table.
func checkFunctionLength(f *file, report reporter) {
	if f.generated || f.test {
		return
	}
	for _, decl := range f.syntax.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := f.line(fn.End()) - f.line(fn.Pos()) + 1; n > maxFunctionLines {
			report(f.line(fn.Pos()), "func %s has %d lines, over %d: give its steps names", fn.Name.Name, n, maxFunctionLines)
		}
	}
}

func checkNoInit(f *file, report reporter) {
	for _, decl := range f.syntax.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			report(f.line(fn.Pos()), "func init: call it from where it is needed; cli/serve.go is the place for wiring")
		}
	}
}

func checkEnvironment(f *file, report reporter) {
	if f.test || roomOf(f.dir()) == "cli" {
		return
	}
	for _, name := range []string{"Getenv", "LookupEnv", "ExpandEnv"} {
		for _, call := range f.uses("os", name) {
			report(f.line(call.Pos()), "os.%s: only cli reads the environment; take it as a parameter", name)
		}
	}
}

// checkNoSleep lets a test advance the clock of its own synctest bubble, where no time passes.
func checkNoSleep(f *file, report reporter) {
	bubbles := f.bubbles()
	for _, sleep := range f.uses("time", "Sleep") {
		if !within(sleep, bubbles) {
			report(f.line(sleep.Pos()), "time.Sleep: wait for the event, or for a timer together with the context")
		}
	}
}

// checkNoWallTime rejects time.Since in tests: on a busy machine everything takes longer. Benchmarks measure, and in a
// synctest bubble time is exact.
func checkNoWallTime(f *file, report reporter) {
	if !strings.HasSuffix(f.path, "_test.go") || strings.HasSuffix(f.path, "bench_test.go") {
		return
	}
	exempt := append(f.bubbles(), f.benchmarks()...)
	for _, since := range f.uses("time", "Since") {
		if !within(since, exempt) {
			report(f.line(since.Pos()), "time.Since in a test: assert what happened, not how long it took, or write a benchmark")
		}
	}
}

// bubbles returns the calls of synctest.Test.
func (f *file) bubbles() []ast.Node {
	return f.find(func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		return ok && f.isSelector(call.Fun, "testing/synctest", "Test")
	})
}

// benchmarks returns the functions that measure: those with a *testing.B, and those whose name begins with measure.
func (f *file) benchmarks() []ast.Node {
	return f.find(func(n ast.Node) bool {
		decl, ok := n.(*ast.FuncDecl)
		if !ok {
			return false
		}
		takesB := func(field *ast.Field) bool {
			star, ok := field.Type.(*ast.StarExpr)
			return ok && f.isSelector(star.X, "testing", "B")
		}
		return strings.HasPrefix(decl.Name.Name, "measure") || slices.ContainsFunc(decl.Type.Params.List, takesB)
	})
}

func (f *file) find(want func(ast.Node) bool) []ast.Node {
	var found []ast.Node
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if n != nil && want(n) {
			found = append(found, n)
		}
		return true
	})
	return found
}

// within tells whether a node lies in one of the others.
func within(n ast.Node, others []ast.Node) bool {
	return slices.ContainsFunc(others, func(o ast.Node) bool { return o.Pos() <= n.Pos() && n.End() <= o.End() })
}

// uses returns every mention of an identifier of an imported package.
func (f *file) uses(pkg, name string) []ast.Node {
	var found []ast.Node
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if expr, ok := n.(ast.Expr); ok && f.isSelector(expr, pkg, name) {
			found = append(found, expr)
		}
		return true
	})
	return found
}

func (f *file) isSelector(expr ast.Expr, pkg, name string) bool {
	sel, ok := expr.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == f.importedAs(pkg)
}

// importedAs returns the name an import has in this file, or "" when it is not imported.
func (f *file) importedAs(pkg string) string {
	for _, spec := range f.syntax.Imports {
		if spec.Path.Value != strconv.Quote(pkg) {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}

// undocumented returns the packages that a person wrote and that have no package comment.
func undocumented(files []*file) []string {
	documented := map[string]bool{}
	for _, f := range files {
		if !f.generated && !strings.HasSuffix(f.path, "_test.go") {
			documented[f.dir()] = documented[f.dir()] || f.syntax.Doc != nil
		}
	}
	var missing []string
	for pkg, ok := range documented {
		if !ok {
			missing = append(missing, pkg)
		}
	}
	slices.Sort(missing)
	return missing
}

func TestRulesFindWhatTheyForbid(t *testing.T) {
	long := strings.Repeat("\t_ = 1\n", maxFunctionLines)
	tests := []struct {
		name, path, text string
		want             string // part of the report; "" for no report
	}{
		{"import up", "store/store.go", `package store; import _ "platen/docgen"`, "store may not import docgen"},
		{"import across", "server/server.go", `package server; import _ "platen/generate"`, "may not import generate"},
		{"import two down", "server/server.go", `package server; import _ "platen/store"`, "may not import store"},
		{"import on the map", "docgen/batch.go", `package docgen; import _ "platen/store"`, ""},
		{"cli imports all", "cli/serve.go", `package cli; import _ "platen/pdf"`, ""},
		{"internal of the room", "store/store.go", `package store; import _ "platen/store/internal/queries"`, ""},
		{"internal of the room, upwards", "store/internal/queries/q.go", `package queries; import _ "platen/docgen"`, "may not"},
		{"unknown package", "billing/billing.go", `package billing`, "package billing is not on the map"},
		{"unknown sub-package", "docgen/batches/b.go", `package batches`, "package docgen/batches is not on the map"},
		{"import of an unknown package", "cli/cli.go", `package cli; import _ "platen/billing"`, "imports billing"},
		{"test two down", "server/server_test.go", `package server; import _ "platen/store/storetest"`, ""},
		{"example in a test", "docx/docx_test.go", `package docx; import _ "platen/examples"`, ""},
		{"example in the program", "docx/docx.go", `package docx; import _ "platen/examples"`, "docx may not import examples"},
		{"test upwards", "store/store_test.go", `package store; import _ "platen/docgen"`, "may not import docgen"},
		{"test support in the program", "docgen/job.go", `package docgen; import _ "platen/store/storetest"`, "for tests alone"},
		{"test support of the room", "blob/blobtest/suite.go", `package blobtest; import _ "platen/blob"`, ""},
		{"below test support", "pdf/fidelitytest/cmd/fidelity/main.go", `package main; import _ "platen/pdf/fidelitytest"`, ""},
		{"below test support in the program", "pdf/pdf.go", `package pdf; import _ "platen/pdf/fidelitytest/cmd/fidelity"`, "for tests alone"},
		{"below test support, upwards", "pdf/fidelitytest/cmd/fidelity/main.go", `package main; import _ "platen/generate"`, "pdf may not import generate"},
		{"empty name", "docgen/internal/util/u.go", `package util`, "name it for what it holds"},
		{"long file", "docx/x.go", "package docx\n" + strings.Repeat("//\n", maxFileLines), "801 lines, over 800"},
		{"long generated file", "docx/x.go", "// Code generated by x. DO NOT EDIT.\n\npackage docx\n" + strings.Repeat("//\n", maxFileLines), ""},
		{"long function", "docx/x.go", "package docx\nfunc f() {\n" + long + "}\n", "func f has 102 lines"},
		{"long test", "docx/x_test.go", "package docx\nfunc f() {\n" + long + "}\n", ""},
		{"init", "docx/x.go", "package docx\nfunc init() {}\n", "func init"},
		{"method named init", "docx/x.go", "package docx\nfunc (t T) init() {}\n", ""},
		{"environment", "pdf/x.go", `package pdf; import "os"; var x = os.Getenv("X")`, "only cli reads the environment"},
		{"environment under another name", "pdf/x.go", `package pdf; import o "os"; var x, y = o.LookupEnv("X")`, "only cli"},
		{"environment in cli", "cli/x.go", `package cli; import "os"; var x = os.Getenv("X")`, ""},
		{"sleep", "webhook/x.go", `package webhook; import "time"; func f() { time.Sleep(1) }`, "time.Sleep"},
		{"sleep in a test", "webhook/x_test.go", `package webhook; import "time"; func f() { time.Sleep(1) }`, "time.Sleep"},
		{"sleep in a bubble", "webhook/x_test.go", `package webhook
			import ("time"; "testing"; "testing/synctest")
			func TestX(t *testing.T) { synctest.Test(t, func(t *testing.T) { time.Sleep(time.Hour) }) }`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parse(tt.path, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			var reports []string
			for _, check := range rules {
				check(f, func(line int, format string, args ...any) {
					reports = append(reports, fmt.Sprintf(format, args...))
				})
			}
			got := strings.Join(reports, "\n")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("reports %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPackageCommentsAreAskedFor(t *testing.T) {
	var files []*file
	for name, text := range map[string]string{
		"blob/blob.go":          "// Package blob keeps contents.\npackage blob",
		"blob/disk.go":          "package blob",
		"pdf/pdf.go":            "package pdf",
		"pdf/pdf_test.go":       "// Package pdf is described in the wrong place.\npackage pdf",
		"store/internal/q/q.go": "// Code generated by sqlc. DO NOT EDIT.\n\npackage q",
	} {
		f, err := parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if got := undocumented(files); !slices.Equal(got, []string{"pdf"}) {
		t.Errorf("packages without a comment: %v, want [pdf]", got)
	}
}
