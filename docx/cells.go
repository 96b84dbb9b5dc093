package docx

import (
	"fmt"
	"slices"
	"strconv"

	"platen/docx/lang"
)

// The filters merge and span are about the cell that their tag stands in. A cell with merge is one with the cell above it if
// the values are equal (w:vMerge, ISO 29500-1 §17.4.84), unless a merging cell to its left begins anew in this row. A cell
// with span(n) covers n columns (w:gridSpan, §17.4.17), and the cells behind it that it covers are left out.

// beforeMerge and beforeSpan are the properties of a cell that come before w:vMerge and w:gridSpan (CT_TcPrBase).
var (
	beforeSpan  = []string{"w:cnfStyle", "w:tcW"}
	beforeMerge = []string{"w:cnfStyle", "w:tcW", "w:gridSpan", "w:hMerge"}
)

// editCells writes the edits of cells that merge or span.
func (c *compiler) editCells() {
	left := map[*node]int{} // by row: the slot of the merging cell to the left, and 1
	for _, m := range c.marks {
		if m.tag.Kind != lang.Print || m.tag.Filter("merge") == nil && m.tag.Filter("span") == nil {
			continue
		}
		tc := m.par.node.ancestor(named("w:tc"))
		if tc == nil {
			c.warnings = append(c.warnings, "The tag '"+m.tag.Text+"' stands in no table; its cell cannot merge or span.")
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

func (c *compiler) editMerge(m *mark, tc *node, left map[*node]int) {
	row := tc.ancestor(named("w:tr"))
	i := slices.IndexFunc(c.blocks, func(b *block) bool { // the innermost
		return b.level == rows && b.isLoop() && b.openAt <= row.start && row.end <= b.closeAt && b.at.ancestor(named("w:tbl")) == row.ancestor(named("w:tbl"))
	})
	if i < 0 || tc.child("w:tcPr").child("w:vMerge") != nil {
		c.warnings = append(c.warnings, "The cell of '"+m.tag.Text+"' cannot merge: its row is not repeated, or it is merged already.")
		return
	}
	slot := c.ids.merge()
	c.blocks[i].merges = append(c.blocks[i].merges, slot)
	c.addProperty(tc, beforeMerge, edit{kind: editMerge, mark: m, slot: slot, cell: left[row]})
	left[row] = slot + 1
	m.merge = slot + 1
}

// addProperty writes an edit that adds a property to a cell, behind those that come before it.
func (c *compiler) addProperty(tc *node, before []string, e edit) {
	e.phase = phaseReplace
	props := tc.child("w:tcPr")
	prefix := tc.prefix(c.src)
	if props == nil {
		open, end := e, e
		open.kind, open.opening = editInsert, "<"+prefix+"tcPr>"
		end.kind, end.opening = editInsert, "</"+prefix+"tcPr>"
		for _, part := range []*edit{&open, &e, &end} {
			part.pos, part.end = tc.openEnd, tc.openEnd
			c.add(*part)
		}
		return
	}
	e.pos = props.openEnd
	for _, p := range props.children {
		if slices.Contains(before, p.name) {
			e.pos = p.end
		}
	}
	e.end = e.pos
	c.add(e)
}

func (c *compiler) editCellSpan(m *mark, tc *node) {
	cells := c.cellsOf(tc.ancestor(named("w:tr")))
	i := slices.IndexFunc(cells, func(o cell) bool { return o.node == tc })
	if tc.child("w:tcPr").child("w:gridSpan") != nil {
		c.warnings = append(c.warnings, "The cell of '"+m.tag.Text+"' cannot span: it is merged already.")
		return
	}
	slot := c.ids.slot()
	most := 1
	for _, next := range cells[i+1:] {
		most += next.span
		c.add(edit{pos: next.node.start, end: next.node.start, phase: phaseGuard, kind: editCovered, slot: slot, cell: next.span})
		c.add(edit{pos: next.node.end, end: next.node.end, phase: phaseGuardEnd, kind: editGuardEnd})
	}
	if width := tc.child("w:tcPr").child("w:tcW"); width != nil {
		c.replace(width.start, width.end, editDelete) // which is that of one column
	}
	c.addProperty(tc, beforeSpan, edit{kind: editCellSpan, mark: m, slot: slot, cell: most})
}

// merged is the state of a column of merging cells.
type merged struct {
	begun bool   // there is a cell above
	value string // of that cell
	anew  bool   // the cell of this row begins anew
}

// beginMerges forgets the cells above a loop's first row.
func (x *execution) beginMerges(slots []int) {
	for _, slot := range slots {
		x.merges[slot] = merged{}
	}
}

// mergeCell decides whether the cell is one with that above it.
func (x *execution) mergeCell(o *op) error {
	value, _, ok, err := x.env.Show(o.tag)
	if err != nil {
		return err
	}
	m := &x.merges[o.slot]
	m.anew = !m.begun || !ok || m.value != value || o.width > 0 && x.merges[o.width-1].anew
	m.begun, m.value = ok, value
	prefix := o.place.prefix
	if m.anew {
		x.out.buf = fmt.Appendf(x.out.buf, `<%[1]svMerge %[1]sval="restart"/>`, prefix)
	} else {
		x.out.buf = fmt.Appendf(x.out.buf, `<%[1]svMerge/>`, prefix)
	}
	return nil
}

// cellSpan writes how many columns the cell of a tag covers, at most those that are there.
func (x *execution) spanCell(o *op) error {
	_, present, _, err := x.env.Show(o.tag)
	if err != nil {
		return err
	}
	span := 1
	if present != nil {
		span = min(max(present.Span, 1), o.width)
	}
	x.slots[o.slot] = span - 1
	if span > 1 {
		x.out.buf = fmt.Appendf(x.out.buf, `<%[1]sgridSpan %[1]sval="%[2]s"/>`, o.place.prefix, strconv.Itoa(span))
	}
	return nil
}

// covered writes a cell unless the one that spans covers it.
func (x *execution) covered(o *op) error {
	if x.slots[o.slot] > 0 {
		x.slots[o.slot] -= o.width
		return nil
	}
	return x.run(o.body)
}
