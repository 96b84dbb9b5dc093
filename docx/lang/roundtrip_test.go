package lang

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shape writes a tree with all its parentheses and nothing of its text, so that two trees are the same if it is.
func shape(n Node) string {
	switch n := n.(type) {
	case *Path:
		return fmt.Sprintf("path%#v", n.Steps)
	case *Literal:
		return fmt.Sprintf("%T %q", n.Value, fmt.Sprint(n.Value))
	case *List:
		return "list" + shapes(n.Items)
	case *Unary:
		return fmt.Sprintf("(%s %s)", n.Op, shape(n.X))
	case *Binary:
		return fmt.Sprintf("(%s %s %s)", shape(n.L), n.Op, shape(n.R))
	case *Presence:
		return fmt.Sprintf("(%s present %t)", shape(n.X), !n.Not)
	case *Call:
		return n.Name + shapes(n.Args)
	}
	return "none"
}

func shapes(nodes []Node) string {
	var b strings.Builder
	for _, n := range nodes {
		b.WriteString("<" + shape(n) + ">")
	}
	return b.String()
}

func tagShape(t *Tag) string {
	s := t.Kind.String() + " " + t.Var + " " + shape(t.Expr)
	for _, f := range t.Filters {
		s += " :: " + f.Name + shapes(f.Args)
	}
	return s
}

func step(t *rapid.T) Step {
	if rapid.Bool().Draw(t, "index") {
		return Step{Index: rapid.IntRange(-9, 9).Draw(t, "i"), IsIndex: true}
	}
	return Step{Key: key(t)}
}

func key(t *rapid.T) string {
	odd := rapid.String().Filter(func(s string) bool { return !strings.Contains(s, "`") })
	words := rapid.SampledFrom([]string{"a", "or", "Not", "AND", "If", "True", "endfor", "null", "isPresent", "1st", "$x", "", "größe", "a b"})
	return rapid.OneOf(words, odd).Draw(t, "key")
}

