package program

import (
	"unsafe"

	"platen/docx/wml"
)

// Place is where a value's tag stands, as far as values that are more than text need to know it: how to end the elements
// around it and begin them anew, and with which properties.
type Place struct {
	Prefix string // of the part's elements, with its colon

	Properties          []wml.Property // of the run that the tag stands in
	ParagraphProperties []byte         // the content of the paragraph's properties, without those of its section
	InLink              bool           // something is around it in which there can be no link

	// How to leave the text for a place between the elements of its run, and to come back.
	LeaveText, EnterText []byte
	// How to leave the run for a place between runs of whatever holds it, and to come back into its text.
	LeaveRun, EnterRun []byte
	// How to leave the paragraph for a place between paragraphs, and to come back into the text; nil if the paragraph
	// cannot be parted here, as inside a field or a content control, or if it is an entry of a table of contents.
	LeavePar, EnterPar []byte // the latter with FreshID

	Width int64 // of the text's column, in twentieths of a point

	// Lead is what is written of the paragraph before the text, if nothing shows there and it can be taken back.
	Lead []byte

	Headings []Headings // in rich text, by the number of the table of contents

	// Last tells that the paragraph is the last in a cell or the like, or stands before a table: what takes its place
	// must end with a paragraph. Before paragraphs that may be left out it is false, as an
	// EmptyParagraph or a TableSeparator follows them.
	Last bool
}

// Headings are those that a table of contents shows; the zero value is none.
type Headings struct {
	From, To int
	Outline  bool // those that have no style but an outline level, too
}

// levelsOf returns the level of a heading of rich text in each of the tables of contents, nil if no table shows it.
func (p *Place) levelsOf(level int, isStyled bool) []int {
	var levels []int
	for i, shown := range p.Headings {
		if level < shown.From || level > shown.To || !isStyled && !shown.Outline {
			continue
		}
		if levels == nil {
			levels = make([]int, len(p.Headings))
		}
		levels[i] = level
	}
	return levels
}

// size returns how many bytes of memory the place holds, about. The shorter ways are parts of the longer ones.
func (p *Place) size() int {
	return int(unsafe.Sizeof(*p)) + max(len(p.LeaveRun), len(p.LeavePar)) + max(len(p.EnterRun), len(p.EnterPar)) + len(p.Lead) +
		len(p.ParagraphProperties) + len(p.Properties)*int(unsafe.Sizeof(wml.Property{}))
}
