package compile

import (
	"cmp"
	"slices"
	"strconv"

	"platen/docx/program"
	"platen/docx/wml"
)

// IDs has the ids of each kind in a template.
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

// collect records the ids of a part, which may be compiled or not.
func (s *IDs) collect(src []byte, n *wml.Node) {
	switch n.Name {
	case "wp:docPr":
		s.note(program.DrawingIDs, src, n.Attr("id"))
	case "wps:txbx":
		s.note(program.TextBoxIDs, src, n.Attr("id"))
	case "w:footnote", "w:endnote":
		s.note(program.NoteIDs, src, n.Attr("w:id"))
	case "w:permStart", "w:moveFromRangeStart", "w:moveToRangeStart", "w:bookmarkEnd", "w:permEnd", "w:moveFromRangeEnd", "w:moveToRangeEnd":
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

// maxTextBoxID is the largest id of a text box that others continue.
const maxTextBoxID = 1<<16 - 1

// first returns the start of the longest stretch of ids that are not used: room for any number of fresh ones.
func (s *IDs) first(space program.IDSpace) int {
	used := slices.Clone(s.used[space])
	slices.Sort(used)
	best, room, last, end := 1, 0, 0, wml.MaxID
	if space == program.TextBoxIDs {
		end = maxTextBoxID
	}
	for _, id := range append(used, end+1) {
		if id-last > room {
			best, room = last+1, id-last
		}
		last = id
	}
	return best
}

// editIDs writes the edits of ids inside loops, and those of ranges. It runs last, because it depends on the other edits.
func (c *compiler) editIDs() {
	starts := c.findRegions()
	if len(starts) == 0 {
		return
	}
	e := idEditor{c: c, starts: starts, open: map[rangeKey]*markedRange{}, references: map[string][]span{}, comments: map[string]int{}}
	e.base = e.branch(c.root)
	e.walk(c.root)
	e.editRanges()
	e.editShapes()
	e.editTextBoxes()
}

// idEditor walks a part from start to end and knows which regions it is in.
type idEditor struct {
	c      *compiler
	starts []branchStart // that are ahead
	at     *branch
	base   *branch // around the root
	story  *wml.Node
	open   map[rangeKey]*markedRange
	ranges []*markedRange

	references map[string][]span // by the names of bookmarks that they may be to
	comments   map[string]int    // slots of the references to comments, by id
	shapes     shapes
}

// branch returns the innermost branch around n, or nil. The starts of the nodes it is asked about never fall.
func (e *idEditor) branch(n *wml.Node) *branch {
	for len(e.starts) > 0 && e.starts[0].pos <= n.Start {
		e.at, e.starts = e.starts[0].at, e.starts[1:]
	}
	return e.at
}

func (e *idEditor) walk(n *wml.Node) {
	at := e.branch(n)
	if shapeNames[n.Name] {
		e.useKind(n, at)
	}
	kind := rangeMarks[n.Name]
	switch {
	case kind != nil:
		e.noteMark(n, kind, at)
	case n.Name == "v:shapetype":
		e.define(n, at)
	case at == nil || at.repeats == nil:
	case shapeNames[n.Name] || shapeReferences[n.Name] != "":
		e.shapes.note(e.c.src, n, at.repeats)
	case n.Name == "wps:txbx" || n.Name == "wps:linkedTxbx":
		e.shapes.noteTextBox(e.c.src, n, at.repeats)
	case n.Name == "w:hyperlink" || n.Name == "w:instrText" || n.Name == "w:fldSimple":
		e.noteReferences(n)
	case n.Name == "w:p" || n.Name == "w:tr":
		if id := n.Attr("w14:paraId"); id != nil {
			e.c.remove(id.Start, id.End)
		}
	case n.Name == "w:id" && n.Parent.Name == "w:sdtPr":
		e.c.remove(n.Start, n.End)
	case n.Name == "w:commentReference":
		e.referOnce(n, at)
	case trackedChanges[n.Name]:
		if id := n.Attr("w:id"); id != nil {
			e.c.replace(id.ValueStart, id.ValueEnd, e.id(id, program.BookmarkIDs))
		}
	case n.Name == "wp:docPr":
		if id := n.Attr("id"); id != nil {
			e.c.replace(id.ValueStart, id.ValueEnd, e.id(id, program.DrawingIDs))
		}
	}
	story := e.story
	if stories[n.Name] {
		e.story = n
	}
	for _, child := range n.Children {
		e.walk(child)
	}
	e.story = story
}

// id returns the step that writes an id.
func (e *idEditor) id(a *wml.Attr, space program.IDSpace) *program.ID {
	return &program.ID{Slot: e.c.slots.IDs.Next(), Text: e.c.copy(a.ValueStart, a.ValueEnd), Space: space}
}

// onceAt makes an element in a branch appear only once, because it refers to something that is unique.
func (e *idEditor) onceAt(n *wml.Node, at *branch) {
	e.once(span{n.Start, n.End}, e.c.copy(n.Start, n.End), at)
}

// once has a stretch of the source in a branch written the first time only, and returns the slot for that.
func (e *idEditor) once(at span, text []byte, in *branch) (slot int) {
	slot = e.c.slots.Once.Next()
	e.c.replace(at.start, at.end, &program.Once{Slot: slot, Text: text})
	if e.c.ofRounds() != nil {
		e.c.emit(e.c.root.OpenEnd, rankProperties, &program.Renew{Slot: slot})
	}
	noteOnce(slot, in)
	return slot
}

// referOnce makes a reference to a comment appear only once. The files from which a tag chooses have references to the same comments.
func (e *idEditor) referOnce(n *wml.Node, at *branch) {
	id := wml.AttrValue(e.c.src, n, "w:id")
	if slot, known := e.comments[id]; known {
		e.c.replace(n.Start, n.End, &program.Once{Slot: slot, Text: e.c.copy(n.Start, n.End)})
		noteOnce(slot, at)
		return
	}
	e.comments[id] = e.once(span{n.Start, n.End}, e.c.copy(n.Start, n.End), at)
}

// noteOnce tells the regions around a branch that it has a [program.Once], which is written again if they are discarded.
func noteOnce(slot int, in *branch) {
	for _, r := range in.upTo(nil) {
		r.once = append(r.once, slot)
	}
}

// renumber returns the edits that give a range a new id in each round of a loop. A bookmark also gets a new name, which references in the
// loop use too.
func (e *idEditor) renumber(r *markedRange, loop *region) (ofStart, ofEnd []edit) {
	at := func(a *wml.Attr, step program.Step) edit {
		return edit{pos: a.ValueStart, end: a.ValueEnd, rank: rankReplace, action: emitted{step}}
	}
	start, end := r.start.Attr("w:id"), r.end.Attr("w:id")
	id := e.id(start, program.BookmarkIDs)
	ofStart = []edit{at(start, id)}
	ofEnd = []edit{at(end, &program.SameID{Slot: id.Slot, Text: e.c.copy(end.ValueStart, end.ValueEnd)})}
	name := r.start.Attr("w:name")
	if name == nil {
		return ofStart, ofEnd
	}
	slot := e.c.slots.Names.Next()
	ofStart = append(ofStart, at(name, &program.Name{Slot: slot, Text: e.c.copy(name.ValueStart, name.ValueEnd)}))
	slices.SortFunc(ofStart, func(a, b edit) int { return a.pos - b.pos })
	for _, ref := range e.references[string(e.c.src[name.ValueStart:name.ValueEnd])] {
		role := program.NameAfter
		if ref.start < name.ValueStart {
			role = program.NameBeforehand
		}
		if loop.from <= ref.start && ref.end <= loop.to {
			e.c.replace(ref.start, ref.end, &program.Name{Slot: slot, Text: e.c.copy(ref.start, ref.end), Role: role})
		}
	}
	return ofStart, ofEnd
}

// span is a stretch of the source.
type span struct{ start, end int }

// noteReferences records the words in a link or field code that may be names of bookmarks.
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

// isWordByte reports whether a byte can be of the name of a bookmark.
func isWordByte(b byte) bool {
	return b == '_' || b >= 0x80 || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}
