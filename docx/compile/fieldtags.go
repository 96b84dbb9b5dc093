package compile

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"platen/docx/lang"
	"platen/docx/wml"
)

// Tags in the codes of fields, such as IF {{n}} = 5 "one" "many". If Platen can compute the field, its value replaces it, as with merge
// fields. Otherwise the tags are filled in, and the result stays until Word updates it. A warning says so, because the document may be
// printed or converted before anyone updates it.

// computed are the fields that are computed from the tags in their codes.
var computed = wml.SetOf("IF COMPARE QUOTE =")

// withoutResult are the fields that show nothing, or that Word computes whenever it shows them.
var withoutResult = wml.SetOf("XE TC TA RD ADVANCE EQ SYMBOL LISTNUM AUTONUM AUTONUMLGL AUTONUMOUT PRIVATE HYPERLINK")

// tagPieces splits a text in the code of a field at its tags. Each tag becomes a field whose kind is the tag itself.
func tagPieces(text string) (pieces []codePiece) {
	at := 0
	spans, _ := lang.Find(text)
	for _, span := range spans {
		if at < span.Start {
			pieces = append(pieces, codePiece{text: text[at:span.Start]})
		}
		pieces = append(pieces, codePiece{field: &wordField{kind: text[span.Start:span.End]}})
		at = span.End
	}
	if at < len(text) {
		pieces = append(pieces, codePiece{text: text[at:]})
	}
	return pieces
}

// isTag reports whether a field stands for a tag in a code.
func (f *wordField) isTag() bool { return strings.HasPrefix(f.kind, "{{") }

// tagExpression returns the expression of a tag in a code.
func tagExpression(text string) (expr, problem string) {
	tag, err := lang.ParseTag(text)
	switch {
	case err != nil:
		return "", "it cannot be read"
	case tag.Kind != lang.Print:
		return "", "it is not a value"
	}
	return strings.TrimSuffix(strings.TrimPrefix(tag.String(), "{{"), "}}"), ""
}

// fillTagged has a field with tags in its code replaced by its value, or warns that its result is old. It returns false if the fields in
// its result may be filled.
func (c *wordFields) fillTagged(f *wordField) bool {
	kind := f.name()
	switch {
	case withoutResult[kind] || fetching[kind] || c.hasTagsInResult(f):
		return false
	case f.holds("MERGEFIELD"):
		c.warnStays(f, "it has tags in its code; write tags for its merge fields too")
		return true
	case !computed[kind]:
		c.warnOld(f, "Platen does not compute it")
		return false
	case !f.isWhole():
		c.warnOld(f, f.whyParted())
		return false
	}
	expr, problem := c.expressionOf(f)
	if problem == "" {
		if _, err := lang.ParseTag("{{" + expr + "}}"); err != nil {
			problem = unreadableField(err)
		}
	}
	if problem != "" {
		c.warnOld(f, problem)
		return false
	}
	if tag := c.tagOf(f, expr, ""); tag != nil {
		c.found = append(c.found, filledField{field: f, tag: tag})
		c.claim(f)
	}
	return true
}

// unreadableField is the problem of a field whose expression is not one of the language.
func unreadableField(err error) string {
	if syntax, ok := errors.AsType[*lang.SyntaxError](err); ok {
		return "it cannot be read: " + syntax.Message
	}
	return "it cannot be read: " + err.Error()
}

// hasTagsInResult reports whether there are tags in the result of a field, which is then not old.
func (c *wordFields) hasTagsInResult(f *wordField) bool {
	if f.separate == nil {
		return false
	}
	from := f.separate.End
	if f.separate == f.end {
		from = f.separate.OpenEnd
	}
	return c.hasTagsIn(from, f.end.End)
}

// isTagged reports whether there are tags in the code of a field.
func (c *wordFields) isTagged(f *wordField) bool { return c.hasTags(f) && f.hasTagsInCode() }

// hasTagsInCode reports whether there are tags in the code of the field.
func (f *wordField) hasTagsInCode() bool {
	return f.isTag() ||
		slices.ContainsFunc(f.joinedCode(), func(p codePiece) bool { return p.field != nil && p.field.hasTagsInCode() })
}

// hasTags reports whether there are tags in the field.
func (c *wordFields) hasTags(f *wordField) bool {
	return f.end != nil && c.hasTagsIn(f.begin.Start, f.end.End)
}

// hasTagsIn reports whether a tag may begin in a stretch of the source.
func (c *wordFields) hasTagsIn(from, to int) bool {
	if c.braces == nil {
		c.braces = bracesIn(c.src)
	}
	i, _ := slices.BinarySearch(c.braces, from)
	return i < len(c.braces) && c.braces[i] < to
}

// bracesIn returns the positions of the braces that tags may begin with. It is not nil.
func bracesIn(src []byte) []int {
	all := []int{}
	for at := 0; ; at++ {
		next := bytes.Index(src[at:], []byte("{{"))
		if next < 0 {
			return all
		}
		at += next
		all = append(all, at)
	}
}

// claim notes that a value replaces a field with the tags in its code.
func (c *wordFields) claim(f *wordField) {
	if c.claimed == nil {
		c.claimed = map[*wml.Node]bool{}
	}
	c.claimed[f.begin] = true
	for _, piece := range f.code {
		if piece.field != nil {
			c.claim(piece.field)
		}
	}
	for _, inner := range f.inner {
		c.claim(inner)
	}
}

// warnOld warns that a field has values in its code, and a result from before.
func (c *wordFields) warnOld(f *wordField, problem string) {
	c.warnAside(f.begin, "", "a field", "The field "+f.name()+" keeps its old result, although there are tags in its code: "+problem+
		". Update it in Word (F9) after the document is generated, or write a tag in its place.")
}
