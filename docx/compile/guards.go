package compile

import (
	"cmp"
	"slices"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// findGone finds the paragraphs and rows that vanish because they contain only tags of larger blocks.
func (c *compiler) findGone() {
	left := map[*wml.Node]int{} // blocks that are not gone, by cell
	for _, p := range c.pars {
		if c.holdsOnlyTags(p) && sectionOf(p.node) == nil && !c.neededInCell(p, left) {
			c.gone[p.node] = true
			left[p.node.Parent]--
		}
	}
	for _, b := range c.blocks {
		if b.level != rows {
			continue
		}
		first, last := b.open().par.node.Under(b.at), b.close().par.node.Under(b.at)
		if first == last {
			continue
		}
		for _, m := range b.marks {
			if row := m.par.node.Under(b.at); c.isTagRow(row) {
				c.gone[row] = true
			}
		}
	}
}

// holdsOnlyTags reports whether nothing would be left of the paragraph, and no block begins or ends within it.
func (c *compiler) holdsOnlyTags(p *paragraph) bool {
	if len(p.marks) == 0 || p.anyVisible(0, len(p.text)) {
		return false
	}
	return !slices.ContainsFunc(p.marks, func(m *mark) bool { return m.block != nil && m.block.level == inline })
}

// neededInCell reports whether the paragraph is all that is left of its cell, and contains only tags of rows.
func (c *compiler) neededInCell(p *paragraph, left map[*wml.Node]int) bool {
	cell := p.node.Parent
	if cell.Name != "w:tc" {
		return false
	}
	if _, ok := left[cell]; !ok {
		for _, n := range cell.Children {
			if n.Name == "w:p" || n.Name == "w:tbl" || n.Name == "w:sdt" {
				left[cell]++
			}
		}
	}
	return left[cell] == 1 && !slices.ContainsFunc(p.marks, func(m *mark) bool { return m.block != nil && m.block.level < rows })
}

// isTagRow reports whether a row holds nothing but tags of blocks of rows.
func (c *compiler) isTagRow(row *wml.Node) bool {
	return !slices.ContainsFunc(c.parsWithin(row), func(p *paragraph) bool {
		return p.shows() || slices.ContainsFunc(p.marks, func(m *mark) bool { return m.block != nil && m.block.level != rows })
	})
}

// parsWithin returns the paragraphs inside n.
func (c *compiler) parsWithin(n *wml.Node) []*paragraph {
	byStart := func(p *paragraph, at int) int { return cmp.Compare(p.node.Start, at) }
	from, _ := slices.BinarySearchFunc(c.pars, n.Start, byStart)
	to, _ := slices.BinarySearchFunc(c.pars, n.End, byStart)
	return c.pars[from:to]
}

// guardParagraphs has the paragraphs that hold nothing but inline blocks dropped when these give nothing.
func (c *compiler) guardParagraphs() {
	streams := c.streams()
	for _, p := range c.pars {
		if len(p.marks) == 1 && p.marks[0].tag.Kind == lang.PageBreak && c.mayTakeParagraph(p.marks[0]) {
			c.guard(p.node)
			continue
		}
		if parting(p.node, streams) != nil || c.isGone(p.node) || !c.isAllBlocks(p) {
			continue
		}
		c.guard(p.node)
		c.yieldWhereVisible(p)
	}
}

// isAllBlocks reports whether all the visible text of a paragraph, and there is some, is inside inline blocks.
func (c *compiler) isAllBlocks(p *paragraph) bool {
	if len(p.marks) == 0 || sectionOf(p.node) != nil {
		return false
	}
	at, found := 0, false
	for _, m := range p.marks {
		if m.block != nil && m.block.stream {
			return false
		}
		if m.block == nil || m.block.level != inline || m.from < at {
			continue
		}
		if p.anyVisible(at, m.from) {
			return false
		}
		at, found = m.block.close().to, true
	}
	return found && !p.anyVisible(at, len(p.text))
}

// yieldWhereVisible puts a sign before each stretch of visible text that is not a value; values are one themselves.
func (c *compiler) yieldWhereVisible(p *paragraph) {
	at := 0
	for i := range len(p.marks) + 1 {
		next, until := len(p.text), len(p.text)
		if i < len(p.marks) {
			next, until = p.marks[i].from, p.marks[i].to
		}
		if p.anyVisible(at, next) {
			pos := at
			for !p.anyVisible(pos, pos+1) {
				pos++
			}
			c.yield(c.positionOf(p, pos))
		}
		at = until
	}
}

// positionOf returns where a byte of a paragraph's text is in the source.
func (c *compiler) positionOf(p *paragraph, offset int) int {
	piece := &p.pieces[p.pieceAt(offset)]
	if piece.isText() {
		return piece.source(offset)
	}
	return piece.node.Start
}

// guardTables makes executions drop tables whose rows are all in blocks if no row is left, and also content controls around
// rows.
func (c *compiler) guardTables() {
	seen := map[*wml.Node]bool{}
	for _, b := range c.blocks {
		if b.level != rows {
			continue
		}
		for n := b.at; n != nil && n.Name != "w:tc"; n = n.Parent {
			if (n.Name == "w:tbl" || n.Name == "w:sdt") && !seen[n] {
				seen[n] = true
				c.guardRows(n)
			}
			if n.Name == "w:tbl" {
				break
			}
		}
	}
}

func (c *compiler) guardRows(holder *wml.Node) {
	held := rowsOf(holder)
	if slices.ContainsFunc(held, func(row *wml.Node) bool { return c.spend(len(c.blocks)) || !c.isGone(row) && !c.inRowBlock(row) }) {
		return
	}
	c.guard(holder)
	for _, row := range held {
		if !c.isGone(row) && !c.guarded[row] {
			c.yield(row.Start)
		}
	}
}

// guard has a node left out if nothing in it yields.
func (c *compiler) guard(n *wml.Node) {
	c.guarded[n] = true
	c.hold(n.Start, n.End, begins, guard{})
}

type guard struct{}

func (guard) apply(a *assembler, e *edit) bool {
	a.push(frame{hold: func(body []program.Step) program.Step {
		return &program.Guard{Body: body, Ranges: e.region.ranges, Once: e.region.once}
	}})
	return true
}

// inRowBlock reports whether a block of rows of the same table holds this one.
func (c *compiler) inRowBlock(row *wml.Node) bool {
	return slices.ContainsFunc(c.blocks, func(b *block) bool {
		return b.level == rows && b.openAt <= row.Start && row.End <= b.closeAt &&
			b.at.Ancestor(wml.Named("w:tbl")) == row.Ancestor(wml.Named("w:tbl"))
	})
}

// guardContainers adds the paragraphs that containers need if some of their paragraphs vanish.
func (c *compiler) guardContainers() {
	for _, n := range c.changedContainers() {
		end, last := n.CloseStart, (*wml.Node)(nil)
		for _, child := range n.Children {
			switch child.Name {
			case "w:tbl":
				c.separateTables(last, child)
				last = child
			case "w:sdt":
				c.separateTables(last, child)
				last = child
			case "w:p":
				last = child
			case "w:sectPr":
				end = child.Start
			}
		}
		if last != nil && n.NeedsParagraph() && c.mayVanish(last) {
			c.emit(end, rankParagraph, &program.EmptyParagraph{XML: c.emptied(last)})
		}
	}
}

// separateTables adds an empty paragraph before an element that begins with a table, if the paragraph between it and
// another table is gone, or precedes only the first round of a loop. Word would join the two tables.
func (c *compiler) separateTables(before, n *wml.Node) {
	if before == nil || before.Name != "w:p" || !beginsWithTable(n) {
		return
	}
	isFirstRound := func(b *block) bool { return b.isLoop() && b.openAt >= before.End && b.openAt <= n.Start }
	if c.mayVanish(before) || slices.ContainsFunc(c.blocks, isFirstRound) {
		c.emit(n.Start, rankParagraph, &program.TableSeparator{XML: []byte("<" + n.Prefix(c.src) + "p/>")})
	}
}

// beginsWithTable reports whether n is a table, or a content control that begins with one.
func beginsWithTable(n *wml.Node) bool {
	for n != nil && n.Name == "w:sdt" {
		content := n.Child("w:sdtContent")
		if content == nil || len(content.Children) == 0 {
			return false
		}
		n = content.Children[0]
	}
	return n.Name == "w:tbl"
}

// emptied is an empty paragraph in place of n, with its properties if n is a paragraph; of a list, it would show as an
// item.
func (c *compiler) emptied(n *wml.Node) []byte {
	name := n.Prefix(c.src) + "p"
	props := n.Child("w:pPr")
	if props == nil || n.Name != "w:p" || props.Child("w:sectPr") != nil || props.Child("w:numPr") != nil {
		return []byte("<" + name + "/>")
	}
	return slices.Concat([]byte("<"+name+">"), c.src[props.Start:props.End], []byte("</"+name+">"))
}

// changedContainers returns the containers of paragraphs and tables with tags.
func (c *compiler) changedContainers() []*wml.Node {
	var all []*wml.Node
	seen := map[*wml.Node]bool{}
	note := func(n *wml.Node) {
		if !seen[n] {
			seen[n] = true
			all = append(all, n)
		}
	}
	for _, b := range c.sections.blocks {
		if b.level == paragraphs {
			note(b.at.Parent.Parent)
		}
	}
	for _, m := range c.marks {
		note(m.par.node.Parent)
		if table := m.par.node.Ancestor(wml.Named("w:tbl")); table != nil {
			note(table.Parent)
		}
	}
	return all
}

// mayVanish reports whether a paragraph or table need not be there in the output.
func (c *compiler) mayVanish(n *wml.Node) bool {
	return c.gone[n] || c.guarded[n] || slices.ContainsFunc(c.blocks, func(b *block) bool {
		return b.level == paragraphs && b.at == n.Parent && b.openAt <= n.Start && n.End <= b.closeAt
	})
}
