package lang

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Node is a part of an expression: *Path, *Index, *Literal, *List, *Unary, *Binary, *Presence, *Call or *Filtered, and nothing else. Nodes
// do not change once parsed.
type Node interface {
	// Position is the offset of the node in the text of its tag, in bytes: its first character, or its operator.
	Position() int
	// String returns the expression in a form that parses to the same tree, with no more parentheses than needed.
	String() string
	// strength is the precedence of the node, for parentheses.
	strength() int
}

// Pos is the position of a node in the text of its tag, in bytes.
type Pos int

// Position returns p.
func (p Pos) Position() int { return int(p) }

// Strengths of the operators, from weak to strong.
const (
	strengthOr = iota + 1
	strengthAnd
	strengthNot
	strengthCompare
	strengthSum
	strengthProduct
	strengthNegate
	strengthPrimary
)

// Path names a value: a loop variable or a key of the input, and the way down from there.
type Path struct {
	Pos
	Steps    []Step // at least one; the first is a key
	text     string // String()
	isIndex  bool   // the name of an Index, which has no such path
	loop     bool   // spelled like a property of the innermost loop, such as loop.index
	perItem  bool   // in an argument that is computed for each item of a list
	inKey    bool   // in the key or position of an Index, or in one that a function looks up
	folded   bool   // may name keys as merge fields of Word do
	own      bool   // begins with the variable of the loop whose filter it is an argument of
	ofEntry  bool   // in a filter of a loop over keys
	list     *Path  // the path of those items; nil if they have none
	parallel bool   // a list whose items belong to those of the list of a chart; nothing else shows that it is missing
}

// Step is one step of a path: a key, or the index of an item.
type Step struct {
	Key     string
	Index   int // from 0, or from the end if negative
	IsIndex bool
}

func (p *Path) strength() int { return strengthPrimary }

func (p *Path) String() string { return p.text }

func newPath(pos int, steps []Step) *Path {
	p := &Path{Pos: Pos(pos), Steps: steps, text: pathText(steps)}
	p.loop = len(steps) > 1 && steps[0].Key == "loop" && loopProperties[steps[1].Key]
	return p
}

// name returns the name of the path in reports. The key of an item has the name of its list in it.
func (p *Path) name() string {
	if p.list == nil {
		return p.text
	}
	steps := p.itemSteps()
	if len(steps) == 0 {
		return p.list.name()
	}
	return p.list.name() + "." + pathText(steps)
}

