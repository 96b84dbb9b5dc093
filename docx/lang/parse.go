package lang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxTag is the maximum length of a tag, in bytes.
	MaxTag = 64 << 10
	// MaxNodes is the maximum number of operators, operands, and filters in a tag. No tree is deeper.
	MaxNodes = 1000
	// MaxPath is the maximum number of steps in a path.
	MaxPath = MaxDepth
	// MaxNesting is the maximum depth of parentheses, functions, and signs.
	MaxNesting = 100
)

// ParseTag reads one tag, braces included. Every error is a [*SyntaxError].
func ParseTag(text string) (*Tag, error) {
	fail := func(message string) (*Tag, error) { return nil, &SyntaxError{Text: text, Message: message} }
	if len(text) < len("{{}}") || !strings.HasPrefix(text, "{{") || !strings.HasSuffix(text, "}}") {
		return fail("a tag is written between {{ and }}")
	}
	if len(text) > MaxTag {
		return fail(fmt.Sprintf("the tag is longer than %d bytes", MaxTag))
	}
	if isComment(text[2 : len(text)-2]) {
		return &Tag{Kind: Comment, Text: text}, nil
	}
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	tag := &Tag{Text: text}
	if p.tag(tag); p.err != nil {
		p.err.Text = text
		return nil, p.err
	}
	if err := new(Scope).Misuse(tag); err != nil {
		return nil, err
	}
	return tag, nil
}

// parser reads the tokens of one tag. After the first error it is at the end, and every method returns at once; what
// they return then is never used.
type parser struct {
	tokens []token // ends with a tokEnd
	err    *SyntaxError
	nodes  int
	depth  int
	inside int       // brackets that are open, or 1 in a condition: filters are for an operand there, and not for the whole tag
	bare   *Filtered // the last operand with filters that is not in parentheses
}

func (p *parser) peek() token { return p.tokens[0] }

// after returns the token after the next one.
func (p *parser) after() token { return p.tokens[min(1, len(p.tokens)-1)] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != tokEnd {
		p.tokens = p.tokens[1:]
	}
	return t
}

// accept passes over the operator op if it is next.
func (p *parser) accept(op string) bool {
	ok := p.peek().is(op)
	if ok {
		p.next()
	}
	return ok
}

// acceptWord passes over the keyword if it is next, in any case.
func (p *parser) acceptWord(keyword string) bool {
	t := p.peek()
	ok := t.kind == tokWord && strings.EqualFold(t.text, keyword)
	if ok {
		p.next()
	}
	return ok
}

// fail records the first error.
func (p *parser) fail(pos int, hint, format string, args ...any) {
	if p.err == nil {
		p.err = &SyntaxError{Offset: pos, Message: strings.Map(oneLine, fmt.Sprintf(format, args...)), Hint: strings.Map(oneLine, hint)}
		p.tokens = p.tokens[len(p.tokens)-1:]
	}
}

// count counts a node at pos against the limit.
func (p *parser) count(pos int) {
	if p.nodes++; p.nodes > MaxNodes {
		p.fail(pos, "", "the tag has more than %d parts", MaxNodes)
	}
}

// deeper counts one level of nesting at pos; each call wants one of shallower, unless it returns false.
func (p *parser) deeper(pos int) bool {
	if p.depth++; p.depth > MaxNesting {
		p.fail(pos, "", "more than %d levels of parentheses", MaxNesting)
		return false
	}
	return true
}

func (p *parser) shallower() { p.depth-- }

func (p *parser) tag(t *Tag) {
	switch t.Kind = p.blockWord(); t.Kind {
	case Print:
		if end := p.peek(); end.kind == tokEnd {
			p.fail(end.pos, "", "the tag is empty")
		}
		t.Expr = p.expression()
		t.Filters = p.filters(t.Expr, true)
		if t.Filter("checkbox") == nil {
			markPrinted(t.Expr)
		}
		numberItems(t)
	case For, TableRow, TableColumn, Paragraph:
		t.KeyVar, t.Var = p.variables(t.Kind)
		t.Expr = p.expression()
		t.Filters = p.filters(t.Expr, true)
		ownVariable(t)
		p.checkLook(t)
	case Let:
		t.Var = p.next().text
		p.next() // the equals sign, which blockWord has seen
		t.Expr = p.expression()
		t.Filters = p.filters(t.Expr, true)
		if isReserved(t.Var) || isBlockWord(t.Var) || t.Var == itemName || t.Var == "loop" {
			p.fail(len("{{let "), "use another name", "%q cannot be the name of a variable", t.Var)
		}
		p.checkLook(t)
	case If, ElseIf:
		p.inside++
		t.Expr = p.expression()
		p.checkCondition(t.Expr, "to choose between values, write {{$if(condition, value, otherwise)}}")
	case Include:
		p.include(t)
	}
	if left := p.peek(); left.kind != tokEnd {
		p.fail(left.pos, p.hintLeft(t, left), "unexpected %q", left.text)
	}
}

