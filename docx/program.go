package docx

import (
	"bytes"
	"slices"
	"sort"
	"sync"

	"platen/docx/deflate"
	"platen/docx/lang"
	"platen/docx/validate"
)

// program is a compiled part: its bytes as literals, and the operations between them. It does not change and serves
// many executions at once.
type program struct {
	ops  []op
	size int // bytes held, about

	sketch     *deflate.Sketch // until it is planned
	planned    sync.Once
	compressed *deflate.Plan
	hasNotes   bool               // that are written where they are referred to
	segments   []validate.Segment // by the numbers of the literals' pieces
}

// op is one operation. Which fields count depends on its kind.
type op struct {
	kind    opKind
	text    []byte    // XML to write; of opValue and opTail: the source of the tag
	piece   int32     // of opLiteral: its number in the plan of the part
	tag     *lang.Tag // of opValue, opLoop
	body    []op      // of opLoop, opGuard
	parts   []part    // of opIf
	between []byte    // of opLoop: written between two rounds
	empty   []byte    // of opLoop, opIf: written if nothing was done
	slot    int       // of ids and opOnce
	space   idSpace
	after   lastBlock // of opLiteral
	breaks  *breaks   // of opValue
	place   *place    // of opValue, opAlone
	pic     *pictureOp
	chart   *boundChart
	note    *boundNote
	link    *linkTarget
	control *control
	toc     *tocOp  // of opTOC
	grid    *gridOp // of opGrid
	width   int     // of opSpan: how many columns are repeated; of cells: what their kind says
	merge   int     // of opValue: the slot of its cell's merging, and 1
	merges  []int   // of opLoop: slots of cells that merge
	over    bool    // of opWidth: the cell reaches over the repeated columns
	stored  bool    // of opLoop: the items are those of the columns in slot
	anew    []int   // of opLoop: slots of lists that each round begins anew
}

// part is one branch of a condition; its tag is nil for else.
type part struct {
	tag  *lang.Tag
	body []op
}

type opKind uint8

const (
	opLiteral opKind = iota
	opValue
	opTail
	opPageBreak // unless this is the last round of a loop
	opLoop
	opIf
	opGuard
	opYield
	opParagraph // an empty one, unless one was last
	opApart     // an empty paragraph, if a table was last
	opID
	opSameID
	opName
	opNameBehind
	opNameAhead
	opOnce
	opAlone       // a paragraph that only holds the value of tag: the body, or what takes its place
	opHeading     // a paragraph that is a heading of the level in slot
	opHeadingMark // the start or end of its bookmark
	opTOC
	opPicture     // a drawing whose picture the data replaces
	opShown       // one in a content control, that may go while the control stays
	opPicturePart // what of it changes, by slot
	opNote        // a note that was written where it is referred to
	opNoteID      // the id of the note that is written
	opReference   // the id of a note that is written here
	opChart       // a drawing with a chart that takes the data of tag
	opLink        // the id of the relationship that a link leads to
	opControl     // a content control that takes a value
	opControlPart // what of it changes, by slot
	opMerge       // whether a cell is one with that above it
	opCellSpan    // how many columns a cell covers, at most width
	opCovered     // a cell of width columns that may be covered by one before it
	opGrid        // of a table with repeated columns, whose items are looked up here
	opWidth       // of a cell in such a table
	opSpan        // of a cell that reaches over the repeated columns
	opNumber      // the id of the list of the slot, which is that in text at first
)

// lastBlock is what the block of text before a place is, if a literal says: whether a cell may end here, and whether a
// table that begins here would be joined to another.
type lastBlock uint8

const (
	unchanged   lastBlock = iota
	isNothing             // a container has begun
	isParagraph           // a w:p has ended
	isTable               // a w:tbl has ended
)

// breaks is the XML that line breaks and tabs in a value become, under the prefix of the part.
type breaks struct {
	line, tab   []byte
	plain, code bool // the text is that of an attribute, or of a field's code
}

