package importer

import (
	"slices"
	"strconv"
	"strings"

	"platen/docx/wml"
)

// columns is a table whose rows repeat cells in the same columns. In Platen, the columns repeat, for the list of the first row that is in
// no loop of rows. The cells of the tags disappear.
type columns struct {
	loops    []*cellLoop
	first    *cellLoop
	index    string // the variable of the position
	from, to int    // the columns of the cells with the tags
	spans    []*wml.Attr
	table    *wml.Node
}

// cellLoop is a loop over the cells of a row.
type cellLoop struct {
	open, end *tag
	body      []*wml.Node
}

// findColumns finds the tables whose loops over cells can become loops over columns.
func (p *part) findColumns() {
	var tables []*columns
	for i, t := range p.tags {
		if t.kind != kLoop || t.unit != unitCell || t.cell() == nil {
			continue
		}
		at := slices.IndexFunc(tables, func(c *columns) bool { return c.table == tableOf(t.cell()) })
		if at < 0 {
			at = len(tables)
			tables = append(tables, &columns{table: tableOf(t.cell())})
		}
		loop := &cellLoop{open: t}
		if end := slices.IndexFunc(p.tags[i:], func(o *tag) bool { return o.kind == kEnd && o.unit == unitCell }); end >= 0 {
			loop.end = p.tags[i+end]
		}
		tables[at].loops = append(tables[at].loops, loop)
	}
	for _, c := range tables {
		if !c.fits(p) {
			continue
		}
		for _, loop := range c.loops {
			loop.open.columns, loop.end.columns = c, c
			loop.open.err, loop.end.err = nil, nil
			p.gone = append(p.gone, loop.open.cell(), loop.end.cell())
			loop.open.place = func() { c.place(p, loop, loop.open) }
			loop.end.place = func() { c.place(p, loop, loop.end) }
		}
	}
}

// fits reports whether the loops of a table are in the same columns, and its other rows have one cell around them.
func (c *columns) fits(p *part) bool {
	if mergedAcross.MatchString(p.textOf(c.table)) {
		return false
	}
	for _, loop := range c.loops {
		if !loop.fits(p) {
			return false
		}
		cells := cellsOf(loop.open.row())
		from, to := slices.Index(cells, loop.open.cell()), slices.Index(cells, loop.end.cell())
		if c.first == nil && !p.isInRowLoop(loop.open) {
			c.first = loop
		}
		if c.to > 0 && (from != c.from || to != c.to) {
			return false
		}
		c.from, c.to = from, to
	}
	for _, row := range c.table.Children {
		if row.Name == "w:tr" && !slices.ContainsFunc(c.loops, func(l *cellLoop) bool { return l.open.row() == row }) &&
			!p.isTagRow(row) && !c.spanned(p, row) {
			return false
		}
	}
	return c.first != nil
}

// fits reports whether the tags of a loop have cells of their own in one row, and no cell up to its end is merged.
func (l *cellLoop) fits(p *part) bool {
	isAlone := func(t *tag) bool { return p.textOf(t.cell()) == t.original() }
	if l.end == nil || l.end.row() != l.open.row() || !isAlone(l.open) || !isAlone(l.end) {
		return false
	}
	cells := cellsOf(l.open.row())
	from, to := slices.Index(cells, l.open.cell()), slices.Index(cells, l.end.cell())
	if from < 0 || to < from+2 {
		return false
	}
	l.body = cells[from+1 : to]
	return !slices.ContainsFunc(cells[:to+1], func(cell *wml.Node) bool { return cell.Child("w:tcPr").Child("w:gridSpan") != nil })
}

// spanned reports whether one merged cell of a row extends over the columns of the loops, and over others.
func (c *columns) spanned(p *part, row *wml.Node) bool {
	at := 0
	for _, cell := range cellsOf(row) {
		span := cell.Child("w:tcPr").Child("w:gridSpan")
		n, err := strconv.Atoi(wml.AttrValue(p.src, span, "w:val"))
		if err != nil {
			n = 1
		}
		if at <= c.from && at+n > c.to && n > c.to-c.from+1 {
			c.spans = append(c.spans, span.Attr("w:val"))
			return true
		}
		at += n
	}
	return false
}

func cellsOf(row *wml.Node) []*wml.Node {
	return slices.DeleteFunc(slices.Clone(row.Children), func(n *wml.Node) bool { return n.Name != "w:tc" })
}

