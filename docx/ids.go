package docx

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"platen/docx/lang"
)

// Ids that must be unique in a document: a loop that repeats an element gives all but the first a fresh one.
// w14:paraId and the ids of content controls need not be there at all: loops leave them out.

// idSpace is one kind of id in a document.
type idSpace int

const (
	drawingIDs  idSpace = iota // wp:docPr
	noteIDs                    // footnotes and endnotes
	bookmarkIDs                // and of tracked changes and permissions: what is marked in the text
	idSpaceCount
)

// idSpaces is what a template uses of each kind.
type idSpaces struct {
	used      [idSpaceCount][]int
	bookmarks map[string]bool // names
	slots     int             // of ids and other state that an execution keeps
	tables    int             // with repeated columns
	merges    int             // columns of cells that merge
}

// maxID is the largest id that Word takes.
const maxID = 1<<31 - 2

// trackedChanges are the elements that say who changed what, and when (ISO 29500-1 §17.13.5).
var trackedChanges = map[string]bool{
	"w:ins": true, "w:del": true, "w:moveFrom": true, "w:moveTo": true, "w:cellIns": true, "w:cellDel": true, "w:cellMerge": true,
	"w:rPrChange": true, "w:pPrChange": true, "w:sectPrChange": true, "w:tblPrChange": true, "w:tblPrExChange": true,
	"w:tblGridChange": true, "w:trPrChange": true, "w:tcPrChange": true, "w:numberingChange": true,
}

// collect notes the ids of a part, of compiled parts and others alike.
func (s *idSpaces) collect(src []byte, n *node) {
	switch n.name {
	case "wp:docPr":
		s.note(drawingIDs, src, n.attr("id"))
	case "w:footnote", "w:endnote":
		s.note(noteIDs, src, n.attr("w:id"))
	case "w:permStart", "w:moveFromRangeStart", "w:moveToRangeStart":
		s.note(bookmarkIDs, src, n.attr("w:id"))
	case "w:bookmarkStart":
		s.note(bookmarkIDs, src, n.attr("w:id"))
		if name := n.attr("w:name"); name != nil {
			s.bookmarks[string(src[name.valueStart:name.valueEnd])] = true
		}
	default:
		if trackedChanges[n.name] {
			s.note(bookmarkIDs, src, n.attr("w:id"))
		}
	}
	for _, c := range n.children {
		s.collect(src, c)
	}
}

func (s *idSpaces) note(space idSpace, src []byte, a *attr) {
	if a == nil {
		return
	}
	if id, err := strconv.Atoi(string(src[a.valueStart:a.valueEnd])); err == nil && id > 0 && id <= maxID {
		s.used[space] = append(s.used[space], id)
	}
}

// first returns the start of the longest stretch of ids that are not used: room for any number of fresh ones.
func (s *idSpaces) first(space idSpace) int {
	used := slices.Clone(s.used[space])
	slices.Sort(used)
	best, room, last := 1, 0, 0
	for _, id := range append(used, maxID+1) {
		if id-last > room {
			best, room = last+1, id-last
		}
		last = id
	}
	return best
}

// merge returns a slot for cells that merge.
func (s *idSpaces) merge() int {
	s.merges++
	return s.merges - 1
}

// columns returns a slot for the columns of a table.
func (s *idSpaces) columns() int {
	s.tables++
	return s.tables - 1
}

func (s *idSpaces) slot() int {
	s.slots++
	return s.slots - 1
}

// editIDs writes the edits of ids inside loops.
func (c *compiler) editIDs() {
	e := idEditor{c: c, bookmarks: map[string]*bookmark{}, references: map[string][]span{}}
	for _, b := range c.blocks {
		if b.isLoop() {
			e.ahead = append(e.ahead, b)
		}
	}
	for n, note := range c.ownNotes() {
		if slices.ContainsFunc(note.blocks, func(t *lang.Tag) bool { return t.Kind.IsLoop() }) {
			e.ahead = append(e.ahead, &block{openAt: n.start, closeAt: n.end})
		}
	}
	if len(e.ahead) == 0 {
		return
	}
	slices.SortFunc(e.ahead, func(a, b *block) int { return cmp.Or(a.openAt-b.openAt, b.closeAt-a.closeAt) })
	e.walk(c.root)
	e.editBookmarks()
}

// idEditor walks a part from start to end and knows which loops it is in.
type idEditor struct {
	c         *compiler
	ahead     []*block // loops, in the order they begin
	around    []*block // loops around the place, inner last
	bookmarks map[string]*bookmark
	order     []*bookmark

	references map[string][]span // by the names of bookmarks that they may be to
}

// bookmark is a pair of w:bookmarkStart and w:bookmarkEnd with one id, or of w:permStart and w:permEnd, and the loops they are in.
type bookmark struct {
	start, end     *node
	startIn, endIn *block
}

// loop returns the innermost loop around n, or nil. The starts of the nodes it is asked about never fall.
func (e *idEditor) loop(n *node) *block {
	for len(e.ahead) > 0 && e.ahead[0].openAt <= n.start {
		e.around = append(e.around, e.ahead[0])
		e.ahead = e.ahead[1:]
	}
	for len(e.around) > 0 && e.around[len(e.around)-1].closeAt <= n.start {
		e.around = e.around[:len(e.around)-1]
	}
	if len(e.around) == 0 {
		return nil
	}
	return e.around[len(e.around)-1]
}

