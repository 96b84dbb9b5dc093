package program

import (
	"slices"
	"unsafe"

	"platen/docx/wml"
)

// Place describes the surroundings of a value's tag for values that are not plain text: how to end the elements around the tag, and how to
// begin them again with the same properties.
type Place struct {
	Prefix string // of the part's elements, with its colon

	Properties          []wml.Property // of the run of the tag
	ParagraphProperties []byte         // the content of the paragraph's properties, without those of its section
	InLink              bool           // links are not allowed here
	Unmarkable          bool           // marks would change the text here
	StylesParagraph     bool           // the tag may set the style of its paragraph

	// XML to leave the text for a place between the elements of its run, and to return.
	LeaveText, EnterText []byte
	// XML to leave the run for a place between runs, and to return to its text.
	LeaveRun, EnterRun []byte
	// XML to leave the paragraph for a place between paragraphs, and to return to the text. They are nil if the paragraph cannot be split
	// here, as inside a field or a content control, or if it is an entry of a table of contents.
	LeavePar, EnterPar []byte // EnterPar contains FreshID

	Width int64 // of the text's column, in twentieths of a point

	// Lead is the XML of the paragraph before the text, if it is invisible and can be removed.
	Lead []byte

	Headings []Headings    // in rich text, by the number of the table of contents
	Styles   HeadingStyles // for headings in rich text

	// Last reports whether the paragraph is the last one in its container, such as a cell, or precedes a table. Its replacement must end
	// with a paragraph then. Last is false before paragraphs that may be left out, because an EmptyParagraph or a TableSeparator follows
	// them.
	Last bool
}

// Headings are the headings that a table of contents shows. The zero value shows none.
type Headings struct {
	From, To int
	Outline  bool // also paragraphs with an outline level but no heading style
}

// levelsOf returns the level of a heading of rich text in each table of contents, or nil if no table shows it. The heading has a style,
// or "", and an outline level of its own, or 0.
func (p *Place) levelsOf(style string, outline int) []int {
	levels := p.Styles[style].Levels
	if outline == 0 {
		return levels
	}
	if levels = slices.Clone(levels); levels == nil {
		levels = make([]int, len(p.Headings))
	}
	for i, shown := range p.Headings {
		if shown.Outline {
			levels[i] = 0
			if shown.From <= outline && outline <= shown.To {
				levels[i] = outline
			}
		}
	}
	if !slices.ContainsFunc(levels, func(level int) bool { return level > 0 }) {
		return nil
	}
	return levels
}

// size returns the approximate memory of the place, in bytes. LeaveText and the like are parts of the longer slices.
func (p *Place) size() int {
	return int(unsafe.Sizeof(*p)) + max(len(p.LeaveRun), len(p.LeavePar)) + max(len(p.EnterRun), len(p.EnterPar)) + len(p.Lead) +
		len(p.ParagraphProperties) + len(p.Properties)*int(unsafe.Sizeof(wml.Property{}))
}
