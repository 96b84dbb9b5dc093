package importer

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// call is a call of a helper in Handlebars: its name, and its arguments.
type call struct {
	name  string
	args  []*expr
	named map[string]*expr
}

// helperReader reads calls of helpers.
type helperReader struct {
	text string
	err  error
}

// readCall reads the content of a tag that calls a helper.
func readCall(text string) (*call, error) {
	r := &helperReader{text: text}
	c := r.call()
	if r.skip(); r.text != "" {
		r.fail()
	}
	return c, r.err
}

func (r *helperReader) skip() { r.text = strings.TrimLeft(r.text, " \t\n\u00A0") }

func (r *helperReader) fail() {
	if r.err == nil {
		r.err = &cannot{"its arguments cannot be read", "see docs/templates.md"}
	}
	r.text = ""
}

// helperWord is a path, whose keys can be in brackets, or another word.
var helperWord = regexp.MustCompile(`^(?:\[[^\]]*\]|[^\s()'"=\[])+`)

func (r *helperReader) call() *call {
	r.skip()
	c := &call{name: helperWord.FindString(r.text), named: map[string]*expr{}}
	r.text = r.text[len(c.name):]
	for r.skip(); r.err == nil && r.text != "" && r.text[0] != ')'; r.skip() {
		word := helperWord.FindString(r.text)
		if rest := strings.TrimPrefix(r.text[len(word):], "="); word != "" && len(rest) < len(r.text)-len(word) {
			r.text = rest
			c.named[word] = r.value()
			continue
		}
		c.args = append(c.args, r.value())
	}
	return c
}

// value reads an argument.
func (r *helperReader) value() *expr {
	r.skip()
	switch {
	case r.text == "":
		r.fail()
	case r.text[0] == '(':
		r.text = r.text[1:]
		c := r.call()
		if r.skip(); !strings.HasPrefix(r.text, ")") {
			r.fail()
			break
		}
		r.text = r.text[1:]
		return c.expr()
	case r.text[0] == '"' || r.text[0] == '\'':
		end := strings.IndexByte(r.text[1:], r.text[0])
		if end < 0 {
			r.fail()
			break
		}
		s := r.text[1 : end+1]
		r.text = r.text[end+2:]
		return &expr{op: opLiteral, val: s}
	}
	word := helperWord.FindString(r.text)
	r.text = r.text[len(word):]
	if word == "" {
		r.fail()
	}
	return wordExpr(word)
}

// wordExpr returns the expression that a word is: a literal or a path.
func wordExpr(word string) *expr {
	switch word {
	case "true", "false":
		return &expr{op: opLiteral, val: word == "true"}
	case "null", "undefined":
		return &expr{op: opLiteral}
	}
	if _, err := strconv.ParseFloat(word, 64); err == nil {
		return &expr{op: opLiteral, val: json.Number(word)}
	}
	return contextPath(word)
}

// expr returns a call within a tag: a path for the helper lookup, and else the call of a function.
func (c *call) expr() *expr {
	if c.name == "lookup" && len(c.args) == 2 && len(c.named) == 0 {
		if s, ok := c.args[1].val.(string); ok && c.args[1].op == opLiteral {
			return &expr{op: opMember, name: s, args: c.args[:1]}
		}
		return &expr{op: opIndex, args: c.args}
	}
	return &expr{op: opCall, args: append([]*expr{{op: opName, name: c.name}}, c.args...)}
}

// values returns the arguments of a call.
func (c *call) values() []*expr {
	all := slices.Clone(c.args)
	for _, e := range c.named {
		all = append(all, e)
	}
	return all
}

// only returns an error if a call has other arguments than some names.
func (c *call) only(names ...string) error {
	for name := range c.named {
		known := false
		for _, n := range names {
			known = known || n == name
		}
		if !known {
			return &cannot{"its argument " + name + " has no equivalent", "see docs/templates.md"}
		}
	}
	if len(c.args) > 0 {
		return errArguments
	}
	return nil
}

// text returns an argument that is a string, a number, or a boolean; "" for anything else.
func (c *call) text(name string) string {
	e := c.named[name]
	if e == nil || e.op != opLiteral {
		return ""
	}
	switch v := e.val.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	}
	return ""
}

// errHelper says that a helper is not known.
func errHelper(name string) error {
	return &cannot{"the helper " + strconv.Quote(name) + " is code of the application",
		"write an expression or a filter of Platen (docs/templates.md), or add a key with the result to the data"}
}
