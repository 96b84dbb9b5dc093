package lang

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEverythingIsShown checks that each filter and function is listed, has a case in testdata and a place in the user documentation, and
// that the way its hint says to write it can be read.
func TestEverythingIsShown(t *testing.T) {
	page, err := os.ReadFile("../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("../testdata/language.txt")
	if err != nil {
		t.Fatal(err)
	}
	checkListed(t, string(list), "filter", slices.Collect(maps.Keys(filterTable)))
	checkListed(t, string(list), "function", slices.Collect(maps.Keys(functionTable)))
	cases := readCases(t)
	for name, fn := range filterTable {
		if !strings.Contains(cases, ":: "+name) && !strings.Contains(cases, ","+name+"(") {
			t.Errorf("no case of the filter %s in testdata", name)
		}
		if !strings.Contains(string(page), ":: "+name) && !strings.Contains(string(page), ", "+name+"(") {
			t.Errorf("docs/templates.md does not show the filter %s", name)
		}
		checkUsage(t, name, fn.usage, "{{value :: ", "}}")
	}
	for name, fn := range functionTable {
		if !strings.Contains(cases, "{{"+name) && !strings.Contains(cases, name+"(") {
			t.Errorf("no case of the function %s in testdata", name)
		}
		if !strings.Contains(string(page), name) {
			t.Errorf("docs/templates.md does not show the function %s", name)
		}
		checkUsage(t, name, fn.usage, "{{", "}}")
		if bare := fn.max == 0; bare != bareFunctions[name] {
			t.Errorf("%s takes no arguments: %t, but is written without parentheses: %t", name, bare, !bare)
		}
	}
	for word, meant := range habits {
		if filterTable[meant] == nil && functionTable[meant] == nil {
			t.Errorf("%s is suggested for %s, but is not there", meant, word)
		}
	}
}

// checkListed finds the names in the list of what the language has, and no others.
func checkListed(t *testing.T, list, kind string, names []string) {
	t.Helper()
	for _, name := range names {
		if !strings.Contains(list, "\n"+kind+" `"+name+"`\n") {
			t.Errorf("testdata/language.txt does not list the %s %s", kind, name)
		}
	}
	if n := strings.Count(list, "\n"+kind+" `"); n != len(names) {
		t.Errorf("testdata/language.txt lists %d %ss, and there are %d", n, kind, len(names))
	}
}

func readCases(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// checkUsage parses each of the ways to write a filter or function.
func checkUsage(t *testing.T, name, usage, before, behind string) {
	t.Helper()
	ways := strings.NewReplacer(", "+name, "\n"+name, " or "+name, "\n"+name).Replace(usage)
	for way := range strings.SplitSeq(ways, "\n") {
		if _, err := ParseTag(before + way + behind); err != nil {
			t.Errorf("usage %s: %v", way, err)
		}
	}
}

// constantWork are the filters and functions whose work does not depend on how long their value is, besides looking it up and printing it.
var constantWork = []string{
	"optional", "link", "checkbox", "pagebreak", "$now", "$today", "$days", "$round", "$floor", "$ceil", "$abs", "$number",
}

// TestEverythingIsCharged checks that TestWorkIsCounted runs each filter and function that goes through a list or text.
func TestEverythingIsCharged(t *testing.T) {
	rows, err := os.ReadFile("limit_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, fn := range filterTable {
		if fn.note == nil && !slices.Contains(constantWork, name) && !strings.Contains(string(rows), ":: "+name+"(") &&
			!strings.Contains(string(rows), ":: "+name+" ") && !strings.Contains(string(rows), ":: "+name+"}}") {
			t.Errorf("limit_test.go has no row for the filter %s", name)
		}
	}
	for name := range functionTable {
		if !slices.Contains(constantWork, name) && !strings.Contains(string(rows), name+"(") {
			t.Errorf("limit_test.go has no row for the function %s", name)
		}
	}
}
