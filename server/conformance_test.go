package server_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
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

// conformance returns the rows of the tables, without headings.
func conformance(t *testing.T) []conformanceRow {
	t.Helper()
	text, err := os.ReadFile("../docs/conformance.md")
	must(t, err)
	var rows []conformanceRow
	for i, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") || strings.Contains(line, "| Tests |") {
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

// TestConformanceNamesEveryScope checks that each scope of a token has a row.
func TestConformanceNamesEveryScope(t *testing.T) {
	rows := conformance(t)
	scopes := constants(t, "../docgen/scope.go", func(spec *ast.ValueSpec, _ string) bool {
		kind, ok := spec.Type.(*ast.Ident)
		return ok && kind.Name == "Scope"
	})
	if len(scopes) < 8 {
		t.Errorf("only %d scopes are read", len(scopes))
	}
	for name, value := range scopes {
		scope, err := strconv.Unquote(value)
		must(t, err)
		if !slices.ContainsFunc(rows, func(r conformanceRow) bool { return strings.HasPrefix(r.what, "`"+scope+"`") }) {
			t.Errorf("docs/conformance.md has no row for the scope %s (%s)", scope, name)
		}
	}
}

// notOfTheInterface are limits that requests cannot reach directly: of the operator's input, of templates, of stored
// data, and of pages.
var notOfTheInterface = []string{"maxAbsent", "maxActing", "maxAuditDetail", "maxAuditText", "maxContentsName", "maxDenials",
	"maxExtension", "maxFieldDepth", "maxGuestDenials", "maxHops", "maxIncludeName", "maxKeyName", "maxKeys", "maxNameShown",
	"maxNotedTokens", "maxPolicyName",
	"maxShapeBytes", "maxShapeText", "maxToken", "maxTokenName", "maxUserDenials",
	"maxStoredMemory", "maxStoredTime", "maxProblemsText", "maxContractText", "maxTagText", "maxTagPaths", "maxTagsText"}

// TestConformanceNamesEveryLimit checks that each constant that is a limit has a row with its value.
func TestConformanceNamesEveryLimit(t *testing.T) {
	rows := conformance(t)
	named := map[string]string{} // the text of the page for a constant
	for _, row := range rows {
		if name := regexp.MustCompile("\\(`([A-Za-z]+)`\\)$").FindStringSubmatch(row.what); name != nil {
			named[name[1]] = row.what
		}
	}
	limits := regexp.MustCompile("^([mM]ax[A-Z]|DefaultPageLimit$)")
	for _, folder := range []string{"../docgen/*.go", "*.go"} {
		names, err := filepath.Glob(folder)
		must(t, err)
		for _, name := range names {
			for limit, value := range constants(t, name, func(_ *ast.ValueSpec, name string) bool { return limits.MatchString(name) }) {
				said, ok := named[limit]
				delete(named, limit)
				if slices.Contains(notOfTheInterface, limit) {
					continue
				}
				if !ok || !slices.ContainsFunc(spellings(t, value), func(spelled string) bool { return strings.Contains(said, spelled) }) {
					t.Errorf("docs/conformance.md has no row for the limit %s of %s, %s: %q", limit, name, value, said)
				}
			}
		}
	}
	for name := range named {
		t.Errorf("docs/conformance.md names the limit %s, which there is not", name)
	}
}

// spellings returns the ways in which the page may write a number, such as 10,000 or 64 KiB.
func spellings(t *testing.T, expression string) []string {
	t.Helper()
	if strings.Contains(expression, "time.") {
		return spellingsOfTime(t, expression)
	}
	value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, expression)
	must(t, err)
	n, ok := constant.Int64Val(value.Value)
	if !ok {
		t.Fatalf("%s is no whole number", expression)
	}
	digits := strconv.FormatInt(n, 10)
	words := []string{digits}
	if len(digits) > 3 {
		words = append(words, digits[:len(digits)-3]+","+digits[len(digits)-3:])
	}
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if size := int64(1) << (10 * (i + 1)); n%size == 0 {
			words = append(words, fmt.Sprint(n/size, " ", unit))
		}
	}
	return words
}

// spellingsOfTime returns the ways in which the page may write a duration, such as 30 days.
func spellingsOfTime(t *testing.T, expression string) []string {
	t.Helper()
	seconds := strings.NewReplacer("time.Hour", "3600", "time.Minute", "60", "time.Second", "1").Replace(expression)
	value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, seconds)
	must(t, err)
	n, ok := constant.Int64Val(value.Value)
	if !ok {
		t.Fatalf("%s is no whole number of seconds", expression)
	}
	words := []string{fmt.Sprint(n, " seconds")}
	for unit, size := range map[string]int64{"minutes": 60, "hours": 3600, "days": 24 * 3600} {
		if n%size == 0 {
			words = append(words, fmt.Sprint(n/size, " ", unit))
		}
	}
	return words
}

