package lang

import (
	"slices"
	"strings"
)

// named returns how reports name a tag: by its value or, if that is written out, by all between its braces.
func (t *Tag) named() string {
	switch t.Expr.(type) {
	case nil, *Literal:
		return strings.TrimSuffix(strings.TrimPrefix(t.String(), "{{"), "}}")
	}
	return t.Expr.String()
}

// unquotedWord returns the fault of an argument that is missing in the input and may be meant as text, or else f.
func (e *Env) unquotedWord(f *fault) *fault {
	p, ok := f.node.(*Path)
	if !ok || f.node == e.tag.Expr || !slices.Contains(e.missing, p) {
		return f
	}
	message := "was not provided in the input data"
	if len(p.Steps) == 1 && e.isArgument(p) {
		message += "; if it is text, put it in quotes: " + quote(p.Steps[0].Key)
	}
	return &fault{node: p, message: message, datum: f.datum}
}

// isArgument reports whether a path is an argument of a filter of the current tag.
func (e *Env) isArgument(p *Path) bool {
	is := func(arg Node) bool { return arg == Node(p) }
	found := slices.ContainsFunc(e.tag.Filters, func(f Filter) bool { return slices.ContainsFunc(f.Args, is) })
	e.tag.walk(func(n Node) {
		if operand, ok := n.(*Filtered); ok {
			found = found || slices.ContainsFunc(operand.Filters, func(f Filter) bool { return slices.ContainsFunc(f.Args, is) })
		}
	})
	return found
}
