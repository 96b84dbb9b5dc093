package richtext

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

const (
	// maxColumns is the largest number of columns in a table of Word. Further cells are joined with the last one.
	maxColumns = 63
	// maxCells is the number of cells in a table after which cells no longer span rows.
	maxCells = 50_000
	// maxRowspan is HTML's.
	maxRowspan = 65_534
)

// table adds a table, or only the content of its cells if tables are nested too deeply.
func (b *builder) table(n *html.Node, s, outer style) {
	b.closePar()
	if s.tables >= maxTables {
		b.children(n, s)
		b.closePar()
		return
	}
	s.kind, s.level, s.keepSpace = paragraph, 0, false
	s.tables++
	t := tableReader{b: b, outer: outer, grid: &grid{width: lengthOf(n), borders: hasBorders(n),
		shape: shape{rightToLeft: s.shape.rightToLeft}}}
	switch align := strings.ToLower(attr(n, "align")); align {
	case "left", "right", "center":
		t.grid.shape.align = align
	}
	t.parts(n, s, background(n, ""))
	t.place()
	if len(t.grid.rows) > 0 {
		b.blocks = append(b.blocks, block{kind: table, grid: t.grid})
	}
}

// hasBorders reports whether a table has borders, which is the default, as in most editors.
func hasBorders(n *html.Node) bool {
	if hasAttr(n, "border") {
		return attr(n, "border") != "0"
	}
	for _, name := range []string{"border", "border-style", "border-width"} {
		if word, _, _ := strings.Cut(declared(n, name), " "); word == "none" || word == "0" || word == "0px" || word == "hidden" {
			return false
		}
	}
	return true
}

// background is the color after an element, or else that after the one around it.
func background(n *html.Node, around string) string {
	for _, word := range []string{declared(n, "background-color"), declared(n, "background"), attr(n, "bgcolor")} {
		if c, ok := parseColor(strings.ToLower(word)); ok {
			return c
		}
	}
	return around
}

// tableReader takes the rows of a table, and then finds the columns of their cells (WHATWG HTML §4.9.12).
type tableReader struct {
	b     *builder
	outer style
	grid  *grid
	rows  []sourceRow
	group int // counts the groups of rows
}

type sourceRow struct {
	cells  []sourceCell
	group  int
	header bool
}

type sourceCell struct {
	cell
	rowspan int // 0: to the end of the group
	width   length
	header  bool
}

func (t *tableReader) parts(n *html.Node, s style, fill string) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		in := s
		in.apply(c)
		if in.hidden(c) {
			continue
		}
		switch c.Data {
		case "caption":
			in = t.outer
			in.apply(c)
			t.b.children(c, in)
			t.b.closePar()
		case "colgroup", "col":
			t.columns(c)
		case "thead", "tbody", "tfoot":
			t.group++
			t.parts(c, in, background(c, fill))
			t.group++
		case "tr":
			t.row(c, in, background(c, fill))
		}
	}
}

// columns reads the widths of columns.
func (t *tableReader) columns(n *html.Node) {
	if n.Data == "colgroup" && n.FirstChild != nil {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode && c.Data == "col" {
				t.columns(c)
			}
		}
		return
	}
	for range number(n, "span", 1, maxColumns) {
		if len(t.grid.widths) < maxColumns {
			t.grid.widths = append(t.grid.widths, lengthOf(n))
		}
	}
}

// number reads an attribute that is an integer of at least 1.
func number(n *html.Node, name string, otherwise, most int) int {
	i, err := strconv.Atoi(strings.TrimSpace(attr(n, name)))
	if err != nil || i < 1 {
		return otherwise
	}
	return min(i, most)
}

func (t *tableReader) row(n *html.Node, s style, fill string) {
	r := sourceRow{group: t.group, header: n.Parent.Data == "thead"}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || c.Data != "td" && c.Data != "th" {
			continue
		}
		in := s
		in.apply(c)
		if in.hidden(c) {
			continue
		}
		rowspan := number(c, "rowspan", 1, maxRowspan)
		if strings.TrimSpace(attr(c, "rowspan")) == "0" {
			rowspan = 0
		}
		r.cells = append(r.cells, sourceCell{
			cell:    cell{blocks: within(c, in), span: number(c, "colspan", 1, maxColumns), fill: background(c, fill), vertical: verticalOf(c)},
			rowspan: rowspan, width: lengthOf(c), header: c.Data == "th",
		})
	}
	t.rows = append(t.rows, r)
}

