package server

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"platen/docgen"
)

var update = flag.Bool("update", false, "write docs/errors.md again")

// TestErrorDocument checks that docs/errors.md matches errorKinds.
func TestErrorDocument(t *testing.T) {
	const name = "../docs/errors.md"
	want := errorDocument()
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the table says; run go test ./server -run ErrorDocument -update", name)
	}
}

const errorDocumentStart = `# Error codes

Every error has a JSON body with a ` + "`code`" + `. Let your program decide by ` + "`code`" + `, whose meaning never changes. The
` + "`message`" + ` is for people, and can change. A running server shows this list at ` + "`/docs/errors`" + `. The ` +
	"`help_url`" + ` of an
error links to its entry there.

| status | codes |
|---|---|
`

// errorDocument returns the page generated from errorKinds: a table of codes by status, and a section for each code.
func errorDocument() string {
	var table, sections strings.Builder
	var statuses []int
	codes := map[int][]string{}
	for _, kind := range errorKinds {
		if codes[kind.Status] == nil {
			statuses = append(statuses, kind.Status)
		}
		codes[kind.Status] = append(codes[kind.Status], fmt.Sprintf("[`%s`](#%[1]s)", kind.Code))
		fmt.Fprintf(&sections, "\n## %s\n\n%d %s\n\n%s\n\n%s\n", kind.Code, kind.Status, http.StatusText(kind.Status),
			wrapped("**Cause.** "+kind.Cause), wrapped("**Remedy.** "+kind.Remedy))
	}
	slices.Sort(statuses)
	for _, status := range statuses {
		fmt.Fprintf(&table, "| %d %s | %s |\n", status, http.StatusText(status), strings.Join(codes[status], ", "))
	}
	return errorDocumentStart + table.String() + sections.String()
}

// wrapped wraps a paragraph to lines of at most 120 characters.
func wrapped(paragraph string) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(paragraph) {
		if line != "" && len(line)+1+len(word) > 120 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}

// TestEveryCodeIsInTheTable checks that the table has every code in the sources. A missing code would be sent as an
// internal error.
func TestEveryCodeIsInTheTable(t *testing.T) {
	known := map[docgen.Code]int{}
	for _, kind := range errorKinds {
		known[kind.Code]++
		if kind.Cause == "" || kind.Remedy == "" || http.StatusText(kind.Status) == "" {
			t.Errorf("%s has no cause, no remedy or no status", kind.Code)
		}
	}
	for _, name := range []string{"../docgen/error.go", "error.go"} {
		for _, code := range codesIn(t, name) {
			if known[code] != 1 {
				t.Errorf("%s is in the table %d times, want once", code, known[code])
			}
		}
	}
}

// codesIn lists the values of the constants of type Code in a source file.
func codesIn(t *testing.T, name string) []docgen.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []docgen.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasSuffix(typeName(spec.Type), "Code") {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, docgen.Code(value))
		return true
	})
	if len(codes) == 0 {
		t.Fatalf("%s has no codes", name)
	}
	return codes
}

func typeName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
