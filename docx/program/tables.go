package program

import (
	"cmp"
	"fmt"
	"strconv"

	"platen/docx/lang"
	"platen/docx/wml"
)

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
func (x *execution) mergeCell(o *Op) error {
	value, _, ok, err := x.env.Show(o.Tag)
	if err != nil {
		return err
	}
	m := &x.merges[o.Slot]
	m.anew = !m.begun || !ok || m.value != value || o.Width > 0 && x.merges[o.Width-1].anew
	m.begun, m.value = ok, value
	prefix := o.Place.Prefix
	if m.anew {
		x.out.buf = fmt.Appendf(x.out.buf, `<%[1]svMerge %[1]sval="restart"/>`, prefix)
	} else {
		x.out.buf = fmt.Appendf(x.out.buf, `<%[1]svMerge/>`, prefix)
	}
	return nil
}

// cellSpan writes how many columns the cell of a tag covers, at most those that are there.
func (x *execution) spanCell(o *Op) error {
	_, present, _, err := x.env.Show(o.Tag)
	if err != nil {
		return err
	}
	span := 1
	if present != nil {
		span = min(max(present.Span, 1), o.Width)
	}
	x.slots[o.Slot] = span - 1
	if span > 1 {
		x.out.buf = fmt.Appendf(x.out.buf, `<%[1]sgridSpan %[1]sval="%[2]s"/>`, o.Place.Prefix, strconv.Itoa(span))
	}
	return nil
}

// covered writes a cell unless the one that spans covers it.
func (x *execution) covered(o *Op) error {
	if x.slots[o.Slot] > 0 {
		x.slots[o.Slot] -= o.Width
		return nil
	}
	return x.run(o.Body)
}

// Grid is the grid of a table with repeated columns.
type Grid struct {
	Open, Close []byte
	Columns     []GridColumn
	First, Last int
	Text        int // the width of the text around the table
}

// GridColumn is a column of the grid, and what stands around its width.
type GridColumn struct {
	Width         int // 0: none given
	Before, After []byte
}

// MaxColumns is how many columns a table may have, as in Word.
const MaxColumns = 63

// repeatedColumns are the columns of a table that is written.
type repeatedColumns struct {
	items         []lang.Value
	width, before int // of the table: as it is to be, and as it would be
	repeated      int // the width of the columns that are repeated, once
}

// grid looks up the items of the columns and writes the grid.
func (x *execution) grid(o *Op) error {
	items, err := x.env.List(o.Tag)
	if err != nil {
		return err
	}
	g := o.Grid
	repeated := g.Last - g.First + 1
	if total := len(g.Columns) + (len(items)-1)*repeated; total > MaxColumns {
		return fmt.Errorf("%s: the table would have %d columns, more than the %d that Word can show", o.Tag.Text, total, MaxColumns)
	}
	r := &x.columns[o.Slot]
	*r = repeatedColumns{items: items}
	original := 0
	for i, col := range g.Columns {
		original += col.Width
		if i >= g.First && i <= g.Last {
			r.repeated += col.Width
			r.before += col.Width * len(items)
		} else {
			r.before += col.Width
		}
	}
	r.width = min(r.before, max(original, g.Text))
	x.out.buf = append(x.out.buf, g.Open...)
	for i := range g.Columns {
		switch {
		case i < g.First || i > g.Last:
			x.gridColumn(r, &g.Columns[i])
		case i == g.First:
			for range items {
				for j := g.First; j <= g.Last; j++ {
					x.gridColumn(r, &g.Columns[j])
				}
			}
		}
	}
	x.out.buf = append(x.out.buf, g.Close...)
	return nil
}

func (x *execution) gridColumn(r *repeatedColumns, g *GridColumn) {
	x.out.buf = append(x.out.buf, g.Before...)
	if g.After != nil {
		x.out.buf = strconv.AppendInt(x.out.buf, int64(r.scaled(g.Width)), 10)
		x.out.buf = append(x.out.buf, g.After...)
	}
}

// scaled is the width of a column in a table that had to become narrower.
func (r *repeatedColumns) scaled(width int) int {
	return width * r.width / cmp.Or(r.before, 1)
}

// cellWidth writes the width of a cell.
func (x *execution) cellWidth(o *Op) {
	r, width := &x.columns[o.Slot], wml.IDNumber(string(o.Text))
	if o.Over {
		width = max(width+(len(r.items)-1)*r.repeated, 0)
	}
	x.out.buf = strconv.AppendInt(x.out.buf, int64(r.scaled(width)), 10)
}

// cellSpan writes how many columns a cell covers that reaches over the repeated ones, or how many a row leaves out with them.
func (x *execution) cellSpan(o *Op) {
	span := wml.IDNumber(string(o.Text)) + (len(x.columns[o.Slot].items)-1)*o.Width
	x.out.buf = strconv.AppendInt(x.out.buf, int64(span), 10)
}
