package compile

import (
	"slices"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// The filters merge and span apply to the cell of their tag. A cell with merge is merged with the cell above it if the values are
// equal (w:vMerge, ISO 29500-1 §17.4.84), unless a merging cell to its left starts a new merge in this row. A cell with span(n)
// covers n columns (w:gridSpan, §17.4.17), and the cells after it that it covers are omitted.

// editCells writes the edits of cells that merge or span.
func (c *compiler) editCells() {
	left := map[*wml.Node]int{} // by row: the slot of the merging cell to the left, and 1
	for _, m := range c.marks {
		if m.tag.Kind != lang.Print || m.tag.Filter("merge") == nil && m.tag.Filter("span") == nil {
			continue
		}
		tc := m.par.node.Ancestor(wml.Named("w:tc"))
		if tc == nil {
			c.warnTag(m, "The tag '"+m.tag.Text+"' is not in a table, so there is no cell to merge or span.")
			continue
		}
		if m.tag.Filter("span") != nil {
			c.editCellSpan(m, tc)
		}
		if m.tag.Filter("merge") != nil {
			c.editMerge(m, tc, left)
		}
	}
}

func (c *compiler) editMerge(m *mark, tc *wml.Node, left map[*wml.Node]int) {
	row := tc.Ancestor(wml.Named("w:tr"))
	i := slices.IndexFunc(c.blocks, func(b *block) bool { // the innermost
		return b.level == rows && b.isLoop() && b.openAt <= row.Start && row.End <= b.closeAt &&
			b.at.Ancestor(wml.Named("w:tbl")) == row.Ancestor(wml.Named("w:tbl"))
	})
	if i < 0 || tc.Child("w:tcPr").Child("w:vMerge") != nil {
		c.warnTag(m, "The cell of '"+m.tag.Text+"' cannot merge: its row is not repeated, or it is merged already.")
		return
	}
	slot := c.slots.Merges.Next()
	c.blocks[i].merges = append(c.blocks[i].merges, slot)
	merge := &program.CellMerge{Tag: m.tag, Slot: slot, Left: left[row], Prefix: m.first.node.Prefix(c.src)}
	c.setProperty(tc, cellProperties, "vMerge", func([]byte) program.Step { return merge })
	left[row] = slot + 1
	m.merge = slot + 1
}

func (c *compiler) editCellSpan(m *mark, tc *wml.Node) {
	cells := c.cellsOf(tc.Ancestor(wml.Named("w:tr")))
	i := slices.IndexFunc(cells, func(o cell) bool { return o.node == tc })
	if tc.Child("w:tcPr").Child("w:gridSpan") != nil {
		c.warnTag(m, "The cell of '"+m.tag.Text+"' cannot span: it is merged already.")
		return
	}
	slot := c.slots.Spans.Next()
	most := 1
	for _, next := range cells[i+1:] {
		most += next.span
		c.hold(next.node.Start, next.node.End, begins, held(func(body []program.Step) program.Step {
			return &program.CoveredCell{Slot: slot, Columns: next.span, Body: body}
		}))
	}
	if width := tc.Child("w:tcPr").Child("w:tcW"); width != nil {
		c.remove(width.Start, width.End) // that of one column
	}
	span := &program.CellSpan{Tag: m.tag, Slot: slot, Max: most, Prefix: m.first.node.Prefix(c.src)}
	c.setProperty(tc, cellProperties, "gridSpan", func([]byte) program.Step { return span })
}

// rowsOf returns the rows of a table, or of a content control in one.
func rowsOf(n *wml.Node) []*wml.Node {
	var all []*wml.Node
	for _, c := range n.Children {
		switch c.Name {
		case "w:tr":
			all = append(all, c)
		case "w:sdt", "w:sdtContent", "w:customXml", "w:ins":
			all = append(all, rowsOf(c)...)
		}
	}
	return all
}