// assembler turns sorted edits into operations.
type assembler struct {
	c      *compiler
	cursor int
	stack  []frame
	lit    []byte
	after  lastBlock
	events []blockEvent
	size   int
	forms  map[string]*breaks
	places map[*mark]*place
}

// frame is a list of operations that is being written: of the part, a block or a guard.
type frame struct {
	block *block // nil for the part and for guards
	op    op
	ops   []op
}

// blockEvent says what lastBlock is from a place on.
type blockEvent struct {
	pos int
	is  lastBlock
}

func (c *compiler) assemble() *program {
	c.sortEdits()
	a := &assembler{c: c, stack: make([]frame, 1), forms: map[string]*breaks{}, places: map[*mark]*place{}}
	a.collectEvents(c.root)
	slices.SortFunc(a.events, func(x, y blockEvent) int { return x.pos - y.pos })
	for i := range c.edits {
		if !a.apply(&c.edits[i]) {
			return nil
		}
	}
	a.literal(len(c.src))
	a.flush()
	p := &program{ops: a.stack[0].ops, size: a.size, sketch: new(deflate.Sketch)}
	p.segments = make([]validate.Segment, sketchOps(p.sketch, p.ops)+1)
	return p
}

func (a *assembler) collectEvents(n *node) {
	if needsParagraph[n.name] {
		a.events = append(a.events, blockEvent{n.openEnd, isNothing})
	}
	for _, c := range n.children {
		a.collectEvents(c)
	}
	switch n.name {
	case "w:p":
		a.events = append(a.events, blockEvent{n.end, isParagraph})
	case "w:tbl":
		a.events = append(a.events, blockEvent{n.end, isTable})
	}
}

// of is the block of a border.
func (e *edit) of() *block {
	if e.block != nil {
		return e.block
	}
	return e.mark.block
}

// apply writes one edit; it is false if the edit tears a block apart, which is then among the errors.
func (a *assembler) apply(e *edit) bool {
	if e.pos < a.cursor && e.phase != phaseBorder {
		return true // it is inside what was deleted as a whole
	}
	if e.pos >= a.cursor { // else a border between two tags that were deleted as one stretch: behind it is as good
		a.literal(e.pos)
	} else if e.closing != "" {
		return a.torn(e)
	}
	source := a.c.src[e.pos:e.end]
	a.cursor = max(a.cursor, e.end)
	switch e.kind {
	case editDelete:
	case editInsert:
		a.insert(e.opening)
	case editOpen:
		a.insert(e.closing)
		a.open(e)
		a.insert(e.opening)
	case editPart, editClose:
		return a.border(e)
	case editGuard, editAlone, editHeading, editPicture, editShown, editChart, editControl, editCovered, editNote:
		a.push(frame{op: a.holder(e)})
	case editGuardEnd, editAloneEnd, editHeadingEnd:
		a.pop()
	case editValue:
		a.value(e, source)
	default:
		a.emit(a.operation(e, source))
	}
	return true
}

// holder is the operation of an edit that others lie in.
func (a *assembler) holder(e *edit) op {
	switch e.kind {
	case editAlone:
		return op{kind: opAlone, tag: e.mark.tag, place: a.placeFor(e.mark), merge: e.mark.merge}
	case editHeading:
		return op{kind: opHeading, slot: e.slot}
	case editPicture:
		return op{kind: opPicture, tag: e.mark.tag, pic: a.c.pictureOp(e.picture)}
	case editShown:
		return op{kind: opShown}
	case editChart:
		return op{kind: opChart, tag: e.mark.tag, chart: e.picture.chart}
	case editControl:
		return op{kind: opControl, tag: e.mark.tag, control: e.control, text: e.control.untouched(a.c)}
	case editNote:
		return op{kind: opNote, note: e.note}
	case editCovered:
		return op{kind: opCovered, slot: e.slot, width: e.cell}
	}
	return op{kind: opGuard}
}

