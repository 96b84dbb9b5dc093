package lang

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// want is the set of kinds that a tag needs a value to have. A tag may use the same value in several ways.
type want uint

const (
	aList     want = 1 << iota // a list
	maybeList                  // a list, unless a value on the path to it is a list
	aScalar                    // text, a number, true or false
	aText                      // text
	aBoolean                   // true or false
	aNumber                    // a number
	aDate                      // a date, with or without a time
	aTime                      // a date with a time
	aPicture                   // a picture
)

// takes describes the values that a use accepts.
type takes struct {
	want
	examples []Value  // accepted values, if want is not precise enough
	sure     bool     // examples of other uses of the same value may not be accepted here
	entries  []string // the only accepted values; nil if there are others
}

// like returns a use that accepts values such as the examples.
func like(w want, examples ...Value) takes { return takes{want: w, examples: examples, sure: true} }

// likeNumber returns a use that accepts numbers, with an example.
func likeNumber(n json.Number) takes { return like(aNumber, n) }

// read is one path that a tag reads.
type read struct {
	takes
	nodes  []*useNode // from the top of the input
	needed int        // the first of nodes that is required; len(nodes) if none is
	listed []listed   // nodes that must be lists
	tag    string
}

// listed is a list.
type listed struct {
	node    *useNode
	atLeast int // items
}

// collector gathers the reads of one tag.
type collector struct {
	use    *Use
	scope  *Scope
	tag    *Tag
	guards [][]*useNode // nodes in the conditions around
}

// collect records the values that the tag reads, with their uses. printed is the use of a value tag's result.
func (c *collector) collect(printed takes) {
	t := c.tag
	switch {
	case t.Expr == nil:
	case t.Kind == If || t.Kind == ElseIf:
		c.expr(t.Expr, takes{}, true)
	case t.KeyVar != "":
		c.filters(t.Filters, takes{})
		c.expr(t.Expr, takes{examples: []Value{NewObject([]string{"first"}, []Value{json.Number("1")})}, sure: true}, true)
	case t.Kind == Let:
		w, optional := c.filters(t.Filters, takes{})
		c.expr(t.Expr, w, optional)
	case t.Kind.IsLoop():
		w, optional := c.filters(t.Filters, takes{want: aList})
		c.expr(t.Expr, w, optional)
	case t.Chooses():
		w, optional := c.filters(t.Filters, takes{want: aText})
		c.expr(t.Expr, w, optional)
	case t.Kind == Print:
		w, optional := c.filters(t.Filters, printed)
		c.expr(t.Expr, w, optional)
	}
}

// filters returns the use of a value by filters and, at the end, by end. It records the values that the arguments of filters read.
func (c *collector) filters(filters []Filter, end takes) (w takes, optional bool) {
	same := true
	for i := range filters {
		f := &filters[i]
		optional = optional || f.fn.optional
		value := f.takes()
		if f.isOpenAdd() && areDates(filters[i+1:], end) {
			value = takes{want: aDate}
			c.expr(f.Args[0], like(aText, "+1 month"), true)
		} else {
			for i, arg := range f.Args {
				c.expr(arg, argumentOf(f, i, end), true)
			}
		}
		if same {
			w, same = w.and(value), f.fn.same
			continue
		}
		for _, entry := range f.takes().entries { // the filters before it may keep them unchanged
			w.examples = append(w.examples, entry)
		}
	}
	if same {
		return w.and(end), optional
	}
	for _, entry := range end.entries { // other filters may keep them unchanged
		w.examples = append(w.examples, entry)
	}
	return w, optional
}

// areDates reports whether filters or the use of their result, end, take the value for a date.
func areDates(filters []Filter, end takes) bool {
	const dates = aDate | aTime
	return end.want&dates != 0 || slices.ContainsFunc(filters, func(f Filter) bool { return f.takes().want&dates != 0 })
}

// and returns the use of a value for both.
func (t takes) and(other takes) takes {
	t.want |= other.want
	t.examples = slices.Concat(t.examples, other.examples)
	t.sure = t.sure || other.sure
	if t.entries == nil {
		t.entries = other.entries
	}
	return t
}

// takes returns the use of the value by a filter.
func (f *Filter) takes() takes {
	if f.fn.takesFor != nil {
		return f.fn.takesFor(f)
	}
	return f.fn.takes
}

