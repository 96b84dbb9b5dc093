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
	Document  LineKind = "document"
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
	Guide     LineKind = "phonetic guide"
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
	Text    string   // of a paragraph; of a row, that of its cells that a reader sees, with tabs between them
	Format  []string // properties of the element, in a fixed order
	Formats []Format // the formatting of the text, for stretches of it; of a row, with the hidden text of its cells

	unseen bool // in a header or footer that no page shows
}

// Format is a stretch of text that has the same formatting.
type Format struct {
	Text       string
	Properties []string // in a fixed order
}

// Properties of text that Word does not show, or not as it is typed.
const (
	hidden  = "hidden"
	allCaps = "all caps"
)

// searched returns the texts in which those are sought that must appear, and that must not. The latter are also sought in hidden text, and
// in the text around it. Text in all capitals is sought as it is shown and as it is typed. A property of the document is not in its text.
func (l *Line) searched() (shown, all []string) {
	if l.Text == "" && len(l.Formats) == 0 || l.Kind == Property {
		return nil, nil
	}
	shown = l.forms(func(f *Format) bool { return !slices.Contains(f.Properties, hidden) })
	if all = shown; slices.ContainsFunc(l.Formats, func(f Format) bool { return slices.Contains(f.Properties, hidden) }) {
		all = slices.Concat(shown, l.forms(func(*Format) bool { return true }))
	}
	if l.unseen {
		shown = nil
	}
	return shown, all
}

// forms returns the number and the text of the stretches that include accepts, as shown, and as typed if that differs.
func (l *Line) forms(include func(*Format) bool) []string {
	number := ""
	if l.Number != "" {
		number = l.Number + " "
	}
	if len(l.Formats) == 0 {
		return []string{normalize(number + l.Text)}
	}
	var shown, typed strings.Builder
	for i := range l.Formats {
		f := &l.Formats[i]
		if !include(f) {
			continue
		}
		typed.WriteString(f.Text)
		if slices.Contains(f.Properties, allCaps) {
			shown.WriteString(strings.ToUpper(f.Text))
		} else {
			shown.WriteString(f.Text)
		}
	}
	forms := []string{normalize(number + shown.String())}
	if typed.String() != shown.String() {
		forms = append(forms, normalize(number+typed.String()))
	}
	return forms
}

// visible returns the text that Word shows, as it is typed.
func visible(formats []Format) string {
	var b strings.Builder
	for _, f := range formats {
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
