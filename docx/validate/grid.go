package validate

import (
	"fmt"
	"strconv"
)

// gridRole is the role of an element in the grid of its table (ISO 29500-1 §17.4.48).
type gridRole uint8

const (
	noRole gridRole = iota
	gridTable
	gridColumn
	gridRow
	gridCell
	gridSpan
	gridMerge
	gridBefore
	gridAfter
)

var gridRoles = map[gridRole]string{
	gridTable: "w:tbl", gridColumn: "w:gridCol", gridRow: "w:tr", gridCell: "w:tc", gridSpan: "w:gridSpan", gridMerge: "w:vMerge",
	gridBefore: "w:gridBefore", gridAfter: "w:gridAfter",
}

// maxSpan is the maximum number of columns in a Word table.
const maxSpan = 63

// grid is the state of a table that is being read.
type grid struct {
	columns int
	at      int          // the column after the last cell
	after   int          // the number of columns that the row leaves out at its end
	span    int          // of the cell
	open    map[int]bool // columns in which a merged cell may continue
	next    map[int]bool // the same for the next row
	vMerge  string
}

// grids are the open tables, from outside inward.
type grids []*grid

func (g *grids) open(p *point, t *tag) *fault {
	role := p.elem.grid
	if role == gridTable {
		*g = append(*g, &grid{})
		return nil
	}
	if role == noRole || len(*g) == 0 {
		return nil
	}
	top := (*g)[len(*g)-1]
	value := func() string {
		v, _ := (&fact{attribute: "w:val"}).value(p, t)
		return v
	}
	switch role {
	case gridColumn:
		if p.parent.elem.name == "w:tblGrid" && p.parent.parent.elem.name == "w:tbl" {
			top.columns++
		}
	case gridRow:
		top.at, top.after, top.next = 0, 0, map[int]bool{}
	case gridBefore:
		top.at, _ = strconv.Atoi(value())
	case gridAfter:
		top.after, _ = strconv.Atoi(value())
	case gridCell:
		top.span, top.vMerge = 1, ""
	case gridSpan:
		n, err := strconv.Atoi(value())
		if err != nil || n < 0 || n > maxSpan {
			return &fault{CodeTable, fmt.Sprintf("a cell covers %.20q columns", value()), true}
		}
		top.span = max(n, 1)
	case gridMerge:
		if top.vMerge = value(); top.vMerge == "" {
			top.vMerge = "continue"
		}
	}
	return nil
}

func (g *grids) close(p *point) *fault {
	if len(*g) == 0 {
		return nil
	}
	top := (*g)[len(*g)-1]
	switch p.elem.grid {
	case gridTable:
		*g = (*g)[:len(*g)-1]
	case gridRow:
		top.open = top.next
		if covered := top.at + top.after; top.columns > 0 && covered > top.columns {
			return &fault{CodeTable, fmt.Sprintf("a row covers %d columns, and its table has %d", covered, top.columns), true}
		}
	case gridCell:
		from := top.at
		top.at += top.span
		if top.vMerge == "" {
			return nil
		}
		if top.next[from] = true; top.vMerge == "continue" && !top.open[from] {
			return &fault{CodeTable, "a cell continues a merge that no cell above it begins", true}
		}
	}
	return nil
}
