package compile

import (
	"slices"
	"strings"
	"unicode"
)

// The field SET gives a bookmark a value, which REF and other fields show (ISO 29500-1 §17.16.5.58). If there are merge fields in the
// value, the fields after it that show the bookmark are filled too.

// maxVariable is the largest length of the expression for a bookmark, in bytes. A bookmark may show others.
const maxVariable = 2000

// findSet notes the bookmarks that a field, or one in it, gives a value of the input. It reports whether the field reads the input.
func (c *wordFields) findSet(f *wordField) (reads bool) {
	reads = f.name() == "MERGEFIELD"
	for _, piece := range f.code {
		if piece.field != nil {
			reads = c.findSet(piece.field) || reads
		}
	}
	for _, inner := range f.inner {
		c.findSet(inner)
	}
	if reads = reads || c.namesVariable(f); reads && f.name() == "SET" {
		if words := f.words(); len(words) > 1 {
			c.settable[strings.ToLower(words[1].plain())] = true
		}
	}
	return reads
}

// set has the fields after a field SET show its value.
func (c *wordFields) set(f *wordField) {
	words, switches := cutSwitches(f.words())
	if len(words) < 2 {
		return
	}
	name := strings.ToLower(words[1].plain())
	expr, problem := "", "its value must be one text in quotes, or one field"
	if len(words) == 3 {
		if expr, problem = c.operand(&words[2], ""); problem == "" {
			expr, problem = formatted(expr, switches)
		}
	}
	delete(c.variables, name)
	switch {
	case problem != "":
		c.warnStays(f, problem)
		return
	case len(expr) > maxVariable:
		c.warnStays(f, "its value is too long")
		return
	case c.hasTags(f):
		c.warnStays(f, "it has tags in its code; write {{let}} instead")
		return
	}
	if c.variables == nil {
		c.variables = map[string]string{}
	}
	c.variables[name] = "(" + expr + ")"
	c.fillCode(f, 0)
	for _, n := range f.begin.Children {
		if n.Name == "w:fldChar" {
			c.plain.dirty = append(c.plain.dirty, n)
		}
	}
}

// variableOf returns the bookmark that a field shows and that SET gives a value of the input, or "".
func (c *wordFields) variableOf(f *wordField) string {
	name := strings.ToLower(f.name())
	if name == "ref" && len(f.words()) > 1 {
		name = strings.ToLower(f.words()[1].plain())
	}
	if c.settable[name] {
		return name
	}
	return ""
}

// reference returns the expression for a field that shows a bookmark with a value of the input.
func (c *wordFields) reference(f *wordField) (expr, problem string) {
	name := c.variableOf(f)
	if expr = c.variables[name]; expr == "" {
		return "", "the field SET of its bookmark is in another part of the document, follows it, or is not filled"
	}
	_, switches := cutSwitches(f.words())
	return formatted(expr, switches)
}

// readsVariable reports whether a field, or one in its code, shows a bookmark with a value of the input.
func (c *wordFields) readsVariable(f *wordField) bool {
	return c.namesVariable(f) ||
		slices.ContainsFunc(f.code, func(p codePiece) bool { return p.field != nil && c.readsVariable(p.field) })
}

// namesVariable reports whether a field itself shows a bookmark with a value of the input.
func (c *wordFields) namesVariable(f *wordField) bool {
	if len(c.settable) == 0 {
		return false
	}
	isSet := func(name string) bool { return c.settable[strings.ToLower(name)] }
	switch kind := f.name(); {
	case c.variableOf(f) != "":
		return true
	case kind == "IF" || kind == "COMPARE":
		words := f.words()
		for i := 1; i < min(len(words), 4); i++ {
			if !words[i].quoted && isSet(words[i].plain()) {
				return true
			}
		}
	case kind == "=":
		notName := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
		return slices.ContainsFunc(strings.FieldsFunc(f.text(), notName), isSet)
	}
	return false
}
