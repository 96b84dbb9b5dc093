package lang

import (
	"slices"
	"strings"
	"unicode"
)

// Kind is the kind of a tag.
type Kind int

// The kinds of tags.
const (
	Print          Kind = iota // {{ path }}, {{ a * b :: filter }}: leaves a value
	For                        // {{for x in list}}
	EndFor                     // {{endfor}}
	TableRow                   // {{tablerow x in list}}
	EndTableRow                // {{endtablerow}}
	TableColumn                // {{tablecolumn x in list}}
	EndTableColumn             // {{endtablecolumn}}
	If                         // {{if condition}}
	ElseIf                     // {{elseif condition}}
	Else                       // {{else}}
	EndIf                      // {{endif}}
	Include                    // {{include "name"}}, {{include name :: oneof("a", "b")}}
	PageBreak                  // {{pagebreak}}
	Comment                    // {{! anything }}
	Let                        // {{let x = value}}: names a value
	Paragraph                  // {{paragraph x in list}}
	EndParagraph               // {{endparagraph}}
)

// String returns the word that makes a tag one of this kind; "value" and "comment" have none.
func (k Kind) String() string {
	return [...]string{
		"value", "for", "endfor", "tablerow", "endtablerow", "tablecolumn", "endtablecolumn",
		"if", "elseif", "else", "endif", "include", "pagebreak", "comment", "let",
		"paragraph", "endparagraph",
	}[k]
}

// IsLoop reports whether a tag of this kind repeats its body for each item of its list.
func (k Kind) IsLoop() bool { return k == For || k == TableRow || k == TableColumn || k == Paragraph }

// tests reports whether a tag of this kind has a condition.
func (k Kind) tests() bool { return k == If || k == ElseIf }

// IsBlock reports whether a tag of this kind opens, divides, or closes a block.
func (k Kind) IsBlock() bool { return k >= For && k <= EndIf || k == Paragraph || k == EndParagraph }

// closes reports whether the tag closes a block.
func (k Kind) closes() bool {
	return k == EndFor || k == EndTableRow || k == EndTableColumn || k == EndIf || k == EndParagraph
}

// blockWords has the words at the start of tags that are not values.
var blockWords = map[string]Kind{
	"for": For, "endfor": EndFor, "tablerow": TableRow, "endtablerow": EndTableRow,
	"tablecolumn": TableColumn, "endtablecolumn": EndTableColumn,
	"if": If, "elseif": ElseIf, "else": Else, "endif": EndIf, "include": Include, "pagebreak": PageBreak,
	"let": Let, "paragraph": Paragraph, "endparagraph": EndParagraph,
}

func isBlockWord(name string) bool {
	_, ok := blockWords[strings.ToLower(name)]
	return ok
}

// Tag is one tag, parsed. It does not change and may serve many executions at once.
type Tag struct {
	Kind    Kind
	Text    string   // as typed, with braces
	Var     string   // the variable of a loop or a Let
	KeyVar  string   // the first variable of a loop over keys, as in {{for k, v in m}}; else ""
	Expr    Node     // value, list or condition, or the name of the file of an Include; nil for all other kinds
	Filters []Filter // of values and loops, and of an Include that chooses

	ofField  bool // see FromField
	numbered bool // see numberItems
}

// FromField notes that the tag stands for a field of Word, in whose formats hours up to 12 need no am or pm. It must be called before the
// tag is used.
func (t *Tag) FromField() { t.ofField = true }

// Filter returns the last filter of that name that the tag has, or nil.
func (t *Tag) Filter(name string) *Filter {
	for i := range slices.Backward(t.Filters) {
		if t.Filters[i].Name == name {
			return &t.Filters[i]
		}
	}
	return nil
}

// TakesPlaces notes that the first values of the tag's chart are the places of points. Samples of them are numbers.
func (t *Tag) TakesPlaces() {
	if f := t.Filter("chart"); f != nil {
		f.ofPlaces = true
	}
}

// String returns the tag in a form that parses to the same tree.
func (t *Tag) String() string {
	var b strings.Builder
	b.WriteString("{{")
	switch t.Kind {
	case Print:
		b.WriteString(wholeText(t.Expr))
	case Comment:
		return t.Text
	case For, TableRow, TableColumn, Paragraph:
		b.WriteString(t.Kind.String() + " ")
		if t.KeyVar != "" {
			b.WriteString(t.KeyVar + ", ")
		}
		b.WriteString(t.Var + " in " + wholeText(t.Expr))
	case Let:
		b.WriteString("let " + t.Var + " = " + wholeText(t.Expr))
	case If, ElseIf:
		b.WriteString(t.Kind.String() + " " + t.Expr.String())
	case Include:
		b.WriteString(t.Kind.String() + " " + wholeText(t.Expr))
	default:
		b.WriteString(t.Kind.String())
	}
	for i := range t.Filters {
		b.WriteString(" :: " + t.Filters[i].String())
	}
	b.WriteString("}}")
	return b.String()
}

