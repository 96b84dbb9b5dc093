package lang

import (
	"cmp"
	"strings"
	"time"

	"platen/docx/locale"
)

// The filters that format (see filter.formats) return text for people, which depends on the locale: 1.234 is a thousand in German and about
// one in a computation, and 3/5/2026 is March or May. So their results are neither numbers nor dates, except where every locale reads the
// same value from them, as with date("yyyy") or format("000").

// formatted checks the uses of formatted text in a tag. variable returns the filter that formatted the value of a variable, or nil.
type formatted struct {
	tag      *Tag
	variable func(name string) *Filter
	err      *SyntaxError // the first mistake
}

// misuse returns the first use of formatted text as a number or a date in a tag, or nil.
func misuse(t *Tag, variable func(name string) *Filter) *SyntaxError {
	c := &formatted{tag: t, variable: variable}
	t.walk(c.node)
	if t.Expr != nil {
		c.filters(c.of(t.Expr), t.Filters)
	}
	return c.err
}

// Misuse returns the first use of a variable with formatted text as a number or a date in a tag, or nil.
func (s *Scope) Misuse(t *Tag) *SyntaxError { return misuse(t, s.formattedBy) }

// formattedBy returns the filter that formatted the value of a variable, or nil.
func (s *Scope) formattedBy(name string) *Filter {
	if v := s.variable(name); v != nil {
		return v.formatted
	}
	return nil
}

// formattedBy returns the filter that formatted the value of a tag, or each item of it, or nil. s is the scope of the tag.
func (t *Tag) formattedBy(s *Scope) *Filter {
	c := &formatted{tag: t, variable: s.formattedBy}
	return c.filters(c.of(t.Expr), t.Filters)
}

// node checks the operands, arguments, and filters of one node.
func (c *formatted) node(n Node) {
	switch n := n.(type) {
	case *Unary:
		if n.Op == "-" {
			c.use(n.X, aNumber)
		}
	case *Binary:
		c.operands(n)
	case *Filtered:
		c.filters(c.of(n.X), n.Filters)
	case *Call:
		for i, arg := range n.Args {
			if known := n.fn.takes; len(known) > 0 {
				c.use(arg, known[min(i, len(known)-1)].want)
			}
		}
	}
}

func (c *formatted) operands(n *Binary) {
	switch n.strength() {
	case strengthSum, strengthProduct:
		c.use(n.L, aNumber)
		c.use(n.R, aNumber)
	case strengthCompare:
		if !ofText[n.Op] {
			c.compared(n, n.L, n.R)
			c.compared(n, n.R, n.L)
		}
	}
}

// compared checks a formatted operand of a comparison with another operand.
func (c *formatted) compared(n *Binary, x, other Node) {
	by := c.of(x)
	switch {
	case by == nil:
	case kindOfResult(other) != 0:
		c.use(x, kindOfResult(other))
	case n.Op != "==" && n.Op != "!=" && !by.keepsOrder():
		c.fail(x.Position(), by, "a value with an order", "format last: compare the value itself, without "+by.String())
	}
}

// kindOfResult returns aNumber or aDate if the result of n can only be one, or 0.
func kindOfResult(n Node) want {
	switch n := n.(type) {
	case *Literal:
		if _, ok := asNumber(n.Value); ok && n.num != (number{}) {
			return aNumber
		}
	case *Unary:
		if n.Op == "-" {
			return aNumber
		}
	case *Binary:
		if n.strength() > strengthCompare {
			return aNumber
		}
	case *Call:
		if isBare(n.Name) {
			return aDate
		}
		if !n.fn.text {
			return aNumber
		}
	}
	return 0
}

// filters checks a chain of filters for a value that a filter has formatted, or nil did, and returns which filter formats the result.
func (c *formatted) filters(by *Filter, filters []Filter) *Filter {
	for i := range filters {
		f := &filters[i]
		if f.fn == nil {
			return nil
		}
		if by != nil && !by.suits(f.takes().want) && !(f.isOpenAdd() && by.suits(aDate)) {
			c.fail(f.Position(), by, needed(f.takes().want), "format last: write "+f.String()+" before "+by.String())
		}
		for i, arg := range f.Args {
			c.use(arg, argumentOf(f, i, takes{}).want)
		}
		switch {
		case f.fn.formats && !f.isMasking():
			by = f
		case f.Name == "default" && by == nil:
			by = c.of(f.Args[0])
		case !f.fn.same && !f.fn.respells || f.Name == "slice" || f.Name == "group":
			by = nil
		}
	}
	return by
}