// constants returns the constants of a source file, with the source text of their values.
func constants(t *testing.T, name string, wanted func(spec *ast.ValueSpec, name string) bool) map[string]string {
	t.Helper()
	source, err := os.ReadFile(name)
	must(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	must(t, err)
	found := map[string]string{}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			spec := spec.(*ast.ValueSpec)
			for i, ident := range spec.Names {
				if i < len(spec.Values) && wanted(spec, ident.Name) {
					value := spec.Values[i]
					found[ident.Name] = string(source[value.Pos()-file.FileStart : value.End()-file.FileStart])
				}
			}
		}
	}
	return found
}

// TestConformanceNamesTests checks that every test on the page exists in the sources, with all of its parts. A row
// without a test is a promise that nothing verifies.
func TestConformanceNamesTests(t *testing.T) {
	sources := testSources(t)
	rows := conformance(t)
	if len(rows) < 200 {
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
		"server TestConformanceNamesTests": true, "server TestNothing": false, "nowhere TestErrors": false, "TestErrors": false,
		"server TestErrors/malformed JSON": true, "server TestErrors/no such part": false, "server TestErrors/POST /folders": false, // a call
		"server TestArchives/say what is wrong": true, "server TestArchives/Deeds": false, // a value
		"docgen TestListOfTemplates/has no others": true, "docgen TestListOfTemplates/no others": false,
	} {
		if found := missingTest(sources, name) == ""; found != want {
			t.Errorf("%s is found: %v, want %v", name, found, want)
		}
	}
}

// missingTest returns the missing part of a named test, or "" if it exists.
func missingTest(sources map[string]map[string]bool, name string) string {
	pkg, test, ok := strings.Cut(name, " ")
	if !ok {
		return "want a package and a test"
	}
	function, part, _ := strings.Cut(test, "/")
	parts, ok := sources[pkg+" "+function]
	switch {
	case !ok:
		return "there is no such test"
	case part != "" && !parts[part]:
		return "the test has no such part"
	}
	return ""
}

// testSources lists the tests of all packages, as in "server TestErrors", each with its parts.
func testSources(t *testing.T) map[string]map[string]bool {
	t.Helper()
	sources := map[string]map[string]bool{}
	for _, pattern := range []string{"../*/*_test.go", "../*/*/*_test.go"} {
		names, err := filepath.Glob(pattern)
		must(t, err)
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			must(t, err)
			pkg := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "../")
			for _, decl := range file.Decls {
				if function, ok := decl.(*ast.FuncDecl); ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Test") {
					sources[pkg+" "+function.Name.Name] = partsOf(function)
				}
			}
		}
	}
	return sources
}

// partsOf returns the names of the subtests of a test: literal names, and the names in the rows of its tables, combined
// with the words that Run adds to them.
func partsOf(function *ast.FuncDecl) map[string]bool {
	parts := map[string]bool{}
	var rows []string
	around := [][2]string{}
	ast.Inspect(function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			rows = append(rows, rowNames(n)...)
		case *ast.CallExpr:
			if run, ok := n.Fun.(*ast.SelectorExpr); !ok || run.Sel.Name != "Run" || len(n.Args) != 2 {
				return true
			}
			if name, ok := textOf(n.Args[0]); ok {
				parts[name] = true
			} else {
				around = append(around, wordsAround(n.Args[0]))
			}
		}
		return true
	})
	for _, words := range around {
		for _, row := range rows {
			parts[words[0]+row+words[1]] = true
		}
	}
	return parts
}

// rowNames returns the possible names of the rows of a table: the keys of a map, or the first values of structs without
// keys.
func rowNames(table *ast.CompositeLit) []string {
	var names []string
	_, isMap := table.Type.(*ast.MapType)
	for i, element := range table.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok && isMap {
			element = pair.Key
		} else if ok || i > 0 || table.Type != nil {
			continue
		}
		if name, ok := textOf(element); ok {
			names = append(names, name)
		}
	}
	return names
}

// wordsAround returns the words before and after a name, as in "has "+name.
func wordsAround(name ast.Expr) (words [2]string) {
	if sum, ok := name.(*ast.BinaryExpr); ok {
		words[0], _ = textOf(sum.X)
		words[1], _ = textOf(sum.Y)
	}
	return words
}

func textOf(expr ast.Expr) (string, bool) {
	literal, ok := expr.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}
