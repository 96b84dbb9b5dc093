package compile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"platen/docx/lang"
	"platen/docx/wml"
)

// maxOrphans is the largest number of warnings about braces outside tags in one paragraph.
const maxOrphans = 10

// findTags reads the tags of all paragraphs, in the order of the source.
func (c *compiler) findTags() {
	for _, p := range c.pars {
		if c.spend(1) {
			return
		}
		if c.tocs.holds(p.node) {
			c.tocs.refuseBeside(p)
			continue
		}
		tags, orphans := lang.Find(p.text)
		for _, span := range orphans[:min(len(orphans), maxOrphans)] {
			c.warn(p, span, strayBraces(p.text, span), "a tag begins with {{ and ends with }} in the same paragraph")
		}
		c.warnBracesAround(p, tags)
		if len(c.marks)+len(tags) > maxTags {
			c.failAt(p, tags[0].Start, tags[0].End, 0, fmt.Sprintf("this part of the document has more than %d tags", maxTags),
				hintTooManyTags)
			break
		}
		for _, span := range tags {
			c.addMark(p, span)
		}
		if len(c.errors) >= MaxErrors {
			break
		}
	}
	slices.SortStableFunc(c.marks, func(a, b *mark) int { return cmp.Compare(a.start(), b.start()) })
	for i, m := range c.marks {
		m.order = i
	}
}

// warnBracesAround warns about single braces next to the tags of a paragraph: {{{name}}} is a tag in braces. A brace on one side of a tag
// may be one of a pair in the text.
func (c *compiler) warnBracesAround(p *paragraph, tags []lang.Span) {
	warned, counted, surplus := 0, false, 0
	for _, tag := range tags {
		before, after := strings.HasSuffix(p.text[:tag.Start], "{"), strings.HasPrefix(p.text[tag.End:], "}")
		if !before && !after || strings.HasPrefix(p.text[tag.End:], "}}") { // which is an orphan
			continue
		}
		if !counted {
			surplus, counted = strings.Count(p.text, "{")-strings.Count(p.text, "}"), true
		}
		if before != after && (before && surplus <= 0 || after && surplus >= 0) {
			continue
		}
		if warned++; warned > maxOrphans {
			return
		}
		c.warn(p, tag, "A third brace next to '"+shortened(p.text[tag.Start:tag.End])+"' is not part of a tag, and stays text.",
			"a tag begins with {{ and ends with }}; delete the third brace")
	}
}

// strayBraces is the warning about braces outside tags.
func strayBraces(text string, braces lang.Span) string {
	around, _ := excerpt(text, braces.Start)
	return "The braces '" + text[braces.Start:braces.End] + "' in \"" + around + "\" are not part of a tag, and stay text."
}

func (c *compiler) addMark(p *paragraph, span lang.Span) {
	text := p.text[span.Start:span.End]
	if at := strings.IndexRune(text, wml.Object); at >= 0 {
		c.failAt(p, span.Start, span.End, at, "an image, a field, or a note is inside this tag", "type the tag again without it")
		return
	}
	tag, err := lang.ParseTag(strings.Clone(text)) // so that the program does not keep the whole paragraph
	if err != nil && isForeign(text) {
		return // findDialects has something to say of it
	}
	if err != nil {
		syntax, ok := errors.AsType[*lang.SyntaxError](err)
		if !ok {
			syntax = &lang.SyntaxError{Message: err.Error()}
		}
		c.failAt(p, span.Start, span.End, syntax.Offset, syntax.Message, syntax.Hint)
		tag = unreadable(text)
	}
	if p.pieces[0].plain && tag.Kind != lang.Print && tag.Kind != lang.Comment {
		c.failAt(p, span.Start, span.End, 0, "only values are allowed here",
			"blocks are not allowed in the properties of the document and the names in a chart")
		return
	}
	m := &mark{tag: tag, par: p, from: span.Start, to: span.End, unreadable: err != nil}
	m.first, m.last = &p.pieces[p.pieceAt(span.Start)], &p.pieces[p.pieceAt(span.End-1)]
	p.marks = append(p.marks, m)
	c.marks = append(c.marks, m)
}

// unreadable returns a replacement for a tag that cannot be parsed. It opens or closes the block in its first words,
// so that one mistake is not reported as two.
func unreadable(text string) *lang.Tag {
	tag := &lang.Tag{Kind: lang.Comment, Text: text}
	if kind, _ := lang.Meant(text); kind.IsBlock() {
		tag.Kind = kind
	}
	return tag
}

// removeTags takes the text of all tags that leave nothing in their place out of their paragraphs.
func (c *compiler) removeTags() {
	for _, m := range c.marks {
		if !m.leavesSomething() {
			m.par.remove(m.from, m.to)
		}
	}
	c.countTexts()
}

func (c *compiler) countTexts() {
	for _, p := range c.pars {
		if len(p.marks) > 0 && (p.visible == nil || p.dirty) {
			p.count()
		}
	}
}
