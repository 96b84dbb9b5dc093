package importer

import (
	"slices"

	"platen/docx/wml"
)

// Tags with a table cell of their own repeat the cells between them, and their cells disappear. In Platen, a loop repeats columns, so all
// other rows of the table must disappear too.

// openCells makes a loop from one cell of a row to another a loop over columns.
func (p *part) openCells(w *writer, t, end *tag) error {
	row, table := t.row(), tableOf(t.row())
	cells := childrenOf(row, "w:tc")
	from, to := slices.Index(cells, t.cell()), slices.Index(cells, end.cell())
	isOther := func(r *wml.Node) bool { return r != row && !p.isOnlyTag(r) }
	switch {
	case t.kind != kLoop || w.dependsOnItem(t.expr) || from < 0 || to < from+2 || !p.isAloneInCell(t) || !p.isAloneInCell(end):
	case len(cells) != len(childrenOf(table.Child("w:tblGrid"), "w:gridCol")) || slices.ContainsFunc(childrenOf(table, "w:tr"), isOther):
	default:
		t.word, t.ownCell, end.ownCell = "tablecolumn", true, true
		t.place = func() {
			first, _ := p.ends(cells[from+1])
			p.replace(first, 0, 0, t.out)
		}
		end.place = func() {
			_, last := p.ends(cells[to-1])
			p.replace(last, len(last.text), len(last.text), end.out)
		}
		return nil
	}
	return &cannot{"it repeats or removes table cells", "write {{tablecolumn x in list}} … {{endtablecolumn}} around the columns"}
}

// dependsOnItem reports whether an expression has the variable of a loop.
func (w *writer) dependsOnItem(e *expr) bool {
	used := map[string]bool{}
	e.names(used)
	for name := range used {
		if slices.ContainsFunc(w.scopes, func(s *scope) bool { return s.name == name || s.value == name }) {
			return true
		}
	}
	return false
}

func childrenOf(n *wml.Node, name string) []*wml.Node {
	if n == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(n.Children), func(c *wml.Node) bool { return c.Name != name })
}

// isAloneInCell reports whether a tag is the only text in its cell.
func (p *part) isAloneInCell(t *tag) bool { return p.isAloneIn(t, t.cell()) }

// ends returns the first and the last paragraph of a cell.
func (p *part) ends(cell *wml.Node) (first, last *paragraph) {
	for _, par := range p.pars {
		if par.aside == nil && par.node.Parent == cell {
			if last = par; first == nil {
				first = par
			}
		}
	}
	return first, last
}

// dropCells removes the cells that tags have for themselves, and their columns.
func (p *part) dropCells() {
	for _, t := range p.tags {
		if !t.ownCell || t.failed != nil {
			continue
		}
		columns := childrenOf(tableOf(t.row()).Child("w:tblGrid"), "w:gridCol")
		p.drop(columns[slices.Index(childrenOf(t.row(), "w:tc"), t.cell())])
		p.drop(t.cell())
	}
}
