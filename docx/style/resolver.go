package style

import (
	"slices"

	"platen/docx/wml"
	"platen/ooxml/scan"
)

// Resolver resolves the formatting of the elements of one part. It must not be used by several goroutines at once.
type Resolver struct {
	sheet *Sheet
	r     *scan.Reader
	cells map[*wml.Node]Cell // by w:tc, of the tables in known
	known map[*wml.Node]bool

	par      *wml.Node // of the last run or mark, with its style; a paragraph may have very many runs
	parStyle string
}

// In returns a Resolver for the part src. The elements to resolve are from the tree of src.
func (s *Sheet) In(src []byte) *Resolver {
	return &Resolver{sheet: s, r: scan.New(src), cells: map[*wml.Node]Cell{}, known: map[*wml.Node]bool{}}
}

// Run returns the run properties of a w:r or an m:r.
func (v *Resolver) Run(run *wml.Node) Properties {
	par := run.Ancestor(wml.Named("w:p"))
	return v.sheet.Run(v.cellOf(par), v.paragraphStyle(par), v.stated(run.Child("w:rPr")))
}

// Mark returns the run properties of the mark that ends a w:p.
func (v *Resolver) Mark(par *wml.Node) Properties {
	return v.sheet.Run(v.cellOf(par), v.paragraphStyle(par), v.stated(par.Child("w:pPr").Child("w:rPr")))
}

// Paragraph returns the paragraph properties of a w:p.
func (v *Resolver) Paragraph(par *wml.Node) Properties {
	return v.sheet.Paragraph(v.cellOf(par), v.stated(par.Child("w:pPr")))
}

// Number returns the level of the list that a w:p is an item of, and the run properties of its number or bullet. The level of a paragraph
// that is not an item of a list is nil.
func (v *Resolver) Number(par *wml.Node) (*ListLevel, Properties) {
	props := par.Child("w:pPr")
	direct := v.stated(props)
	l := v.sheet.Level(direct)
	if l == nil {
		return nil, Properties{}
	}
	return l, v.sheet.Number(v.cellOf(par), v.sheet.ParagraphStyle(direct), v.stated(props.Child("w:rPr")), l)
}

// Table returns the properties of a w:tbl.
func (v *Resolver) Table(table *wml.Node) Properties {
	return v.sheet.TableProperties(v.stated(table.Child("w:tblPr")))
}

// TableAt returns the properties of the table of a w:tr, with the exceptions that the row states (w:tblPrEx, §17.4.60).
func (v *Resolver) TableAt(row *wml.Node) Properties {
	table := row.Ancestor(wml.Named("w:tbl"))
	return v.sheet.TableProperties(v.stated(row.Child("w:tblPrEx")).over(v.stated(table.Child("w:tblPr"))))
}

// Row returns the properties of a w:tr.
func (v *Resolver) Row(row *wml.Node) Properties {
	var in Cell
	if cells := within(row, "w:tc"); len(cells) > 0 {
		in = v.cellOf(cells[0])
	}
	return v.sheet.RowProperties(in, v.stated(row.Child("w:trPr")))
}

// Cell returns the properties of a w:tc.
func (v *Resolver) Cell(cell *wml.Node) Properties {
	return v.sheet.CellProperties(v.cellOf(cell), v.stated(cell.Child("w:tcPr")))
}

// Conditions returns the conditional formats that apply in a w:tc.
func (v *Resolver) Conditions(cell *wml.Node) Condition { return v.cellOf(cell).conditions }

// stated returns the properties that an element states; none if n is nil.
func (v *Resolver) stated(n *wml.Node) Properties {
	var path []int
	for ; n != nil; n = n.Parent {
		path = append(path, n.Start)
	}
	slices.Reverse(path)
	if !v.r.Enter(path...) {
		return Properties{}
	}
	return v.sheet.Stated(v.r)
}

func (v *Resolver) paragraphStyle(par *wml.Node) string {
	if v.par != par {
		v.par, v.parStyle = par, v.sheet.ParagraphStyle(v.stated(par.Child("w:pPr")))
	}
	return v.parStyle
}

// cellOf returns the cell that an element is in. The content of a text box is outside of the table around it.
func (v *Resolver) cellOf(n *wml.Node) Cell {
	cell := n.Ancestor(func(n *wml.Node) bool { return n.Name == "w:tc" || n.Name == "w:txbxContent" })
	if cell == nil || cell.Name != "w:tc" {
		return Cell{}
	}
	if table := cell.Ancestor(wml.Named("w:tbl")); table != nil && !v.known[table] {
		v.known[table] = true
		v.locate(table)
	}
	return v.cells[cell]
}

// locate records the positions of the cells of a table.
func (v *Resolver) locate(table *wml.Node) {
	t := v.sheet.Table(v.stated(table.Child("w:tblPr")))
	rows := within(table, "w:tr")
	for i, row := range rows {
		cells := within(row, "w:tc")
		for j, cell := range cells {
			v.cells[cell] = t.Cell(i, len(rows), j, len(cells))
		}
	}
}

// within returns the outermost elements of a name in n. Content controls and the like may be around them.
func within(n *wml.Node, name string) []*wml.Node {
	var found []*wml.Node
	for _, child := range n.Children {
		if child.Name == name {
			found = append(found, child)
		} else {
			found = append(found, within(child, name)...)
		}
	}
	return found
}
