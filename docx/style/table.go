package style

import (
	"strconv"
	"strings"

	"platen/ooxml/scan"
)

// Condition is a set of conditional formats of a table style (§17.18.89). The zero value is the whole table.
type Condition uint16

// The conditional formats, in the order in which Word applies them ([MS-OI29500] §2.1.252). The standard applies bands of columns before
// bands of rows, and rows before columns (§17.7.6.6).
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

// conditionOf has the conditional formats by the w:type of w:tblStylePr.
var conditionOf = map[string]Condition{
	"wholeTable": WholeTable, "band1Horz": OddRows, "band2Horz": EvenRows, "band1Vert": OddColumns, "band2Vert": EvenColumns,
	"firstCol": FirstColumn, "lastCol": LastColumn, "firstRow": FirstRow, "lastRow": LastRow,
	"neCell": TopRight, "nwCell": TopLeft, "seCell": BottomRight, "swCell": BottomLeft,
}

// String returns the values of w:type for a set.
func (c Condition) String() string {
	var names []string
	for bit := WholeTable; bit < conditions; bit <<= 1 {
		if c&bit == 0 {
			continue
		}
		for name, condition := range conditionOf {
			if condition == bit {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, " ")
}

// Table is the part of a table that the formatting of its cells depends on.
type Table struct {
	style               string
	look                Condition // the formats that w:tblLook asks for, with OddRows and OddColumns for bands
	rowBand, columnBand int       // the number of rows and columns in a band
	conditionalFormat   bool
}

// Cell is a position in a table, as far as formatting depends on it. The zero value is outside of tables.
type Cell struct {
	style      string
	conditions Condition
}

// Table returns the table whose w:tblPr states the properties direct.
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

// lookFlags are the flags of w:tblLook, as attributes and as bits of w:val. Those whose name starts with "no" turn a format off.
var lookFlags = []struct {
	name      string
	bit       uint64
	condition Condition
	off       bool
}{
	{"firstRow", 0x20, FirstRow, false}, {"lastRow", 0x40, LastRow, false},
	{"firstColumn", 0x80, FirstColumn, false}, {"lastColumn", 0x100, LastColumn, false},
	{"noHBand", 0x200, OddRows, true}, {"noVBand", 0x400, OddColumns, true},
}

// look returns the conditional formats that a table asks for (§17.4.55). Without w:tblLook, these are the bands: all flags are off.
func look(direct Properties) Condition {
	bits, _ := direct.Get("w:tblLook")
	mask, err := strconv.ParseUint(bits, 16, 16)
	if err != nil {
		mask = 0
	}
	asked := Condition(0)
	for _, flag := range lookFlags {
		on := mask&flag.bit != 0
		if value, origin := direct.Get("w:tblLook/@w:" + flag.name); origin.Level != Unset {
			on = scan.IsOn(value)
		}
		if on != flag.off {
			asked |= flag.condition
		}
	}
	return asked
}

// Cell returns the cell in a row and a column, which count from 0, of a table with this number of rows and columns. The only row of a
// table is not its last one, and the only cell of a row not in the last column.
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
	top, bottom := at(FirstRow, row == 0), at(LastRow, row == rows-1 && row > 0)
	left, right := at(FirstColumn, column == 0), at(LastColumn, column == columns-1 && column > 0)
	if t.look&OddRows != 0 && !top {
		c.conditions |= band(row, t.look&FirstRow != 0, t.rowBand, OddRows, EvenRows)
	}
	if t.look&OddColumns != 0 && !left {
		c.conditions |= band(column, t.look&FirstColumn != 0, t.columnBand, OddColumns, EvenColumns)
	}
	corners := [...]bool{top && right, top && left, bottom && right, bottom && left}
	for i, is := range corners {
		if is {
			c.conditions |= TopRight << i
		}
	}
	return c
}

// band returns the band of a row or a column. If the table asks for a format of the first one, the bands begin after it. A format of the
// last one overrides its band.
func band(position int, afterFirst bool, size int, odd, even Condition) Condition {
	if afterFirst {
		position--
	}
	if position/size%2 == 0 {
		return odd
	}
	return even
}

// table returns the properties that the style of a table states for a cell.
func (s *Sheet) table(in Cell, element string) Properties {
	d := s.styles.byID[in.style]
	if in.style == "" || d == nil {
		return Properties{}
	}
	all := s.chain(d, partKey{element: element})
	for condition := WholeTable; condition < conditions; condition <<= 1 {
		if in.conditions&condition != 0 {
			all = s.merge(s.chain(d, partKey{element, condition}), all)
		}
	}
	return all
}
