package compile

import (
	"fmt"
	"slices"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// {{tablecolumn x in list}} repeats columns of a table: those from the cell of the tag to the cell of its
// {{endtablecolumn}}, in every row. A table is written row by row, so its columns become a loop in each row over items that
// are looked up once, before the table's grid. The copies have the width of the template's columns as long as the table
// fits the page; beyond that all its columns become narrower alike.

// columns are the columns of one table that are repeated.
type columns struct {
	table       *wml.Node
	first, last int // in the grid, from 0
	slot        int // of the items
}

// count returns the number of repeated columns.
func (k *columns) count() int { return k.last - k.first + 1 }

// cell is a cell of a row, with its position in the grid.
type cell struct {
	node *wml.Node // nil for columns that the row leaves out
	at   int       // the first column, from 0
	span int

	spanned, width *wml.Node // elements with the number of its columns and the width; may be nil
}

// leftOut returns the columns that a row leaves out at its start and at its end.
func (c *compiler) leftOut(row *wml.Node, cells []cell) []cell {
	props := row.Child("w:trPr")
	before, after := props.Child("w:gridBefore"), props.Child("w:gridAfter")
	all := []cell{
		{spanned: before, span: c.gridCount(before), width: props.Child("w:wBefore")},
		{spanned: after, span: c.gridCount(after), width: props.Child("w:wAfter")},
	}
	for _, cell := range cells {
		all[1].at = cell.at + cell.span
	}
	return slices.DeleteFunc(all, func(o cell) bool { return o.span <= 0 })
}

// gridCount returns the number of columns in an element, which may be nil.
func (c *compiler) gridCount(n *wml.Node) int { return wml.IDNumber(wml.AttrValue(c.src, n, "w:val")) }

// cellsOf returns the cells of a row.
func (c *compiler) cellsOf(row *wml.Node) []cell {
	var cells []cell
	at := c.gridCount(row.Child("w:trPr").Child("w:gridBefore"))
	var walk func(n *wml.Node)
	walk = func(n *wml.Node) {
		for _, child := range n.Children {
			switch child.Name {
			case "w:tc":
				props := child.Child("w:tcPr")
				o := cell{node: child, at: at, spanned: props.Child("w:gridSpan"), width: props.Child("w:tcW")}
				o.span = max(c.gridCount(o.spanned), 1)
				cells = append(cells, o)
				at += o.span
			case "w:sdt", "w:sdtContent", "w:customXml":
				walk(child)
			}
		}
	}
	walk(row)
	return cells
}

// placeColumns finds the columns that a block repeats.
func (c *compiler) placeColumns(b *block) bool {
	b.level = tableColumns
	from := b.open().par.node.Ancestor(wml.Named("w:tc"))
	if from == nil {
		c.fail(b.open(), "{{tablecolumn}} is outside a table", "put it into the first cell of the columns that it repeats")
		return false
	}
	table := from.Ancestor(wml.Named("w:tbl"))
	to := b.close().par.node.Ancestor(wml.Named("w:tc"))
	for to != nil && to.Ancestor(wml.Named("w:tbl")) != table {
		to = to.Parent.Ancestor(wml.Named("w:tc"))
	}
	if to == nil {
		c.fail(b.open(), "{{tablecolumn}} and its {{endtablecolumn}} are in different tables", "put both into one table")
		return false
	}
	first, _ := c.columnsOf(from)
	_, last := c.columnsOf(to)
	b.at = table
	b.columns = &columns{table: table, first: first, last: last, slot: c.slots.Columns.Next()}
	if last < first {
		c.fail(b.open(), "{{endtablecolumn}} is in a column before that of its {{tablecolumn}}",
			"put it into the last of the columns that are repeated")
		return false
	}
	return true
}

// columnsOf returns the first and the last column of a cell.
func (c *compiler) columnsOf(tc *wml.Node) (first, last int) {
	row := tc.Ancestor(wml.Named("w:tr"))
	for _, cell := range c.cellsOf(row) {
		if cell.node == tc {
			return cell.at, cell.at + cell.span - 1
		}
	}
	return 0, 0
}

// editColumns writes the edits of repeated columns: a loop in each row, the grid, widths and the spans of cells around.
func (c *compiler) editColumns(b *block) {
	k := b.columns
	if slices.ContainsFunc(c.blocks, func(o *block) bool { return o != b && o.columns != nil && o.columns.table == k.table && !o.perRow }) {
		c.fail(b.open(), "a table can have only one block of repeated columns", "use two tables, or one list of all columns")
		return
	}
	if slices.ContainsFunc(c.blocks, func(rows *block) bool { return c.dependsOnRow(b, rows) }) {
		c.fail(b.open(), "the columns of a table are the same in all rows, but this list belongs to the item of a row",
			"use a list that does not depend on the row")
		return
	}
	grid := k.table.Child("w:tblGrid")
	if grid == nil || len(grid.Children) <= k.last || len(grid.Children) > program.MaxColumns {
		c.fail(b.open(), "the grid of this table does not have that column", "create the table again in Word")
		return
	}
	all := rowsOf(k.table)
	for _, row := range all {
		if !c.editRowColumns(b, row) {
			return
		}
	}
	c.replace(grid.Start, grid.End, c.grid(k, b.open().tag))
	if !slices.ContainsFunc(all, func(row *wml.Node) bool { return !c.guarded[row] }) {
		c.guard(k.table)
	}
}

// dependsOnRow reports whether the list of the repeated columns belongs to an item of the loop over rows around them.
func (c *compiler) dependsOnRow(b, rowLoop *block) bool {
	around := rowLoop.level == rows && rowLoop.isLoop() && rowLoop.open().order < b.open().order && b.close().order < rowLoop.close().order
	return around && rowLoop.at.Ancestor(wml.Named("w:tbl")) == b.columns.table && b.open().tag.Reads(rowLoop.open().tag.Var)
}

// editRowColumns repeats the cells of the columns in one row. A cell that spans all of them grows with them. A row without other cells
// vanishes if there are no items.
func (c *compiler) editRowColumns(b *block, row *wml.Node) bool {
	k := b.columns
	var held []cell
	cells := c.cellsOf(row)
	for _, cell := range append(cells, c.leftOut(row, cells)...) {
		end := cell.at + cell.span - 1
		over := false
		switch {
		case end < k.first || cell.at > k.last:
		case cell.node != nil && cell.at >= k.first && end <= k.last:
			held = append(held, cell)
		case cell.at <= k.first && end >= k.last:
			over = true
			val := cell.spanned.Attr("w:val")
			c.replace(val.ValueStart, val.ValueEnd, &program.ColumnSpan{Slot: k.slot, Span: cell.span, Repeated: k.count()})
		default:
			c.tornColumns(b, row, cell)
			return false
		}
		c.editWidth(k, cell.width, over)
	}
	if len(held) == 0 {
		return true
	}
	if len(held) == len(cells) {
		c.guard(row)
	}
	first, last := held[0].node, held[len(held)-1].node
	if first.Parent != last.Parent {
		c.fail(b.open(), fmt.Sprintf("row %d of the table has a content control with some of the repeated cells", c.ordinal(row)),
			"remove that content control")
		return false
	}
	in := &block{marks: b.marks, level: tableColumns, at: first.Parent, columns: k, perRow: true, openAt: first.Start, closeAt: last.End}
	c.blocks = append(c.blocks, in)
	c.addBorder(border{pos: first.Start, part: atStart, block: in, mark: b.open()})
	c.yield(first.Start)
	c.addBorder(border{pos: last.End, part: atEnd, block: in, mark: b.open()})
	return true
}

// tornColumns reports a row that has only some of the repeated columns.
func (c *compiler) tornColumns(b *block, row *wml.Node, at cell) {
	message, hint := "has a cell that crosses the edge of the repeated columns",
		"split that cell in Word, or merge it across all of the columns"
	if at.node == nil {
		message, hint = "has cells in only some of the repeated columns", "give that row cells in all of these columns, or in none"
	}
	c.fail(b.open(), fmt.Sprintf("row %d of the table %s", c.ordinal(row), message), hint)
}

// editWidth has a width, which may be nil, follow that of its column, or of all that it reaches over.
func (c *compiler) editWidth(k *columns, width *wml.Node, over bool) {
	if wml.AttrValue(c.src, width, "w:type") != "dxa" || width.Attr("w:w") == nil {
		return
	}
	val := width.Attr("w:w")
	own := wml.IDNumber(wml.AttrValue(c.src, width, "w:w"))
	c.replace(val.ValueStart, val.ValueEnd, &program.CellWidth{Slot: k.slot, Width: own, Over: over})
}

// grid returns the step that writes the grid of a table, whose repeated columns are the items of a tag.
func (c *compiler) grid(k *columns, tag *lang.Tag) *program.Grid {
	grid := k.table.Child("w:tblGrid")
	o := &program.Grid{
		Tag: tag, Slot: k.slot,
		Open: slices.Clone(c.src[grid.Start:grid.OpenEnd]), Close: c.closeTag(grid), First: k.first, Last: k.last, Text: c.textWidth(),
	}
	for _, col := range grid.Children {
		if col.Name != "w:gridCol" {
			continue
		}
		g := program.GridColumn{Before: slices.Clone(c.src[col.Start:col.End])}
		if w := col.Attr("w:w"); w != nil {
			g.Width = wml.IDNumber(wml.AttrValue(c.src, col, "w:w"))
			g.Before, g.After = slices.Clone(c.src[col.Start:w.ValueStart]), slices.Clone(c.src[w.ValueEnd:col.End])
		}
		o.Columns = append(o.Columns, g)
	}
	return o
}
