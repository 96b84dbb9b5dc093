package compile

import (
	"slices"
	"sort"
	"strings"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// border is where a block begins, ends, or has another branch. closing and opening are XML that ends the elements around the position
// and begins them again after it.
type border struct {
	pos              int
	closing, opening string

	part  borderPart
	block *block
	mark  *mark
}

type borderPart uint8

const (
	atStart  borderPart = iota // the border before a block
	atBranch                   // between two of its branches
	atEnd                      // after it
)

func (c *compiler) addBorder(b border) {
	kind := ends
	switch {
	case b.part == atStart && b.block.isLoop():
		kind = repeats
	case b.part == atStart:
		kind = begins
	case b.part == atBranch:
		kind = parts
	}
	c.add(edit{pos: b.pos, end: b.pos, rank: rankBorder, bound: kind, order: b.mark.order, action: &b})
}

func (b *border) apply(a *assembler, e *edit) bool {
	if b.part == atStart {
		a.insert(b.closing)
		a.push(b.block.frame(a.c, b.mark))
		a.insert(b.opening)
		return true
	}
	top := &a.stack[len(a.stack)-1]
	if top.block != b.block {
		return b.torn(a.c)
	}
	a.insert(b.closing)
	if b.part == atEnd {
		a.pop()
		a.catchUp(e.region)
	} else if top.loop != nil {
		a.flush()
		top.loop.Body, top.isElse = a.taken(top.from), true
	} else {
		a.flush()
		top.cond.Branches[len(top.cond.Branches)-1].Body = a.taken(top.from)
		branch := program.Branch{}
		if b.mark.tag.Kind == lang.ElseIf {
			branch.Tag = b.mark.tag
		}
		top.cond.Branches = append(top.cond.Branches, branch)
	}
	a.insert(b.opening)
	return true
}

func (b *border) torn(c *compiler) bool {
	c.fail(b.mark, "this block and another begin or end in the same paragraph or row, so one would split the other",
		"put each of their tags into a separate paragraph")
	return false
}

// frame begins the step of a block.
func (b *block) frame(c *compiler, m *mark) frame {
	if m.tag.Chooses() {
		return frame{block: b, cond: &program.If{Branches: make([]program.Branch, 1), Empty: b.emptied(c), Choice: c.choice(m)}}
	}
	if m.tag.Kind == lang.Include {
		return frame{block: b, cond: &program.If{Branches: make([]program.Branch, 1), Empty: b.emptied(c)}}
	}
	if !b.isLoop() {
		return frame{block: b, cond: &program.If{Branches: []program.Branch{{Tag: m.tag}}, Empty: b.emptied(c)}}
	}
	loop := &program.Loop{Tag: m.tag, Between: []byte(b.between), Empty: b.emptied(c), Lists: b.lists, Merges: b.merges}
	if b.perRow {
		loop.Columns = b.columns.slot + 1
	}
	return frame{block: b, loop: loop}
}

// emptied returns the steps for a block without output: if the block contains the end of a section that began before it, they write the
// paragraph with the properties of that section.
func (b *block) emptied(c *compiler) []program.Step {
	if b.kept == nil {
		return nil
	}
	props := b.kept.Parent
	end := "</" + props.RawName(c.src) + "></" + props.Parent.RawName(c.src) + ">"
	text := []byte("<" + props.Parent.RawName(c.src) + "><" + props.RawName(c.src) + ">")
	var steps []program.Step
	from := b.kept.Start
	for _, ref := range c.repeatedHeaders(b.kept) {
		id := ref.node.Attr("r:id")
		steps = append(steps, &program.Literal{Text: append(text, c.src[from:id.ValueStart]...)}, ref.step(c, id))
		text, from = nil, id.ValueEnd
	}
	return append(steps, &program.Literal{Text: slices.Concat(text, c.src[from:b.kept.End], []byte(end)), After: program.IsParagraph})
}

// findBorders finds where the blocks begin and end.
func (c *compiler) findBorders() {
	for _, b := range slices.Clone(c.blocks) { // repeated columns add to them
		if c.spend(1 + len(c.pars)/bytesPerStep) {
			return
		}
		c.findBordersOf(b)
	}
}

func (c *compiler) findBordersOf(b *block) {
	if b.level == tableColumns {
		c.editColumns(b)
		return
	}
	if b.item != nil {
		c.addBorder(border{pos: b.openAt, block: b, mark: b.open(), part: atStart})
		c.addBorder(border{pos: b.closeAt, block: b, mark: b.close(), part: atEnd})
		return
	}
	if b.level == paragraphs && b.open().tag.Kind != lang.Paragraph {
		b.stream = c.needsStream(b)
	}
	if b.stream && c.hasSectionBreak(b) {
		c.fail(b.open(), "this block begins or ends within a paragraph and contains a section break", "put its tags into separate paragraphs")
		return
	}
	for i, m := range b.marks {
		at, problem := c.borderOf(b, m)
		if problem != "" {
			c.fail(m, problem, hints[b.level])
			return
		}
		m.border = at.pos
		at.block, at.mark, at.part = b, m, atBranch
		switch {
		case i == 0:
			at.part, b.openAt = atStart, at.pos
		case i == len(b.marks)-1:
			at.part, b.closeAt = atEnd, at.pos
		}
		c.addBorder(at)
	}
	switch {
	case b.level == paragraphs && !b.stream:
		c.keepSection(b)
	case b.stream && b.isLoop() && (c.isEdge(b.open()) || c.isEdge(b.close())):
		b.between = c.paragraphBreak(b)
	}
}

// isEdge reports whether nothing is outside of the block in the paragraph of its first or last tag.
func (c *compiler) isEdge(m *mark) bool {
	return c.gone[m.par.node] || m.opens() && m.leading() || m.closes() && m.trailing()
}

// paragraphBreak returns the XML between two rounds of a loop that begins or ends within a paragraph, and whose other tag is at the edge of
// one. The break on that side belongs to each item.
func (c *compiler) paragraphBreak(b *block) string {
	i := sort.Search(len(b.at.Children), func(i int) bool { return b.at.Children[i].End > b.openAt })
	p := b.at.Children[i]
	return "</" + p.RawName(c.src) + "><" + p.RawName(c.src) + ">" + c.kept(p.Child("w:pPr"))
}

// holdsTrackedChange reports whether n is, or contains, a tracked change, whose id must not be repeated.
func holdsTrackedChange(n *wml.Node) bool {
	return strings.HasSuffix(n.Name, "Change") || trackedChanges[n.Name] || slices.ContainsFunc(n.Children, holdsTrackedChange)
}

// hints say what helps when a border cannot be where the tag is.
var hints = map[level]string{
	inline:     "move the tag out of it, or the whole block into it",
	paragraphs: "put the tag into a separate paragraph",
	rows:       "put the tag into a separate row",
}

func (c *compiler) borderOf(b *block, m *mark) (at border, problem string) {
	switch {
	case b.level == rows:
		return c.rowBorder(b, m)
	case b.level == inline:
		return c.split(m, b.at)
	case b.open().tag.Kind == lang.Paragraph && m.opens():
		return border{pos: m.par.node.Start}, ""
	case b.open().tag.Kind == lang.Paragraph:
		return border{pos: m.par.node.End}, ""
	case !b.stream:
		return c.paragraphBorder(m), ""
	case c.gone[m.par.node]:
		return c.adjacentBorder(b, m)
	}
	return c.split(m, m.par.node)
}

// opens reports whether the tag opens its block. If not, it closes the block.
func (m *mark) opens() bool  { return m == m.block.open() }
func (m *mark) closes() bool { return m == m.block.close() }

// leading and trailing report whether nothing visible precedes or follows the tag in its paragraph.
func (m *mark) leading() bool  { return !m.par.anyVisible(0, m.from) }
func (m *mark) trailing() bool { return !m.par.anyVisible(m.to, len(m.par.text)) }

// needsStream reports whether a tag of the block has text on both sides, or text on the side that the block would otherwise
// lose.
func (c *compiler) needsStream(b *block) bool {
	return slices.ContainsFunc(b.marks, func(m *mark) bool {
		return !c.gone[m.par.node] && !m.leading() && !m.trailing()
	})
}

// paragraphBorder returns the border before or after the tag's paragraph.
func (c *compiler) paragraphBorder(m *mark) border {
	p := m.par.node
	before, after := border{pos: p.Start}, border{pos: p.End}
	switch {
	case c.gone[p]:
		return before
	case m.leading() && m.trailing(): // it is kept for its section break or another block
		if m.closes() {
			return before
		}
		return after
	case m.leading():
		return before
	}
	return after
}

// adjacentBorder is for a tag that had a paragraph to itself in a block whose other tags had not: it counts as the
// start of the next paragraph or the end of the one before.
func (c *compiler) adjacentBorder(b *block, m *mark) (at border, problem string) {
	siblings := b.at.Children
	i := slices.Index(siblings, m.par.node)
	step := 1
	if m.closes() {
		step = -1
	}
	for i += step; i >= 0 && i < len(siblings) && c.gone[siblings[i]]; i += step {
	}
	if i < 0 || i >= len(siblings) || siblings[i].Name != "w:p" || siblings[i].Void() || !m.opens() && !m.closes() {
		return border{}, "some tags of this block are in separate paragraphs, and others are within text"
	}
	p := siblings[i]
	c.pinned[p] = true
	if m.closes() {
		return border{pos: p.CloseStart}, ""
	}
	if props := p.Child("w:pPr"); props != nil {
		return border{pos: props.End}, ""
	}
	return border{pos: p.OpenEnd}, ""
}

func (c *compiler) rowBorder(b *block, m *mark) (at border, problem string) {
	row := m.par.node.Under(b.at)
	switch {
	case c.gone[row] || m.opens():
		return border{pos: row.Start}, ""
	case m.closes():
		return border{pos: row.End}, ""
	case c.nothingIn(row, m, true):
		return border{pos: row.Start}, ""
	case c.nothingIn(row, m, false):
		return border{pos: row.End}, ""
	}
	return border{}, "this divides a block of rows in the middle of a row"
}

// nothingIn reports whether the row shows nothing before the tag or, if before is false, after it.
func (c *compiler) nothingIn(row *wml.Node, m *mark, before bool) bool {
	if before && !m.leading() || !before && !m.trailing() {
		return false
	}
	return !slices.ContainsFunc(c.parsWithin(row), func(p *paragraph) bool {
		return p != m.par && before == (p.node.Start < m.par.node.Start) && p.shows()
	})
}

// splittable has the elements that can be closed and opened again at a border without changing their meaning.
var splittable = map[string]bool{
	"w:t": true, "w:r": true, "a:t": true, "a:r": true, "w:hyperlink": true, "w:ins": true, "w:moveTo": true,
	"w:smartTag": true, "w:customXml": true, "w:bdo": true, "w:dir": true,
}

// split returns the border of a tag between the children of at, or in its text if at is a w:t. The border is at the edge of the
// largest node that has nothing else on that side, or splits nodes if there is none. Tags with nothing kept between them share
// one border, so that they keep their order.
func (c *compiler) split(m *mark, at *wml.Node) (b border, problem string) {
	p := m.par
	from, to := p.gapAround(m, at)
	if at == m.first.node {
		return border{pos: m.first.source(from)}, ""
	}
	first, last := &p.pieces[p.pieceAt(from)], &p.pieces[p.pieceAt(to-1)]
	b.pos = first.source(from)
	// The edges: the highest node of which nothing is kept before the gap, or after it.
	var startEdge, endEdge *wml.Node
	for n := first.node; n != at; n = n.Parent {
		if start, _ := p.extent(n); !p.anyKept(start, from) {
			startEdge = n
		}
	}
	for n := last.node; n != at; n = n.Parent {
		if _, end := p.extent(n); !p.anyKept(to, end) {
			endEdge = n
		}
	}
	around := first.node
	switch {
	case startEdge != nil && (endEdge == nil || startEdge.Depth() <= endEdge.Depth()):
		b.pos, around = startEdge.Start, startEdge.Parent
	case endEdge != nil:
		b.pos, around = endEdge.End, endEdge.Parent
	}
	for n := around; n != at; n = n.Parent {
		if !splittable[n.Name] {
			return border{}, "this begins or ends a block inside a field or a content control that the block does not contain completely"
		}
		b.closing += "</" + n.RawName(c.src) + ">"
		b.opening = c.reopen(n) + b.opening
	}
	return b, ""
}

// gapAround returns the range of deleted text around a tag within a node.
func (p *paragraph) gapAround(m *mark, at *wml.Node) (from, to int) {
	low, high := p.extent(at)
	for from = m.from; from > low && p.deleted[from-1]; from-- {
	}
	for to = m.to; to < high && p.deleted[to]; to++ {
	}
	return from, to
}

// reopen returns a start tag that opens an element again, with the properties of a run. A tracked change gets a new id.
func (c *compiler) reopen(n *wml.Node) string {
	switch n.Name {
	case "w:t":
		return "<" + n.RawName(c.src) + wml.Preserve + ">"
	case "w:r", "a:r":
		props := n.Child("w:rPr")
		if n.Name == "a:r" {
			props = n.Child("a:rPr")
		}
		if props != nil {
			return string(c.src[n.Start:n.OpenEnd]) + string(c.src[props.Start:props.End])
		}
	}
	if id := n.Attr("w:id"); id != nil && trackedChanges[n.Name] {
		return string(c.src[n.Start:id.ValueStart]) + program.FreshID + string(c.src[id.ValueEnd:n.OpenEnd])
	}
	return string(c.src[n.Start:n.OpenEnd])
}

// removeLines removes the line breaks of tags that are alone in a line of their paragraph (Shift+Enter), as if the line were a
// paragraph.
func (c *compiler) removeLines() {
	for _, b := range slices.Backward(c.blocks) { // outer before inner: inner blocks get the remaining breaks of a line
		if b.level == inline {
			c.removeLinesOf(b)
		}
	}
	c.countTexts()
}

func (c *compiler) removeLinesOf(b *block) {
	p := b.open().par
	breaks := p.breaks()
	if len(breaks) == 0 {
		return
	}
	lines := make([]line, len(b.marks))
	for i, m := range b.marks {
		lines[i] = p.lineOf(m, breaks)
		if !lines[i].onlyTags || i > 0 && lines[i].from == lines[i-1].from {
			return
		}
	}
	// Each tag's line loses the break after it, or the one before it if the block ends the paragraph. A block that is the whole
	// paragraph loses both breaks around its middle tags, and a loop needs one break between its rounds.
	atEnd, whole := lines[len(lines)-1].after == nil, false
	if atEnd {
		whole = lines[0].before == nil
	}
	for i, l := range lines {
		first, last := i == 0, i == len(lines)-1
		if !atEnd || whole && !last {
			p.removePiece(l.after)
		}
		if atEnd && (!whole || !first) {
			p.removePiece(l.before)
		}
	}
	if whole && b.isLoop() {
		b.between = c.lineBreak(b)
	}
}

// line is the line of a paragraph that contains a tag, with the remaining breaks around it.
type line struct {
	from          int // in the text
	before, after *piece
	onlyTags      bool
}

// breaks returns the line breaks of the paragraph.
func (p *paragraph) breaks() []*piece {
	if p.brs == nil {
		p.brs = []*piece{}
		for i := range p.pieces {
			if piece := &p.pieces[i]; !piece.isText() && p.text[piece.from] == '\n' {
				p.brs = append(p.brs, piece)
			}
		}
	}
	return p.brs
}

func (p *paragraph) lineOf(m *mark, breaks []*piece) line {
	i := sort.Search(len(breaks), func(i int) bool { return breaks[i].from >= m.to })
	var l line
	to := len(p.text)
	if i > 0 {
		l.before, l.from = p.unlessRemoved(breaks[i-1]), breaks[i-1].to
	}
	if i < len(breaks) {
		l.after, to = p.unlessRemoved(breaks[i]), breaks[i].from
	}
	l.onlyTags = !p.anyVisible(l.from, to)
	return l
}

func (p *paragraph) unlessRemoved(piece *piece) *piece {
	if p.deleted[piece.from] {
		return nil
	}
	return piece
}

func (p *paragraph) removePiece(piece *piece) {
	if piece != nil {
		p.remove(piece.from, piece.to)
	}
}

// lineBreak returns a line break, as a child of the node that contains the block's borders.
func (c *compiler) lineBreak(b *block) string {
	run := b.open().first.run
	br := "<" + run.Prefix(c.src) + "br/>"
	if b.at == run {
		return br
	}
	return c.reopen(run) + br + "</" + run.RawName(c.src) + ">"
}

// sectionOf returns the section properties that a paragraph ends its section with, or nil.
func sectionOf(p *wml.Node) *wml.Node {
	if p.Name != "w:p" {
		return nil
	}
	return p.Child("w:pPr").Child("w:sectPr")
}

func (c *compiler) hasSectionBreak(b *block) bool {
	held := c.held(b, b.open().par.node.Start, b.close().par.node.End)
	return slices.ContainsFunc(held, func(n *wml.Node) bool { return sectionOf(n) != nil })
}

// held returns the children of the block's container between two places.
func (c *compiler) held(b *block, from, to int) []*wml.Node {
	all := b.at.Children
	first := sort.Search(len(all), func(i int) bool { return all[i].Start >= from })
	last := sort.Search(len(all), func(i int) bool { return all[i].Start >= to })
	return all[first:max(first, last)]
}

// keepSection sees to it that a section that began before the block still ends when the block gives nothing: the
// paragraph with its properties stays, empty.
func (c *compiler) keepSection(b *block) {
	var section *wml.Node
	for _, n := range c.held(b, b.openAt, b.closeAt) {
		if s := sectionOf(n); s != nil {
			section = s
		}
	}
	if section == nil || !c.sectionBeganBefore(b) {
		return
	}
	b.kept = section
}

func (c *compiler) sectionBeganBefore(b *block) bool {
	before := c.held(b, 0, b.openAt)
	for _, n := range slices.Backward(before) {
		if sectionOf(n) != nil {
			return false
		}
		if !c.gone[n] && (n.Name == "w:p" || n.Name == "w:tbl" || n.Name == "w:sdt") {
			return true
		}
	}
	return false
}
