package docx_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"platen/docx/lang"
)

// literal is a text in a line of testdata/language.txt that the golden files for the line must contain.
var literal = regexp.MustCompile("`([^`]+)`")

// TestTheLanguageIsShown compares the golden files, here and in lang, with the list of everything in the template language:
// testdata/language.txt and the tables of filters and functions. Each line has a golden file whose head names it, and each file names
// lines. A text in backquotes in a line must be in each of its files.
func TestTheLanguageIsShown(t *testing.T) {
	shownBy := map[string][]string{}
	for _, name := range goldenNames(t) {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		shows := shownIn(archive)
		if len(shows) == 0 {
			t.Errorf("%s has no line \"shows: \": add one with a line of testdata/language.txt", name)
		}
		for _, clause := range shows {
			shownBy[clause] = append(shownBy[clause], name)
			for _, m := range literal.FindAllStringSubmatch(clause, -1) {
				if !holds(archive, m[1]) {
					t.Errorf("%s shows %q and has no %s", name, clause, m[1])
				}
			}
		}
	}
	listed := clauses(t)
	for i, clause := range listed {
		if len(shownBy[clause]) == 0 {
			t.Errorf("no golden file shows %q", clause)
		}
		if slices.Contains(listed[:i], clause) {
			t.Errorf("%q is listed twice", clause)
		}
		delete(shownBy, clause)
	}
	for clause, names := range shownBy {
		t.Errorf("%q is shown by %q and not in testdata/language.txt", clause, names)
	}
}

func goldenNames(t *testing.T) []string {
	t.Helper()
	here, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	there, err := filepath.Glob("lang/testdata/*.txtar")
	if err != nil || len(here) == 0 || len(there) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	return slices.Concat(here, there)
}

// clauses are the lines of the list, but for headings and blank lines, and one for each filter and function.
func clauses(t *testing.T) []string {
	t.Helper()
	list, err := os.ReadFile("testdata/language.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(list)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	for _, name := range lang.Filters() {
		all = append(all, "filter `"+name+"`")
	}
	for _, name := range lang.Functions() {
		all = append(all, "function `"+name+"`")
	}
	return all
}

// shownIn returns the lines of the list that a golden file says it shows.
func shownIn(archive *txtar.Archive) []string {
	var shown []string
	for line := range strings.Lines(string(archive.Comment)) {
		if clause, ok := strings.CutPrefix(line, "shows: "); ok {
			shown = append(shown, strings.TrimSpace(clause))
		}
	}
	return shown
}

// holds reports whether the sections of a golden file contain a text.
func holds(archive *txtar.Archive, text string) bool {
	return strings.Contains(string(txtar.Format(&txtar.Archive{Files: archive.Files})), text)
}
