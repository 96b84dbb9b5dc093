package lang

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// operator is an infix or postfix operator in its one spelling.
type operator struct {
	text     string
	strength int
}

// wordOperators has the operators that are words, by their lower-case spelling.
var wordOperators = map[string]operator{
	"or": {"or", strengthOr}, "and": {"and", strengthAnd},
	"in": {"in", strengthCompare}, "contains": {"contains", strengthCompare},
	"startswith": {startsWith, strengthCompare}, "endswith": {endsWith, strengthCompare}, "matches": {matches, strengthCompare},
	"ispresent": {isPresent, strengthCompare}, "isnotpresent": {isNotPresent, strengthCompare},
}

const (
	isPresent    = "isPresent"
	isNotPresent = "isNotPresent"
	startsWith   = "startsWith"
	endsWith     = "endsWith"
	matches      = "matches"
)

// reserved has the words that are keys only in backquotes.
var reserved = map[string]bool{
	"or": true, "and": true, "not": true, "in": true, "contains": true, "isPresent": true, "isNotPresent": true,
	"true": true, "false": true, "null": true,
}

// isReserved reports whether a word is not a key unless in backquotes.
func isReserved(word string) bool { return reserved[word] || isBare(word) }

func (p *parser) expression() Node { return p.binary(strengthOr) }

// binary reads a chain of operators of at least the given strength, by precedence climbing.
func (p *parser) binary(strength int) Node {
	if !p.deeper(p.peek().pos) {
		return nil
	}
	defer p.shallower()
	left := p.unary()
	for {
		p.checkHabit()
		negated := p.negation()
		pos, op := p.peek().pos, p.operator()
		if op.strength == 0 || op.strength < strength {
			return left
		}
		p.count(pos)
		if then := p.after(); op.text == "+" && (isText(left) || then.kind == tokString && !isNumber(then.text)) {
			p.fail(pos, hintJoin, "+ adds numbers, not strings")
		}
		if negated {
			p.next()
		}
		p.next()
		left = p.operands(left, pos, op)
		if negated {
			left = &Unary{Pos(pos), "not", left}
		}
		if again := p.peek().pos; op.strength == strengthCompare && p.operator().strength == strengthCompare {
			p.fail(again, "join two comparisons with and", "comparisons do not chain")
		}
	}
}

// operands returns the node of op, reading its right operand if it has one.
func (p *parser) operands(left Node, pos int, op operator) Node {
	if op.text == isPresent || op.text == isNotPresent {
		return &Presence{Pos(pos), left, op.text == isNotPresent}
	}
	n := &Binary{Pos: Pos(pos), Op: op.text, L: left, R: p.binary(op.strength + 1)}
	if p.err != nil { // an operand may be missing
		return n
	}
	switch n.strength() {
	case strengthOr, strengthAnd:
		hint := "write a whole condition on both sides of " + n.Op
		if c, ok := left.(*Binary); ok && c.strength() == strengthCompare {
			hint = "write " + (&Binary{Op: n.Op, L: c, R: &Binary{Op: c.Op, L: c.L, R: n.R}}).String()
		}
		p.checkCondition(n.L, hint)
		p.checkCondition(n.R, hint)
	case strengthSum, strengthProduct:
		if f, ok := n.R.(*Filtered); ok && f == p.bare {
			p.fail(f.Position(), "put what the filter is for in parentheses, such as (a "+n.Op+" b) :: "+f.Filters[0].Name,
				"the filter applies only to the value before it")
		}
	}
	if l, ok := n.R.(*Literal); ok && op.text == matches {
		p.checkPattern(n, l)
	}
	return n
}

// checkCondition reports a condition that is a value that is written out, and therefore always true or always false.
func (p *parser) checkCondition(n Node, hint string) {
	switch n := n.(type) {
	case *List:
		p.fail(n.Position(), hint, "a list is not a condition: it is always true")
	case *Literal:
		switch v := n.Value.(type) {
		case string:
			p.fail(n.Position(), hint, "%q is not a condition: it is always %t", shortened(v), v != "")
		case json.Number:
			p.fail(n.Position(), hint, "%s is not a condition: it is always %t", n, truth(v))
		}
	}
}

// checkPattern compiles the pattern of matches.
func (p *parser) checkPattern(n *Binary, l *Literal) {
	text, ok := l.Value.(string)
	if !ok {
		p.fail(l.Position(), hintPattern, "%s is %s, not a pattern", l, kindName(l.Value))
		return
	}
	var err error
	if n.pattern, err = compilePattern(text); err != nil {
		p.fail(l.Position(), hintPattern, "%s", err)
	} else if n.pattern.always {
		p.fail(l.Position(), hintAlways(text), "the pattern also matches nothing, so every text matches")
	}
}

