package wml

import (
	"slices"
	"strconv"
	"strings"
)

// Locator describes for people where the elements of a part are. It must not be used by several goroutines at once.
type Locator struct {
	root     *Node
	ordinals map[*Node]int // of tables, rows, and cells; nil until one is asked for
}

// NewLocator returns the Locator of the part with a root element.
func NewLocator(root *Node) *Locator { return &Locator{root: root} }

// containers names the containers of text.
var containers = map[string]string{
	"w:body": "the document", "w:hdr": "the header", "w:ftr": "the footer", "w:txbxContent": "a text box",
	"w:footnote": "a footnote", "w:endnote": "an endnote",
}

// counted names the elements that have ordinal numbers.
var counted = map[string]string{"w:tbl": "table", "w:tr": "row", "w:tc": "cell"}

// Locate describes the location of an element from outside inward, such as "table 2, row 3, cell 1". It is empty outside of all
// containers of text.
func (l *Locator) Locate(n *Node) string {
	var steps []string
	for ; n != nil; n = n.Parent {
		if name, ok := containers[n.Name]; ok {
			steps = append(steps, name)
		} else if name, ok := counted[n.Name]; ok {
			steps = append(steps, name+" "+strconv.Itoa(l.Ordinal(n)))
		}
	}
	if last := len(steps) - 1; last > 0 && steps[last] == containers["w:body"] {
		steps = steps[:last]
	}
	if len(steps) == 1 {
		return steps[0]
	}
	var place strings.Builder
	for _, step := range slices.Backward(steps) {
		if place.Len() > 0 {
			place.WriteString(", ")
		}
		place.WriteString(step)
	}
	return place.String()
}

// Ordinal returns the number of a table, row, or cell: among the tables of the same cell, text box, or part; the rows of the same
// table; or the cells of the same row. Elements around it, such as content controls, do not matter. The first call counts all of
// them, because a template may have an error in each.
func (l *Locator) Ordinal(n *Node) int {
	if l.ordinals == nil {
		l.ordinals = map[*Node]int{}
		l.countTables(l.root, &counts{tables: new(int)})
	}
	return l.ordinals[n]
}

// counts are the numbers of tables, rows, and cells so far in a container.
type counts struct{ tables, rows, cells *int }

func (l *Locator) countTables(n *Node, met *counts) {
	for _, child := range n.Children {
		inner := met
		switch child.Name {
		case "w:tbl":
			l.count(child, met.tables)
			inner = &counts{tables: met.tables, rows: new(int)}
		case "w:tr":
			l.count(child, met.rows)
			inner = &counts{tables: met.tables, cells: new(int)}
		case "w:tc":
			l.count(child, met.cells)
			inner = &counts{tables: new(int)}
		case "w:txbxContent":
			inner = &counts{tables: new(int)}
		}
		l.countTables(child, inner)
	}
}

// count gives a node the next number. A node without a container of its kind gets none.
func (l *Locator) count(n *Node, met *int) {
	if met != nil {
		*met++
		l.ordinals[n] = *met
	}
}
