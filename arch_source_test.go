package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A file is a parsed file of Go source. Its path is relative to the root of the module.
type file struct {
	path      string
	test      bool // _test.go, or part of a test-support package
	generated bool
	lines     int
	fset      *token.FileSet
	syntax    *ast.File
}

// A reporter records the violation of a rule.
type reporter func(line int, format string, args ...any)

func (f *file) dir() string { return path.Dir(f.path) }

func (f *file) line(pos token.Pos) int { return f.fset.Position(pos).Line }

// sources parses every Go file of the module, whatever its build constraints.
func sources(t *testing.T) []*file {
	t.Helper()
	var files []*file
	for _, name := range textFiles(t, ".go") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parse(filepath.ToSlash(name), string(text))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// foreign reports whether a directory contains no source of this module.
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

// imported is a package of Platen that a file imports.
type imported struct {
	pkg  string
	line int
}

// ours returns the packages of Platen that the file imports.
func (f *file) ours() []imported {
	var found []imported
	for _, spec := range f.syntax.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if pkg, ours := strings.CutPrefix(name, module+"/"); ours {
			found = append(found, imported{pkg, f.line(spec.Pos())})
		}
	}
	return found
}

// isTestSupport reports whether a package is only for tests, such as blob/blobtest and the packages below it.
func isTestSupport(pkg string) bool {
	return slices.ContainsFunc(strings.Split(pkg, "/"), func(name string) bool {
		return name != "test" && strings.HasSuffix(name, "test")
	})
}

// isTool reports whether a package is a command for developers, which may use test-support packages.
func isTool(pkg string) bool { return strings.HasPrefix(pkg, "tools/") }

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

// find returns the nodes of the file for which want returns true.
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

// within reports whether a node is inside one of the others.
func within(n ast.Node, others []ast.Node) bool {
	return slices.ContainsFunc(others, func(o ast.Node) bool { return o.Pos() <= n.Pos() && n.End() <= o.End() })
}

// uses returns all uses of an identifier of an imported package.
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

// importedAs returns the name of an imported package in this file, or "" if the file does not import it.
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