// hintAlways returns what to write instead of a pattern that always matches, such as B*, which authors write for B and anything after it.
func hintAlways(text string) string {
	if start, ok := strings.CutSuffix(text, "*"); ok && start != "" && regexp.QuoteMeta(start) == start {
		return "for texts that begin with " + start + ", write " + quote("^"+start)
	}
	return hintPattern
}

const hintPattern = `write a regular expression in quotes, such as "^[A-Z]{2}[0-9]+$"`

// checkHabit reports operators of other languages after a value, with what to write here.
func (p *parser) checkHabit() {
	t, then := p.peek(), p.after()
	switch {
	case t.is("=") && (then.is(">") || then.is("<")) && then.pos == t.pos+1:
		p.fail(t.pos, "write "+then.text+"=", "there is no operator =%s", then.text)
	case t.is("="):
		p.fail(t.pos, notOperators['='], "unexpected '='")
	case (t.is("==") || t.is("!=")) && then.is("=") && then.pos == t.pos+len(t.text):
		p.fail(t.pos, "write "+t.text, "there is no operator %s=", t.text)
	case t.kind == tokWord && wordHabits[strings.ToLower(t.text)] != "":
		p.fail(t.pos, "write "+wordHabits[strings.ToLower(t.text)], "there is no operator %q", t.text)
	case t.is("<") && then.is(">"):
		p.fail(t.pos, "write != between two values", "there is no operator <>")
	case t.kind == tokWord && then.kind == tokWord && habitualOperators[strings.ToLower(t.text+" "+then.text)] != "":
		p.fail(t.pos, "write "+habitualOperators[strings.ToLower(t.text+" "+then.text)], "there is no operator %q", t.text+" "+then.text)
	case t.kind == tokWord && strings.EqualFold(t.text, "is") && then.kind == tokWord:
		p.fail(t.pos, "write x isPresent or x isNotPresent, or compare with ==", "there is no operator %q", t.text+" "+then.text)
	}
}

// habitualOperators are our operators by how authors spell them in two words.
var habitualOperators = map[string]string{
	"starts with": "a startsWith b", "begins with": "a startsWith b", "ends with": "a endsWith b", "not equals": "a != b",
	"does contain": "a contains b", "is in": "a in b",
}

// wordHabits are operators of other languages that are one word, with what to write here.
var wordHabits = map[string]string{
	"eq": "a == b", "equals": "a == b", "ne": "a != b", "gt": "a > b", "lt": "a < b", "ge": "a >= b", "gte": "a >= b", "le": "a <= b",
	"lte": "a <= b", "exists": "a isPresent", "like": `a contains b, or a matches "pattern"`, "includes": "a contains b",
	"beginswith": "a startsWith b", "isempty": "not a, or a isNotPresent", "isblank": "not a, or a isNotPresent", "isnull": "a isNotPresent",
	"isnotempty": "a alone, or a isPresent", "isnotnull": "a isPresent",
}

// hintJoin says how to join strings.
const hintJoin = `to join strings, write them next to each other in the document, or $string(a, " ", b)`

// isText reports whether n is a literal string that is not a number.
func isText(n Node) bool {
	l, ok := n.(*Literal)
	if !ok {
		return false
	}
	s, ok := l.Value.(string)
	return ok && !isNumber(s)
}

// negation reports whether the next words are "not" and an operator that can follow it, such as "in".
func (p *parser) negation() bool {
	not, following := p.peek(), p.after()
	return not.kind == tokWord && strings.EqualFold(not.text, "not") && following.kind == tokWord && negatable[strings.ToLower(following.text)]
}

// negatable are the operators that can follow "not", in lower case.
var negatable = map[string]bool{"in": true, "contains": true, "startswith": true, "endswith": true, "matches": true}

// operator returns the operator that is next, leaving it there, or none. It looks past the not of a negation.
func (p *parser) operator() operator {
	t := p.peek()
	if p.negation() {
		t = p.after()
	}
	switch t.kind {
	case tokOp:
		return operator{t.text, binaryStrength[t.text]}
	case tokWord:
		return wordOperators[strings.ToLower(t.text)]
	}
	return operator{}
}

func (p *parser) unary() Node {
	t := p.peek()
	switch {
	case t.is("-"):
		p.next()
		p.count(t.pos)
		if !p.deeper(t.pos) {
			return nil
		}
		defer p.shallower()
		return &Unary{Pos(t.pos), "-", p.unary()}
	case t.kind == tokWord && (t.text == "not" || strings.EqualFold(t.text, "not") && p.after().opensOperand()):
		p.next()
		p.count(t.pos)
		n := &Unary{Pos(t.pos), "not", p.binary(strengthCompare)}
		p.checkCondition(n.X, "write a condition after not")
		return n
	}
	return p.operand()
}

