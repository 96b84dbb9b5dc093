// Command prose extracts the texts that people read from Go sources, for a linter of English: help texts, error messages,
// log messages, and descriptions of the API.
//
//	prose SOURCE TARGET
//
// For each Go file below SOURCE with such texts, it writes TARGET/<path>.strings, in which every text is on the line that it
// has in the source. Tests, generated files, and other modules are skipped.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: prose SOURCE TARGET")
		os.Exit(2)
	}
	if err := extract(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

// extract writes the texts of every Go file below source to target.
func extract(source, target string) error {
	return filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != source && isForeign(path):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		lines, err := texts(path)
		if err != nil || len(lines) == 0 {
			return err
		}
		name, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		name = filepath.Join(target, name+".strings")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
	})
}

// isForeign reports whether a folder is not part of the module: another module, test data, or hidden.
func isForeign(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	base := filepath.Base(dir)
	return err == nil || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".")
}

// texts returns the lines of a file with nothing but the texts in it; nil if it has none or is generated.
func texts(path string) ([]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	var lines []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				lines = put(lines, fset.Position(n.Tag.Pos()).Line, tagTexts(n.Tag.Value))
			}
			ast.Inspect(n.Type, func(ast.Node) bool { return true })
			return n.Tag == nil
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if text, err := strconv.Unquote(n.Value); err == nil && isProse(text) {
					lines = put(lines, fset.Position(n.Pos()).Line, text)
				}
			}
		}
		return true
	})
	return lines, nil
}

// put adds a text, which may have several lines, at a line counted from 1.
func put(lines []string, at int, text string) []string {
	if text == "" {
		return lines
	}
	for i, line := range strings.Split(text, "\n") {
		for len(lines) < at+i {
			lines = append(lines, "")
		}
		lines[at+i-1] = strings.TrimSpace(lines[at+i-1] + "  " + line)
	}
	return lines
}

// tagTexts returns the texts in the tag of a struct's field.
func tagTexts(tag string) string {
	value, err := strconv.Unquote(tag)
	if err != nil {
		return ""
	}
	var found []string
	for _, key := range []string{"help", "doc", "description", "summary"} {
		if text := reflect.StructTag(value).Get(key); text != "" {
			found = append(found, text)
		}
	}
	return strings.Join(found, "  ")
}

var (
	words = regexp.MustCompile(`[A-Za-z]{2,}`)
	code  = regexp.MustCompile(`(?m)^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|DROP|PRAGMA|VACUUM)\b|[<>]{1}\w+[ />]|xmlns|%\[`)
)

// isProse reports whether a string is text for people: at least three words, and neither SQL nor markup.
func isProse(text string) bool {
	found := words.FindAllString(text, 4)
	lower := slices.ContainsFunc(found, func(w string) bool { return strings.ToLower(w) == w })
	return len(found) >= 3 && lower && strings.Contains(text, " ") && !code.MatchString(text)
}
