package compile

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/budget"
	"platen/docx/compile/compiletest"
	"platen/docx/lang"
	"platen/docx/locale"
	"platen/docx/program"
	"platen/ooxml"
	"platen/ooxml/ooxmltest"
)

// The table of phases names each phase once, in the order of the stages, and after the phases whose results it uses.
func TestPhases(t *testing.T) {
	done := map[string]bool{}
	last := find
	for _, p := range phases {
		if done[p.name] {
			t.Errorf("two phases are called %q", p.name)
		}
		if p.stage < last {
			t.Errorf("phase %q is of an earlier stage than the one before it", p.name)
		}
		for _, name := range p.after {
			if !done[name] {
				t.Errorf("phase %q uses the results of %q, which does not run before it", p.name, name)
			}
		}
		done[p.name], last = true, p.stage
	}
}

// A phase names all phases whose results it uses: any order that the table allows gives the same programs.
func TestPhasesInAnyOrder(t *testing.T) {
	files := templates(t)
	want := make([]map[string][]program.Step, len(files))
	for i, file := range files {
		want[i] = programs(t, file)
	}
	original := phases
	t.Cleanup(func() { phases = original })
	rounds := uint64(5)
	if testing.Short() {
		rounds = 1
	}
	for seed := range rounds {
		phases = shuffled(original, rand.New(rand.NewPCG(seed, 1)))
		for i, file := range files {
			if got := programs(t, file); !cmp.Equal(got, want[i], bySteps) {
				var names []string
				for _, p := range phases {
					names = append(names, p.name)
				}
				t.Fatalf("template %d has another program with the phases in the order %q", i, names)
			}
		}
	}
}

// bySteps compares programs by their steps alone.
var bySteps = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.Comparer(func(a, b *locale.Locale) bool { return a == b }),
	cmp.Comparer(func(a, b *lang.Tag) bool { return a == b || a != nil && b != nil && a.Text == b.Text }),
	cmp.Comparer(func(a, b *ooxml.Part) bool { return a == b || a != nil && b != nil && a.Name == b.Name }),
	cmp.Comparer(func(a, b *program.Part) bool { return (a == nil) == (b == nil) }), // of a chart or a header, which are compared on their own
}

// templates returns the examples and the templates of the golden files.
func templates(t *testing.T) [][]byte {
	t.Helper()
	names, err := filepath.Glob("../../examples/*/template.docx")
	if err != nil || len(names) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	var files [][]byte
	for _, name := range names {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for _, archive := range ooxmltest.Archives(t, "../testdata") {
		parts, _ := compiletest.Input(archive)
		files = append(files, compiletest.Build(t, parts))
	}
	return files
}

// programs returns the steps of every part of a template.
func programs(t *testing.T, file []byte) map[string][]program.Step {
	t.Helper()
	compiled, err := File(budget.New(t.Context(), budget.Limits{}), file, Options{MayInclude: true})
	if err != nil {
		return nil // what is wrong with some of the golden files is tested in docx
	}
	steps := map[string][]program.Step{}
	for name, part := range compiled.Document.Parts {
		steps[name] = part.Steps
	}
	return steps
}

// shuffled returns the phases in a random order that the table allows.
func shuffled(all []phase, random *rand.Rand) []phase {
	rest := slices.Clone(all)
	var order []phase
	isDone := func(name string) bool {
		return slices.ContainsFunc(order, func(p phase) bool { return p.name == name })
	}
	for len(rest) > 0 {
		i := random.IntN(len(rest))
		p := rest[i]
		if p.stage != rest[0].stage || slices.ContainsFunc(p.after, func(name string) bool { return !isDone(name) }) {
			continue
		}
		order, rest = append(order, p), slices.Delete(rest, i, i+1)
	}
	return order
}
