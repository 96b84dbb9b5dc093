package importer

import (
	"platen/docx/wml"
)

// field is a field of Word with its code.
type field struct {
	code     string
	nodes    []*wml.Node // the marks and the codes, also of the fields in the code
	from, to int         // in the text of the paragraph
	result   span        // in the text; empty for none
	nested   []*field
	simple   *wml.Node
}

// fieldReader finds the fields of a paragraph.
type fieldReader struct{ open []*field }

func (r *fieldReader) code(string)                        {}
func (r *fieldReader) mark(string, *wml.Node, int) *field { return nil }
func (f *flattener) simpleField(n *wml.Node)              { f.content(n) }
func (p *part) placeField(t *tag)                         {}
