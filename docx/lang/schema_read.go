package lang

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// want is what a tag takes a value for: a set, since tags may take the same value for several things.
type want uint

const (
	aList     want = 1 << iota // a list
	maybeList                  // a list if nothing on the way to it is one
	aScalar                    // text, a number, true or false
	aText                      // text
	aBoolean                   // true or false
	aNumber                    // a number
	aDate                      // a date, with or without a time
	aTime                      // a date with a time
	aPicture                   // a picture
)

// signature is what a filter or function says of the value it is for.
type signature struct {
	want
	same bool // what it gives is of that value still, so that the next filter says something of it too
}

// filterSignatures holds what each filter takes. What format and add take depends on their argument.
var filterSignatures = map[string]signature{
	"optional": {same: true}, "default": {same: true},

	"uppercase": {want: aScalar}, "lowercase": {want: aScalar}, "titlecase": {want: aScalar}, "capitalize": {want: aScalar},
	"trim": {aScalar, true}, "truncate": {want: aScalar}, "replace": {want: aScalar}, "pad": {want: aScalar}, "split": {want: aScalar},

	"currency": {want: aNumber}, "percent": {want: aNumber}, "words": {want: aNumber}, "ordinal": {want: aNumber},
	"date": {want: aDate}, "time": {want: aTime}, "timezone": {aTime, true},

	"where": {aList, true}, "sort": {aList, true}, "group": {aList, true}, "unique": {aList, true}, "reverse": {aList, true},
	"first": {aList, true}, "last": {aList, true}, "slice": {same: true}, "count": {want: aList}, "join": {want: aList | aScalar},
	"delimiter": {maybeList, true}, "lastdelimiter": {maybeList, true}, "chart": {want: aList},

	"raw": {aScalar, true}, "html": {aText, true}, "markdown": {aText, true}, "image": {want: aPicture},
	"qrcode": {aScalar, true}, "barcode": {aScalar, true}, "link": {want: aScalar}, "checkbox": {want: aBoolean}, "pagebreak": {want: aBoolean},
	"bold": {same: true}, "italic": {same: true}, "underline": {same: true}, "strike": {same: true}, "color": {same: true},
	"style": {same: true}, "merge": {same: true}, "span": {same: true},
}

// functionSignatures holds what each function takes its arguments for; the last counts for all that follow.
var functionSignatures = map[string][]want{
	"$sum": {maybeList | aNumber}, "$average": {maybeList | aNumber}, "$min": {maybeList | aNumber}, "$max": {maybeList | aNumber},
	"$count": {maybeList, 0}, "$length": {0}, "$join": {maybeList | aScalar, aScalar}, "$string": {aScalar}, "$lookup": {0, aScalar, aScalar, 0},
	"$round": {aNumber}, "$floor": {aNumber}, "$ceil": {aNumber}, "$abs": {aNumber}, "$number": {aNumber},
	"$days": {aDate}, "$now": nil, "$today": nil,
}

// read is one path that a tag reads.
type read struct {
	nodes   []*useNode // from the top of the input
	needed  int        // the first of nodes that is missed if it is not there; len(nodes) if none is
	listed  []*useNode // those that are lists for sure
	want    want
	example Value // a literal that it is compared with
	tag     string
}

// collector gathers the reads of one tag.
type collector struct {
	use    *Use
	scope  *Scope
	tag    *Tag
	guards [][]*useNode // what a condition looks at
}

// collect notes what the tag reads, and what for; printed is what a value tag is shown as.
func (c *collector) collect(printed want) {
	t := c.tag
	switch {
	case t.Kind == If || t.Kind == ElseIf:
		c.expr(t.Expr, 0, true)
	case t.Kind.IsLoop():
		w, optional := c.filters(aList)
		c.expr(t.Expr, w, optional)
	case t.Kind == Print:
		w, optional := c.filters(printed)
		c.expr(t.Expr, w, optional)
	}
}

// filters returns what the filters of the tag take its value for, in the end for what is given, and notes what their arguments
// read.
func (c *collector) filters(end want) (w want, optional bool) {
	same := true
	for i := range c.tag.Filters {
		f := &c.tag.Filters[i]
		optional = optional || f.Name == "optional" || f.Name == "default"
		for i, arg := range f.Args {
			c.expr(arg, argumentWant(f, i, end), true)
		}
		if !same {
			continue
		}
		s, ok := filterSignatures[f.Name]
		if f.Name == "format" || f.Name == "add" {
			s, ok = patternWant(f), true
		}
		if !ok {
			s = signature{want: aScalar}
		}
		w, same = w|s.want, s.same
	}
	if same {
		w |= end
	}
	return w, optional
}

// argumentWant returns what a filter takes an argument for; given is what the tag as a whole gives.
func argumentWant(f *Filter, i int, given want) want {
	switch f.Name {
	case "default":
		return given
	case "sort", "group", "unique":
		return aScalar
	case "chart":
		if i > 0 {
			return aNumber
		}
		return aScalar
	}
	return 0
}

