package program

import (
	"bytes"
	"strconv"
)

// Ids that must be unique in a document: a loop that repeats an element gives all but the first a fresh one.
// w14:paraId and the ids of content controls need not be there at all: loops leave them out.

// IDSpace is one kind of id in a document.
type IDSpace int

// The kinds of ids.
const (
	DrawingIDs   IDSpace = iota // wp:docPr
	NoteIDs                     // footnotes and endnotes
	BookmarkIDs                 // and of tracked changes and permissions: what is marked in the text
	IDSpaceCount                // how many kinds there are
)

// FreshID stands in XML that begins elements anew for the id of a tracked change, which no other may have. No XML holds it.
const FreshID = "\x00"

// anew writes XML with fresh ids, and returns it.
func (x *execution) anew(xml []byte) []byte {
	from := len(x.out.buf)
	for {
		before, behind, found := bytes.Cut(xml, []byte(FreshID))
		x.out.buf = append(x.out.buf, before...)
		if !found {
			return x.out.buf[from:]
		}
		x.out.buf = strconv.AppendInt(x.out.buf, int64(x.fresh(BookmarkIDs)), 10)
		xml = behind
	}
}

// Slots counts what an execution remembers of what it has written, by numbers that operations name.
type Slots struct {
	ids    int // and whether something came out
	tables int // with repeated columns
	merges int // columns of cells that merge
}

// ID returns the number of an id, or of what else is remembered as a number.
func (s *Slots) ID() int {
	s.ids++
	return s.ids - 1
}

// Table returns the number of a table with repeated columns.
func (s *Slots) Table() int {
	s.tables++
	return s.tables - 1
}

// Merge returns the number of a column of cells that merge.
func (s *Slots) Merge() int {
	s.merges++
	return s.merges - 1
}