func pathText(steps []Step) string {
	var b strings.Builder
	for i, s := range steps {
		if s.IsIndex {
			b.WriteString(stepText(s))
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(keyText(s.Key, i == 0))
	}
	return b.String()
}

// stepText returns a step below a value, without the dot.
func stepText(s Step) string {
	if s.IsIndex {
		return "[" + strconv.Itoa(s.Index) + "]"
	}
	return keyText(s.Key, false)
}

// keyText returns the written form of a key in a path, in backquotes if necessary.
func keyText(key string, first bool) string {
	kind, isBlock := blockWords[strings.ToLower(key)]
	plain := key != "" && (!first || !isReserved(key) && (!isBlock || isKeyToo(kind)))
	for i, r := range key {
		if !isNamePart(r) || first && i == 0 && !isNameStart(r) {
			plain = false
		}
	}
	if plain {
		return key
	}
	return "`" + key + "`"
}

// Literal is a number (a json.Number, as typed), a string, true, false or null (nil).
type Literal struct {
	Pos
	Value Value
	num   number // of a json.Number
}

func (l *Literal) strength() int { return strengthPrimary }

func (l *Literal) String() string {
	switch v := l.Value.(type) {
	case json.Number:
		return string(v)
	case string:
		return quote(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return "null"
}

// List is a list that is written out, as in ["a", "b"].
type List struct {
	Pos
	Items []Node
}

func (l *List) strength() int { return strengthPrimary }

func (l *List) String() string { return "[" + join(l.Items) + "]" }

// Unary is "not" or "-" and its operand.
type Unary struct {
	Pos
	Op string
	X  Node
}

func (u *Unary) strength() int {
	if u.Op == "not" {
		return strengthNot
	}
	return strengthNegate
}

func (u *Unary) String() string {
	x := within(u.X, u.strength())
	if u.Op == "not" {
		return "not " + x
	}
	return "-" + x
}

// Binary is an operator between two operands: or and == != < <= > >= in contains startsWith endsWith matches + - * / %.
type Binary struct {
	Pos
	Op      string
	L, R    Node
	pattern *pattern // of matches with a literal
	printed bool     // and or or, whose result is printed
}

func (b *Binary) strength() int { return binaryStrength[b.Op] }

func (b *Binary) String() string {
	left := b.strength()
	if left == strengthCompare { // comparisons do not chain
		left++
	}
	right := within(b.R, b.strength()+1)
	if _, ok := b.R.(*Filtered); ok && b.strength() > strengthCompare {
		right = "(" + right + ")"
	}
	return within(b.L, left) + " " + b.Op + " " + right
}

var binaryStrength = map[string]int{
	"or": strengthOr, "and": strengthAnd,
	"==": strengthCompare, "!=": strengthCompare, "in": strengthCompare, "contains": strengthCompare,
	startsWith: strengthCompare, endsWith: strengthCompare, matches: strengthCompare,
	"<": strengthCompare, "<=": strengthCompare, ">": strengthCompare, ">=": strengthCompare,
	"+": strengthSum, "-": strengthSum, "*": strengthProduct, "/": strengthProduct, "%": strengthProduct,
}

// Presence is isPresent or, if Not is set, isNotPresent after its operand.
type Presence struct {
	Pos
	X   Node
	Not bool
}

func (p *Presence) strength() int { return strengthCompare }

func (p *Presence) String() string {
	x := within(p.X, strengthCompare+1)
	if p.Not {
		return x + " isNotPresent"
	}
	return x + " isPresent"
}

// Call is a function with its arguments.
type Call struct {
	Pos
	Name string // with its $
	Args []Node
	fn   *function
}

func (c *Call) strength() int { return strengthPrimary }

func (c *Call) String() string {
	if isBare(c.Name) {
		return c.Name
	}
	return c.Name + "(" + join(c.Args) + ")"
}

// Index is a key or a position that the data determine, as in names[lang] and rows[i].title.
type Index struct {
	Pos
	Base     Node // *Path or *Index
	Key      Node
	Steps    []Step // below
	name     *Path  // for reports
	parallel bool   // at the position of the item that a chart shows
}

func newIndex(base, key Node) *Index { return &Index{Pos: Pos(base.Position()), Base: base, Key: key} }

// markKeys marks the paths in a key or position.
func markKeys(key Node) { reads(key, true, func(p *Path, _ bool) { p.inKey = true }) }

func (n *Index) strength() int { return strengthPrimary }

func (n *Index) String() string {
	var b strings.Builder
	b.WriteString(n.Base.String() + "[" + n.Key.String() + "]")
	for _, step := range n.Steps {
		if !step.IsIndex {
			b.WriteByte('.')
		}
		b.WriteString(stepText(step))
	}
	return b.String()
}

// Filtered is an operand with filters, inside an expression.
type Filtered struct {
	Pos
	X       Node
	Filters []Filter
}

func (n *Filtered) strength() int { return 0 }

func (n *Filtered) String() string {
	var b strings.Builder
	b.WriteString(within(n.X, strengthPrimary))
	for i := range n.Filters {
		b.WriteString(" :: " + n.Filters[i].String())
	}
	return b.String()
}

// Filter is one filter of a tag with its arguments.
type Filter struct {
	Pos
	Name string
	Args []Node
	fn   *filter

	ofPlaces bool // see [Tag.TakesPlaces]
}

// String returns the written form of the filter after "::".
func (f *Filter) String() string {
	if len(f.Args) == 0 {
		return f.Name
	}
	return f.Name + "(" + join(f.Args) + ")"
}

func join(nodes []Node) string {
	texts := make([]string, len(nodes))
	for i, n := range nodes {
		texts[i] = n.String()
	}
	return strings.Join(texts, ", ")
}

// within returns n as an operand that must be at least as strong as given.
func within(n Node, strength int) string {
	if n.strength() < strength {
		return "(" + n.String() + ")"
	}
	return n.String()
}

// isPath reports whether n is nothing but a path.
func isPath(n Node) bool {
	_, ok := n.(*Path)
	return ok
}
