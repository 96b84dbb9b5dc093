package style

import (
	"strconv"
)

// Condition is a conditional format of a table style (§17.18.89). The zero value is the whole table.
type Condition uint16

// The conditions, in the order in which Word applies them: rows over columns, and columns over rows for bands. The standard has the
// columns over the rows and the bands of rows over those of columns (§17.7.6).
const (
	WholeTable Condition = 1 << iota
	OddRows
	EvenRows
	OddColumns
	EvenColumns
	FirstColumn
	LastColumn
	FirstRow
	LastRow
	TopRight
	TopLeft
	BottomRight
	BottomLeft
	conditions
)

// conditionOf has the conditions by the w:type of w:tblStylePr.
var conditionOf = map[string]Condition{
	"wholeTable": WholeTable, "band1Horz": OddRows, "band2Horz": EvenRows, "band1Vert": OddColumns, "band2Vert": EvenColumns,
	"firstCol": FirstColumn, "lastCol": LastColumn, "firstRow": FirstRow, "lastRow": LastRow,
	"neCell": TopRight, "nwCell": TopLeft, "seCell": BottomRight, "swCell": BottomLeft,
}

// String returns the names that files have for the conditions.
func (c Condition) String() string {
	names := ""
	for bit := WholeTable; bit < conditions; bit <<= 1 {
		if c&bit == 0 {
			continue
		}
		for name, condition := range conditionOf {
			if condition == bit {
				names += " " + name
			}
		}
	}
	if names == "" {
		return ""
	}
	return names[1:]
}

// Table is a table, as far as the formatting of its cells depends on it.
type Table struct {
	style               string
	look                Condition // what w:tblLook asks for, with OddRows and OddColumns for bands
	rowBand, columnBand int       // how many rows and columns a band has
	conditionalFormat   bool
}

// Cell is where in which table something is, as far as its formatting depends on it. The zero value is outside of tables.
type Cell struct {
	style      string
	conditions Condition
}

// Conditions are the conditional formats that apply in the cell.
func (c Cell) Conditions() Condition { return c.conditions }

// Table returns the table whose w:tblPr states these properties.
func (s *Sheet) Table(direct Properties) Table {
	t := Table{style: s.tableStyle(direct), look: look(direct)}
	d := s.styles.byID[t.style]
	for _, base := range s.styles.basis(d) {
		t.conditionalFormat = t.conditionalFormat || base.conditional
	}
	properties := s.TableProperties(direct)
	t.rowBand, t.columnBand = number(properties, "w:tblStyleRowBandSize", 1), number(properties, "w:tblStyleColBandSize", 1)
	return t
}

// Conditional reports whether the formatting of a cell depends on its position.
func (t Table) Conditional() bool { return t.conditionalFormat }

func (s *Sheet) tableStyle(direct Properties) string {
	id, _ := direct.Get("w:tblStyle")
	if d := s.named("table", id); d != nil {
		return d.id
	}
	return ""
}

func number(p Properties, name string, otherwise int) int {
	value, _ := p.Get(name)
	if n, err := strconv.Atoi(value); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// look returns which conditional formats a table asks for (§17.4.55). Transitional files have them as bits, too.
func look(direct Properties) Condition {
	bits, hasBits := direct.Get("w:tblLook")
	mask, err := strconv.ParseUint(bits, 16, 16)
	if err != nil || hasBits.Level == Unset {
		mask = 0
	}
	asked := Condition(0)
	for _, flag := range []struct {
		name      string
		bit       uint64
		condition Condition
		off       bool // the flag says that it is not asked for
	}{
		{"firstRow", 0x20, FirstRow, false}, {"lastRow", 0x40, LastRow, false},
		{"firstColumn", 0x80, FirstColumn, false}, {"lastColumn", 0x100, LastColumn, false},
		{"noHBand", 0x200, OddRows, true}, {"noVBand", 0x400, OddColumns, true},
	} {
		on := mask&flag.bit != 0
		if value, origin := direct.Get("w:tblLook/@w:" + flag.name); origin.Level != Unset {
			on = value != "0" && value != "false" && value != "off"
		}
		if on != flag.off {
			asked |= flag.condition
		}
	}
	return asked
}

// Cell returns the cell of a row and a column, which count from 0, of as many rows and columns. A table of one row has a first row
// and no last one.
func (t Table) Cell(row, rows, column, columns int) Cell {
	c := Cell{style: t.style}
	if !t.conditionalFormat {
		return c
	}
	c.conditions = WholeTable
	at := func(condition Condition, is bool) bool {
		if is = is && t.look&condition != 0; is {
			c.conditions |= condition
		}
		return is
	}
	top := at(FirstRow, row == 0)
	bottom := at(LastRow, row == rows-1 && row > 0)
	left := at(FirstColumn, column == 0)
	right := at(LastColumn, column == columns-1 && column > 0)
	if t.look&OddRows != 0 && !top {
		c.conditions |= band(row, t.look&FirstRow != 0, t.rowBand, OddRows, EvenRows)
	}
	if t.look&OddColumns != 0 && !left {
		c.conditions |= band(column, t.look&FirstColumn != 0, t.columnBand, OddColumns, EvenColumns)
	}
	for _, corner := range []struct {
		condition Condition
		is        bool
	}{{TopLeft, top && left}, {TopRight, top && right}, {BottomLeft, bottom && left}, {BottomRight, bottom && right}} {
		if corner.is {
			c.conditions |= corner.condition
		}
	}
	return c
}

// band returns which band a row or a column is in. Bands begin after the first one if the table asks for a format of that, and go on
// to the last one, whose own format, if the style has one, overrides them.
func band(position int, afterFirst bool, size int, odd, even Condition) Condition {
	if afterFirst {
		position--
	}
	if position/size%2 == 0 {
		return odd
	}
	return even
}

// table returns what the style of a cell's table states for the cell.
func (s *Sheet) table(in Cell, element string) Properties {
	d := s.styles.byID[in.style]
	if in.style == "" || d == nil {
		return Properties{}
	}
	all := s.chain(d, partKey{element: element})
	for condition := WholeTable; condition < conditions; condition <<= 1 {
		if in.conditions&condition != 0 {
			all = s.chain(d, partKey{element, condition}).over(all)
		}
	}
	return all
}