// argumentOf returns the use of an argument by a filter. given is the use of the tag's result.
func argumentOf(f *Filter, i int, given takes) takes {
	switch known := f.fn.args; {
	case f.Name == "default":
		return given
	case i == 0 && f.ofPlaces:
		return takes{want: aScalar, examples: []Value{json.Number("1"), json.Number("2")}}
	case len(known) > 0:
		return known[min(i, len(known)-1)]
	}
	return takes{}
}

func isNumber(s string) bool {
	_, ok := asNumber(s)
	return ok
}

// expr records the values that an expression reads. optional means that they may be missing in the input.
func (c *collector) expr(n Node, w takes, optional bool) {
	switch n := n.(type) {
	case *Path:
		c.path(n, w, optional)
	case *List:
		for _, item := range n.Items {
			c.expr(item, takes{want: aScalar}, optional)
		}
	case *Unary:
		if n.Op == "not" {
			c.expr(n.X, takes{}, true)
		} else {
			c.expr(n.X, takes{want: aNumber}, optional)
		}
	case *Binary:
		c.binary(n, optional)
	case *Presence:
		c.expr(n.X, takes{}, true)
	case *Index:
		if p, ok := n.Base.(*Path); ok && n.parallel {
			c.parallel(p, n.Steps, w, optional)
			return
		}
		c.index(n, w, optional)
	case *Filtered:
		own, handled := c.filters(n.Filters, w)
		c.expr(n.X, own, optional || handled)
	case *Call:
		if n.fn.choose != nil {
			c.choice(n, w, optional)
			return
		}
		if n.fn.byKey {
			c.lookUp(n, w, optional)
			return
		}
		if n.fn.blanks {
			c.blanks(n)
			return
		}
		c.call(n, optional)
	}
}

// blanks records the values that $compare reads. Numbers may be texts.
func (c *collector) blanks(n *Call) {
	op := ""
	if l, ok := n.Args[1].(*Literal); ok {
		text, _ := l.Value.(string)
		op = fieldOperators[text]
	}
	c.expr(n.Args[1], takes{}, true)
	read := func(x, with Node, op string) {
		l, ok := with.(*Literal)
		if p, isPath := x.(*Path); isPath && ok && op != "" {
			c.path(p, takes{want: aScalar, examples: satisfying(op, l)}, true)
		} else {
			c.expr(x, takes{want: aScalar}, true)
		}
	}
	read(n.Args[0], n.Args[2], op)
	read(n.Args[2], n.Args[0], turned[op])
}

// choice records the values that $if reads: conditions, and the results.
func (c *collector) choice(n *Call, w takes, optional bool) {
	for i, arg := range n.Args {
		if i%2 == 0 && i+1 < len(n.Args) {
			c.expr(arg, takes{}, true)
		} else {
			c.expr(arg, w, optional)
		}
	}
}

func (c *collector) call(n *Call, optional bool) {
	for i, arg := range n.Args {
		w := n.fn.takes[min(i, len(n.fn.takes)-1)]
		if n.fn.perItem && len(n.Args) > 1 { // the first is the list, and the second is computed for its items
			w = takes{want: []want{aList, w.want &^ maybeList}[i]}
		}
		c.expr(arg, w, optional)
	}
}

// lookUp records the values that $lookup reads: the literal keys of an object, or of the items of a list.
func (c *collector) lookUp(n *Call, w takes, optional bool) {
	isList := len(n.Args) > 2
	in, ok := n.Args[0].(*Path)
	if !ok {
		c.expr(n.Args[0], takes{}, optional)
	} else if isList {
		c.path(in, takes{want: aList}, optional)
	}
	below := func(i int, w takes) {
		key, isText := "", false
		if l, ok := n.Args[i].(*Literal); ok {
			key, isText = l.Value.(string)
		}
		switch {
		case !isText:
			c.expr(n.Args[i], takes{want: aScalar}, optional)
		case ok:
			p := *in
			p.Steps = slices.Clone(in.Steps)
			for step := range strings.SplitSeq(key, ".") {
				p.Steps = append(p.Steps, Step{Key: step})
			}
			c.path(&p, w, optional)
		}
	}
	if !isList {
		below(1, w)
		return
	}
	same := like(aScalar, "A-1001") // so that the sample has an item that is found
	below(1, same)
	c.expr(n.Args[2], same, optional)
	if len(n.Args) > 3 {
		below(3, w)
	}
}