// operand reads a primary expression with its filters, if these are for the operand and not for the whole tag.
func (p *parser) operand() Node {
	n := p.primary()
	at := p.peek()
	if p.inside == 0 || !at.is("::") {
		return n
	}
	f := &Filtered{Pos: Pos(at.pos), X: n}
	f.Filters, p.bare = p.filters(n, false), f
	for i := range f.Filters {
		if filter := &f.Filters[i]; filter.fn != nil && (filter.fn.note != nil || filter.fn.ofTag) {
			p.fail(filter.Position(), "write it after the value of a tag", "the filter %s is for the whole value of a tag", filter.Name)
		}
	}
	return f
}

// opensOperand reports whether an operand may start with t.
func (t token) opensOperand() bool {
	switch t.kind {
	case tokWord:
		return wordOperators[strings.ToLower(t.text)].strength == 0
	case tokOp:
		return t.text == "("
	}
	return t.kind != tokEnd
}

func (p *parser) primary() Node {
	t := p.peek()
	p.count(t.pos)
	switch {
	case p.accept("("):
		p.inside++
		defer func() { p.inside-- }()
		n := p.expression()
		if p.peek().is(",") { // a list, as databases write it
			return p.list(t.pos, n, "(", ")")
		}
		p.closing("(", ")")
		p.bare = nil
		return n
	case p.accept("["):
		p.inside++
		defer func() { p.inside-- }()
		return p.list(t.pos, nil, "[", "]")
	case t.kind == tokNumber:
		return p.number()
	case t.kind == tokString:
		p.next()
		return &Literal{Pos: Pos(t.pos), Value: t.text}
	case t.kind == tokWord && reserved[t.text]:
		return p.constant()
	case t.kind == tokWord && (p.after().is("(") || isBare(t.text) && !p.after().is(".")):
		return p.call()
	case t.kind == tokWord || t.kind == tokKey:
		return p.path()
	}
	p.fail(t.pos, "", "a value is missing %s", t.place())
	return nil
}

// list parses the items of a list up to its closing bracket. first is the first item if it has been parsed, or else nil.
func (p *parser) list(pos int, first Node, open, end string) Node {
	l := &List{Pos: Pos(pos)}
	if first != nil {
		l.Items = append(l.Items, first)
		p.accept(",")
	} else if p.accept(end) {
		return l
	}
	for {
		l.Items = append(l.Items, p.expression())
		if !p.accept(",") {
			p.closing(open, end)
			return l
		}
	}
}

// closing passes over a closing bracket.
func (p *parser) closing(open, end string) {
	if t := p.peek(); !p.accept(end) {
		p.fail(t.pos, "", "%q has no closing %q %s", open, end, t.place())
	}
}

func (p *parser) number() Node {
	if date := p.bareDate(); date != "" {
		p.fail(p.peek().pos, "put it in quotes: "+quote(date), "the date %s is not in quotes", date)
	}
	t := p.next()
	x, ok := parseNumber(t.text)
	if !ok {
		p.fail(t.pos, "", "the number has more than %d digits", MaxDigits)
	}
	return &Literal{Pos(t.pos), json.Number(t.text), x}
}

// bareDate returns the date that is next and is not in quotes, such as 2026-01-31, or "".
func (p *parser) bareDate() string {
	date := ""
	for i, width := range []int{4, 1, 2, 1, 2} {
		t := p.tokens[min(i, len(p.tokens)-1)]
		if len(t.text) != width || (t.kind == tokNumber) != (width > 1) || width == 1 && !t.is("-") || t.pos != p.tokens[0].pos+len(date) {
			return ""
		}
		date += t.text
	}
	return date
}

func (p *parser) constant() Node {
	t := p.next()
	switch t.text {
	case "true", "false":
		return &Literal{Pos: Pos(t.pos), Value: t.text == "true"}
	case "null":
		return &Literal{Pos: Pos(t.pos)}
	}
	p.fail(t.pos, "put a key of that name in backquotes", "a value is missing before the word %q", t.text)
	return nil
}

