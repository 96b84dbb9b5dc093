package docx

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"platen/docx/lang"
)

// Error is one problem of a template, with all a person needs to walk to it.
type Error struct {
	Part    string `json:"part"`              // the part's name, "/word/document.xml"
	Heading string `json:"heading,omitempty"` // the text of the nearest heading before it
	Place   string `json:"place"`             // "table 2, row 3, cell 1", "the document", "header", …
	File    string `json:"file,omitempty"`    // the included file that holds it
	Text    string `json:"text"`              // the paragraph, shortened around the place
	Column  int    `json:"column"`            // of the place in Text, in characters from 0
	Tag     string `json:"tag"`               // as typed, with braces
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`

	// Of problems with data: the path that was looked for, the one in the data that comes nearest (which Hint names too), and whether the
	// document is complete all the same.
	Path    string `json:"path,omitempty"`
	Nearest string `json:"did_you_mean,omitempty"`
	Warning bool   `json:"warning,omitempty"`

	pos int // in the part, to sort by
}

// Error returns the problem on three or four lines: where, the paragraph, a caret under the place, a hint.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Part + ", " + e.Place)
	if e.File != "" {
		fmt.Fprintf(&b, ", in the included file %q", e.File)
	}
	if e.Heading != "" {
		fmt.Fprintf(&b, ", under %q", e.Heading)
	}
	b.WriteString(": " + e.Message)
	if e.Text != "" {
		fmt.Fprintf(&b, "\n    %s\n    %s^", e.Text, strings.Repeat(" ", e.Column))
	}
	if e.Hint != "" {
		b.WriteString("\n    " + e.Hint)
	}
	return b.String()
}

// Errors is every problem of a template at once.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// maxErrors is how many problems of a template are reported.
const maxErrors = 200

// fail notes a problem at the start of a tag.
func (c *compiler) fail(m *mark, message, hint string) {
	c.failAt(m.par, m.from, m.to, 0, message, hint)
}

// failAt notes a problem of the tag p.text[from:to], offset bytes into it.
func (c *compiler) failAt(p *paragraph, from, to, offset int, message, hint string) {
	if len(c.errors) >= maxErrors {
		return
	}
	e := c.where(p, from, from+offset)
	e.Tag, e.Message, e.Hint = p.text[from:to], message, hint
	c.errors = append(c.errors, e)
}

// where describes a place in the text of a paragraph, in the tag that begins at from.
func (c *compiler) where(p *paragraph, from, at int) *Error {
	text, column := excerpt(p.text, at)
	file, pos := c.original(p.pieces[p.pieceAt(from)].source(from))
	return &Error{Part: c.part, Heading: c.headingBefore(p), Place: c.locate(p.node), File: file, Text: text, Column: column, pos: pos}
}

// notePlaces keeps where each tag stands, for problems that data brings.
func (c *compiler) notePlaces() {
	c.places = make(map[*lang.Tag]*Error, len(c.marks))
	for _, m := range c.marks {
		if m.tag.Kind == lang.Print || m.block != nil && m.tag.Expr != nil {
			e := c.where(m.par, m.from, m.from)
			e.Tag = m.tag.Text
			c.places[m.tag] = e
		}
	}
	for _, a := range c.asides {
		c.places[a.mark.tag] = c.whereAside(a)
	}
}

// excerptWidth is how many characters of a paragraph an error shows on each side of its place.
const excerptWidth = 60

// excerpt returns the surroundings of an offset on one line, and its column there.
func excerpt(text string, at int) (line string, column int) {
	const maxBytes = (excerptWidth + 1) * utf8.UTFMax // no more of a long paragraph need be looked at
	before := []rune(plainLine(text[max(at-maxBytes, 0):at]))
	after := []rune(plainLine(text[at:min(at+maxBytes, len(text))]))
	column = min(len(before), excerptWidth)
	line = string(before[len(before)-column:]) + string(after[:min(len(after), excerptWidth)])
	if column < len(before) {
		line, column = "…"+line, column+1
	}
	if excerptWidth < len(after) {
		line += "…"
	}
	return line, column
}

func plainLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == object:
			return '□'
		case r < ' ' || r == utf8.RuneError:
			return ' '
		}
		return r
	}, s)
}

// places names the containers of text.
var places = map[string]string{
	"w:body": "the document", "w:hdr": "the header", "w:ftr": "the footer", "w:txbxContent": "a text box",
	"w:footnote": "a footnote", "w:endnote": "an endnote",
}

// locate says where a paragraph stands, from outside inward: "table 2, row 3, cell 1".
func (c *compiler) locate(n *node) string {
	if n.parent != nil && len(n.children) == 0 && c.isProperties {
		return "document property " + n.rawName(c.src)
	}
	var steps []string
	for ; n != nil; n = n.parent {
		if name, ok := places[n.name]; ok {
			steps = append(steps, name)
		}
		switch n.name {
		case "w:tbl":
			steps = append(steps, fmt.Sprintf("table %d", c.ordinal(n)))
		case "w:tr":
			steps = append(steps, fmt.Sprintf("row %d", c.ordinal(n)))
		case "w:tc":
			steps = append(steps, fmt.Sprintf("cell %d", c.ordinal(n)))
		}
	}
	if len(steps) > 1 && steps[len(steps)-1] == places["w:body"] {
		steps = steps[:len(steps)-1]
	}
	if len(steps) == 0 { // a chart or a diagram
		return "text of " + path.Base(c.part)
	}
	place := ""
	for i, s := range steps {
		if i > 0 {
			s += ", "
		}
		place = s + place
	}
	return place
}

// ordinal returns which of its kind a table, row or cell is: among the tables of the same cell, text box or part, or
// among its siblings. All of them are counted at the first question, as a template may ask for each.
func (c *compiler) ordinal(n *node) int {
	if c.ordinals == nil {
		c.ordinals = map[*node]int{}
		c.countTables(c.root, new(int))
	}
	return c.ordinals[n]
}

func (c *compiler) countTables(n *node, tables *int) {
	rows, cells := 0, 0
	for _, child := range n.children {
		inner := tables
		switch child.name {
		case "w:tbl":
			*tables++
			c.ordinals[child] = *tables
		case "w:tr":
			rows++
			c.ordinals[child] = rows
		case "w:tc":
			cells++
			c.ordinals[child] = cells
			inner = new(int)
		case "w:txbxContent":
			inner = new(int)
		}
		c.countTables(child, inner)
	}
}

// headingBefore returns the text of the nearest paragraph up to p that has an outline level or a heading's style.
func (c *compiler) headingBefore(p *paragraph) string {
	if c.headingAt == nil {
		c.headingAt = map[*paragraph]string{}
		heading := ""
		for _, q := range c.pars {
			if c.isHeading(q.node) && strings.TrimSpace(q.text) != "" {
				heading, _ = excerpt(q.text, 0)
			}
			c.headingAt[q] = heading
		}
	}
	return c.headingAt[p]
}

func (c *compiler) isHeading(p *node) bool {
	props := p.child("w:pPr")
	if props.child("w:outlineLvl") != nil {
		return true
	}
	return c.styles[attrValue(c.src, props.child("w:pStyle"), "w:val")].isHeading()
}
