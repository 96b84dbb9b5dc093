package importer

import (
	"encoding/json"
	"strconv"
	"strings"
)

// grammar says how the expressions of a language differ.
type grammar struct {
	words     map[string]string // operators that are words, with the operator they are
	filters   rune              // what the arguments of a filter after | begin with: '(' or ':'; 0 for no filters
	postIf    bool              // a if b else c
	tests     bool              // a is b
	constants map[string]any
	null      string // what null is in a string that an operator joins
}

var (
	javascript = grammar{constants: map[string]any{"true": true, "false": false, "null": nil, "undefined": nil}, null: "null"}
	angular    = grammar{filters: ':', constants: javascript.constants}
	python     = grammar{
		words: map[string]string{"and": "&&", "or": "||", "not": "!", "in": "in"}, filters: '(', postIf: true, tests: true,
		constants: map[string]any{
			"true": true, "false": false, "none": nil, "True": true, "False": false, "None": nil,
		},
		null: "None",
	}
)

// maxDepth limits the nesting of an expression.
const maxDepth = 100

type parser struct {
	*grammar
	text   string
	tokens []token
	depth  int
	err    *cannot
}

// parse reads an expression.
func (g *grammar) parse(text string) (*expr, error) {
	p, err := g.start(text)
	if err != nil {
		return nil, err
	}
	e := p.expression()
	p.end()
	if p.err != nil {
		return nil, p.err
	}
	return e, nil
}

func (g *grammar) start(text string) (*parser, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	return &parser{grammar: g, text: text, tokens: tokens}, nil
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != tokEnd {
		p.tokens = p.tokens[1:]
	}
	return t
}

// op returns the operator that is next, also if it is a word; "" for none.
func (p *parser) op() string {
	switch t := p.peek(); t.kind {
	case tokOperator:
		return t.text
	case tokName:
		return p.words[t.text]
	}
	return ""
}

func (p *parser) accept(op string) bool {
	if p.err != nil || p.op() != op {
		return false
	}
	p.next()
	return true
}

