package importer

import (
	"slices"
	"strings"

	"platen/docx/wml"
)

// without returns the text of a paragraph with blanks for some of its tags.
func (p *paragraph) without(isLeftOut func(*tag) bool) string {
	text := p.text
	for _, t := range p.tags {
		if isLeftOut(t) {
			text = text[:t.span.from] + strings.Repeat(" ", t.span.to-t.span.from) + text[t.span.to:]
		}
	}
	return text
}

func hasText(s string) bool { return strings.TrimSpace(s) != "" }

// ofBlock reports whether a tag is one of a block.
func (t *tag) ofBlock() bool { return t.block != nil }

// hasTextBefore reports whether there is text before a tag in its paragraph, besides the ends of other blocks, and its block ends in
// another paragraph.
func (p *part) hasTextBefore(t *tag) bool {
	end := t.block.last()
	before := t.par.without(func(o *tag) bool { return o.kind == kEnd })[:t.span.from]
	return end.par != t.par && t.cell() == end.cell() && hasText(before)
}

// joinsParagraphs reports whether a condition would remove other text in Platen: it begins after text in a paragraph, and ends before text
// in another one, or its paragraphs are in different cells and one of them has other text. The tags of blocks are not text.
func joinsParagraphs(t *tag) bool {
	end := t.block.last()
	if t.par == end.par {
		return false
	}
	before, after := hasText(t.par.without((*tag).ofBlock)[:t.span.from]), hasText(end.par.without((*tag).ofBlock)[end.span.to:])
	if t.cell() == end.cell() {
		return before && after
	}
	return before || after
}

// canSpread reports whether a condition that joins paragraphs can be written as several ones: its paragraphs are in the same text, and it
// has no blocks that begin in one of its paragraphs and end in another, besides those that are written in the same way.
func (p *part) canSpread(t *tag) bool {
	end := t.block.last()
	if t.par.aside != nil || end.par.aside != nil || t.par.node.Parent != end.par.node.Parent || len(t.block.tags) != 2 {
		return false
	}
	from, to := t.index, end.index
	for _, o := range p.tags[from+1 : to] {
		first, last := o, o
		if o.block != nil {
			first, last = o.block.tags[0], o.block.last()
		}
		isSplit := first.par != last.par && (first.par == t.par || last.par == end.par)
		isOpen := first.index < from || last.index > to
		if isOpen || isSplit && !(first.isCondition() && joinsParagraphs(first) && first.par.node.Parent == t.par.node.Parent) {
			return false
		}
	}
	return true
}

// spread puts a condition that joins paragraphs into the part: in the first paragraph, around those between, and in the last one.
func (p *part) spread(t *tag) {
	end := t.block.last()
	p.replace(t.par, t.span.from, t.span.to, t.out)
	p.replaceIn(t.par, true, end.out)
	if between := between(t.par.node.Parent, t.par.node, end.par.node); len(between) > 2 {
		p.addParagraph(t.par.node, true, t.out)
		p.addParagraph(end.par.node, false, end.out)
	}
	p.replaceIn(end.par, false, t.out)
}

// hasTextBeside reports whether a block from one row of a table to another has text before it in its first row, or after it in its last,
// besides the tags of other blocks.
func (p *part) hasTextBeside(t *tag) bool {
	end := t.block.last()
	row, last := t.row(), end.row()
	if t.unit == unitRow || row == last || row == nil || last == nil || tableOf(row) != tableOf(last) {
		return false
	}
	for _, par := range p.in(row) {
		text := par.without((*tag).ofBlock)
		if par == t.par {
			text = text[:t.span.from]
		}
		if par.node.Start <= t.par.node.Start && hasText(text) {
			return true
		}
	}
	return slices.ContainsFunc(p.in(last), func(par *paragraph) bool {
		text := par.without((*tag).ofBlock)
		if par == end.par {
			text = text[end.span.to:]
		}
		return par.node.Start >= end.par.node.Start && hasText(text)
	})
}

// in returns the paragraphs in an element.
func (p *part) in(n *wml.Node) []*paragraph {
	own := p.pars[:p.own]
	start := func(par *paragraph, at int) int { return par.node.Start - at }
	from, _ := slices.BinarySearchFunc(own, n.Start, start)
	to, _ := slices.BinarySearchFunc(own, n.End, start)
	return own[from:to]
}
