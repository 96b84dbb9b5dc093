package richtext

import (
	"strconv"
)

// cellMargins is the total of the left and the right margin of a cell, in twentieths of a point.
const cellMargins = 216

// table writes a table (ISO 29500-1 §17.4.38). It separates adjacent tables, which Word would join.
func (w *writer) table(g *grid, f frame) {
	w.flushMarker(f)
	if w.afterTable {
		w.empty()
	}
	total := max(f.width-f.indent, leastWidth)
	if given := g.width.of(total); given > 0 {
		total = min(given, max(total, leastWidth))
	}
	widths := g.columnWidths(total)
	w.open("tbl")
	w.tableProps(g, f, total)
	w.open("tblGrid")
	for _, width := range widths {
		w.dst = append(w.dst, w.prop("gridCol", "w", strconv.Itoa(width)).XML...)
	}
	w.shut("tblGrid")
	for i := range g.rows {
		w.row(&g.rows[i], widths)
	}
	w.shut("tbl")
	w.first, w.afterTable = false, true
}

func (w *writer) add(p property) { w.dst = append(w.dst, p.XML...) }

// tableProps writes w:tblPr, whose children have an order too (CT_TblPr).
func (w *writer) tableProps(g *grid, f frame, total int) {
	style, isStyled := w.host.Style("table", "Table Grid")
	w.open("tblPr")
	if g.borders && isStyled {
		w.add(w.prop("tblStyle", "val", escape(style)))
	}
	if g.shape.rightToLeft {
		w.add(w.prop("bidiVisual"))
	}
	if f.indent == 0 && (g.width == length{} || g.width.percent > 0) {
		percent := g.width.percent
		if percent == 0 {
			percent = 100
		}
		w.add(w.prop("tblW", "w", w.percentage(percent), "type", "pct"))
	} else {
		w.add(w.prop("tblW", "w", strconv.Itoa(total), "type", "dxa"))
	}
	if jc := w.shapeProps(shape{align: g.shape.align}); len(jc) > 0 {
		w.add(jc[0])
	}
	if f.indent > 0 {
		w.add(w.prop("tblInd", "w", strconv.Itoa(min(f.indent, max(w.width-leastWidth, listIndent))), "type", "dxa"))
	}
	if g.borders && !isStyled {
		w.borders()
	}
	w.add(w.prop("tblLook", "val", "0000"))
	w.shut("tblPr")
}

// percentage is a width as the form of the package has it: in fiftieths of a percent or, in the strict one, with the sign.
func (w *writer) percentage(percent int) string {
	if w.Strict {
		return strconv.Itoa(percent) + "%"
	}
	return strconv.Itoa(percent * 50)
}

func (w *writer) borders() {
	end := "right"
	if w.Strict {
		end = "end"
	}
	w.open("tblBorders")
	for _, side := range []string{"top", w.start(), "bottom", end, "insideH", "insideV"} {
		w.add(w.prop(side, "val", "single", "sz", "4", "space", "0", "color", "auto"))
	}
	w.shut("tblBorders")
}

func (w *writer) row(r *row, widths []int) {
	w.open("tr")
	if r.short > 0 || r.header {
		w.open("trPr")
		if r.short > 0 {
			w.add(w.prop("gridAfter", "val", strconv.Itoa(r.short)))
			w.add(w.prop("wAfter", "w", strconv.Itoa(sum(widths[len(widths)-r.short:])), "type", "dxa"))
		}
		if r.header {
			w.add(w.prop("tblHeader"))
		}
		w.shut("trPr")
	}
	for i := range r.cells {
		c := &r.cells[i]
		w.cell(c, sum(widths[c.column:c.column+c.span]))
	}
	w.shut("tr")
}

func sum(widths []int) int {
	total := 0
	for _, width := range widths {
		total += width
	}
	return total
}

// cell writes a cell; it must end with a paragraph (§17.4.65).
func (w *writer) cell(c *cell, width int) {
	w.open("tc")
	w.open("tcPr")
	w.add(w.prop("tcW", "w", strconv.Itoa(width), "type", "dxa"))
	if c.span > 1 {
		w.add(w.prop("gridSpan", "val", strconv.Itoa(c.span)))
	}
	switch {
	case c.above:
		w.add(w.prop("vMerge"))
	case c.below:
		w.add(w.prop("vMerge", "val", "restart"))
	}
	if c.fill != "" {
		w.add(w.prop("shd", "val", "clear", "color", "auto", "fill", c.fill))
	}
	if c.vertical != "" {
		w.add(w.prop("vAlign", "val", c.vertical))
	}
	w.shut("tcPr")
	outer := w.marker
	w.marker, w.first, w.afterTable = marker{}, false, false
	in := frame{inCell: true, width: max(width-cellMargins, leastWidth)}
	start := len(w.dst)
	w.blocks(c.blocks, in)
	if len(w.dst) == start || w.afterTable {
		w.paragraph(&block{}, in)
	}
	w.marker = outer
	w.shut("tc")
}
