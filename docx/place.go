package docx

import "slices"

// place is where a value's tag stands, as far as values that are more than text need to know it: how to end the elements
// around it and begin them anew, and with which properties.
type place struct {
	prefix string // of the part's elements, with its colon

	props    properties // of the run that the tag stands in
	parProps []byte     // the content of the paragraph's properties, without those of its section
	inLink   bool       // something is around it in which there can be no link

	// How to leave the text for a place between the elements of its run, and to come back.
	leaveText, enterText []byte
	// How to leave the run for a place between runs of whatever holds it, and to come back into its text.
	leaveRun, enterRun []byte
	// How to leave the paragraph for a place between paragraphs, and to come back into the text; nil if the paragraph
	// cannot be parted here, as inside a field or a content control, or if it is an entry of the table of contents.
	leavePar, enterPar []byte

	width int64 // of the text's column, in twentieths of a point

	// lead is what is written of the paragraph before the text, if nothing shows there and it can be taken back.
	lead []byte

	headings shownHeadings // in rich text

	// last tells that the paragraph is the last in a cell or the like, or stands before a table: what takes its place
	// must end with a paragraph.
	last bool
}

// shownHeadings are those that the table of contents shows; the zero value is none.
type shownHeadings struct {
	from, to int
	outline  bool // those that have no style but an outline level, too
}

// drawingBreaks is the XML of breaks in the text of a chart or diagram, where a break stands between runs.
func (c *compiler) drawingBreaks(m *mark) *breaks {
	t, run := m.first.node, m.first.run
	line := slices.Concat(c.closeTag(t), c.closeTag(run), []byte("<"+t.prefix(c.src)+"br/>"), []byte(c.reopen(run)), c.src[t.start:t.openEnd])
	return &breaks{line: line, tab: []byte("\t")}
}

// holdsNoLink tells whether there can be no link in an element: in another link, and in what was inserted with tracked
// changes (ISO 29500-1 §17.13.5.18).
func holdsNoLink(n *node) bool {
	return n.name == "w:hyperlink" || n.name == "w:ins" || n.name == "w:moveTo"
}

// placeOf describes the place of a value's tag.
func (c *compiler) placeOf(m *mark) *place {
	t, run, par := m.first.node, m.first.run, m.par.node
	p := &place{prefix: t.prefix(c.src), width: int64(c.columnWidth(par)), props: c.propertiesOf(run.child("w:rPr")), inLink: run.ancestor(holdsNoLink) != nil, last: c.needsParagraphBehind(par)}
	if c.toc != nil && par.ancestor(named("w:txbxContent")) == nil {
		p.headings = shownHeadings{c.toc.levels[0], c.toc.levels[1], c.toc.outline}
	}
	if props := par.child("w:pPr"); props != nil {
		p.parProps = c.copied(props)
	}
	p.leaveText, p.enterText = c.closeTag(t), []byte(c.reopen(t))
	p.leaveRun = slices.Concat(p.leaveText, c.closeTag(run))
	p.enterRun = slices.Concat([]byte(c.reopen(run)), p.enterText)
	if sectionOf(par) != nil || c.isEntry(par) {
		return p
	}
	leave, enter := slices.Clone(p.leaveRun), slices.Clone(p.enterRun)
	for n := run.parent; n != par; n = n.parent {
		if n == nil || !splittable[n.name] {
			return p
		}
		leave = append(leave, c.closeTag(n)...)
		enter = append([]byte(c.reopen(n)), enter...)
	}
	p.leavePar = slices.Concat(leave, c.closeTag(par))
	p.enterPar = slices.Concat(c.anotherPar(par), enter)
	return p
}

// sideMargins are those of a cell's text together, where nothing else is said, in twentieths of a point.
const sideMargins = 216

// columnWidth returns how wide the text around a paragraph is in twentieths of a point: that of its cell if it is known, else
// the page's.
func (c *compiler) columnWidth(par *node) int {
	width := par.ancestor(named("w:tc")).child("w:tcPr").child("w:tcW")
	if attrValue(c.src, width, "w:type") == "dxa" {
		if w := idNumber(attrValue(c.src, width, "w:w")) - sideMargins; w > 0 {
			return w
		}
	}
	return c.textWidth()
}