// acceptWord passes over a keyword.
func (p *parser) acceptWord(word string) bool {
	if t := p.peek(); p.err != nil || t.kind != tokName || t.text != word {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(op string) {
	if !p.accept(op) {
		p.fail("the expression cannot be read: " + strconv.Quote(op) + " is missing")
	}
}

// end fails unless everything has been read.
func (p *parser) end() {
	if t := p.peek(); t.kind != tokEnd {
		p.fail("the expression cannot be read at " + strconv.Quote(shorten(p.text[t.pos:])))
	}
}

func (p *parser) fail(reason string) {
	if p.err == nil {
		p.err = &cannot{reason: reason}
		p.tokens = p.tokens[len(p.tokens)-1:]
	}
}

// expression reads a choice, or what it can consist of.
func (p *parser) expression() *expr {
	if p.depth++; p.depth > maxDepth {
		p.fail("the expression is nested too deeply")
	}
	defer func() { p.depth-- }()
	e := p.binary(0)
	switch {
	case p.err != nil:
		return e
	case !p.postIf && p.accept("?"):
		then := p.expression()
		p.expect(":")
		return &expr{op: opChoice, args: []*expr{e, then, p.expression()}}
	case p.postIf && p.acceptWord("if"):
		cond := p.binary(0)
		other := &expr{op: opLiteral, val: ""}
		if p.acceptWord("else") {
			other = p.expression()
		}
		return &expr{op: opChoice, args: []*expr{cond, e, other}}
	case p.filters == ':':
		return p.filtered(e)
	}
	return e
}

// levels are the binary operators from weak to strong, with their names in expr.
var levels = []map[string]string{
	{"||": "or", "??": "default"},
	{"&&": "and"},
	{"==": "==", "===": "==", "!=": "!=", "!==": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "in": "in"},
	{"+": "+", "-": "-", "~": "~"},
	{"*": "*", "/": "/", "%": "%"},
}

func (p *parser) binary(level int) *expr {
	if level == len(levels) {
		return p.unary()
	}
	e := p.binary(level + 1)
	var last *expr
	for p.err == nil {
		name := levels[level][p.op()]
		if level == 2 && p.tests && p.acceptWord("is") {
			e = p.test(e)
			continue
		}
		if level == 2 && p.op() == "!" && len(p.tokens) > 1 && p.words[p.tokens[1].text] == "in" {
			p.next()
			p.next()
			e = &expr{op: opNot, args: []*expr{{op: opBinary, name: "in", args: []*expr{e, p.binary(level + 1)}}}}
			continue
		}
		if name == "" {
			break
		}
		if level == 2 {
			e, last = p.comparison(e, last, name)
			continue
		}
		p.next()
		e = &expr{op: opBinary, name: name, args: []*expr{e, p.binary(level + 1)}}
	}
	return e
}

// comparison reads the rest of a comparison. last is the comparison before it in a chain, or nil: in Python, a < b < c is a < b and b < c.
func (p *parser) comparison(e, last *expr, name string) (whole, next *expr) {
	left := e
	if last != nil {
		left = last.args[1]
	}
	operator := p.next().text
	next = &expr{op: opBinary, name: name, args: []*expr{left, p.binary(3)}}
	if len(operator) == 3 {
		next.val = strict
	}
	switch {
	case last == nil:
		return next, next
	case p.words == nil:
		p.fail("it compares the result of a comparison")
	}
	return &expr{op: opBinary, name: "and", args: []*expr{e, next}}, next
}

// test reads the condition after the word is.
func (p *parser) test(e *expr) *expr {
	negated := p.accept("!")
	t := &expr{op: opTest, name: p.next().text, args: []*expr{e}}
	if p.accept("(") {
		t.args = append(t.args, p.list(")")...)
	}
	if negated {
		return &expr{op: opNot, args: []*expr{t}}
	}
	return t
}

func (p *parser) unary() *expr {
	if p.depth++; p.depth > maxDepth {
		p.fail("the expression is nested too deeply")
	}
	defer func() { p.depth-- }()
	switch {
	case p.words != nil && p.accept("!"):
		return &expr{op: opNot, args: []*expr{p.binary(2)}}
	case p.accept("!"):
		return &expr{op: opNot, args: []*expr{p.unary()}}
	case p.accept("-"):
		return &expr{op: opNegate, args: []*expr{p.unary()}}
	}
	e := p.postfix(p.primary())
	if p.filters == '(' {
		return p.filtered(e)
	}
	return e
}

// filtered reads the filters after a value.
func (p *parser) filtered(e *expr) *expr {
	for p.accept("|") {
		f := &expr{op: opFilter, name: p.next().text, args: []*expr{e}}
		if p.filters == '(' && p.accept("(") {
			f.args = append(f.args, p.list(")")...)
		}
		for p.filters == ':' && p.accept(":") {
			f.args = append(f.args, p.binary(0))
		}
		e = f
	}
	return e
}

func (p *parser) postfix(e *expr) *expr {
	for p.err == nil {
		switch {
		case p.accept(".") || p.accept("?."):
			name := p.next()
			if name.kind != tokName && name.kind != tokNumber {
				p.fail("the expression cannot be read: a key is missing after the dot")
			}
			if n := name.text; name.kind == tokNumber {
				e = &expr{op: opIndex, args: []*expr{e, {op: opLiteral, val: json.Number(n)}}}
			} else {
				e = &expr{op: opMember, name: n, args: []*expr{e}}
			}
		case p.accept("["):
			e = &expr{op: opIndex, args: []*expr{e, p.expression()}}
			p.expect("]")
		case p.accept("("):
			e = &expr{op: opCall, args: append([]*expr{e}, p.list(")")...)}
		default:
			return e
		}
	}
	return e
}

func (p *parser) primary() *expr {
	t := p.peek()
	switch t.kind {
	case tokName:
		p.next()
		if p.words == nil && p.accept("=>") {
			return &expr{op: opArrow, name: t.text, args: []*expr{p.expression()}}
		}
		if v, ok := p.constants[t.text]; ok {
			return &expr{op: opLiteral, name: t.text, val: v}
		}
		return &expr{op: opName, name: t.text}
	case tokNumber:
		p.next()
		return &expr{op: opLiteral, val: json.Number(t.text)}
	case tokString:
		p.next()
		return &expr{op: opLiteral, val: t.text}
	case tokTemplate:
		p.next()
		return p.template(t.text)
	}
	switch {
	case p.isArrow():
		p.next()
		name := p.next().text
		p.tokens = p.tokens[2:]
		return &expr{op: opArrow, name: name, args: []*expr{p.expression()}}
	case p.accept("("):
		e := p.expression()
		p.expect(")")
		return e
	case p.accept("["):
		return &expr{op: opList, args: p.list("]")}
	case p.accept("{"):
		return p.object()
	}
	p.fail("the expression cannot be read at " + strconv.Quote(shorten(p.text[min(t.pos, len(p.text)):])))
	return &expr{op: opLiteral}
}

// isArrow reports whether a function with its parameter in parentheses is next.
func (p *parser) isArrow() bool {
	return p.words == nil && len(p.tokens) > 4 && p.tokens[0].text == "(" && p.tokens[1].kind == tokName && p.tokens[2].text == ")" &&
		p.tokens[3].text == "=>"
}

// template reads the text of a template literal, with expressions in ${…}.
func (p *parser) template(text string) *expr {
	e := &expr{op: opLiteral, val: ""}
	add := func(x *expr) { e = &expr{op: opBinary, name: "~", args: []*expr{e, x}} }
	for {
		before, rest, found := strings.Cut(text, "${")
		if before != "" {
			add(&expr{op: opLiteral, val: before})
		}
		if !found {
			return e
		}
		inner, after, closed := strings.Cut(rest, "}")
		x, err := p.parse(inner)
		if err != nil || !closed {
			p.fail("it has a template literal of JavaScript that cannot be read")
			return e
		}
		add(x)
		text = after
	}
}

// list reads expressions up to a closing bracket. A name and = before an argument, as in Python, become a filter of that name.
func (p *parser) list(end string) []*expr {
	var all []*expr
	for p.err == nil && !p.accept(end) {
		if len(all) > 0 {
			p.expect(",")
		}
		name := ""
		if len(p.tokens) > 1 && p.peek().kind == tokName && p.tokens[1].text == "=" {
			name = p.next().text
			p.next()
		}
		e := p.expression()
		if name != "" {
			e = &expr{op: opTest, name: name + "=", args: []*expr{e}}
		}
		all = append(all, e)
	}
	return all
}

// object reads the rest of an object literal.
func (p *parser) object() *expr {
	o := &expr{op: opObject}
	for p.err == nil && !p.accept("}") {
		if len(o.args) > 0 {
			p.expect(",")
		}
		key := strings.Trim(p.next().text, "'\"")
		p.expect(":")
		o.args = append(o.args, &expr{op: opLiteral, val: key}, p.expression())
	}
	return o
}
