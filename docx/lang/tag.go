package lang

import (
	"slices"
	"strings"
)

// Kind tells what a tag does.
type Kind int

// The kinds of tags.
const (
	Print       Kind = iota // {{ path }}, {{ a * b :: filter }}: leaves a value
	For                     // {{for x in list}}
	EndFor                  // {{endfor}}
	TableRow                // {{tablerow x in list}}
	EndTableRow             // {{endtablerow}}
	If                      // {{if condition}}
	ElseIf                  // {{elseif condition}}
	Else                    // {{else}}
	EndIf                   // {{endif}}
	Comment                 // {{! anything }}
)

// String returns the word that makes a tag one of this kind; "value" and "comment" have none.
func (k Kind) String() string {
	return [...]string{"value", "for", "endfor", "tablerow", "endtablerow", "if", "elseif", "else", "endif", "comment"}[k]
}

// blockWords holds the words that open, part or close a block.
var blockWords = map[string]Kind{
	"for": For, "endfor": EndFor, "tablerow": TableRow, "endtablerow": EndTableRow,
	"if": If, "elseif": ElseIf, "else": Else, "endif": EndIf,
}

func isBlockWord(name string) bool {
	_, ok := blockWords[strings.ToLower(name)]
	return ok
}

// Tag is one tag, parsed. It does not change and may serve many executions at once.
type Tag struct {
	Kind    Kind
	Text    string   // as typed, with braces
	Var     string   // the loop variable of For and TableRow
	Expr    Node     // value, list or condition; nil for Else, Comment and the End kinds
	Filters []Filter // of Print, For and TableRow
}

// String returns the tag in a form that parses to the same tree.
func (t *Tag) String() string {
	var b strings.Builder
	b.WriteString("{{")
	switch t.Kind {
	case Print:
		b.WriteString(t.Expr.String())
	case Comment:
		return t.Text
	case For, TableRow:
		b.WriteString(t.Kind.String() + " " + t.Var + " in " + t.Expr.String())
	case If, ElseIf:
		b.WriteString(t.Kind.String() + " " + t.Expr.String())
	default:
		b.WriteString(t.Kind.String())
	}
	for i := range t.Filters {
		b.WriteString(" :: " + t.Filters[i].String())
	}
	b.WriteString("}}")
	return b.String()
}

// Type returns the tag_type of the tag in a template's listing: "text", "arithmetic", "conditional", "for-loop" or
// "table-loop", and "" for what is not listed (comments, else, the ends). A value is text if it is a path or a literal.
func (t *Tag) Type() string {
	switch t.Kind {
	case For:
		return "for-loop"
	case TableRow:
		return "table-loop"
	case If, ElseIf:
		return "conditional"
	case Print:
		switch t.Expr.(type) {
		case *Path, *Literal:
			return "text"
		}
		return "arithmetic"
	}
	return ""
}

// Paths returns the json_paths of the tag in a template's listing: for each path it reads, in order, every prefix and
// the path itself, none twice; an index of a list is left out. A loop variable is replaced by the path of its
// list, which alias gives for the variable's name; an empty path with ok means that the name stands for no input.
// [Scope.Alias] is such a function; nil stands for no loop.
func (t *Tag) Paths(alias func(name string) (path string, ok bool)) []string {
	var paths []string
	t.reads(func(p *Path, _ bool) {
		for _, s := range p.prefixes(alias) {
			if !slices.Contains(paths, s) {
				paths = append(paths, s)
			}
		}
	})
	return paths
}

// prefixes returns the path and all that lead to it, the shortest first.
func (p *Path) prefixes(alias func(string) (string, bool)) []string {
	list, ok := resolve(p, alias)
	if ok && list == "" {
		return nil
	}
	var b strings.Builder
	b.WriteString(list)
	for i, s := range p.Steps {
		if s.IsIndex || ok && i == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(keyText(s.Key, i == 0))
	}
	return pathPrefixes(b.String())
}

// resolve returns the path that the first step of p stands for, and whether it is a name known to alias.
func resolve(p *Path, alias func(string) (string, bool)) (path string, ok bool) {
	if alias == nil {
		return "", false
	}
	if path, ok = alias(p.Steps[0].Key); ok && p.Steps[0].Key == "loop" && path == "" && !p.loop {
		return "", false // a key of the input that happens to be called loop
	}
	return path, ok
}

// pathPrefixes cuts the text of a path at its dots.
func pathPrefixes(path string) []string {
	var all []string
	quoted := false
	for i, r := range path {
		if r == '`' {
			quoted = !quoted
		} else if r == '.' && !quoted {
			all = append(all, path[:i])
		}
	}
	return append(all, path)
}

// reads calls yield for each path in the tag, in the order of writing; whole tells whether all that lies below
// the path is used with it, as when it is printed, rather than only looked at, as in a condition or as a list.
func (t *Tag) reads(yield func(p *Path, whole bool)) {
	if t.Expr != nil {
		reads(t.Expr, t.Kind == Print, yield)
	}
	for i := range t.Filters {
		for _, arg := range t.Filters[i].Args {
			reads(arg, true, yield)
		}
	}
}

func reads(n Node, whole bool, yield func(*Path, bool)) {
	switch n := n.(type) {
	case *Path:
		yield(n, whole)
	case *Unary:
		reads(n.X, n.Op != "not", yield)
	case *Binary:
		values := n.Op != "and" && n.Op != "or"
		reads(n.L, values, yield)
		reads(n.R, values, yield)
	case *Presence:
		reads(n.X, false, yield)
	case *Call:
		for _, arg := range n.Args {
			reads(arg, !n.fn.counts, yield)
		}
	}
}