func (e *idEditor) walk(n *node) {
	loop := e.loop(n)
	switch {
	case n.name == "w:bookmarkStart" || n.name == "w:bookmarkEnd":
		e.noteBookmark(n, n.name == "w:bookmarkStart", "", loop)
	case n.name == "w:permStart" || n.name == "w:permEnd":
		e.noteBookmark(n, n.name == "w:permStart", "permission ", loop)
	case loop == nil:
	case n.name == "w:hyperlink" || n.name == "w:instrText" || n.name == "w:fldSimple":
		e.noteReferences(n)
	case n.name == "w:p" || n.name == "w:tr":
		if id := n.attr("w14:paraId"); id != nil {
			e.c.replace(id.start, id.end, editDelete)
		}
	case n.name == "w:id" && n.parent.name == "w:sdtPr":
		e.c.replace(n.start, n.end, editDelete)
	case n.name == "w:commentRangeStart" || n.name == "w:commentRangeEnd" || n.name == "w:commentReference":
		e.once(n)
	case strings.HasPrefix(n.name, "w:moveFromRange") || strings.HasPrefix(n.name, "w:moveToRange"):
		e.once(n) // its name ties it to the other end of the move
	case trackedChanges[n.name]:
		if id := n.attr("w:id"); id != nil {
			e.c.add(edit{pos: id.valueStart, end: id.valueEnd, phase: phaseReplace, kind: editID, slot: e.c.ids.slot(), space: bookmarkIDs})
		}
	case n.name == "wp:docPr":
		if id := n.attr("id"); id != nil {
			e.c.add(edit{pos: id.valueStart, end: id.valueEnd, phase: phaseReplace, kind: editID, slot: e.c.ids.slot(), space: drawingIDs})
		}
	}
	for _, child := range n.children {
		e.walk(child)
	}
}

// once has an element come out only the first time, as it refers to something that is there once.
func (e *idEditor) once(n *node) {
	e.c.add(edit{pos: n.start, end: n.end, phase: phaseReplace, kind: editOnce, slot: e.c.ids.slot()})
}

// noteBookmark notes one end of a bookmark, or of another range that is told by its id among those of its kind.
func (e *idEditor) noteBookmark(n *node, isStart bool, kind string, loop *block) {
	id := n.attr("w:id")
	if id == nil {
		return
	}
	key := kind + string(e.c.src[id.valueStart:id.valueEnd])
	b := e.bookmarks[key]
	if b == nil {
		b = &bookmark{}
		e.bookmarks[key] = b
		e.order = append(e.order, b)
	}
	if isStart {
		b.start, b.startIn = n, loop
	} else {
		b.end, b.endIn = n, loop
	}
}

// editBookmarks gives a bookmark that lies within one round of a loop a fresh id and name in each round, and has the
// ends of any other come out once.
func (e *idEditor) editBookmarks() {
	for _, b := range e.order {
		if b.start != nil && b.end != nil && b.startIn == b.endIn && b.start.start < b.end.start {
			if b.startIn != nil {
				e.renumber(b)
			}
			continue
		}
		if b.startIn != nil {
			e.once(b.start)
		}
		if b.endIn != nil {
			e.once(b.end)
		}
	}
}

func (e *idEditor) renumber(b *bookmark) {
	slot := e.c.ids.slot()
	start, end := b.start.attr("w:id"), b.end.attr("w:id")
	first := edit{pos: start.valueStart, end: start.valueEnd, phase: phaseReplace, kind: editID, slot: slot, space: bookmarkIDs}
	same := edit{pos: end.valueStart, end: end.valueEnd, phase: phaseReplace, kind: editSameID, slot: slot, space: bookmarkIDs}
	e.c.edits = append(e.c.edits, first, same)
	name := b.start.attr("w:name")
	if name == nil {
		return
	}
	slot = e.c.ids.slot()
	e.c.add(edit{pos: name.valueStart, end: name.valueEnd, phase: phaseReplace, kind: editName, slot: slot})
	for _, ref := range e.references[string(e.c.src[name.valueStart:name.valueEnd])] {
		kind := editNameBehind
		if ref.start < name.valueStart {
			kind = editNameAhead
		}
		if b.startIn.openAt <= ref.start && ref.end <= b.startIn.closeAt {
			e.c.add(edit{pos: ref.start, end: ref.end, phase: phaseReplace, kind: kind, slot: slot})
		}
	}
}

// span is a stretch of the source.
type span struct{ start, end int }

// noteReferences notes the words of a link or of the code of a field that may be names of bookmarks.
func (e *idEditor) noteReferences(n *node) {
	words := span{n.openEnd, n.closeStart}
	if a := cmp.Or(n.attr("w:anchor"), n.attr("w:instr")); a != nil {
		words = span{a.valueStart, a.valueEnd}
	} else if n.name != "w:instrText" {
		return
	}
	for at := words.start; at < words.end; {
		end := at
		for end < words.end && isWordByte(e.c.src[end]) {
			end++
		}
		if word := string(e.c.src[at:end]); word != "" {
			e.references[word] = append(e.references[word], span{at, end})
		}
		at = end + 1
	}
}

// isWordByte tells whether a byte can be of the name of a bookmark.
func isWordByte(b byte) bool {
	return b == '_' || b >= 0x80 || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}