// isOpenAdd reports whether a filter adds what the data says, which may be an amount of time.
func (f *Filter) isOpenAdd() bool {
	if f.Name != "add" || len(f.Args) == 0 {
		return false
	}
	_, isLiteral := f.Args[0].(*Literal)
	return !isLiteral
}

// isMasking reports whether a filter only inserts characters into a text.
func (f *Filter) isMasking() bool { return f.Name == "format" && isMask(f.pattern()) }

// pattern returns the pattern of a filter that is written out, or "".
func (f *Filter) pattern() string {
	if f.Name != "format" && f.Name != "date" && f.Name != "time" || len(f.Args) == 0 {
		return ""
	}
	l, ok := f.Args[0].(*Literal)
	if !ok {
		return ""
	}
	s, _ := l.Value.(string)
	return s
}

// of returns the filter that formatted the value of n, or nil.
func (c *formatted) of(n Node) *Filter {
	switch n := n.(type) {
	case *Path:
		if len(n.Steps) == 1 && !n.perItem && !n.own {
			return c.variable(n.Steps[0].Key)
		}
	case *Filtered:
		quiet := &formatted{tag: c.tag, variable: c.variable}
		return quiet.filters(quiet.of(n.X), n.Filters)
	case *List:
		return c.firstOf(n.Items)
	case *Call:
		if n.fn.choose == nil {
			return nil
		}
		var results []Node
		for i, arg := range n.Args {
			if i%2 == 1 || i == len(n.Args)-1 {
				results = append(results, arg)
			}
		}
		return c.firstOf(results)
	}
	return nil
}

// firstOf returns the first filter that formatted one of several values, or nil.
func (c *formatted) firstOf(nodes []Node) *Filter {
	for _, n := range nodes {
		if by := c.of(n); by != nil {
			return by
		}
	}
	return nil
}

// use checks the value of n, which must be of a kind.
func (c *formatted) use(n Node, w want) {
	if by := c.of(n); by != nil && !by.suits(w) {
		c.fail(n.Position(), by, needed(w), "format last: compute with the value itself, and write "+by.String()+" after the result")
	}
}

func (c *formatted) fail(pos int, by *Filter, needed, hint string) {
	if c.err == nil {
		c.err = &SyntaxError{Text: c.tag.Text, Offset: pos, Message: by.String() + " returns text for people, not " + needed, Hint: hint}
	}
}

func needed(w want) string {
	if w&aNumber != 0 {
		return "a number"
	}
	return "a date"
}

// suits reports whether the text that f returns is also of a kind, in every locale.
func (f *Filter) suits(w want) bool {
	pattern := f.pattern()
	switch {
	case w&(aNumber|aDate|aTime) == 0:
		return true
	case f.Name == "format" && pattern != "" && strings.Trim(pattern, "0#") == "":
		return true
	case pattern == "" || f.writesNumber():
		return false
	case w&aNumber != 0:
		return strings.Trim(f.sample(locale.Default()), "0123456789") == ""
	}
	return f.readsBack(true)
}

// keepsOrder reports whether the texts that f returns may be compared with other texts.
func (f *Filter) keepsOrder() bool {
	return f.suits(aNumber) || !f.writesNumber() && f.readsBack(false)
}

// writesNumber reports whether f returns a number, rather than a date.
func (f *Filter) writesNumber() bool {
	return f.Name != "date" && f.Name != "time" && (f.Name != "format" || f.takes().want == aNumber)
}

// sampleTime is a time whose day and month may be mistaken for each other.
var sampleTime = time.Date(2001, 2, 3, 16, 5, 6, 0, time.UTC)

// sample returns sampleTime as f writes it, or "" if it cannot.
func (f *Filter) sample(l *locale.Locale) string {
	pattern, write := f.pattern(), l.Date
	switch f.Name {
	case "time":
		pattern, write = meantLetters(pattern), l.Time
	case "date":
		pattern = datePattern(pattern)
	default:
		pattern = cmp.Or(boxDate(pattern), pattern)
	}
	s, err := write(sampleTime, pattern)
	if err != nil {
		return ""
	}
	return s
}

// orders are locales that read dates with slashes in different orders.
var orders = [...]string{"en", "de"}

// readsBack reports whether the date that f writes is read as the same date. A text that is not read as a date is not misread: it counts
// if not strict.
func (f *Filter) readsBack(strict bool) bool {
	for _, tag := range orders {
		l, _ := locale.Find(tag)
		t, _, err := locale.ParseTime(f.sample(l), nil, l)
		if err != nil && strict || err == nil && t.Format(time.DateOnly) != sampleTime.Format(time.DateOnly) {
			return false
		}
	}
	return true
}
