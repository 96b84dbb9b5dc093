package compile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// IDs is what a template uses of each kind.
type IDs struct {
	used      [program.IDSpaceCount][]int
	bookmarks map[string]bool // names
}

// trackedChanges are the elements that say who changed what, and when (ISO 29500-1 §17.13.5).
var trackedChanges = map[string]bool{
	"w:ins": true, "w:del": true, "w:moveFrom": true, "w:moveTo": true, "w:cellIns": true, "w:cellDel": true, "w:cellMerge": true,
	"w:rPrChange": true, "w:pPrChange": true, "w:sectPrChange": true, "w:tblPrChange": true, "w:tblPrExChange": true,
	"w:tblGridChange": true, "w:trPrChange": true, "w:tcPrChange": true, "w:numberingChange": true,
}

// collect notes the ids of a part, of compiled parts and others alike.
func (s *IDs) collect(src []byte, n *wml.Node) {
	switch n.Name {
	case "wp:docPr":
		s.note(program.DrawingIDs, src, n.Attr("id"))
	case "w:footnote", "w:endnote":
		s.note(program.NoteIDs, src, n.Attr("w:id"))
	case "w:permStart", "w:moveFromRangeStart", "w:moveToRangeStart":
		s.note(program.BookmarkIDs, src, n.Attr("w:id"))
	case "w:bookmarkStart":
		s.note(program.BookmarkIDs, src, n.Attr("w:id"))
		if name := n.Attr("w:name"); name != nil {
			s.bookmarks[string(src[name.ValueStart:name.ValueEnd])] = true
		}
	default:
		if trackedChanges[n.Name] {
			s.note(program.BookmarkIDs, src, n.Attr("w:id"))
		}
	}
	for _, c := range n.Children {
		s.collect(src, c)
	}
}

func (s *IDs) note(space program.IDSpace, src []byte, a *wml.Attr) {
	if a == nil {
		return
	}
	if id, err := strconv.Atoi(string(src[a.ValueStart:a.ValueEnd])); err == nil && id > 0 && id <= wml.MaxID {
		s.used[space] = append(s.used[space], id)
	}
}

// first returns the start of the longest stretch of ids that are not used: room for any number of fresh ones.
func (s *IDs) first(space program.IDSpace) int {
	used := slices.Clone(s.used[space])
	slices.Sort(used)
	best, room, last := 1, 0, 0
	for _, id := range append(used, wml.MaxID+1) {
		if id-last > room {
			best, room = last+1, id-last
		}
		last = id
	}
	return best
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
			e.ahead = append(e.ahead, &block{openAt: n.Start, closeAt: n.End})
		}
	}
	if c.ofRounds() != nil {
		e.ahead = append(e.ahead, &block{openAt: c.root.Start, closeAt: c.root.End})
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
	start, end     *wml.Node
	startIn, endIn *block
}

// loop returns the innermost loop around n, or nil. The starts of the nodes it is asked about never fall.
func (e *idEditor) loop(n *wml.Node) *block {
	for len(e.ahead) > 0 && e.ahead[0].openAt <= n.Start {
		e.around = append(e.around, e.ahead[0])
		e.ahead = e.ahead[1:]
	}
	for len(e.around) > 0 && e.around[len(e.around)-1].closeAt <= n.Start {
		e.around = e.around[:len(e.around)-1]
	}
	if len(e.around) == 0 {
		return nil
	}
	return e.around[len(e.around)-1]
}

func (e *idEditor) walk(n *wml.Node) {
	loop := e.loop(n)
	switch {
	case n.Name == "w:bookmarkStart" || n.Name == "w:bookmarkEnd":
		e.noteBookmark(n, n.Name == "w:bookmarkStart", "", loop)
	case n.Name == "w:permStart" || n.Name == "w:permEnd":
		e.noteBookmark(n, n.Name == "w:permStart", "permission ", loop)
	case loop == nil:
	case n.Name == "w:hyperlink" || n.Name == "w:instrText" || n.Name == "w:fldSimple":
		e.noteReferences(n)
	case n.Name == "w:p" || n.Name == "w:tr":
		if id := n.Attr("w14:paraId"); id != nil {
			e.c.replace(id.Start, id.End, editDelete)
		}
	case n.Name == "w:id" && n.Parent.Name == "w:sdtPr":
		e.c.replace(n.Start, n.End, editDelete)
	case n.Name == "w:commentRangeStart" || n.Name == "w:commentRangeEnd" || n.Name == "w:commentReference":
		e.once(n)
	case strings.HasPrefix(n.Name, "w:moveFromRange") || strings.HasPrefix(n.Name, "w:moveToRange"):
		e.once(n) // its name ties it to the other end of the move
	case trackedChanges[n.Name]:
		if id := n.Attr("w:id"); id != nil {
			e.c.add(edit{pos: id.ValueStart, end: id.ValueEnd, phase: phaseReplace, kind: editID, slot: e.c.slots.ID(), space: program.BookmarkIDs})
		}
	case n.Name == "wp:docPr":
		if id := n.Attr("id"); id != nil {
			e.c.add(edit{pos: id.ValueStart, end: id.ValueEnd, phase: phaseReplace, kind: editID, slot: e.c.slots.ID(), space: program.DrawingIDs})
		}
	}
	for _, child := range n.Children {
		e.walk(child)
	}
}

// once has an element come out only the first time, as it refers to something that is there once.
func (e *idEditor) once(n *wml.Node) {
	e.c.add(edit{pos: n.Start, end: n.End, phase: phaseReplace, kind: editOnce, slot: e.c.slots.ID()})
}

// noteBookmark notes one end of a bookmark, or of another range that is told by its id among those of its kind.
func (e *idEditor) noteBookmark(n *wml.Node, isStart bool, kind string, loop *block) {
	id := n.Attr("w:id")
	if id == nil {
		return
	}
	key := kind + string(e.c.src[id.ValueStart:id.ValueEnd])
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
		if b.start != nil && b.end != nil && b.startIn == b.endIn && b.start.Start < b.end.Start {
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
	slot := e.c.slots.ID()
	start, end := b.start.Attr("w:id"), b.end.Attr("w:id")
	first := edit{pos: start.ValueStart, end: start.ValueEnd, phase: phaseReplace, kind: editID, slot: slot, space: program.BookmarkIDs}
	same := edit{pos: end.ValueStart, end: end.ValueEnd, phase: phaseReplace, kind: editSameID, slot: slot, space: program.BookmarkIDs}
	e.c.edits = append(e.c.edits, first, same)
	name := b.start.Attr("w:name")
	if name == nil {
		return
	}
	slot = e.c.slots.ID()
	e.c.add(edit{pos: name.ValueStart, end: name.ValueEnd, phase: phaseReplace, kind: editName, slot: slot})
	for _, ref := range e.references[string(e.c.src[name.ValueStart:name.ValueEnd])] {
		kind := editNameBehind
		if ref.start < name.ValueStart {
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
func (e *idEditor) noteReferences(n *wml.Node) {
	words := span{n.OpenEnd, n.CloseStart}
	if a := cmp.Or(n.Attr("w:anchor"), n.Attr("w:instr")); a != nil {
		words = span{a.ValueStart, a.ValueEnd}
	} else if n.Name != "w:instrText" {
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