// value writes the operation of a tag that leaves something in its place.
func (a *assembler) value(e *edit, source []byte) {
	place := a.placeFor(e.mark)
	if e.mark.tag.Kind == lang.PageBreak {
		if place != nil { // no page can be broken in a chart
			a.emit(op{kind: opPageBreak, place: place})
		}
		return
	}
	a.noteLead(e.mark)
	a.emit(op{kind: opValue, tag: e.mark.tag, text: slices.Clone(source), breaks: a.breaksFor(e.mark), place: place, merge: e.mark.merge})
}

// operation is that of any other edit.
func (a *assembler) operation(e *edit, source []byte) op {
	switch e.kind {
	case editTail:
		return op{kind: opTail, text: slices.Clone(source)}
	case editHeadingMark:
		return op{kind: opHeadingMark, text: []byte(e.opening)}
	case editPicturePart:
		o := op{kind: opPicturePart, text: slices.Clone(source), slot: e.slot}
		if e.picture != nil {
			o.pic = a.c.pictureOp(e.picture)
		}
		return o
	case editLink:
		return op{kind: opLink, text: slices.Clone(source), link: e.link}
	case editControlPart:
		return op{kind: opControlPart, text: slices.Clone(source), slot: e.slot, control: e.control, breaks: e.control.breaks}
	case editMerge:
		return op{kind: opMerge, tag: e.mark.tag, slot: e.slot, width: e.cell, place: a.placeFor(e.mark)}
	case editCellSpan:
		return op{kind: opCellSpan, tag: e.mark.tag, slot: e.slot, width: e.cell, place: a.placeFor(e.mark)}
	case editGrid:
		return op{kind: opGrid, tag: e.mark.tag, slot: e.columns.slot, grid: a.c.gridOp(e.columns)}
	case editWidth:
		return op{kind: opWidth, text: slices.Clone(source), slot: e.columns.slot, over: e.over}
	case editSpan:
		return op{kind: opSpan, text: []byte(e.opening), slot: e.columns.slot, width: e.columns.count()}
	case editTOC:
		return op{kind: opTOC, toc: a.c.tocOp()}
	case editNoteID:
		return op{kind: opNoteID}
	case editReference:
		return op{kind: opReference, text: slices.Clone(source), note: e.note}
	case editYield:
		return op{kind: opYield}
	case editNumber:
		return op{kind: opNumber, text: []byte(e.opening), slot: e.slot}
	case editParagraph:
		return op{kind: opParagraph, text: []byte(e.opening)}
	case editApart:
		return op{kind: opApart, text: []byte(e.opening)}
	}
	return op{kind: idOps[e.kind], text: slices.Clone(source), slot: e.slot, space: e.space}
}

var idOps = map[editKind]opKind{editID: opID, editSameID: opSameID, editName: opName, editNameBehind: opNameBehind, editNameAhead: opNameAhead, editOnce: opOnce}

// literal takes the source up to a place as it is.
func (a *assembler) literal(until int) {
	a.lit = append(a.lit, a.c.src[a.cursor:until]...)
	i := sort.Search(len(a.events), func(i int) bool { return a.events[i].pos > until })
	if i > 0 && a.events[i-1].pos > a.cursor {
		a.after = a.events[i-1].is
	}
	a.cursor = until
}

func (a *assembler) insert(xml string) { a.lit = append(a.lit, xml...) }

func (a *assembler) flush() {
	if len(a.lit) == 0 {
		return
	}
	o := op{kind: opLiteral, text: slices.Clone(a.lit), after: a.after}
	a.lit, a.after = a.lit[:0], unchanged
	a.append(o)
}

func (a *assembler) emit(o op) {
	a.flush()
	a.append(o)
}

