package server_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"platen/server"
)

// A conformanceRow is a row of docs/conformance.md.
type conformanceRow struct {
	line  int
	what  string
	tests []string // as in "server TestErrors/malformed JSON"
}

// conformance reads the rows of the tables, those of headings left out.
func conformance(t *testing.T) []conformanceRow {
	t.Helper()
	text, err := os.ReadFile("../docs/conformance.md")
	must(t, err)
	var rows []conformanceRow
	for i, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") || strings.Contains(line, "| Shown by |") {
			continue
		}
		row := conformanceRow{line: i + 1, what: strings.TrimSpace(cells[0])}
		for _, name := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(strings.Join(cells[1:], ""), -1) {
			row.tests = append(row.tests, name[1])
		}
		rows = append(rows, row)
	}
	return rows
}

// TestConformanceNamesEveryOperation compares the operations that the page lists with those of the OpenAPI document.
func TestConformanceNamesEveryOperation(t *testing.T) {
	var listed []string
	for _, row := range conformance(t) {
		if match := regexp.MustCompile("^`((?:GET|POST|PUT|DELETE|OPTIONS|PATCH) /[^`]*)`").FindStringSubmatch(row.what); match != nil {
			listed = append(listed, match[1])
		}
	}
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		var documented []string
		for path, operations := range w.api.Paths {
			for method := range operations {
				documented = append(documented, strings.ToUpper(method)+" "+path)
			}
		}
		slices.Sort(listed)
		slices.Sort(documented)
		if !slices.Equal(listed, documented) {
			w.t.Errorf("docs/conformance.md lists\n%s\nthe OpenAPI document has\n%s", strings.Join(listed, "\n"), strings.Join(documented, "\n"))
		}
	})
}

// TestConformanceNamesEveryCode compares the codes that the page lists with those of docs/errors.md.
func TestConformanceNamesEveryCode(t *testing.T) {
	text, err := os.ReadFile("../docs/errors.md")
	must(t, err)
	rows := conformance(t)
	for _, code := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(string(text), -1) {
		if !slices.ContainsFunc(rows, func(r conformanceRow) bool { return strings.HasPrefix(r.what, "`"+code[1]+"`") }) {
			t.Errorf("docs/conformance.md has no row for the code %s", code[1])
		}
	}
}

// TestConformanceNamesTests finds every test that the page names in the sources: the function, and in its file the text of
// each of its parts. A row without a test is a promise that nothing shows.
func TestConformanceNamesTests(t *testing.T) {
	sources := testSources(t)
	rows := conformance(t)
	if len(rows) < 100 {
		t.Errorf("only %d rows are read", len(rows))
	}
	for _, row := range rows {
		if len(row.tests) == 0 {
			t.Errorf("line %d: %s: no test is named", row.line, row.what)
		}
		for _, name := range row.tests {
			if problem := missingTest(sources, name); problem != "" {
				t.Errorf("line %d: %s: %s", row.line, name, problem)
			}
		}
	}
	for name, want := range map[string]bool{
		"server TestConformanceNamesTests": true, "server TestNothing": false, "nowhere TestErrors": false,
		"server TestErrors/malformed JSON": true, "server TestErrors/no such part": false, "TestErrors": false,
	} {
		if found := missingTest(sources, name) == ""; found != want {
			t.Errorf("%s is found: %v, want %v", name, found, want)
		}
	}
}

// missingTest tells what there is not of a named test; empty when it is all there. The parts of a test may be named by
// what a loop runs over, so each is looked for among all texts of the file.
func missingTest(sources map[string]map[string]bool, name string) string {
	pkg, test, ok := strings.Cut(name, " ")
	if !ok {
		return "want a package and a test"
	}
	function, part, _ := strings.Cut(test, "/")
	texts, ok := sources[pkg+" "+function]
	switch {
	case !ok:
		return "there is no such test"
	case part != "" && !texts[part]:
		return "the test has no such part"
	}
	return ""
}

// testSources lists the tests of all packages, as in "server TestErrors", each with the texts in its file.
func testSources(t *testing.T) map[string]map[string]bool {
	t.Helper()
	sources := map[string]map[string]bool{}
	for _, pattern := range []string{"../*/*_test.go", "../*/*/*_test.go"} {
		names, err := filepath.Glob(pattern)
		must(t, err)
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			must(t, err)
			texts := textsIn(t, file)
			pkg := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "../")
			for _, decl := range file.Decls {
				if function, ok := decl.(*ast.FuncDecl); ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Test") {
					sources[pkg+" "+function.Name.Name] = texts
				}
			}
		}
	}
	return sources
}

func textsIn(t *testing.T, file *ast.File) map[string]bool {
	t.Helper()
	texts := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			must(t, err)
			texts[text] = true
		}
		return true
	})
	return texts
}