func (p *parser) call() Node {
	name := p.next()
	c := &Call{Pos: Pos(name.pos), Name: name.text, fn: functionTable[name.text]}
	switch {
	case c.fn != nil:
		c.Args = p.arguments()
		p.checkCount(name.pos, c.Name, c.fn.usage, c.fn.arity, len(c.Args))
		p.checkCall(c)
	case functionTable["$"+name.text] != nil:
		p.fail(name.pos, "functions start with $: write $"+name.text+"(…)", "there is no function %q", name.text)
	case wordOperators[strings.ToLower(strings.TrimPrefix(name.text, "$"))].strength > 0:
		op := wordOperators[strings.ToLower(strings.TrimPrefix(name.text, "$"))].text
		p.fail(name.pos, "write it between two values, as in a "+op+" b", "there is no function %q", name.text)
	case filterTable[name.text] != nil:
		p.fail(name.pos, "a filter follows the value: write value :: "+name.text, "there is no function %q", name.text)
	default:
		p.fail(name.pos, suggest(name.text, "functions", functionTable), "there is no function %q", name.text)
	}
	return c
}

// checkCall checks the arguments of a function that are conditions, or computed for each item of a list, and marks those that are keys.
func (p *parser) checkCall(c *Call) {
	if p.err != nil {
		return
	}
	if c.fn.choose != nil {
		for i := 0; i+1 < len(c.Args); i += 2 {
			p.checkCondition(c.Args[i], "write "+c.fn.usage)
		}
	}
	if c.fn.byKey {
		for _, key := range c.Args[1:] {
			markKeys(key)
		}
	}
	if !c.fn.perItem || len(c.Args) < 2 {
		return
	}
	switch c.Args[0].(type) {
	case *Literal, *Unary, *Binary:
		p.fail(c.Args[0].Position(), "write "+c.ofList(), "with two arguments, %s needs a list as the first", c.Name)
	}
	perItem(c.Args[1:], c.Args[0])
	p.checkItems(c.Args[1:], false, c.fn.usage)
	if _, ok := c.Args[1].(*Literal); ok {
		hint := "write " + c.fn.usage + "; to round the result, write $round(" + c.Name + "(…), 2)"
		if c.Name == "$min" || c.Name == "$max" {
			hint = "to choose one of several values, write " + c.ofList()
		}
		p.fail(c.Args[1].Position(), hint, "%s is the same for all items", c.Args[1])
	}
}

// ofList returns a call with its arguments as one list.
func (c *Call) ofList() string { return c.Name + "([" + join(c.Args) + "])" }

// path reads a path, and the steps below a key or position in it that the data determine.
func (p *parser) path() Node {
	first := p.next()
	steps := []Step{{Key: first.text}}
	var index *Index // the innermost so far; steps are below it
	for {
		if len(steps) > MaxPath {
			p.fail(first.pos, "", "the path has more than %d steps", MaxPath)
		}
		switch {
		case p.accept("."):
			steps = append(steps, Step{Key: p.next().text})
		case p.accept("["):
			step, key := p.index()
			if key == nil {
				steps = append(steps, step)
				continue
			}
			index = newIndex(p.below(first.pos, index, steps), key)
			steps = nil
		default:
			return p.below(first.pos, index, steps)
		}
	}
}

// below returns the node for some steps below an index, or for a path if that is nil.
func (p *parser) below(pos int, index *Index, steps []Step) Node {
	if index == nil {
		return newPath(pos, steps)
	}
	index.Steps = steps
	if p.err != nil { // its key may be missing
		return index
	}
	markKeys(index.Key)
	index.name = &Path{Pos: Pos(pos), Steps: []Step{{Key: index.String()}}, text: index.String(), isIndex: true}
	return index
}

// index reads what is in brackets: a position or key that is written out, or else an expression.
func (p *parser) index() (Step, Node) {
	t, then, negative := p.peek(), p.after(), false
	if t.is("-") && then.kind == tokNumber {
		negative = true
		t, then = then, p.tokens[min(2, len(p.tokens)-1)]
	}
	p.inside++
	defer func() { p.inside-- }()
	if t.kind == tokNumber && (then.is("]") || then.kind == tokEnd) {
		n, err := strconv.Atoi(t.text)
		if err != nil {
			p.fail(t.pos, "[0] is the first item of a list, [-1] the last", "the index is not a whole number")
		}
		if p.next(); negative {
			p.next()
			n = -n
		}
		p.closing("[", "]")
		return Step{Index: n, IsIndex: true}, nil
	}
	if t.kind == tokString && then.is("]") {
		p.next()
		p.closing("[", "]")
		return Step{Key: t.text}, nil
	}
	key := p.expression()
	p.closing("[", "]")
	return Step{}, key
}

// arguments reads the arguments in parentheses, if there are any.
func (p *parser) arguments() []Node {
	var args []Node
	if !p.accept("(") || p.accept(")") {
		return nil
	}
	p.inside++
	defer func() { p.inside-- }()
	for {
		args = append(args, p.expression())
		if end := p.peek(); !p.accept(",") {
			if !p.accept(")") {
				p.fail(end.pos, "", "a closing parenthesis is missing %s", end.place())
			}
			return args
		}
	}
}