// wholeText returns the written form of the value of a tag: filters that are not those of the tag need parentheses.
func wholeText(n Node) string {
	if _, ok := n.(*Filtered); ok {
		return "(" + n.String() + ")"
	}
	return n.String()
}

// LoneText returns the key, in backquotes if necessary, that a tag may be meant to print if it is nothing but a string with letters, and ""
// for all other tags. Strings with braces are how a document gets braces.
func (t *Tag) LoneText() string {
	l, ok := t.Expr.(*Literal)
	if !ok || t.Kind != Print || len(t.Filters) > 0 || t.ofField {
		return ""
	}
	s, _ := l.Value.(string)
	if !strings.ContainsFunc(s, unicode.IsLetter) || strings.ContainsAny(s, "{}`") {
		return ""
	}
	return keyText(s, true)
}

// Type returns the tag_type of the tag in a template's listing: "text", "arithmetic", "conditional", "for-loop", "table-loop", or "image",
// and "" for tags that are not listed (comments, else, the ends, page breaks, and includes of one file). A value with the filter
// image is an image. Other values are text if they are a path, a literal, or a function whose result is not a number.
func (t *Tag) Type() string {
	switch t.Kind {
	case For, Paragraph:
		return "for-loop"
	case TableRow, TableColumn:
		return "table-loop"
	case If, ElseIf:
		return "conditional"
	case Print, Let:
		return t.valueType()
	case Include:
		if t.Chooses() {
			return t.valueType()
		}
	}
	return ""
}

func (t *Tag) valueType() string {
	if t.Filter("image") != nil {
		return "image"
	}
	switch n := t.Expr.(type) {
	case *Path, *Index, *Literal, *List, *Filtered:
		return "text"
	case *Call:
		if n.fn.text {
			return "text"
		}
	}
	return "arithmetic"
}

// Paths returns the json_paths of the tag in a template's listing: for each path that it reads, in order, every prefix and the path itself,
// without duplicates and without indexes of lists. Loop variables, and names in expressions for items, are replaced with the path of their
// list. s is the scope of the tag, as for [Use.Add], or nil for a template without loops.
func (t *Tag) Paths(s *Scope) []string {
	if s == nil {
		s = new(Scope)
	}
	var paths []string
	t.reads(func(p *Path, _ bool) {
		keys, ok := s.keys(p)
		if !ok {
			return
		}
		for n := range keys {
			if path := keysText(keys[:n+1]); !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	})
	return paths
}

// Reads reports whether the tag reads a variable, or else a key at the top of the input, of that name.
func (t *Tag) Reads(name string) bool {
	found := false
	t.reads(func(p *Path, _ bool) { found = found || p.Steps[0].Key == name })
	return found
}

// reads calls yield for each path in the tag, in the order of writing; whole reports whether all below
// the path is used with it, as when it is printed, rather than only looked at, as in a condition or as a list.
func (t *Tag) reads(yield func(p *Path, whole bool)) {
	if t.Expr != nil {
		reads(t.Expr, t.Kind == Print || t.Kind == Let || t.Kind == Include || t.KeyVar != "", yield)
	}
	for i := range t.Filters {
		for _, arg := range t.Filters[i].Args {
			reads(arg, true, yield)
		}
	}
}

// walk calls yield for each node of the tag, a node before its operands.
func (t *Tag) walk(yield func(Node)) {
	if t.Expr != nil {
		walk(t.Expr, yield)
	}
	for i := range t.Filters {
		for _, arg := range t.Filters[i].Args {
			walk(arg, yield)
		}
	}
}

func walk(n Node, yield func(Node)) {
	yield(n)
	switch n := n.(type) {
	case *Unary:
		walk(n.X, yield)
	case *Binary:
		walk(n.L, yield)
		walk(n.R, yield)
	case *Presence:
		walk(n.X, yield)
	case *Index:
		walk(n.Base, yield)
		walk(n.Key, yield)
	case *Filtered:
		walk(n.X, yield)
		for i := range n.Filters {
			for _, arg := range n.Filters[i].Args {
				walk(arg, yield)
			}
		}
	case *List:
		for _, item := range n.Items {
			walk(item, yield)
		}
	case *Call:
		for _, arg := range n.Args {
			walk(arg, yield)
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
	case *Index:
		reads(n.Base, true, yield)
		reads(n.Key, true, yield)
	case *Filtered:
		reads(n.X, whole || isGrouped(n), yield)
		for i := range n.Filters {
			for _, arg := range n.Filters[i].Args {
				reads(arg, true, yield)
			}
		}
	case *List:
		for _, item := range n.Items {
			reads(item, true, yield)
		}
	case *Call:
		for i, arg := range n.Args {
			reads(arg, !n.fn.counts || i > 0, yield)
		}
	}
}