// checkLook reports filters that set the look of a value in a tag that prints none.
func (p *parser) checkLook(t *Tag) {
	for i := range t.Filters {
		if f := &t.Filters[i]; f.fn != nil && f.fn.note != nil {
			p.fail(f.Position(), "write it where the value is printed: {{"+t.Var+" :: "+f.Name+"}}",
				"this tag prints nothing, so the filter %s has no effect", f.Name)
		}
	}
}

// blockWord consumes a word that opens, divides, or closes a block, and returns its kind. It returns Print if there is none.
func (p *parser) blockWord() Kind {
	word, then := p.peek(), p.after()
	kind, ok := blockWords[strings.ToLower(word.text)]
	if !ok || word.kind != tokWord || then.is(".") || then.is("[") && then.pos == word.pos+len(word.text) || then.is("::") ||
		kind == Include && !beginsInclude(then) || isKeyToo(kind) && !p.isStatement() {
		return Print
	}
	p.next()
	if kind == Else && p.acceptWord("if") {
		return ElseIf
	}
	return kind
}

// isKeyToo reports whether the word of a block may also be the name of a key at the start of a tag.
func isKeyToo(kind Kind) bool { return kind == Let || kind == Paragraph }

// isStatement reports whether a name and the word or sign after it in {{let x = …}} or {{paragraph x in …}} come after the next word.
func (p *parser) isStatement() bool {
	then := p.tokens[min(2, len(p.tokens)-1)]
	return p.after().kind == tokWord && (then.is("=") || then.is(",") || then.kind == tokWord && strings.EqualFold(then.text, "in"))
}

// variables reads the variables of a loop, and the word in. key is "" if there is only one.
func (p *parser) variables(kind Kind) (key, item string) {
	usage := fmt.Sprintf("write {{%s item in list}}", kind)
	read := func() string {
		name := p.next()
		if name.kind != tokWord || isReserved(name.text) || isBlockWord(name.text) {
			p.fail(name.pos, usage, "the name of the item is missing")
		}
		return name.text
	}
	item = read()
	if comma := p.peek(); p.accept(",") {
		if key, item = item, read(); key == item {
			p.fail(comma.pos, "use two names", "both variables have the name %q", key)
		}
	}
	if in := p.peek(); !p.acceptWord("in") {
		p.fail(in.pos, usage, "the word in is missing")
	}
	return key, item
}

func (p *parser) hintLeft(t *Tag, left token) string {
	switch {
	case t.Expr == nil:
		return fmt.Sprintf("{{%s}} stands alone", t.Kind)
	case left.is(",") && isDigitAt(t.Text, left.pos-1) && isDigitAt(t.Text, left.pos+1):
		return "write numbers without thousands separators and with a decimal point, such as 1000 or 1.19"
	case left.is(".") && t.Text[left.pos-1] == ')':
		return hintBelowCall(t)
	case left.kind == tokOp && binaryStrength[left.text] > 0 && len(t.Filters) > 0:
		return "compute before the filters, or put the value and its filters in parentheses"
	case left.kind == tokWord && t.Kind.IsLoop() && filterTable[left.text] != nil:
		return "a filter comes after ::, as in :: " + filterTable[left.text].usage
	case t.Kind == Include:
		return hintCandidates
	case t.Expr.String() == keyText(Include.String(), true):
		return `write {{include "name"}}`
	case left.kind == tokWord && t.Kind == Print:
		return cmp.Or(hintMeant(t.Text), hintBackquotes)
	}
	return ""
}

// hintBelowCall says how to read a key of the result of the function that a tag begins with.
func hintBelowCall(t *Tag) string {
	if c, ok := t.Expr.(*Call); ok && c.fn.byKey {
		return "name the key in the function, as in " + c.fn.usage
	}
	return "name the value first: {{let x = …}}, and then write {{x.key}}"
}

// isDigitAt reports whether a text has a digit at an offset.
func isDigitAt(s string, i int) bool { return i >= 0 && i < len(s) && isDigit(rune(s[i])) }

// filters reads the filters after a value. Those of a whole tag may be separated by commas.
func (p *parser) filters(value Node, ofTag bool) []Filter {
	var filters []Filter
	for p.accept("::") || ofTag && len(filters) > 0 && p.accept(",") {
		name := p.next()
		p.count(name.pos)
		f := Filter{Pos: Pos(name.pos), Name: name.text, fn: filterTable[name.text]}
		switch {
		case name.kind != tokWord:
			p.fail(name.pos, "", "the name of a filter is missing")
		case f.fn == nil && functionTable["$"+name.text] != nil:
			p.fail(name.pos, "a function encloses the value: write $"+name.text+"(value)", "there is no filter %q", name.text)
		case f.fn == nil:
			p.fail(name.pos, suggest(name.text, "filters", filterTable), "there is no filter %q", name.text)
		default:
			f.Args = p.arguments()
			p.checkFilter(&f, filters, value)
		}
		filters = append(filters, f)
	}
	return filters
}