func anyNode(t *rapid.T, depth int) Node {
	kinds := 10
	if depth == 0 {
		kinds = 2
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "node") {
	case 0:
		steps := []Step{{Key: key(t)}}
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			steps = append(steps, step(t))
		}
		return newPath(0, steps)
	case 1:
		number := rapid.Map(rapid.StringMatching(`(0|[1-9][0-9]{0,9})(\.[0-9]{1,9})?(e-?[0-9])?`), func(s string) Value { return json.Number(s) })
		text := rapid.Map(rapid.String(), func(s string) Value { return s })
		return &Literal{Value: rapid.OneOf(number, text, rapid.SampledFrom([]Value{true, false, nil, `\`, "“\n”"})).Draw(t, "literal")}
	case 2:
		n := &Unary{Op: rapid.SampledFrom([]string{"not", "-"}).Draw(t, "op"), X: anyNode(t, depth-1)}
		if n.Op == "not" {
			n.X = asCondition(n.X)
		}
		return n
	case 3:
		return &Presence{X: anyNode(t, depth-1), Not: rapid.Bool().Draw(t, "not")}
	case 4:
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(functionTable))).Draw(t, "function")
		args := someNodes(t, functionTable[name].arity, depth-1)
		if len(args) > 1 && functionTable[name].perItem { // which must not be the same for all items
			args[0], args[1] = newPath(0, []Step{{Key: key(t)}}), newPath(0, []Step{{Key: key(t)}})
		}
		for i := 0; i+1 < len(args) && functionTable[name].choose != nil; i += 2 {
			args[i] = asCondition(args[i])
		}
		return &Call{Name: name, Args: args, fn: functionTable[name]}
	case 8:
		n := newIndex(newPath(0, []Step{{Key: key(t)}}), anyNode(t, depth-1))
		for range rapid.IntRange(0, 2).Draw(t, "steps") {
			n.Steps = append(n.Steps, step(t))
		}
		switch key := n.Key.(type) {
		case *Literal, *Unary: // which may be a step of a path
			n.Key = &Unary{Op: "not", X: asCondition(key)}
		}
		return n
	case 9:
		return &Filtered{X: anyNode(t, depth-1), Filters: []Filter{{Name: "default", Args: []Node{anyNode(t, depth-1)}}}}
	case 5:
		return &List{Items: someNodes(t, arity{0, 3}, depth-1)}
	default:
		op := rapid.SampledFrom(slices.Sorted(maps.Keys(binaryStrength))).Draw(t, "op")
		n := &Binary{Op: op, L: anyNode(t, depth-1), R: anyNode(t, depth-1)}
		if op == "+" && (isText(n.L) || strings.HasPrefix(n.R.String(), `"`)) { // which the parser rejects
			n.Op = "-"
		}
		if op == "and" || op == "or" {
			n.L, n.R = asCondition(n.L), asCondition(n.R)
		}
		if _, isLiteral := n.R.(*Literal); isLiteral && op == matches { // which need not be a pattern
			n.Op = startsWith
		}
		return n
	}
}

// asCondition returns n, or a condition with it if the parser rejects it as one.
func asCondition(n Node) Node {
	switch n.(type) {
	case *Literal, *List:
		return &Presence{X: n}
	}
	return n
}

func someNodes(t *rapid.T, a arity, depth int) []Node {
	var nodes []Node
	for range rapid.IntRange(a.min, min(a.max, a.min+3)).Draw(t, "arguments") {
		nodes = append(nodes, anyNode(t, depth))
	}
	return nodes
}

func anyTag(t *rapid.T) *Tag {
	tag := &Tag{Kind: rapid.SampledFrom([]Kind{Print, For, TableRow, TableColumn, If, ElseIf, Include}).Draw(t, "kind")}
	if tag.Kind == Include {
		tag.Expr = &Literal{Value: "x" + rapid.StringMatching(`[^:/\\\t\r\n]*`).Draw(t, "name")}
		if rapid.Bool().Draw(t, "chosen") {
			tag.Expr = newPath(0, []Step{{Key: "file"}})
			tag.Filters = []Filter{{Name: "oneof", Args: []Node{&Literal{Value: "a.docx"}, &Literal{Value: "b/a.docx"}}, fn: candidates}}
		}
		return tag
	}
	if tag.Expr = anyNode(t, 4); tag.Kind.IsLoop() {
		tag.Var = rapid.SampledFrom([]string{"x", "item", "loop", "größe_2"}).Draw(t, "variable")
	}
	if tag.Kind == If || tag.Kind == ElseIf {
		tag.Expr = asCondition(tag.Expr)
		return tag
	}
	for range rapid.IntRange(0, 2).Draw(t, "filters") {
		f := anyFilter(t, tag.Filters, tag.Kind == Print)
		if tag.Filters = append(tag.Filters, f); f.fn.checkValue != nil {
			tag.Expr = newPath(0, []Step{{Key: key(t)}})
		}
	}
	return tag
}

// anyFilter returns a filter that may stand after others, in a tag that prints its value or not. Arguments that must be right if they are
// written out are paths.
func anyFilter(t *rapid.T, before []Filter, prints bool) Filter {
	hasSole := slices.ContainsFunc(before, func(f Filter) bool { return f.fn.sole })
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(filterTable)), func(name string) bool {
		return hasSole && filterTable[name].sole
	})
	if !prints {
		names = slices.DeleteFunc(names, func(name string) bool { return filterTable[name].note != nil })
	}
	name := rapid.SampledFrom(names).Draw(t, "filter")
	fn := filterTable[name]
	f := Filter{Name: name, Args: someNodes(t, fn.arity, 1), fn: fn}
	for i := range f.Args {
		if fn.note != nil || fn.check != nil || fn.perItem || argumentOf(&f, i, takes{}).want == aNumber {
			f.Args[i] = newPath(0, []Step{{Key: key(t)}})
		}
	}
	return f
}

func TestPrintedTagParsesToTheSameTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tag := anyTag(t)
		if new(Scope).Misuse(tag) != nil {
			t.Skip("no parser accepts it")
		}
		again, err := ParseTag(tag.String())
		if err != nil {
			t.Fatal(err)
		}
		if want, got := tagShape(tag), tagShape(again); got != want {
			t.Fatalf("%s\nis   %s\nwant %s", tag, got, want)
		}
		if again.String() != tag.String() {
			t.Fatalf("%s is printed as %s", tag, again)
		}
	})
}