func (c *collector) binary(n *Binary, optional bool) {
	switch n.strength() {
	case strengthSum, strengthProduct:
		c.expr(n.L, takes{want: aNumber}, optional)
		c.expr(n.R, takes{want: aNumber}, optional)
	case strengthCompare:
		c.compared(n.L, n.R, n.Op)
		c.compared(n.R, n.L, turned[n.Op])
	default:
		c.expr(n.L, takes{}, true)
		c.expr(n.R, takes{}, true)
	}
}

// turned has the operators for comparisons with swapped operands.
var turned = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "in": "contains", "contains": "in"}

// compared records the values that x reads in a comparison. The other operand may determine the kind of x.
func (c *collector) compared(x, with Node, op string) {
	p, ok := x.(*Path)
	if !ok {
		c.expr(x, takes{}, true)
		return
	}
	if call, ok := with.(*Call); ok && (call.Name == "$now" || call.Name == "$today") {
		c.path(p, takes{want: aDate}, true)
		return
	}
	if isNumeric(with) && !ofText[op] {
		c.path(p, takes{want: aNumber}, true)
		return
	}
	literals := []Node{with}
	if l, ok := with.(*List); ok && op == "in" {
		literals, op = l.Items, "=="
	}
	for _, n := range literals {
		l, ok := n.(*Literal)
		switch {
		case ok && (op == startsWith || op == endsWith):
			c.path(p, takes{want: aText, examples: []Value{l.Value}}, true)
		case op == startsWith || op == endsWith || op == matches || op == "":
			c.path(p, takes{want: aText}, true)
		case op == "contains":
			c.path(p, holding(l), true)
		case !ok && strings.ContainsAny(op, "<>"): // numbers or dates, and both the same
			c.path(p, takes{examples: []Value{json.Number("1")}}, true)
		case !ok || op == "in": // values of one kind, which is not that of conditions
			c.path(p, takes{examples: []Value{"A"}}, true)
		default:
			c.path(p, takes{want: literalWant(l.Value), examples: satisfying(op, l)}, true)
		}
	}
}

// isNumeric reports whether an expression can only be a number.
func isNumeric(n Node) bool {
	switch n := n.(type) {
	case *Binary:
		return n.strength() == strengthSum || n.strength() == strengthProduct
	case *Unary:
		return n.Op == "-"
	case *Call:
		return !n.fn.text
	}
	return false
}

// holding returns the use of a value in which a literal is searched. If the literal is nil, that value is a list.
func holding(l *Literal) takes {
	held := Value("A")
	if l != nil {
		held = l.Value
	}
	return takes{examples: []Value{[]any{held}}}
}

func literalWant(v Value) want {
	switch v.(type) {
	case json.Number:
		return aNumber
	case bool:
		return aBoolean
	case string:
		return aScalar
	}
	return 0
}

// satisfying returns a value for which a comparison with a literal is true: the next number for numbers that must be
// greater or less, and the literal for !=.
func satisfying(op string, l *Literal) []Value {
	one := number{Decimal: decimal.NewFromInt(1)}
	if _, ok := l.Value.(json.Number); ok && l.num.fits() {
		switch op {
		case ">":
			return []Value{json.Number(calculate("+", l.num, one).text())}
		case "<":
			return []Value{json.Number(calculate("-", l.num, one).text())}
		}
	}
	return []Value{l.Value}
}

// path notes one path.
func (c *collector) path(p *Path, w takes, optional bool) {
	keys, ok := c.scope.keys(p)
	if !ok || len(keys) == 0 {
		return
	}
	r := read{takes: w, nodes: c.use.nodes(keys), tag: c.tag.Text}
	r.needed = len(r.nodes)
	if !optional && !p.perItem {
		r.needed = c.scope.needed(p, r.nodes)
	}
	at := len(r.nodes) - 1
	for _, step := range slices.Backward(p.Steps) { // the value before an index is a list
		if step.IsIndex && at >= 0 {
			r.listed = append(r.listed, listed{r.nodes[at], r.itemsFor(step.Index, at, p.parallel)})
		} else {
			at--
		}
	}
	if w.want&aList != 0 {
		r.listed = append(r.listed, listed{node: r.nodes[len(r.nodes)-1]})
	}
	c.use.reads = append(c.use.reads, r)
	c.guards = append(c.guards, r.nodes)
}

// itemsFor returns the number of items that the list at a node needs for an index, or 0 if a missing item is not reported.
func (r *read) itemsFor(index, at int, parallel bool) int {
	switch {
	case r.needed > at && !parallel:
		return 0
	case index < 0:
		return -index
	}
	return index + 1
}
