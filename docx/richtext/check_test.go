package richtext_test

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// children is, for each element that is written, its allowed content in order (ISO 29500-1 Annex A); those between
// bars repeat in any order.
var children = map[string]string{
	"body":       "|p tbl|",
	"p":          "pPr |r hyperlink bookmarkStart bookmarkEnd|",
	"hyperlink":  "|r|",
	"r":          "rPr |t br tab drawing|",
	"rPr":        "rStyle rFonts b bCs i iCs strike noProof color sz szCs highlight u shd vertAlign rtl lang",
	"pPr":        "pStyle keepNext keepLines pageBreakBefore numPr pBdr tabs bidi spacing ind contextualSpacing jc outlineLvl rPr",
	"numPr":      "ilvl numId",
	"pBdr":       "bottom",
	"tbl":        "tblPr tblGrid |tr|",
	"tblPr":      "tblStyle bidiVisual tblW jc tblInd tblBorders tblLook",
	"tblBorders": "top left start bottom right end insideH insideV",
	"tblGrid":    "|gridCol|",
	"tr":         "trPr |tc|",
	"trPr":       "gridAfter wAfter tblHeader",
	"tc":         "tcPr |p tbl|",
	"tcPr":       "tcW gridSpan vMerge shd vAlign",
	"lvl":        "start numFmt lvlText lvlJc pPr",
}

// element is an element of the output.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
	text     string
}

// checkContent reports XML that is not well formed, elements in places or an order where they must not be, cells that do not
// end with a paragraph, tables side by side, and rows that do not fill their table.
func checkContent(t *testing.T, src []byte, within string) *element {
	t.Helper()
	root, err := parseXML(src)
	if err != nil {
		t.Fatalf("%v in\n%s", err, src)
	}
	root.name = within
	for _, problem := range root.problems(nil) {
		t.Errorf("%s in\n%s", problem, src)
	}
	return root
}

func parseXML(src []byte) (*element, error) {
	d := xml.NewDecoder(strings.NewReader("<root>" + string(src) + "</root>"))
	stack := []*element{{}}
	for {
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) && len(stack) == 1 {
			return stack[0].children[0], nil
		} else if err != nil {
			return nil, err
		}
		top := stack[len(stack)-1]
		switch tok := tok.(type) {
		case xml.StartElement:
			e := &element{name: tok.Name.Local, attrs: map[string]string{}}
			for _, a := range tok.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			top.children = append(top.children, e)
			stack = append(stack, e)
		case xml.EndElement:
			if tok.Name.Local != top.name {
				return nil, errors.New("</" + tok.Name.Local + "> ends " + top.name)
			}
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(tok)
		}
	}
}

func (e *element) problems(all []string) []string {
	if rule, ok := children[e.name]; ok {
		all = append(all, e.misplaced(rule)...)
	} else if len(e.children) > 0 {
		all = append(all, e.name+" has children")
	}
	switch e.name {
	case "tc":
		if n := len(e.children); n == 0 || e.children[n-1].name != "p" {
			all = append(all, "a cell does not end with a paragraph")
		}
	case "tbl":
		all = append(all, e.gridProblems()...)
	}
	for i, c := range e.children {
		if i > 0 && c.name == "tbl" && e.children[i-1].name == "tbl" {
			all = append(all, "two tables side by side")
		}
		all = c.problems(all)
	}
	return all
}

// misplaced holds the children against a rule of the table.
func (e *element) misplaced(rule string) (all []string) {
	fixed, rest, _ := strings.Cut(rule, "|")
	order := strings.Fields(fixed)
	repeating := strings.Fields(strings.Trim(rest, "|"))
	at := 0
	for _, c := range e.children {
		i := slices.Index(order, c.name)
		switch {
		case i >= at:
			at = i + 1
		case i >= 0:
			all = append(all, c.name+" is out of order, or there twice, in "+e.name)
		case slices.Contains(repeating, c.name):
			at = len(order)
		default:
			all = append(all, e.name+" has a "+c.name)
		}
	}
	return all
}

// gridProblems finds rows that do not cover the columns of their table, or continue a cell that is missing.
func (e *element) gridProblems() (all []string) {
	columns := 0
	var above map[int]int // the spans of the cells in the row above that may continue, by column
	for _, c := range e.children {
		switch c.name {
		case "tblGrid":
			columns = len(c.children)
		case "tr":
			column, here := 0, map[int]int{}
			for _, cell := range c.children {
				if cell.name != "tc" {
					continue
				}
				span := cell.number("gridSpan", 1)
				if merge := cell.child("tcPr").child("vMerge"); merge != nil {
					if merge.attrs["val"] != "restart" && above[column] != span {
						all = append(all, "a cell goes on that is not there above")
					}
					here[column] = span
				}
				column += span
			}
			if column += c.number("gridAfter", 0); column != columns {
				all = append(all, "a row does not have the table's columns")
			}
			above = here
		}
	}
	if columns == 0 || columns > 63 || above == nil {
		all = append(all, "a table without rows, or with too many columns")
	}
	return all
}

func (e *element) child(name string) *element {
	if e == nil {
		return nil
	}
	for _, c := range e.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// number is the value of a property of a row or cell.
func (e *element) number(name string, otherwise int) int {
	props := e.child(e.name + "Pr")
	p := props.child(name)
	if p == nil {
		return otherwise
	}
	n := 0
	for _, r := range p.attrs["val"] {
		n = n*10 + int(r-'0')
	}
	return n
}

// plain is all the text of an element.
func (e *element) plain() string {
	var b strings.Builder
	b.WriteString(e.text)
	for _, c := range e.children {
		b.WriteString(c.plain())
	}
	return b.String()
}
