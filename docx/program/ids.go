package program

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