func (a *assembler) append(o op) {
	const opSize, planSize = 250, 600
	a.size += len(o.text) + opSize
	if o.kind == opLiteral { // what its plan will take
		a.size += len(o.text) + planSize
	}
	top := &a.stack[len(a.stack)-1]
	top.ops = append(top.ops, o)
}

func (a *assembler) push(f frame) {
	a.flush()
	a.stack = append(a.stack, f)
}

// pop ends the innermost list and appends its operation to the one around it.
func (a *assembler) pop() {
	a.flush()
	top := &a.stack[len(a.stack)-1]
	o := top.op
	if o.kind == opIf {
		o.parts[len(o.parts)-1].body = top.ops
	} else {
		o.body = top.ops
	}
	a.stack = a.stack[:len(a.stack)-1]
	a.append(o)
}

func (a *assembler) open(e *edit) {
	b := e.of()
	o := op{kind: opIf, parts: []part{{tag: e.mark.tag}}, empty: []byte(b.empty)}
	if b.isLoop() {
		o = op{kind: opLoop, tag: e.mark.tag, between: []byte(b.between), empty: []byte(b.empty), anew: b.anew, merges: b.merges}
		if b.perRow {
			o.stored, o.slot = true, b.columns.slot
		}
	}
	a.push(frame{block: b, op: o})
}

// border parts or closes the block that is open.
func (a *assembler) border(e *edit) bool {
	top := &a.stack[len(a.stack)-1]
	if top.block != e.of() {
		return a.torn(e)
	}
	a.insert(e.closing)
	if e.kind == editClose {
		a.pop()
	} else {
		a.flush()
		top.op.parts[len(top.op.parts)-1].body = top.ops
		top.ops = nil
		p := part{}
		if e.mark.tag.Kind == lang.ElseIf {
			p.tag = e.mark.tag
		}
		top.op.parts = append(top.op.parts, p)
	}
	a.insert(e.opening)
	return true
}

func (a *assembler) torn(e *edit) bool {
	a.c.fail(e.mark, "this block and another begin or end in the same paragraph or row, so that one would tear the other apart", "put each of their tags into a paragraph of its own")
	return false
}

// placeFor describes the place of a value, once.
func (a *assembler) placeFor(m *mark) *place {
	if m.first.plain || m.first.node.name != "w:t" {
		return nil
	}
	p := a.places[m]
	if p == nil {
		p = a.c.placeOf(m)
		a.places[m] = p
		a.size += p.size()
	}
	return p
}

// noteLead notes what is written from the start of a value's paragraph to its tag, if that shows nothing and holds no anchor.
func (a *assembler) noteLead(m *mark) {
	p, par := a.placeFor(m), m.par.node
	if p == nil || p.leavePar == nil || !m.leading() || slices.ContainsFunc(par.children, func(n *node) bool { return n.end <= m.first.run.start && rangeMarkup[n.name] }) {
		return
	}
	name := "<" + par.rawName(a.c.src)
	if at := max(bytes.LastIndex(a.lit, []byte(name+" ")), bytes.LastIndex(a.lit, []byte(name+">"))); at >= 0 {
		p.lead = slices.Clone(a.lit[at:])
		a.size += len(p.lead)
	}
}

// breaksFor returns the XML of breaks in the text that a value's tag stands in.
func (a *assembler) breaksFor(m *mark) *breaks {
	switch {
	case m.first.plain:
		return &breaks{plain: true, code: m.first.node.name == "w:instrText"}
	case m.first.node.name == "a:t":
		return a.c.drawingBreaks(m)
	}
	prefix := m.first.node.prefix(a.c.src)
	b := a.forms[prefix]
	if b == nil {
		end, start := "</"+prefix+"t><"+prefix, "/><"+prefix+"t"+preserve+">"
		b = &breaks{line: []byte(end + "br" + start), tab: []byte(end + "tab" + start)}
		a.forms[prefix] = b
	}
	return b
}