// patternWant returns what a filter is for that takes what its argument says: format a text, a number or a date, add a number
// or a date.
func patternWant(f *Filter) signature {
	l, ok := f.Args[0].(*Literal)
	if !ok {
		return signature{want: aScalar}
	}
	pattern, isText := l.Value.(string)
	switch {
	case f.Name == "add" && isText && checkAmount(f, pattern) == "" && !isNumber(pattern):
		return signature{aDate, true}
	case f.Name == "add":
		return signature{aNumber, true}
	case isMask(pattern):
		return signature{want: aScalar}
	case strings.ContainsAny(pattern, "#0"), strings.HasSuffix(strings.ToLower(pattern), "-number"):
		return signature{want: aNumber}
	case strings.ContainsAny(pattern, "hH"):
		return signature{want: aTime}
	}
	return signature{want: aDate}
}

func isNumber(s string) bool {
	_, ok := asNumber(s)
	return ok
}

// expr notes what an expression reads. Optional tells that nothing is missed if it is not there.
func (c *collector) expr(n Node, w want, optional bool) {
	switch n := n.(type) {
	case *Path:
		c.path(n, w, optional, nil)
	case *List:
		for _, item := range n.Items {
			c.expr(item, aScalar, optional)
		}
	case *Unary:
		if n.Op == "not" {
			c.expr(n.X, 0, true)
		} else {
			c.expr(n.X, aNumber, optional)
		}
	case *Binary:
		c.binary(n, optional)
	case *Presence:
		c.expr(n.X, 0, true)
	case *Call:
		c.call(n, optional)
	}
}

func (c *collector) call(n *Call, optional bool) {
	signature := functionSignatures[n.Name]
	for i, arg := range n.Args {
		w := aScalar
		if len(signature) > 0 {
			w = signature[min(i, len(signature)-1)]
		}
		if n.fn.perItem && len(n.Args) > 1 { // the first is the list, the second what is computed for its items
			w = []want{aList, w &^ maybeList}[i]
		}
		c.expr(arg, w, optional)
	}
}

func (c *collector) binary(n *Binary, optional bool) {
	switch n.strength() {
	case strengthSum, strengthProduct:
		c.expr(n.L, aNumber, optional)
		c.expr(n.R, aNumber, optional)
	case strengthCompare:
		c.compared(n.L, n.R, n.Op)
		c.compared(n.R, n.L, turned[n.Op])
	default:
		c.expr(n.L, 0, true)
		c.expr(n.R, 0, true)
	}
}

// turned holds the comparisons with their sides changed.
var turned = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "in": "contains", "contains": "in"}

// compared notes what x reads when it is compared with something, which may tell what x is.
func (c *collector) compared(x, with Node, op string) {
	p, ok := x.(*Path)
	if !ok {
		c.expr(x, 0, true)
		return
	}
	if call, ok := with.(*Call); ok && (call.Name == "$now" || call.Name == "$today") {
		c.path(p, aDate, true, nil)
		return
	}
	literals := []Node{with}
	if l, ok := with.(*List); ok && op == "in" {
		literals, op = l.Items, "=="
	}
	for _, n := range literals {
		l, ok := n.(*Literal)
		if !ok || op == "in" || op == "contains" {
			c.path(p, 0, true, nil)
			continue
		}
		c.path(p, literalWant(l.Value), true, satisfying(op, l))
	}
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

// satisfying returns a value for which a comparison with a literal holds: of numbers that are to be more or less, the next;
// for != the literal, as what is known.
func satisfying(op string, l *Literal) Value {
	one := number{Decimal: decimal.NewFromInt(1)}
	if _, ok := l.Value.(json.Number); ok && l.num.fits() {
		switch op {
		case ">":
			return json.Number(calculate("+", l.num, one).text())
		case "<":
			return json.Number(calculate("-", l.num, one).text())
		}
	}
	return l.Value
}

// path notes one path.
func (c *collector) path(p *Path, w want, optional bool, example Value) {
	keys, ok := c.scope.keys(p)
	if !ok || len(keys) == 0 {
		return
	}
	r := read{nodes: c.use.nodes(keys), want: w, example: example, tag: c.tag.Text}
	r.needed = len(r.nodes)
	if !optional && !p.perItem {
		r.needed = c.scope.needed(p, r.nodes)
	}
	at := len(r.nodes) - 1
	for _, step := range slices.Backward(p.Steps) { // an index makes a list of what it stands behind
		if step.IsIndex && at >= 0 {
			r.listed = append(r.listed, r.nodes[at])
		} else {
			at--
		}
	}
	if w&aList != 0 {
		r.listed = append(r.listed, r.nodes[len(r.nodes)-1])
	}
	c.use.reads = append(c.use.reads, r)
	c.guards = append(c.guards, r.nodes)
}
