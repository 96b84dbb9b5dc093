package expect

import (
	"fmt"
	"slices"
	"strings"
)

// LineKind is the kind of element that a line describes.
type LineKind string

// The kinds of lines.
const (
	Paragraph LineKind = "paragraph"
	Table     LineKind = "table"
	Row       LineKind = "row"
	Cell      LineKind = "cell"
	Section   LineKind = "section"
	Header    LineKind = "header"
	Footer    LineKind = "footer"
	Footnote  LineKind = "footnote"
	Endnote   LineKind = "endnote"
	TextBox   LineKind = "text box"
	WordArt   LineKind = "WordArt"
	Image     LineKind = "image"
	Shape     LineKind = "shape"
	Chart     LineKind = "chart"
	Series    LineKind = "series"
	Diagram   LineKind = "diagram"
	Embedded  LineKind = "embedded file"
	Property  LineKind = "document property"
)

// Line describes one element of a document. The elements in it follow with a greater depth.
type Line struct {
	Part    string // "/word/document.xml"
	Heading string // the text of the nearest heading before it, in the same part
	Place   string // "table 2, row 3, cell 1", "the document", …

	Kind    LineKind
	Depth   int
	Number  string   // of an item of a numbered list
	Text    string   // of a paragraph; of a row, that of its cells, with tabs between them
	Format  []string // properties of the element, in a fixed order
	Formats []Format // the formatting of the text, for stretches of it
}

// Format is a stretch of text that has the same formatting.
type Format struct {
	Text       string
	Properties []string // in a fixed order
}

// hidden is the property of text that Word does not show.
const hidden = "hidden"

// searched returns the texts in which those are sought that must appear, and that must not. The latter also contains hidden text. A
// property of the document is not in its text.
func (l *Line) searched() (shown, all string) {
	if l.Text == "" || l.Kind == Property {
		return "", ""
	}
	number := ""
	if l.Number != "" {
		number = l.Number + " "
	}
	all = normalize(number + l.Text)
	if !slices.ContainsFunc(l.Formats, func(f Format) bool { return slices.Contains(f.Properties, hidden) }) {
		return all, all
	}
	return normalize(number + l.visible()), all
}

// visible returns the text that Word shows.
func (l *Line) visible() string {
	if len(l.Formats) == 0 {
		return l.Text
	}
	var b strings.Builder
	for _, f := range l.Formats {
		if !slices.Contains(f.Properties, hidden) {
			b.WriteString(f.Text)
		}
	}
	return b.String()
}

// String returns the line as text, indented by its depth.
func (l *Line) String() string {
	var b strings.Builder
	b.WriteString(strings.Repeat("  ", l.Depth) + string(l.Kind))
	if l.Number != "" {
		fmt.Fprintf(&b, " %s", l.Number)
	}
	if len(l.Format) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(l.Format, ", "))
	}
	if l.Kind == Row || l.Text == "" {
		return b.String()
	}
	b.WriteByte(':')
	if len(l.Formats) == 0 {
		fmt.Fprintf(&b, " %q", l.Text)
	}
	for _, f := range l.Formats {
		fmt.Fprintf(&b, " %q", f.Text)
		if len(f.Properties) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(f.Properties, ", "))
		}
	}
	return b.String()
}

// difference returns a difference at the line.
func (l *Line) difference(kind Kind, message string) *Difference {
	return &Difference{Kind: kind, Part: l.Part, Heading: l.Heading, Place: l.Place, Message: message}
}

// describe returns what the line is about, for people.
func (l *Line) describe() string {
	text := shorten(l.Text)
	if l.Number != "" {
		text = l.Number + " " + text
	}
	if text == "" {
		return strings.Join(append([]string{string(l.Kind)}, l.Format...), ", ")
	}
	return text
}
