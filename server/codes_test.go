package server

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"platen/docgen"
)

var update = flag.Bool("update", false, "write docs/errors.md again")

// TestErrorDocument keeps docs/errors.md what the table, and so /docs/errors, says.
func TestErrorDocument(t *testing.T) {
	const name = "../docs/errors.md"
	var want strings.Builder
	want.WriteString("# Error codes\n\nEvery error has a JSON body. Programs go by `code`, which never changes its meaning; `message` is for people and may.\n" +
		"A running server shows this list at `/docs/errors`, where the `help_url` of every error points.\n")
	for _, kind := range errorKinds {
		fmt.Fprintf(&want, "\n## %s\n\n%d %s\n\n**Cause.** %s\n\n**Remedy.** %s\n", kind.Code, kind.Status, http.StatusText(kind.Status), kind.Cause, kind.Remedy)
	}
	if *update {
		if err := os.WriteFile(name, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("%s is not what the table says; go test ./server -run ErrorDocument -update writes it again", name)
	}
}

// TestEveryCodeIsInTheTable reads the codes in the sources: one that is missing would be answered as an internal error.
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
