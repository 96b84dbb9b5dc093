package importer

import (
	"slices"
	"strconv"
	"strings"

	"platen/docx/wml"
)

// containers are the elements that the location of a paragraph names.
var containers = map[string]string{
	"w:body": "the document", "w:hdr": "the header", "w:ftr": "the footer", "w:txbxContent": "a text box",
	"w:footnote": "a footnote", "w:endnote": "an endnote",
}

// placeOf describes the location of a paragraph from outside inward, as the other commands do: "table 2, row 3, cell 1".
func placeOf(n *wml.Node) string {
	var steps []string
	for ; n != nil; n = n.Parent {
		switch n.Name {
		case "w:tbl", "w:tr", "w:tc":
			steps = append(steps, numbered[n.Name]+" "+strconv.Itoa(ordinal(n)))
		default:
			if name, ok := containers[n.Name]; ok {
				steps = append(steps, name)
			}
		}
	}
	if len(steps) > 1 && steps[len(steps)-1] == containers["w:body"] {
		steps = steps[:len(steps)-1]
	}
	var b strings.Builder
	for _, step := range slices.Backward(steps) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(step)
	}
	return b.String()
}

var numbered = map[string]string{"w:tbl": "table", "w:tr": "row", "w:tc": "cell"}

// holders are the elements whose tables, rows, or cells are counted together.
var holders = map[string]map[string]bool{
	"w:tbl": wml.SetOf("w:body w:hdr w:ftr w:txbxContent w:footnote w:endnote w:tc"),
	"w:tr":  wml.SetOf("w:tbl"),
	"w:tc":  wml.SetOf("w:tr"),
}

// ordinal returns the number of a table, row, or cell in what contains it. Elements between the two do not matter.
func ordinal(n *wml.Node) int {
	holder := n.Ancestor(func(o *wml.Node) bool { return o != n && (holders[n.Name][o.Name] || o.Parent == nil) })
	count := 0
	var walk func(o *wml.Node) bool
	walk = func(o *wml.Node) bool {
		for _, c := range o.Children {
			if c.Name == n.Name {
				count++
				if c == n {
					return true
				}
				continue
			}
			if !holders[n.Name][c.Name] && walk(c) {
				return true
			}
		}
		return false
	}
	walk(holder)
	return count
}

// maxShown is the number of characters of a text that a report shows.
const maxShown = 80

// shorten returns a text on one line, cut if it is long.
func shorten(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, string(wml.Object), "")), " ")
	if r := []rune(text); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return text
}
