package importer

import (
	"slices"
	"strings"

	"platen/docx/wml"
)

// hasTextBefore reports whether there is text before a tag in its paragraph, besides the ends of other blocks, and its block ends in
// another paragraph.
func (p *part) hasTextBefore(t *tag) bool {
	end := t.block.tags[len(t.block.tags)-1]
	before := t.par.text[:t.span.from]
	for _, o := range slices.Backward(p.tags) {
		if o.par == t.par && o.span.to <= t.span.from && o.kind == kEnd {
			before = before[:o.span.from] + before[o.span.to:]
		}
	}
	return end.par != t.par && t.cell() == end.cell() && strings.TrimSpace(before) != ""
}

// joinsParagraphs reports whether a condition removes other text in Carbone: it begins after text in a paragraph, and ends before text in
// another one, or its paragraphs are in different cells and one of them has other text.
func (p *part) joinsParagraphs(t *tag) bool {
	end := t.block.tags[len(t.block.tags)-1]
	before, after := hasText(t.par.text[:t.span.from]), hasText(end.par.text[end.span.to:])
	switch {
	case t.par == end.par:
		return false
	case t.cell() == end.cell():
		return before && after
	}
	return before || after
}

// hasTextBeside reports whether a block from one row of a table to another has text before it in its first row, or after it in its last,
// besides the tags of other blocks.
func (p *part) hasTextBeside(t *tag) bool {
	end := t.block.tags[len(t.block.tags)-1]
	row, last := t.row(), end.row()
	if t.unit == unitRow || row == last || row == nil || last == nil || tableOf(row) != tableOf(last) {
		return false
	}
	in := func(par *paragraph, row *wml.Node) bool {
		return par.aside == nil && par.node.Ancestor(func(n *wml.Node) bool { return n == row }) != nil
	}
	for _, par := range p.pars {
		text := par.text
		for _, o := range slices.Backward(p.tags) {
			if o.par == par && o.block != nil {
				text = text[:o.span.from] + strings.Repeat(" ", o.span.to-o.span.from) + text[o.span.to:]
			}
		}
		before, after := text, text
		if par == t.par {
			before = text[:t.span.from]
		}
		if par == end.par {
			after = text[end.span.to:]
		}
		if in(par, row) && par.node.Start <= t.par.node.Start && hasText(before) ||
			in(par, last) && par.node.Start >= end.par.node.Start && hasText(after) {
			return true
		}
	}
	return false
}

func hasText(s string) bool { return strings.TrimSpace(s) != "" }
