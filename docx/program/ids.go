package program

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Ids that must be unique in a document. If a loop repeats an element, all copies but the first get new ids. The attribute w14:paraId and
// the ids of content controls are optional, so loops leave them out.

// maxBookmarkName is the largest number of characters that Word accepts.
const maxBookmarkName = 40

// IDSpace is one kind of id in a document.
type IDSpace int

// The kinds of ids.
const (
	DrawingIDs   IDSpace = iota // wp:docPr
	NoteIDs                     // footnotes and endnotes
	BookmarkIDs                 // bookmarks, tracked changes, and permissions
	TextBoxIDs                  // wps:txbx
	IDSpaceCount                // the number of kinds
)

// Slots has the number of variables that an execution keeps for the steps of each feature. A step refers to its variable by a number.
type Slots struct{ IDs, Names, Once, Ranges, Lists, Spans, Columns, Merges Slot }

// Slot counts the variables of one kind.
type Slot int

// Next returns the number of another variable.
func (s *Slot) Next() int {
	*s++
	return int(*s) - 1
}

// ids is the state of the ids in an execution.
type ids struct {
	next  [IDSpaceCount]int
	given []int        // by slot: the last written id; 0 for none, -1 for that of the template
	names []*roundName // by slot
	once  []bool       // by slot: the text was written
}

// roundName is the name of a bookmark in one round of a loop.
type roundName struct {
	name  string
	ahead bool // a reference has used it, and the bookmark follows later in the round
}

// fresh returns an unused id.
func (x *execution) fresh(space IDSpace) int {
	id := x.ids.next[space]
	x.ids.next[space]++
	return id
}

// ID writes the id of an element: that of the template the first time, then a new one.
type ID struct {
	Slot  int
	Text  []byte // the id in the template
	Space IDSpace
}

func (o *ID) run(x *execution) error {
	given := &x.ids.given[o.Slot]
	if *given == 0 {
		*given = -1
		x.out.buf = append(x.out.buf, o.Text...)
		return nil
	}
	*given = x.fresh(o.Space)
	x.out.buf = strconv.AppendInt(x.out.buf, int64(*given), 10)
	return nil
}

// SameID writes the id that the step [ID] of the same slot wrote last.
type SameID struct {
	Slot int
	Text []byte // the id in the template
}

func (o *SameID) run(x *execution) error {
	if given := x.ids.given[o.Slot]; given > 0 {
		x.out.buf = strconv.AppendInt(x.out.buf, int64(given), 10)
	} else {
		x.out.buf = append(x.out.buf, o.Text...)
	}
	return nil
}

// FreshID is a character that stands for the id of a tracked change in XML that begins an element again. No two changes may have the
// same id. XML cannot contain this character.
const FreshID = "\x00"

// NewID writes a new id of a tracked change.
type NewID struct{}

func (*NewID) run(x *execution) error {
	x.writeFresh([]byte(FreshID))
	return nil
}

// writeFresh writes XML with new ids in place of [FreshID], and returns what it wrote.
func (x *execution) writeFresh(xml []byte) []byte {
	from := len(x.out.buf)
	for {
		before, after, found := bytes.Cut(xml, []byte(FreshID))
		x.out.buf = append(x.out.buf, before...)
		if !found {
			return x.out.buf[from:]
		}
		x.out.buf = strconv.AppendInt(x.out.buf, int64(x.fresh(BookmarkIDs)), 10)
		xml = after
	}
}

// Name writes the name of a bookmark in a loop: that of the template in the first round, then one with a number. A reference to the
// bookmark in the same round gets the same name.
type Name struct {
	Slot int
	Text []byte // the name in the template
	Role NameRole
}

// NameRole is the position of a bookmark's name.
type NameRole uint8

// The places of a name.
const (
	NameOfBookmark NameRole = iota
	NameAfter               // in a reference after the bookmark
	NameBeforehand          // in a reference before the bookmark
)

func (o *Name) run(x *execution) error {
	n := x.ids.names[o.Slot]
	switch {
	case n == nil && o.Role == NameAfter: // the bookmark is not in the document
		x.out.buf = append(x.out.buf, o.Text...)
		return nil
	case n == nil:
		n = &roundName{name: string(o.Text)}
		x.ids.names[o.Slot] = n
	case o.Role != NameAfter && !n.ahead:
		n.name = x.anotherName(string(o.Text))
	}
	if o.Role != NameAfter {
		n.ahead = o.Role == NameBeforehand
	}
	x.out.buf = append(x.out.buf, n.name...)
	return nil
}

// anotherName returns an unused name for a bookmark: its name with a number.
func (x *execution) anotherName(text string) string {
	name, _, _ := strings.Cut(text, "&") // the name is shortened below, which must not cut an entity
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

// Once writes text the first time, and nothing after that.
type Once struct {
	Slot int
	Text []byte
}

func (o *Once) run(x *execution) error {
	if !x.ids.once[o.Slot] {
		x.ids.once[o.Slot] = true
		x.out.buf = append(x.out.buf, o.Text...)
	}
	return nil
}

// Renew has the step [Once] of a slot write its text again, as a part is begun that is written for each round of a loop.
type Renew struct{ Slot int }

func (o *Renew) run(x *execution) error {
	x.ids.once[o.Slot] = false
	return nil
}
