package docx

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"platen/docx/lang"
)

// {{tablecolumn x in list}} repeats columns of a table: those from the cell of the tag to the cell of its
// {{endtablecolumn}}, in every row. A table is written row by row, so its columns become a loop in each row over items that
// are looked up once, before the table's grid. The copies have the width of the template's columns as long as the table
// fits the page; beyond that all its columns become narrower alike.

// columns are the columns of one table that are repeated.
type columns struct {
	table       *node
	first, last int // in the grid, from 0
	slot        int // of the items
}

const (
	// maxColumns is how many columns a table may have, as in Word.
	maxColumns = 63
	// textWidth is the width of the text in twentieths of a point where a document does not say: A4 with its usual margins.
	textWidth = 9026
)

// count is how many columns are repeated.
func (k *columns) count() int { return k.last - k.first + 1 }

// cell is a cell of a row and where it lies in the grid.
type cell struct {
	node *node
	at   int // the first column, from 0
	span int
}

// cellsOf returns the cells of a row.
func (c *compiler) cellsOf(row *node) []cell {
	var cells []cell
	at := idNumber(attrValue(c.src, row.child("w:trPr").child("w:gridBefore"), "w:val"))
	var walk func(n *node)
	walk = func(n *node) {
		for _, child := range n.children {
			switch child.name {
			case "w:tc":
				span := max(idNumber(attrValue(c.src, child.child("w:tcPr").child("w:gridSpan"), "w:val")), 1)
				cells = append(cells, cell{child, at, span})
				at += span
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
	from := b.open().par.node.ancestor(named("w:tc"))
	if from == nil {
		c.fail(b.open(), "{{tablecolumn}} stands outside a table", "put it into the first cell of the columns that it repeats")
		return false
	}
	table := from.ancestor(named("w:tbl"))
	to := b.close().par.node.ancestor(named("w:tc"))
	for to != nil && to.ancestor(named("w:tbl")) != table {
		to = to.parent.ancestor(named("w:tc"))
	}
	if to == nil {
		c.fail(b.open(), "{{tablecolumn}} and its {{endtablecolumn}} stand in different tables", "put both into one table")
		return false
	}
	first, _ := c.columnsOf(from)
	_, last := c.columnsOf(to)
	b.at = table
	b.columns = &columns{table: table, first: first, last: last, slot: c.ids.columns()}
	if last < first {
		c.fail(b.open(), "{{endtablecolumn}} stands in a column before that of its {{tablecolumn}}", "put it into the last of the columns that are repeated")
		return false
	}
	return true
}

// columnsOf returns the first and the last column of a cell.
func (c *compiler) columnsOf(tc *node) (first, last int) {
	row := tc.ancestor(named("w:tr"))
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
	grid := k.table.child("w:tblGrid")
	if grid == nil || len(grid.children) <= k.last || len(grid.children) > maxColumns {
		c.fail(b.open(), "the grid of this table does not have that column", "make the table anew in Word")
		return
	}
	for _, row := range rowsOf(k.table) {
		if !c.editRowColumns(b, row) {
			return
		}
	}
	c.add(edit{pos: grid.start, end: grid.end, phase: phaseReplace, kind: editGrid, mark: b.open(), columns: k})
	if k.first == 0 && k.last == len(grid.children)-1 {
		c.guard(k.table)
	}
}

// editRowColumns repeats the cells of the columns in one row.
func (c *compiler) editRowColumns(b *block, row *node) bool {
	k := b.columns
	var held []cell
	for _, cell := range c.cellsOf(row) {
		end := cell.at + cell.span - 1
		props := cell.node.child("w:tcPr")
		c.editWidth(k, props, cell.at <= k.first && end >= k.last && cell.span > k.count())
		switch {
		case end < k.first || cell.at > k.last:
		case cell.at >= k.first && end <= k.last:
			held = append(held, cell)
		case cell.at <= k.first && end >= k.last: // it reaches over all of them
			val := props.child("w:gridSpan").attr("w:val")
			c.add(edit{pos: val.valueStart, end: val.valueEnd, phase: phaseReplace, kind: editSpan, columns: k, opening: strconv.Itoa(cell.span)})
		default:
			c.fail(b.open(), fmt.Sprintf("in row %d of the table a cell reaches over the edge of the repeated columns", c.ordinal(row)), "part that cell in Word, or merge it with all of the columns")
			return false
		}
	}
	if len(held) == 0 {
		return true
	}
	first, last := held[0].node, held[len(held)-1].node
	if first.parent != last.parent {
		c.fail(b.open(), fmt.Sprintf("in row %d of the table a content control holds some of the repeated cells", c.ordinal(row)), "remove that content control")
		return false
	}
	in := &block{marks: b.marks, level: tableColumns, at: first.parent, columns: k, perRow: true, openAt: first.start, closeAt: last.end}
	c.blocks = append(c.blocks, in)
	c.add(edit{pos: first.start, end: first.start, phase: phaseBorder, order: b.open().order, kind: editOpen, mark: b.open(), block: in})
	c.add(edit{pos: first.start, end: first.start, phase: phaseYield, kind: editYield})
	c.add(edit{pos: last.end, end: last.end, phase: phaseBorder, order: b.open().order, kind: editClose, mark: b.open(), block: in})
	return true
}

// editWidth has the width of a cell follow that of its column, or of all that it reaches over.
func (c *compiler) editWidth(k *columns, props *node, over bool) {
	width := props.child("w:tcW")
	if attrValue(c.src, width, "w:type") != "dxa" || width.attr("w:w") == nil {
		return
	}
	val := width.attr("w:w")
	c.add(edit{pos: val.valueStart, end: val.valueEnd, phase: phaseReplace, kind: editWidth, columns: k, over: over})
}

// gridOp is the grid of a table with repeated columns.
type gridOp struct {
	open, close []byte
	columns     []gridColumn
	first, last int
	text        int // the width of the text around the table
}

type gridColumn struct {
	width         int // 0: none given
	before, after []byte
}

// gridOp describes the grid of a table.
func (c *compiler) gridOp(k *columns) *gridOp {
	grid := k.table.child("w:tblGrid")
	o := &gridOp{
		open: slices.Clone(c.src[grid.start:grid.openEnd]), close: c.closeTag(grid), first: k.first, last: k.last, text: c.textWidth(),
	}
	for _, col := range grid.children {
		if col.name != "w:gridCol" {
			continue
		}
		g := gridColumn{before: slices.Clone(c.src[col.start:col.end])}
		if w := col.attr("w:w"); w != nil {
			g.width = idNumber(attrValue(c.src, col, "w:w"))
			g.before, g.after = slices.Clone(c.src[col.start:w.valueStart]), slices.Clone(c.src[w.valueEnd:col.end])
		}
		o.columns = append(o.columns, g)
	}
	return o
}

// textWidth is the width of the text by the part's last section.
func (c *compiler) textWidth() int {
	section := c.root.child("w:body").child("w:sectPr")
	page, margins := section.child("w:pgSz"), section.child("w:pgMar")
	width := idNumber(attrValue(c.src, page, "w:w")) - idNumber(attrValue(c.src, margins, "w:left")) - idNumber(attrValue(c.src, margins, "w:right"))
	if page == nil || margins == nil || width <= 0 {
		return textWidth
	}
	return width
}

// repeatedColumns are the columns of a table that is written.
type repeatedColumns struct {
	items         []lang.Value
	width, before int // of the table: as it is to be, and as it would be
	repeated      int // the width of the columns that are repeated, once
}

// grid looks up the items of the columns and writes the grid.
func (x *execution) grid(o *op) error {
	items, err := x.env.List(o.tag)
	if err != nil {
		return err
	}
	g := o.grid
	repeated := g.last - g.first + 1
	if total := len(g.columns) + (len(items)-1)*repeated; total > maxColumns {
		return fmt.Errorf("%s: the table would have %d columns, more than the %d that Word can show", o.tag.Text, total, maxColumns)
	}
	r := &x.columns[o.slot]
	*r = repeatedColumns{items: items}
	original := 0
	for i, col := range g.columns {
		original += col.width
		if i >= g.first && i <= g.last {
			r.repeated += col.width
			r.before += col.width * len(items)
		} else {
			r.before += col.width
		}
	}
	r.width = min(r.before, max(original, g.text))
	x.out.buf = append(x.out.buf, g.open...)
	for i := range g.columns {
		switch {
		case i < g.first || i > g.last:
			x.gridColumn(r, &g.columns[i])
		case i == g.first:
			for range items {
				for j := g.first; j <= g.last; j++ {
					x.gridColumn(r, &g.columns[j])
				}
			}
		}
	}
	x.out.buf = append(x.out.buf, g.close...)
	return nil
}

func (x *execution) gridColumn(r *repeatedColumns, g *gridColumn) {
	x.out.buf = append(x.out.buf, g.before...)
	if g.after != nil {
		x.out.buf = strconv.AppendInt(x.out.buf, int64(r.scaled(g.width)), 10)
		x.out.buf = append(x.out.buf, g.after...)
	}
}

// scaled is the width of a column in a table that had to become narrower.
func (r *repeatedColumns) scaled(width int) int {
	return width * r.width / cmp.Or(r.before, 1)
}

// cellWidth writes the width of a cell.
func (x *execution) cellWidth(o *op) {
	r, width := &x.columns[o.slot], idNumber(string(o.text))
	if o.over {
		width = max(width+(len(r.items)-1)*r.repeated, 0)
	}
	x.out.buf = strconv.AppendInt(x.out.buf, int64(r.scaled(width)), 10)
}

// cellSpan writes how many columns a cell covers that reaches over the repeated ones.
func (x *execution) cellSpan(o *op) {
	span := idNumber(string(o.text)) + (len(x.columns[o.slot].items)-1)*o.width
	x.out.buf = strconv.AppendInt(x.out.buf, int64(max(span, 1)), 10)
}
