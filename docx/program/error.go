package program

import (
	"fmt"
	"strings"
)

// Error is one problem of a template, with everything an author needs to find it.
type Error struct {
	Part    string `json:"part"`              // the part's name, "/word/document.xml"
	Heading string `json:"heading,omitempty"` // the text of the nearest heading before it
	Place   string `json:"place"`             // "table 2, row 3, cell 1", "the document", "header", …
	File    string `json:"file,omitempty"`    // the included file that contains it
	Text    string `json:"text"`              // the paragraph, shortened around the place
	Column  int    `json:"column"`            // of the place in Text, in characters from 0
	Tag     string `json:"tag"`               // as typed, with braces
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`

	Warning bool `json:"warning,omitempty"` // the document is generated, and complete

	// Of problems with data: the path in the tag, and the most similar one in the data, which Hint names too.
	Path    string `json:"path,omitempty"`
	Datum   string `json:"data_path,omitempty"` // of the value in the data, as in items[57].qty
	Nearest string `json:"did_you_mean,omitempty"`

	Offset int `json:"-"` // of the place in the XML of the part, in bytes
}

// Error returns the problem on up to four lines: the location and the message, the paragraph, a caret under the place, and a hint.
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
	if e.Datum != "" && e.Datum != e.Path && !strings.Contains(e.Message, e.Datum) {
		b.WriteString(" In the data: " + e.Datum)
	}
	if e.Text != "" {
		fmt.Fprintf(&b, "\n    %s\n    %s^", e.Text, strings.Repeat(" ", e.Column))
	}
	if e.Hint != "" {
		b.WriteString("\n    " + e.Hint)
	}
	return b.String()
}

// Errors are all problems of a template.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
		if one.Warning {
			lines[i] = "warning: " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// Mistakes returns the problems that are not warnings.
func (e Errors) Mistakes() Errors { return e.only(false) }

// Warnings returns the problems that are warnings.
func (e Errors) Warnings() Errors { return e.only(true) }

func (e Errors) only(warnings bool) Errors {
	var some Errors
	for _, one := range e {
		if one.Warning == warnings {
			some = append(some, one)
		}
	}
	return some
}

// Messages returns the messages without the places.
func (e Errors) Messages() []string {
	var all []string
	for _, one := range e {
		all = append(all, one.Message)
	}
	return all
}
