package program

import (
	"fmt"
	"strconv"

	"platen/docx/lang"
)

// tables is the state of the current tables, by slot.
type tables struct {
	merges  []merged
	columns []repeatedColumns
	covered []int // columns that a spanning cell still covers
}

// merged is the state of a column of merging cells.
type merged struct {
	begun bool   // it has a cell above
	value string // of the cell above
	first bool   // the cell of this row is the first of its merged cells
}

// beginMerges forgets the cells above the first row of a loop.
func (t *tables) beginMerges(slots []int) {
	for _, slot := range slots {
		t.merges[slot] = merged{}
	}
}

// continues reports whether the cell above shows the value of a cell. merge is 1 + the slot of its column, or 0.
func (t *tables) continues(merge int) bool { return merge > 0 && !t.merges[merge-1].first }

// CellMerge writes whether a cell is merged with the one above it, because the values are equal.
type CellMerge struct {
	Tag    *lang.Tag
	Slot   int
	Left   int // 1 + the slot of the merging cell to its left, which must be merged too; 0 for none
	Prefix string
}

func (o *CellMerge) sketch(s *sketcher) { s.Fresh() }

func (o *CellMerge) run(x *execution) error {
	value, _, ok, err := x.env.Show(o.Tag)
	if err != nil {
		return err
	}
	m := &x.tables.merges[o.Slot]
	m.first = !m.begun || !ok || m.value != value || o.Left > 0 && x.tables.merges[o.Left-1].first
	m.begun, m.value = ok, value
	if m.first {
		x.out.buf = fmt.Appendf(x.out.buf, `<%[1]svMerge %[1]sval="restart"/>`, o.Prefix)
	} else {
		x.out.buf = fmt.Appendf(x.out.buf, `<%[1]svMerge/>`, o.Prefix)
	}
	return nil
}

// CellSpan writes the number of columns that the cell of a tag spans.
type CellSpan struct {
	Tag    *lang.Tag
	Slot   int // of the cells that it covers
	Max    int // the number of columns up to the end of the row
	Prefix string
}

func (o *CellSpan) sketch(s *sketcher) { s.Fresh() }

func (o *CellSpan) run(x *execution) error {
	_, present, _, err := x.env.Show(o.Tag)
	if err != nil {
		return err
	}
	span := 1
	if present != nil {
		span = min(max(present.Span, 1), o.Max)
		if present.Span > o.Max {
			x.warn(o.Tag, fmt.Sprintf("The cell of '%s' cannot span %d columns: up to the end of its row, there are %d.",
				o.Tag.Expr, present.Span, o.Max))
		}
	}
	x.tables.covered[o.Slot] = span - 1
	if span > 1 {
		x.out.buf = fmt.Appendf(x.out.buf, `<%[1]sgridSpan %[1]sval="%[2]s"/>`, o.Prefix, strconv.Itoa(span))
	}
	return nil
}

// CoveredCell writes a cell unless a spanning cell before it covers it.
type CoveredCell struct {
	Slot    int
	Columns int // the number of columns of the cell itself
	Body    []Step
}

func (o *CoveredCell) sketch(s *sketcher) { s.steps(o.Body) }

func (o *CoveredCell) run(x *execution) error {
	if covered := &x.tables.covered[o.Slot]; *covered > 0 {
		*covered -= o.Columns
		return nil
	}
	return x.run(o.Body)
}