// textOf returns the text in an element, without blanks at its ends.
func (p *part) textOf(n *wml.Node) string {
	var b strings.Builder
	for _, par := range p.pars {
		if par.node.Ancestor(func(a *wml.Node) bool { return a == n }) != nil {
			b.WriteString(par.text)
		}
	}
	return strings.TrimSpace(b.String())
}

// isTagRow reports whether a row has nothing but a tag that stands for it.
func (p *part) isTagRow(row *wml.Node) bool {
	return slices.ContainsFunc(p.tags, func(t *tag) bool { return t.unit == unitRow && t.row() == row && p.isAloneInRow(t) })
}

// isInRowLoop reports whether a tag is in a loop over rows of its table.
func (p *part) isInRowLoop(t *tag) bool {
	depth := 0
	for _, o := range p.tags[:slices.Index(p.tags, t)] {
		switch {
		case o.unit != unitRow || tableOf(o.row()) != tableOf(t.row()):
		case o.kind == kEnd:
			depth--
		case o.kind == kLoop || o.kind == kIf:
			depth++
		}
	}
	return depth > 0
}

// openColumns writes the opening tag of a loop over cells. The first of a table repeats the columns. The others take the items of their
// own lists by the position, if their lists have the same length.
func (w *writer) openColumns(t *tag) (done bool, err error) {
	c := t.columns
	if t == c.first.open {
		if c.index == "" {
			c.index = w.variableFor("column", true)
			w.taken[c.index] = true
		}
		return false, nil
	}
	first := c.first.open
	if first.failed != nil || first.block.scope == nil || first.start() > t.start() {
		return true, errColumns
	}
	o, err := w.operand(t.expr)
	if err != nil {
		return true, err
	}
	b := t.block
	b.scope = &scope{name: t.command.name, variable: o.text + "[" + c.index + "]", samples: items(w.samplesOf(t.expr))}
	if "{{tablecolumn "+c.index+", "+first.block.scope.variable+" in "+o.text+"}}" == first.out && len(o.filters) == 0 {
		b.scope.variable = first.block.scope.variable
		return true, nil
	}
	_, isPath := t.expr.steps()
	if !isPath || len(o.filters) > 0 || t.where != nil || !sameLengths(w.samplesOf(t.expr), first.block.scope.lengths) {
		return true, &cannot{"the rows repeat cells for lists that can have different lengths",
			"send lists of the same length, also as sample data"}
	}
	w.note("the list must be as long as that of the row with {{tablecolumn}}")
	return true, nil
}

// sameLengths reports whether there are lists, and all have a length.
func sameLengths(lists []any, lengths []int) bool {
	return len(lists) > 0 && len(lengths) == 1 && !slices.ContainsFunc(lists, func(v any) bool {
		list, ok := v.([]any)
		return !ok || len(list) != lengths[0]
	})
}

// lengthsOf returns the lengths of lists.
func lengthsOf(lists []any) []int {
	lengths := make([]int, 0, len(lists))
	for _, v := range lists {
		list, _ := v.([]any)
		lengths = append(lengths, len(list))
	}
	return lengths
}

// place removes the cell of a tag, and puts the tags of the first loop into the cells that repeat.
func (c *columns) place(p *part, loop *cellLoop, t *tag) {
	p.drop(t.cell())
	if loop != c.first {
		return
	}
	if t == loop.end {
		p.replaceIn(p.inCell(loop.body[len(loop.body)-1], true), true, t.out)
		return
	}
	p.replaceIn(p.inCell(loop.body[0], false), false, t.out)
	for _, at := range []int{c.from, c.to} {
		if grid := c.table.Child("w:tblGrid").All("w:gridCol"); at < len(grid) {
			p.drop(grid[at])
		}
	}
	for _, a := range c.spans {
		n, _ := strconv.Atoi(string(p.src[a.ValueStart:a.ValueEnd]))
		p.edits = append(p.edits, edit{a.ValueStart, a.ValueEnd, strconv.Itoa(n - 2)})
	}
}

// inCell returns the first or the last paragraph of a cell, outside nested tables.
func (p *part) inCell(cell *wml.Node, last bool) *paragraph {
	var found *paragraph
	for _, par := range p.pars {
		if par.node.Parent == cell && (found == nil || last) {
			found = par
		}
	}
	return found
}

// failColumns leaves all loops over the cells of a table if one of them has no equivalent, and reports whether it did.
func (p *part) failColumns() bool {
	again := false
	for _, t := range p.tags {
		if t.columns == nil || t.failed == nil {
			continue
		}
		for _, loop := range t.columns.loops {
			if b := loop.open.block; loop.open.failed == nil {
				b.fail(t.failed)
				again = true
			}
		}
	}
	return again
}