func verticalOf(n *html.Node) string {
	for _, word := range []string{declared(n, "vertical-align"), strings.ToLower(attr(n, "valign"))} {
		switch word {
		case "top", "bottom":
			return word
		case "middle":
			return "center"
		}
	}
	return ""
}

// reach is a cell that reaches into the rows below, in the column where it begins.
type reach struct {
	rows, span int
	fill       string
}

// placer assigns columns to cells, row by row.
type placer struct {
	reaching [maxColumns]reach
	column   int
	row      row
	cells    int // of all rows
}

// place fills the grid.
func (t *tableReader) place() {
	var p placer
	var lefts []int // where each row ends
	left := t.groupSizes()
	for i := range t.rows {
		source := &t.rows[i]
		p.column, p.row = 0, row{header: source.header || t.isHeading(i)}
		for _, c := range source.cells {
			p.put(c, left[i])
			if c.span == 1 {
				t.noteWidth(&p, c.width)
			}
		}
		p.fill()
		if len(p.row.cells) > 0 {
			t.grid.rows = append(t.grid.rows, p.row)
			lefts = append(lefts, p.column)
			t.grid.columns = max(t.grid.columns, p.column)
		}
	}
	for i := range lefts {
		t.grid.rows[i].short = t.grid.columns - lefts[i]
	}
	t.headersLead()
}

// groupSizes returns, for each row, the number of rows of its group from this row on.
func (t *tableReader) groupSizes() []int {
	left := make([]int, len(t.rows))
	for i := len(t.rows) - 1; i >= 0; i-- {
		left[i] = 1
		if i+1 < len(t.rows) && t.rows[i+1].group == t.rows[i].group {
			left[i] += left[i+1]
		}
	}
	return left
}

// isHeading reports whether a row, and all before it, have nothing but cells that head columns.
func (t *tableReader) isHeading(i int) bool {
	r := &t.rows[i]
	if len(t.rows) == 1 || len(r.cells) == 0 || i > 0 && !t.rows[i-1].header {
		return false
	}
	for _, c := range r.cells {
		if !c.header {
			return false
		}
	}
	r.header = true
	return true
}

// headersLead takes the mark from header rows after others, and if all rows have it: Word repeats the first ones only.
func (t *tableReader) headersLead() {
	lead := 0
	for lead < len(t.grid.rows) && t.grid.rows[lead].header {
		lead++
	}
	if lead == len(t.grid.rows) {
		lead = 0
	}
	for i := range t.grid.rows {
		t.grid.rows[i].header = i < lead
	}
}

func (t *tableReader) noteWidth(p *placer, w length) {
	if w == (length{}) || len(p.row.cells) == 0 {
		return
	}
	column := p.row.cells[len(p.row.cells)-1].column
	for len(t.grid.widths) <= column {
		t.grid.widths = append(t.grid.widths, length{})
	}
	if t.grid.widths[column] == (length{}) {
		t.grid.widths[column] = w
	}
}

// put places a cell in the next free columns, in as many of those it asks for as are free.
func (p *placer) put(c sourceCell, rowsLeft int) {
	p.passReaching()
	if p.column == maxColumns {
		p.join(c.blocks)
		return
	}
	free := 1
	for free < c.span && p.column+free < maxColumns && p.reaching[p.column+free].rows == 0 {
		free++
	}
	if c.rowspan == 0 || c.rowspan > rowsLeft {
		c.rowspan = rowsLeft
	}
	if p.cells > maxCells {
		c.rowspan = 1
	}
	c.column, c.span, c.below = p.column, free, c.rowspan > 1
	p.reaching[p.column] = reach{c.rowspan - 1, free, c.fill}
	p.add(c.cell)
}

