package program

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Ids that must be unique in a document: a loop that repeats an element gives all but the first a fresh one.
// w14:paraId and the ids of content controls need not be there at all: loops leave them out.

// maxBookmarkName is how many characters Word takes.
const maxBookmarkName = 40

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

// id writes the id of an element in a loop.
func (x *execution) id(o *Op) {
	given := x.slots[o.Slot]
	switch {
	case o.Kind == OpSameID && given > 0:
		x.out.buf = strconv.AppendInt(x.out.buf, int64(given), 10)
	case o.Kind == OpSameID || given == 0: // the first time: as it is
		x.out.buf = append(x.out.buf, o.Text...)
		if o.Kind == OpID {
			x.slots[o.Slot] = -1
		}
	default:
		x.slots[o.Slot] = x.fresh(o.Space)
		x.out.buf = strconv.AppendInt(x.out.buf, int64(x.slots[o.Slot]), 10)
	}
}

// fresh returns an id that no other element has.
func (x *execution) fresh(space IDSpace) int {
	id := x.nextID[space]
	x.nextID[space]++
	return id
}

// roundName is the name of a bookmark in the round of a loop.
type roundName struct {
	name  string
	ahead bool // it was referred to already, and the bookmark is to come
}

// name gives a bookmark's name the first time, then that with a number that makes it another. What refers to the bookmark in the same round
// has the same name.
func (x *execution) name(o *Op) {
	n := x.names[o.Slot]
	switch {
	case o.Kind == OpNameBehind && n == nil: // the bookmark was left out
		x.out.buf = append(x.out.buf, o.Text...)
		return
	case n == nil:
		n = &roundName{name: string(o.Text)}
		if x.names == nil {
			x.names = map[int]*roundName{}
		}
		x.names[o.Slot] = n
	case o.Kind != OpNameBehind && !n.ahead:
		n.name = x.anotherName(string(o.Text))
	}
	if o.Kind != OpNameBehind {
		n.ahead = o.Kind == OpNameAhead
	}
	x.out.buf = append(x.out.buf, n.name...)
}

// anotherName returns the name of a bookmark with a number that makes it another.
func (x *execution) anotherName(text string) string {
	name, _, _ := strings.Cut(text, "&") // a name is cut short below, and an entity must not be
	for {
		suffix := "_" + strconv.Itoa(x.fresh(BookmarkIDs))
		for utf8.RuneCountInString(name)+len(suffix) > maxBookmarkName {
			_, n := utf8.DecodeLastRuneInString(name)
			name = name[:len(name)-n]
		}
		if !x.d.Bookmarks[name+suffix] {
			return name + suffix
		}
	}
}
