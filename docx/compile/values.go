package compile

import (
	"slices"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// editTexts writes the edits of what tags replace in the texts.
func (c *compiler) editTexts() {
	for n := range c.gone {
		c.deleteNode(n)
	}
	for _, p := range c.pars {
		if len(p.marks) == 0 || c.isGone(p.node) {
			continue
		}
		for from := 0; from < len(p.pieces); {
			to := from + 1
			for to < len(p.pieces) && p.pieces[to].run == p.pieces[from].run {
				to++
			}
			c.deleteInRun(p, p.pieces[from:to])
			from = to
		}
		for _, m := range p.marks {
			if m.leavesSomething() {
				c.editValue(m)
			}
			if m.tag.Kind == lang.Print {
				c.editLone(m)
			}
		}
		c.preserveSpaces(p)
	}
}

// isGone reports whether the paragraph, or a row around it, is to vanish.
func (c *compiler) isGone(n *wml.Node) bool {
	return n.Ancestor(func(n *wml.Node) bool { return c.gone[n] }) != nil
}

// deleteNode removes a paragraph or row but for the ends of ranges in it.
func (c *compiler) deleteNode(n *wml.Node) {
	at := n.Start
	var walk func(n *wml.Node)
	walk = func(n *wml.Node) {
		if n.IsRangeMarkup() {
			c.remove(at, n.Start)
			at = n.End
			return
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(n)
	c.remove(at, n.End)
}

// deleteInRun removes the deleted parts of a run's pieces, or the whole run if nothing is left.
func (c *compiler) deleteInRun(p *paragraph, pieces []piece) {
	run := pieces[0].run
	from, to := pieces[0].from, pieces[len(pieces)-1].to
	if run == nil || from == to || p.deleted == nil || int(p.kept[to]-p.kept[from]) == to-from {
		return
	}
	if !p.anyKept(from, to) && onlyPieces(run, len(pieces)) && !c.holdsBorder(run) {
		c.remove(run.Start, run.End)
		return
	}
	for i := range pieces {
		c.deleteInPiece(p, &pieces[i])
	}
}

func (c *compiler) deleteInPiece(p *paragraph, piece *piece) {
	if piece.from < piece.to && !p.anyKept(piece.from, piece.to) && !c.pinned[piece.node] {
		c.remove(piece.node.Start, piece.node.End)
		return
	}
	for from := piece.from; from < piece.to; {
		to := from
		for to < piece.to && p.deleted[to] {
			to++
		}
		if to > from {
			c.remove(piece.source(from), piece.source(to))
			piece.touched = true
		}
		from = to + 1
	}
}

// holdsBorder reports whether a block has its borders between the children of the run, or in a text of it.
func (c *compiler) holdsBorder(run *wml.Node) bool {
	return c.pinned[run] || slices.ContainsFunc(run.Children, func(n *wml.Node) bool { return c.pinned[n] })
}

// invisible are elements of a run that are nothing without its text.
var invisible = map[string]bool{"w:rPr": true, "w:lastRenderedPageBreak": true, "w:proofErr": true}

// onlyPieces reports whether the run contains only n pieces of text and invisible elements.
func onlyPieces(run *wml.Node, n int) bool {
	for _, c := range run.Children {
		if !invisible[c.Name] {
			n--
		}
	}
	return n == 0
}

// editValue replaces a value's tag. The value takes the position of the first character. The pieces in other elements
// are removed only if there is a value.
func (c *compiler) editValue(m *mark) {
	p := m.par
	m.first.touched = true
	c.add(edit{pos: m.first.source(m.from), end: m.first.source(min(m.to, m.first.to)), rank: rankReplace, action: value{m}})
	for i := p.pieceAt(m.from) + 1; i < len(p.pieces) && p.pieces[i].from < m.to; {
		next := i + 1
		for next < len(p.pieces) && p.pieces[next].run == p.pieces[i].run {
			next++
		}
		c.editTail(p.pieces[i:next], m)
		i = next
	}
}

// value is the tag of a value, which takes the place of its first characters.
type value struct{ mark *mark }

func (v value) apply(a *assembler, e *edit) bool {
	m, place := v.mark, a.c.places.of(v.mark)
	if m.tag.Kind == lang.PageBreak {
		if place != nil { // no page can be broken in a chart
			a.emit(&program.PageBreak{Place: place})
		}
		return true
	}
	a.noteLead(m, place)
	a.emit(&program.Value{Tag: m.tag, Source: a.c.copy(e.pos, e.end), Breaks: a.c.places.breaks(m), Place: place, Merge: m.merge})
	return true
}

// noteLead records the output from the start of a value's paragraph to its tag, if it is invisible and contains no anchor.
func (a *assembler) noteLead(m *mark, p *program.Place) {
	par := m.par.node
	isAnchor := func(n *wml.Node) bool { return n.End <= m.first.run.Start && n.IsRangeMarkup() }
	if p == nil || p.LeavePar == nil || !m.leading() || slices.ContainsFunc(par.Children, isAnchor) {
		return
	}
	if at := lastStart(a.lit, []byte("<"+par.RawName(a.c.src))); at >= 0 {
		p.Lead = slices.Clone(a.lit[at:])
	}
}

// editLone has the paragraph of a value that is alone in it give way to a value that consists of paragraphs and tables.
func (c *compiler) editLone(m *mark) {
	if par := m.par.node; c.mayTakeParagraph(m) {
		c.add(edit{pos: par.Start, end: par.Start, rank: rankLone, bound: begins, action: held(func(body []program.Step) program.Step {
			return &program.LoneValue{Tag: m.tag, Place: c.places.of(m), Merge: m.merge, Body: body}
		})})
		c.add(edit{pos: par.End, end: par.End, rank: rankLoneEnd, bound: ends, action: released{}})
	}
}

// tail has a stretch of the source written only if the value before it is missing.
func (c *compiler) tail(pos, end int) {
	if pos < end {
		c.replace(pos, end, &program.Tail{Text: c.copy(pos, end)})
	}
}

// editTail has the pieces of one run left out as far as they belong to a value's tag.
func (c *compiler) editTail(pieces []piece, m *mark) {
	run := pieces[0].run
	if run != m.first.run && pieces[len(pieces)-1].to <= m.to && onlyPieces(run, len(pieces)) {
		c.tail(run.Start, run.End)
		return
	}
	for i := range pieces {
		piece := &pieces[i]
		switch {
		case piece.from >= m.to:
			return
		case piece.to <= m.to:
			c.tail(piece.node.Start, piece.node.End)
		default:
			c.tail(piece.source(piece.from), piece.source(m.to))
			piece.touched = true
		}
	}
}

// preserveSpaces marks the texts that were changed so that blanks at their ends count. Blanks that did not count
// before are removed.
func (c *compiler) preserveSpaces(p *paragraph) {
	for i := range p.pieces {
		piece := &p.pieces[i]
		t := piece.node
		if !piece.touched || t.Void() || t.Name != "w:t" { // DrawingML always preserves blanks
			continue
		}
		space := t.Attr("xml:space")
		if space != nil {
			if string(c.src[space.ValueStart:space.ValueEnd]) == "preserve" {
				continue
			}
			c.remove(space.Start, space.End)
		}
		c.insert(t.OpenEnd-1, wml.Preserve)
		from, to := piece.from, piece.to
		for from < to && isXMLSpace(p.text[from]) {
			from++
		}
		for to > from && isXMLSpace(p.text[to-1]) {
			to--
		}
		c.remove(piece.source(piece.from), piece.source(from))
		c.remove(piece.source(to), piece.source(piece.to))
	}
}

func isXMLSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