// join adds blocks without a place to the last cell that begins in the row.
func (p *placer) join(blocks []block) {
	for i := len(p.row.cells) - 1; i >= 0; i-- {
		if c := &p.row.cells[i]; !c.above {
			c.blocks = append(c.blocks, blocks...)
			return
		}
	}
}

func (p *placer) add(c cell) {
	p.row.cells = append(p.row.cells, c)
	p.column += c.span
	p.cells++
}

// passReaching places the parts of cells from earlier rows that span into this row at the current column.
func (p *placer) passReaching() {
	for p.column < maxColumns && p.reaching[p.column].rows > 0 {
		r := &p.reaching[p.column]
		if r.rows--; p.cells > maxCells {
			r.rows = 0
		}
		p.add(cell{column: p.column, span: r.span, above: true, below: r.rows > 0, fill: r.fill})
	}
}

// fill places what reaches into the rest of the row, with empty cells before it.
func (p *placer) fill() {
	for {
		p.passReaching()
		next := p.column
		for next < maxColumns && p.reaching[next].rows == 0 {
			next++
		}
		if next == maxColumns {
			return
		}
		p.add(cell{column: p.column, span: next - p.column})
	}
}

// columnWidths distributes the width of a table like browsers (CSS 2.2 §17.5.2.2): given widths first, then the width
// of each column's longest word, and then the rest in proportion to what its longest line needs in addition.
func (g *grid) columnWidths(total int) []int {
	least, best := g.needs()
	widths := make([]int, g.columns)
	given, words, lines := 0, 0, 0
	for i := range widths {
		if i < len(g.widths) {
			widths[i] = g.widths[i].of(total)
		}
		if given += widths[i]; widths[i] == 0 {
			words, lines = words+least[i], lines+best[i]
		}
	}
	rest := max(total-given, total/4)
	for i := range widths {
		switch {
		case widths[i] > 0:
		case rest >= lines:
			widths[i] = rest * best[i] / lines
		case rest > words:
			widths[i] = least[i] + (rest-words)*(best[i]-least[i])/(lines-words)
		default:
			widths[i] = rest * least[i] / words
		}
	}
	return fitted(widths, total)
}

// The approximate width of a character in twentieths of a point, and the number of characters that are not broken if possible.
const (
	wordCharacter, lineCharacter = 150, 120
	maxWord, maxLine             = 20, 40
)

// needs returns the least widths of the columns, for their longest words, and the best widths, for their longest lines.
func (g *grid) needs() (least, best []int) {
	least, best = make([]int, g.columns), make([]int, g.columns)
	for i := range least {
		least[i], best[i] = cellMargins+2*wordCharacter, cellMargins+2*wordCharacter
	}
	for _, r := range g.rows {
		for i := range r.cells {
			c := &r.cells[i]
			if c.span > 1 {
				continue
			}
			word, line := longest(c.blocks)
			least[c.column] = max(least[c.column], cellMargins+min(word, maxWord)*wordCharacter)
			best[c.column] = max(best[c.column], least[c.column], cellMargins+min(line, maxLine)*lineCharacter)
		}
	}
	return least, best
}

// fitted makes widths smaller in proportion if together they are more than the whole.
func fitted(widths []int, total int) []int {
	sum := 0
	for _, w := range widths {
		sum += w
	}
	for i := range widths {
		if sum > total {
			widths[i] = widths[i] * total / sum
		}
		widths[i] = max(widths[i], 1)
	}
	return widths
}

func (l length) of(total int) int {
	if l.percent > 0 {
		return total * l.percent / 100
	}
	return l.twips
}

// longest returns the number of characters of the longest word, and of the longest line, in a cell's paragraphs.
func longest(blocks []block) (word, line int) {
	for i := range blocks {
		for l := range strings.SplitSeq(textOf(blocks[i].text, "\n"), "\n") {
			line = max(line, utf8.RuneCountInString(l))
			for w := range strings.FieldsSeq(l) {
				word = max(word, utf8.RuneCountInString(w))
			}
		}
	}
	return word, line
}