// inner returns the content of an element; n may be nil.
func (c *compiler) inner(n *node) []byte {
	if n == nil {
		return nil
	}
	return c.src[n.openEnd:n.closeStart]
}

// without returns the content of an element but for some of its children.
func (c *compiler) without(n *node, names ...string) []byte {
	var kept []byte
	at := n.openEnd
	for _, child := range n.children {
		if slices.Contains(names, child.name) {
			kept = append(kept, c.src[at:child.start]...)
			at = child.end
		}
	}
	return append(kept, c.src[at:n.closeStart]...)
}

// copied returns the content of a w:pPr for other paragraphs: without the children named, and without the section break and
// the tracked changes, which are of the one paragraph. If its mark was deleted, accepting that would join the others too.
func (c *compiler) copied(props *node, names ...string) []byte {
	content := c.without(props, append(names, "w:rPr", "w:sectPr", "w:pPrChange")...)
	mark := props.child("w:rPr")
	if mark == nil {
		return content
	}
	own := c.without(mark, "w:ins", "w:del", "w:moveFrom", "w:moveTo", "w:rPrChange")
	return slices.Concat(content, c.src[mark.start:mark.openEnd], own, c.src[mark.closeStart:mark.end])
}

func (c *compiler) closeTag(n *node) []byte { return []byte("</" + n.rawName(c.src) + ">") }

// anotherPar begins a paragraph like par that goes on with its text: it is no item of a list, and has no id of its own.
func (c *compiler) anotherPar(par *node) []byte {
	open := slices.Clone(c.src[par.start:par.openEnd])
	if id := par.attr("w14:paraId"); id != nil {
		open = slices.Concat(c.src[par.start:id.start], c.src[id.end:par.openEnd])
	}
	props := par.child("w:pPr")
	if props == nil {
		return open
	}
	return slices.Concat(open, c.src[props.start:props.openEnd], c.copied(props, "w:numPr"), c.src[props.closeStart:props.end])
}

// needsParagraphBehind tells whether what takes the place of a paragraph must end with one: nothing follows it in its
// container, or a table does.
func (c *compiler) needsParagraphBehind(par *node) bool {
	if par.parent == nil {
		return true
	}
	i := slices.Index(par.parent.children, par)
	for _, n := range par.parent.children[i+1:] {
		switch n.name {
		case "w:p":
			return c.mayVanish(n)
		case "w:tbl", "w:sdt", "w:sectPr":
			return true
		}
	}
	return true
}

// isEntry tells whether the table of contents has an entry for a paragraph, which must lead to it.
func (c *compiler) isEntry(par *node) bool { return c.toc != nil && c.toc.levelOf(c, par) > 0 }

// mayTakeParagraph tells whether a value's tag has its paragraph to itself, so that blocks can take the paragraph's place.
func (c *compiler) mayTakeParagraph(m *mark) bool {
	p := m.par
	return len(p.marks) == 1 && p.node.name == "w:p" && m.leading() && m.trailing() && !c.isGone(p.node) && sectionOf(p.node) == nil && !c.pinned[p.node] && !c.isEntry(p.node) &&
		p.node.parent != nil && !hasOther(p.node, m.first.run.under(p.node), m.last.run.under(p.node))
}

// hasOther tells whether a paragraph holds an anchor of something between its runs that would be lost with it.
func hasOther(par, first, last *node) bool {
	return slices.ContainsFunc(par.children, func(n *node) bool {
		return n != first && n != last && (rangeMarkup[n.name] || n.name == "w:sdt")
	})
}

// size is how many bytes of memory the place holds, about.
func (p *place) size() int {
	const structSize = 200
	return structSize + len(p.leaveText) + len(p.enterText) + len(p.leaveRun) + len(p.enterRun) + len(p.leavePar) + len(p.enterPar)
}
