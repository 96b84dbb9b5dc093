package importer

import (
	"slices"
	"strings"

	"platen/docx/lang"
	"platen/docx/wml"
)

// inert is put between the braces of text that Platen would read as a tag. It is invisible: a zero width non-joiner.
const inert = "\u200C"

// replace replaces a stretch of a paragraph's text, which may be in another part.
func (p *part) replace(par *paragraph, from, to int, with string) {
	if par.aside != nil && par.aside.in != nil {
		par.aside.in.rewriter.replace(par, from, to, with)
		return
	}
	p.rewriter.replace(par, from, to, with)
}

// place puts what replaces the tags into the part.
func (p *part) place() {
	p.dropCells()
	for _, t := range p.tags {
		if t.failed != nil {
			continue
		}
		switch {
		case t.block != nil && t.block.tags[0].matrix != nil && t.kind == kEnd: // with the opening tag
		case t.putIn != nil:
			t.putIn(p, t)
		case t.place != nil:
			t.place()
		case t.field != nil:
			p.placeField(t)
		case t.stays && t.block != nil && t.cell() != nil && t.block.crossesCells() && p.isAloneInRow(t):
			p.replace(t.par, t.span.from, t.span.to, t.out+`{{""}}`) // Platen removes a row with nothing but a tag
		case t.unit == unitRow && p.isAloneInRow(t):
			p.moveOut(t)
		case t.block != nil && t.block.tags[0].unit == unitTable:
			p.replace(t.par, t.span.from, t.span.to, "")
			p.addParagraph(t.par.node.Ancestor(wml.Named("w:tbl")), t.kind == kEnd, t.out)
		default:
			p.replace(t.par, t.span.from, t.span.to, t.out)
		}
		for _, j := range t.joined {
			p.keepBlanks(j.first)
			p.drop(j.gap)
		}
		for _, m := range t.more {
			if m.span.from == 0 && m.span.to == len(m.par.text) {
				p.drop(m.par.node)
			} else {
				p.replace(m.par, m.span.from, m.span.to, "")
			}
		}
	}
	for _, par := range p.pars {
		p.disarm(par)
	}
}

// disarm makes the text of a paragraph that Platen would read as a tag inert, if it is not one.
func (p *part) disarm(par *paragraph) {
	text := par.text
	for {
		found, _ := lang.Find(text)
		i := slices.IndexFunc(found, func(f lang.Span) bool { return !par.covers(f.Start, f.End) })
		if i < 0 {
			return
		}
		at := found[i].Start + 1
		p.replace(par, at, at, inert)
		text = text[:at] + " " + text[at+1:] // the rest may have a tag that began in this one
	}
}

// covers reports whether a converted tag is in a stretch of a paragraph.
func (p *paragraph) covers(from, to int) bool {
	return slices.ContainsFunc(p.tags, func(t *tag) bool { return t.failed == nil && t.span.from < to && from < t.span.to }) ||
		slices.ContainsFunc(p.continued, func(t *tag) bool { return t.failed == nil })
}

// isAloneInRow reports whether a tag is the only text in its row.
func (p *part) isAloneInRow(t *tag) bool { return p.isAloneIn(t, t.row()) }

// isAloneIn reports whether a tag is the only text in an element, which may be nil.
func (p *part) isAloneIn(t *tag, element *wml.Node) bool {
	if element == nil {
		return false
	}
	for _, par := range p.pars {
		if par.aside != nil || par.node.Ancestor(func(n *wml.Node) bool { return n == element }) == nil {
			continue
		}
		text := par.text
		if par == t.par {
			text = text[:t.span.from] + text[t.span.to:]
		}
		if strings.TrimSpace(text) != "" {
			return false
		}
	}
	return true
}

// moveOut removes the row that a tag has to itself, and puts what replaces the tag into the next row, or, at the end of a block, into the
// row before it.
func (p *part) moveOut(t *tag) {
	row := t.row()
	p.drop(row)
	end, begin := t.out, ""
	switch {
	case t.kind == kElse:
		var found bool
		if end, begin, found = strings.Cut(t.out, "}}{{"); found {
			end, begin = end+"}}", "{{"+begin
		}
	case t.kind != kEnd:
		end, begin = "", t.out
	}
	if begin != "" {
		if par := p.inRow(p.nextRow(row, 1), false); par != nil {
			p.replace(par, 0, 0, begin)
		}
	}
	if end != "" {
		if par := p.inRow(p.nextRow(row, -1), true); par != nil {
			p.replace(par, len(par.text), len(par.text), end)
		}
	}
}

// nextRow returns the next row, or with -1 the row before, that no tag has to itself; nil if there is none.
func (p *part) nextRow(row *wml.Node, direction int) *wml.Node {
	rows := row.Parent.Children
	for i := slices.Index(rows, row) + direction; i >= 0 && i < len(rows); i += direction {
		if rows[i].Name == "w:tr" && !p.isOnlyTag(rows[i]) {
			return rows[i]
		}
	}
	return nil
}

func (p *part) isOnlyTag(row *wml.Node) bool {
	return slices.ContainsFunc(p.tags, func(t *tag) bool {
		return t.failed == nil && t.unit == unitRow && t.row() == row && p.isAloneInRow(t)
	})
}

// inRow returns the first or the last paragraph of a row, outside nested tables; nil if there is none.
func (p *part) inRow(row *wml.Node, last bool) *paragraph {
	if row == nil {
		return nil
	}
	var found *paragraph
	for _, par := range p.pars {
		box := wml.Named("w:txbxContent")
		cell := par.node.Ancestor(wml.Named("w:tc"))
		if par.aside != nil || p.isDropped(par.node) || slices.Contains(p.gone, cell) || par.node.Ancestor(wml.Named("w:tr")) != row ||
			par.node.Ancestor(box) != row.Ancestor(box) {
			continue
		}
		if found == nil || last {
			found = par
		}
	}
	return found
}
