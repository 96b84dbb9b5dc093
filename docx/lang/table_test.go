package lang

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/budget"
)

// TestEverythingIsShown checks that each filter and function has a case in testdata and a place in the user documentation, and that
// the ways its hint says to write it can be read.
func TestEverythingIsShown(t *testing.T) {
	page, err := os.ReadFile("../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
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
	}
	for word, meant := range habits {
		if filterTable[word] != nil || functionTable[word] != nil {
			t.Errorf("%s is suggested for %s, which is there", meant, word)
		}
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
func checkUsage(t *testing.T, name, usage, before, after string) {
	t.Helper()
	for way := range waysOf(name, usage) {
		if _, err := ParseTag(before + way + after); err != nil {
			t.Errorf("usage %s: %v", way, err)
		}
	}
}

// waysOf returns the ways to write a filter or function that its hint lists.
func waysOf(name, usage string) iter.Seq[string] {
	return strings.SplitSeq(strings.NewReplacer(", "+name, "\n"+name, " or "+name, "\n"+name).Replace(usage), "\n")
}

// constantWork are the filters and functions whose work does not depend on how long their value is.
var constantWork = []string{
	"optional", "default", "link", "checkbox", "pagebreak", "errorbars", "delimiter", "lastdelimiter",
	"$if", "$now", "$today", "$days", "$round", "$floor", "$ceil", "$abs", "$number",
}

// TestEverythingIsCharged runs each filter and function as its hint shows on long lists and texts. Each way to write it must cost
// some steps for each item, or each few characters, of one of them. TestWorkIsCounted in limit_test.go has more cases.
func TestEverythingIsCharged(t *testing.T) {
	const n = 1000
	data := usageInput(t, n)
	for name, fn := range filterTable {
		if fn.note == nil && !slices.Contains(constantWork, name) {
			for way := range waysOf(name, fn.usage) {
				checkCharged(t, data, n/bytesPerStep, "items :: "+way, "names :: "+way, "numbers :: "+way, "dates :: "+way, "times :: "+way,
					"text :: "+way)
			}
		}
	}
	for name, fn := range functionTable {
		if !slices.Contains(constantWork, name) {
			for way := range waysOf(name, fn.usage) {
				checkCharged(t, data, n/bytesPerStep, way, strings.Replace(way, "text", "list", 1))
			}
		}
	}
}

// usageInput returns input with n of everything that the hints name.
func usageInput(t *testing.T, n int) Value {
	t.Helper()
	repeat := func(part string) string { return strings.TrimSuffix(strings.Repeat(part+",", n), ",") }
	text := strings.Repeat("one,", n)
	data, err := Decode(fmt.Appendf(nil,
		`{"items":[%s],"numbers":[%s],"dates":[%s],"times":[%s],"names":[%s],"list":[%[5]s],"text":%q,"first":%[6]q,"last":"x",`+
			`"object":[%[1]s],"value":"z"}`,
		repeat(`{"name":"a","price":20,"quantity":2,"category":"b","month":"May","sales":1,"costs":2,"key":"c"}`),
		repeat("1"), repeat(`"2026-01-31"`), repeat(`"2026-01-31T12:00:00Z"`), repeat(`"Ada"`), text))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkCharged computes values, one of which must take at least so many steps more than one of the empty list.
func checkCharged(t *testing.T, data Value, atLeast int64, values ...string) {
	t.Helper()
	most := int64(0)
	for _, value := range values {
		tag, err := ParseTag("{{" + value + "}}")
		if err != nil {
			t.Fatal(err)
		}
		meter := budget.New(t.Context(), budget.Limits{Steps: budget.Unlimited})
		e := NewEnv(data, Options{Meter: meter, Now: time.Unix(0, 0)})
		_, _, err = e.evaluate(tag)
		if tag.Filter("chart") != nil {
			_, _, err = e.Chart(tag)
		}
		if err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		most = max(most, meter.Used().Steps)
	}
	if most < atLeast {
		t.Errorf("%q take at most %d steps, less than %d", values, most, atLeast)
	}
}

func TestBareFunctions(t *testing.T) {
	for name, fn := range functionTable {
		if isBare(name) != (fn.max == 0) {
			t.Errorf("%s takes up to %d arguments, and isBare is %v", name, fn.max, isBare(name))
		}
	}
}
