package fonts

import (
	"platen/docx/style"
	"platen/ooxml/scan"
)

// table is the state of reading a table.
type table struct {
	style.Table
	rows        []int // number of cells in each row, if the formatting of a cell depends on its position
	row, column int   // of the current or next cell
}

// table reads w:tbl.
func (s *story) table(at scope) {
	t := &table{Table: s.sheet.Table(style.Properties{})}
	at.table, at.cell = t, style.Cell{}
	for range s.r.Children {
		if s.r.Name() != "w:tblPr" {
			s.element(at)
			continue
		}
		if t.Table = s.sheet.Table(s.sheet.Stated(s.r)); t.Conditional() {
			s.r.Ahead(func() { t.rows = s.rows() })
		}
	}
}

// rows returns the number of cells in each row of a table. It starts after the table's properties.
func (s *story) rows() []int {
	var rows []int
	for depth := s.r.Depth(); s.r.Next() && s.r.Depth() >= depth; {
		switch {
		case s.r.Kind == scan.Close:
		case s.r.Class() == row:
			rows = append(rows, 0)
		case s.r.Class() == cell && len(rows) > 0:
			rows[len(rows)-1]++
			s.r.Skip()
		case s.r.Class() == ignored:
			s.r.Skip()
		}
	}
	return rows
}

// row reads w:tr.
func (s *story) row(at scope) {
	if at.table != nil {
		at.table.column = 0
	}
	s.content(at)
	if at.table != nil {
		at.table.row++
	}
}

// cell reads w:tc.
func (s *story) cell(at scope) {
	if t := at.table; t != nil {
		columns := 0
		if t.row < len(t.rows) {
			columns = t.rows[t.row]
		}
		at.cell = t.Cell(t.row, len(t.rows), t.column, columns)
		t.column++
	}
	s.content(at)
}
