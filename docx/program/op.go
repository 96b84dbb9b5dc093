// Package program is a compiled document and its execution. A part with tags is a list of operations, most of which
// write literal bytes of the template; an execution does them in turn and streams what they write into a package.
//
// It knows nothing of how the operations came about, which is docx/compile's.
//
// The steps: op.go (what operations there are), execute.go (the package), run.go (the operations), output.go (what goes to the
// compressor, and what a guard takes back). Most other files are a feature each, with one of the same name in docx/compile.
package program

import (
	"sync"

	"platen/docx/lang"
	"platen/docx/validate"
	"platen/ooxml/deflate"
)

// Part is a compiled part: its bytes as literals, and the operations between them. It does not change and serves
// many executions at once.
type Part struct {
	Ops      []Op
	Size     int  // bytes held, about
	HasNotes bool // that are written where they are referred to

	sketch     *deflate.Sketch // until it is planned
	planned    sync.Once
	compressed *deflate.Plan
	segments   []validate.Segment // by the numbers of the literals' pieces
}

// Op is one operation. Which fields count depends on its kind.
type Op struct {
	Kind     OpKind
	Text     []byte    // XML to write; of OpValue and OpTail: the source of the tag
	piece    int32     // of OpLiteral: its number in the plan of the part
	Tag      *lang.Tag // of OpValue, OpLoop
	Body     []Op      // of OpLoop, OpGuard
	Branches []Branch  // of OpIf
	Between  []byte    // of OpLoop: written between two rounds
	Empty    []Op      // of OpLoop, OpIf: done if nothing else was
	Slot     int       // of ids and OpOnce
	Space    IDSpace
	After    LastBlock // of OpLiteral
	Breaks   *Breaks   // of OpValue
	Place    *Place    // of OpValue, OpAlone
	Picture  *Picture
	Chart    *Chart
	Note     *Note
	Header   *Header
	Link     *Link
	Control  *Control
	TOC      *TOC  // of OpTOC
	Levels   []int // of OpHeading: in each table of contents, 0 where it is not shown
	Grid     *Grid // of OpGrid
	Width    int   // of OpSpan: how many columns are repeated; of cells: what their kind says
	Merge    int   // of OpValue: the slot of its cell's merging, and 1
	Merges   []int // of OpLoop: slots of cells that merge
	Over     bool  // of OpWidth: the cell reaches over the repeated columns
	Stored   bool  // of OpLoop: the items are those of the columns in slot
	Once     bool  // of OpRangeStart, OpRangeEnd: it comes once in the document
	Ranges   []int // of OpGuard: slots of ranges of which it holds one end
	Anew     []int // of OpLoop: slots of lists that each round begins anew
}

// Branch is one branch of a condition; its tag is nil for else.
type Branch struct {
	Tag  *lang.Tag
	Body []Op
}

// OpKind says what an operation does.
type OpKind uint8

// The kinds of operations. What an operation writes is in place of the source that it stands for.
const (
	OpLiteral     OpKind = iota // writes text as it is
	OpValue                     // writes the value of tag, or text if there is none
	OpTail                      // writes text, which belongs to the tag of the value before it, if there was none
	OpPageBreak                 // breaks the page, unless this is the last round of a loop
	OpLoop                      // does body for each item of tag
	OpIf                        // does the first branch whose tag holds
	OpGuard                     // does body, and takes it back unless something in it yields
	OpYield                     // says that there is something
	OpParagraph                 // writes an empty paragraph, unless one was last
	OpApart                     // writes an empty paragraph, if a table was last
	OpID                        // writes a fresh id, text the first time
	OpFreshID                   // writes a fresh id of a tracked change
	OpSameID                    // writes the id that was written last for the slot
	OpName                      // writes the name of a bookmark: text the first time, then another
	OpNameBehind                // writes the name that OpName of the slot wrote last
	OpNameAhead                 // writes the name that OpName of the slot will write next
	OpOnce                      // writes text the first time, and nothing later
	OpRangeStart                // does body, the start of a range, unless the range has begun
	OpRangeEnd                  // does body, the end of a range, if the range has begun
	OpAlone                     // a paragraph that only holds the value of tag: does body, or writes what takes its place
	OpHeading                   // a paragraph that is a heading
	OpHeadingMark               // writes the start or end of its bookmark
	OpTOC                       // writes a table of contents
	OpPicture                   // a drawing whose picture the data replaces
	OpShown                     // one in a content control, that may go while the control stays
	OpPicturePart               // writes what of it changes, by slot
	OpNote                      // a note that was written where it is referred to
	OpNoteID                    // writes the id of that note
	OpHeader                    // writes the id of the relationship to a header of a section, which is written aside here
	OpReference                 // writes the id of a note, which is written aside here
	OpChart                     // a drawing with a chart that takes the data of tag
	OpLink                      // writes the id of the relationship that a link leads to
	OpControl                   // a content control that takes a value
	OpControlPart               // writes what of it changes, by slot
	OpMerge                     // writes whether a cell is one with that above it
	OpCellSpan                  // writes how many columns a cell covers, at most width
	OpCovered                   // a cell of width columns that may be covered by one before it
	OpGrid                      // writes the grid of a table with repeated columns, and looks their items up
	OpWidth                     // writes the width of a cell in such a table
	OpSpan                      // writes how many columns a cell covers that reaches over the repeated ones
	OpNumber                    // writes the id of the list of the slot, which is that in text at first
)

// LastBlock is what the block of text before a place is, if a literal says: whether a cell may end here, and whether a
// table that begins here would be joined to another.
type LastBlock uint8

// What the last block may be.
const (
	Unchanged     LastBlock = iota // as it was before
	IsNothing                      // a container has begun
	IsWithin                       // a content control has begun, which keeps no table apart from another
	IsBehindTable                  // such a control has begun behind a table
	IsParagraph                    // a w:p has ended
	IsTable                        // a w:tbl has ended
)

// Then returns what the last block is if next comes behind l.
func (l LastBlock) Then(next LastBlock) LastBlock {
	switch {
	case next == Unchanged:
		return l
	case next == IsWithin && (l == Unchanged || l == IsWithin):
		return IsWithin
	case next == IsWithin && l.joinsTable():
		return IsBehindTable
	case next == IsWithin:
		return IsNothing
	}
	return next
}

// joinsTable tells whether a table that begins here would be joined to another.
func (l LastBlock) joinsTable() bool { return l == IsTable || l == IsBehindTable }

// Breaks is the XML that line breaks and tabs in a value become, under the prefix of the part.
type Breaks struct {
	Line, Tab   []byte
	Plain, Code bool // the text is that of an attribute, or of a field's code
}
