package program

import (
	"cmp"
	"fmt"
	"strconv"

	"platen/docx/lang"
)

// Tables with columns that a tag repeats.

// Grid writes the grid of a table with repeated columns, and evaluates their items.
type Grid struct {
	Tag         *lang.Tag
	Slot        int // of the columns
	Open, Close []byte
	Columns     []GridColumn
	First, Last int
	Text        int // the width of the text around the table
}

// GridColumn is a column of the grid.
type GridColumn struct {
	Width         int    // 0 if it has none
	Before, After []byte // XML around the width
}

// MaxColumns is the largest number of columns of a table in Word.
const MaxColumns = 63

// repeatedColumns are the columns of a table that is being written.
type repeatedColumns struct {
	items         []lang.Value
	width, before int // of the table: the allowed width, and that without scaling
	repeated      int // the total width of the repeated columns in the template
}

func (g *Grid) sketch(s *sketcher) { s.Fresh() }

func (g *Grid) run(x *execution) error {
	items, err := x.env.List(g.Tag)
	if err != nil {
		return err
	}
	repeated := g.Last - g.First + 1
	if total := len(g.Columns) + (len(items)-1)*repeated; total > MaxColumns {
		return fmt.Errorf("%s: the table would have %d columns, more than the %d that Word can show", g.Tag.Text, total, MaxColumns)
	}
	r := &x.tables.columns[g.Slot]
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

// scaled returns the width of a column in a table that was scaled to its allowed width.
func (r *repeatedColumns) scaled(width int) int {
	return width * r.width / cmp.Or(r.before, 1)
}

// CellWidth writes the width of a cell in a table with repeated columns.
type CellWidth struct {
	Slot  int  // of the columns
	Width int  // in the template
	Over  bool // the cell spans all repeated columns
}

func (o *CellWidth) run(x *execution) error {
	r, width := &x.tables.columns[o.Slot], o.Width
	if o.Over {
		width = max(width+(len(r.items)-1)*r.repeated, 0)
	}
	x.out.buf = strconv.AppendInt(x.out.buf, int64(r.scaled(width)), 10)
	return nil
}

// ColumnSpan writes the number of columns that a cell spans, or that a row leaves out, if the repeated columns are among them.
type ColumnSpan struct {
	Slot     int // of the columns
	Span     int // in the template
	Repeated int // the number of repeated columns in the template
}

func (o *ColumnSpan) run(x *execution) error {
	span := o.Span + (len(x.tables.columns[o.Slot].items)-1)*o.Repeated
	x.out.buf = strconv.AppendInt(x.out.buf, int64(span), 10)
	return nil
}