// checkFilter checks the literal arguments of a filter, and marks arguments that are computed for the items of the value.
func (p *parser) checkFilter(f *Filter, before []Filter, value Node) {
	p.checkCount(f.Position(), "filter "+f.Name, f.fn.usage, f.fn.arity, len(f.Args))
	if p.err != nil {
		return
	}
	if f.fn.perItem {
		perItem(f.Args, value)
		p.checkItems(f.Args, f.Name == "sort", f.fn.usage)
		if f.Name == "where" && len(f.Args) > 0 {
			p.checkCondition(f.Args[0], "write "+f.fn.usage)
		}
	}
	if f.fn.when > 0 && len(f.Args) >= f.fn.when {
		p.checkCondition(f.Args[f.fn.when-1], "write "+f.fn.usage)
	}
	p.checkSole(f, before)
	p.checkValue(f, before, value)
	p.checkNumbers(f)
	if f.fn.check != nil {
		p.checkText(f)
	}
	if f.fn.note != nil {
		p.checkNote(f)
	}
}

// checkNumbers checks the literal arguments of a filter that must be numbers.
func (p *parser) checkNumbers(f *Filter) {
	for i, arg := range f.Args {
		l, ok := arg.(*Literal)
		if !ok || i == 0 && f.fn.check != nil || argumentOf(f, i, takes{}).want != aNumber {
			continue
		}
		if _, ok := asNumber(l.Value); !ok {
			p.fail(arg.Position(), "write "+f.fn.usage, "%s is %s, not a number", arg, kindOf(l.Value))
		}
	}
}

// checkText checks the first argument of a filter if it is a text that is written out.
func (p *parser) checkText(f *Filter) {
	if len(f.Args) == 0 {
		return
	}
	arg, ok := f.Args[0].(*Literal)
	if !ok {
		return
	}
	if s, ok := arg.Value.(string); ok {
		if message := f.fn.check(f, s); message != "" {
			p.fail(arg.Position(), "write "+f.fn.usage, "%s %s", arg, message)
		}
	}
}

func (p *parser) checkCount(pos int, what, usage string, a arity, n int) {
	if n < a.min || n > a.max {
		p.fail(pos, "write "+usage, "%s takes %s, not %d", what, a, n)
	}
}

// perItem marks the paths in arguments that are computed for each item of a list. Those that an inner list has marked are
// its own.
func perItem(args []Node, list Node) {
	from := firstPath(list)
	if isGrouped(list) { // its items are groups
		from = nil
	}
	for _, arg := range args {
		reads(arg, true, func(p *Path, _ bool) {
			if !p.perItem {
				p.perItem, p.list = true, from
			}
		})
	}
}

// checkItems reports arguments that are computed for each item, and are the same for all.
func (p *parser) checkItems(args []Node, sorts bool, usage string) {
	for _, arg := range args {
		l, ok := arg.(*Literal)
		if !ok {
			continue
		}
		s, ok := l.Value.(string)
		if !ok || sorts && (s == "asc" || s == "desc") {
			continue
		}
		p.fail(arg.Position(), "write keys without quotes, as in "+usage, "%s is the same for all items", arg)
	}
}

// isGrouped reports whether a list consists of groups of other items.
func isGrouped(list Node) bool {
	f, ok := list.(*Filtered)
	return ok && slices.ContainsFunc(f.Filters, func(f Filter) bool { return f.Name == "group" })
}

// firstPath returns the path that is read first in n, or nil.
func firstPath(n Node) *Path {
	var first *Path
	reads(n, true, func(p *Path, _ bool) {
		if first == nil {
			first = p
		}
	})
	return first
}

// ownVariable marks the paths in the filters of a loop that begin with its variable, which is there the item that the filter looks at.
func ownVariable(t *Tag) {
	list := firstPath(t.Expr)
	for i := range t.Filters {
		f := &t.Filters[i]
		if f.fn == nil || !f.fn.perItem {
			continue
		}
		for _, arg := range f.Args {
			reads(arg, true, func(p *Path, _ bool) {
				switch name := p.Steps[0].Key; {
				case name == t.KeyVar && name != "":
					p.own, p.perItem, p.list = true, true, nil
				case name == t.Var:
					p.own, p.perItem, p.list = true, true, list
				}
				p.ofEntry = t.KeyVar != "" && p.perItem && p.list == list
			})
		}
	}
}
