package compile

import (
	"slices"
	"sort"
	"strings"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// assembler turns sorted edits into operations.
type assembler struct {
	c      *compiler
	cursor int
	stack  []frame
	lit    []byte
	after  program.LastBlock
	events []blockEvent
	size   int
	forms  map[string]*program.Breaks
	ops    []program.Op // of the frames that are open, inner ones last
	places map[*mark]*program.Place
	alike  map[*wml.Node]*program.Place // of one of the marks in a text
}

// frame is a list of operations that is being written: of the part, a block or a guard.
type frame struct {
	block *block // nil for the part and for guards
	op    program.Op
	from  int // where its operations begin
}

// blockEvent says what lastBlock is from a place on.
type blockEvent struct {
	pos int
	is  program.LastBlock
}

func (c *compiler) assemble() *program.Part {
	c.sortEdits()
	mostOps := 2*len(c.edits) + 1 // one for each edit, and a literal before it
	a := &assembler{c: c, stack: make([]frame, 1), ops: make([]program.Op, 0, mostOps), forms: map[string]*program.Breaks{}, places: map[*mark]*program.Place{}, alike: map[*wml.Node]*program.Place{}}
	a.collectEvents(c.root)
	slices.SortFunc(a.events, func(x, y blockEvent) int { return x.pos - y.pos })
	for i := range c.edits {
		if c.spend(1) || !a.apply(&c.edits[i]) {
			return nil
		}
	}
	a.literal(len(c.src))
	a.flush()
	return program.NewPart(a.all(), a.size)
}

func (a *assembler) collectEvents(n *wml.Node) {
	switch {
	case n.Name == "w:sdtContent":
		a.events = append(a.events, blockEvent{n.OpenEnd, program.IsWithin})
	case n.NeedsParagraph():
		a.events = append(a.events, blockEvent{n.OpenEnd, program.IsNothing})
	}
	for _, c := range n.Children {
		a.collectEvents(c)
	}
	switch n.Name {
	case "w:p":
		a.events = append(a.events, blockEvent{n.End, program.IsParagraph})
	case "w:tbl":
		a.events = append(a.events, blockEvent{n.End, program.IsTable})
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
		a.catchUp(e.region)
	case editHalf:
		if !e.half.behind {
			a.emit(a.half(e.half))
		}
	case editValue:
		a.value(e, source)
	default:
		a.emit(a.operation(e, source))
	}
	return true
}

// holder is the operation of an edit that others lie in.
func (a *assembler) holder(e *edit) program.Op {
	switch e.kind {
	case editAlone:
		return program.Op{Kind: program.OpAlone, Tag: e.mark.tag, Place: a.placeFor(e.mark), Merge: e.mark.merge}
	case editHeading:
		return program.Op{Kind: program.OpHeading, Levels: e.levels}
	case editPicture:
		return program.Op{Kind: program.OpPicture, Tag: e.mark.tag, Picture: a.c.pictureOp(e.picture)}
	case editShown:
		return program.Op{Kind: program.OpShown}
	case editChart:
		return program.Op{Kind: program.OpChart, Tag: e.mark.tag, Chart: e.picture.chart}
	case editControl:
		return program.Op{Kind: program.OpControl, Tag: e.mark.tag, Control: e.control.control, Text: a.c.untouched(e.control)}
	case editNote:
		return program.Op{Kind: program.OpNote, Note: e.note}
	case editCovered:
		return program.Op{Kind: program.OpCovered, Slot: e.slot, Width: e.cell}
	}
	return program.Op{Kind: program.OpGuard, Ranges: e.region.parts()}
}

// value writes the operation of a tag that leaves something in its place.
func (a *assembler) value(e *edit, source []byte) {
	place := a.placeFor(e.mark)
	if e.mark.tag.Kind == lang.PageBreak {
		if place != nil { // no page can be broken in a chart
			a.emit(program.Op{Kind: program.OpPageBreak, Place: place})
		}
		return
	}
	a.noteLead(e.mark)
	a.emit(program.Op{Kind: program.OpValue, Tag: e.mark.tag, Text: slices.Clone(source), Breaks: a.breaksFor(e.mark), Place: place, Merge: e.mark.merge})
}

// operation is that of any other edit.
func (a *assembler) operation(e *edit, source []byte) program.Op {
	switch e.kind {
	case editTail:
		return program.Op{Kind: program.OpTail, Text: slices.Clone(source)}
	case editHeadingMark:
		return program.Op{Kind: program.OpHeadingMark, Text: []byte(e.opening)}
	case editPicturePart:
		o := program.Op{Kind: program.OpPicturePart, Text: slices.Clone(source), Slot: e.slot}
		if e.picture != nil {
			o.Picture = a.c.pictureOp(e.picture)
		}
		return o
	case editLink:
		return program.Op{Kind: program.OpLink, Text: slices.Clone(source), Link: e.link}
	case editControlPart:
		return program.Op{Kind: program.OpControlPart, Text: slices.Clone(source), Slot: e.slot, Control: e.control.control, Breaks: e.control.control.Breaks}
	case editMerge:
		return program.Op{Kind: program.OpMerge, Tag: e.mark.tag, Slot: e.slot, Width: e.cell, Place: a.placeFor(e.mark)}
	case editCellSpan:
		return program.Op{Kind: program.OpCellSpan, Tag: e.mark.tag, Slot: e.slot, Width: e.cell, Place: a.placeFor(e.mark)}
	case editGrid:
		return program.Op{Kind: program.OpGrid, Tag: e.mark.tag, Slot: e.columns.slot, Grid: a.c.gridOp(e.columns)}
	case editWidth:
		return program.Op{Kind: program.OpWidth, Text: slices.Clone(source), Slot: e.columns.slot, Over: e.over}
	case editSpan:
		return program.Op{Kind: program.OpSpan, Text: []byte(e.opening), Slot: e.columns.slot, Width: e.columns.count()}
	case editTOC:
		return program.Op{Kind: program.OpTOC, TOC: a.c.tocOp(e.toc)}
	case editNoteID:
		return program.Op{Kind: program.OpNoteID}
	case editHeader:
		return program.Op{Kind: program.OpHeader, Text: slices.Clone(source), Header: e.header}
	case editReference:
		return program.Op{Kind: program.OpReference, Text: slices.Clone(source), Note: e.note}
	case editYield:
		return program.Op{Kind: program.OpYield}
	case editNumber:
		return program.Op{Kind: program.OpNumber, Text: []byte(e.opening), Slot: e.slot}
	case editParagraph:
		return program.Op{Kind: program.OpParagraph, Text: []byte(e.opening)}
	case editApart:
		return program.Op{Kind: program.OpApart, Text: []byte(e.opening)}
	}
	return program.Op{Kind: idOps[e.kind], Text: slices.Clone(source), Slot: e.slot, Space: e.space}
}

var idOps = map[editKind]program.OpKind{editID: program.OpID, editSameID: program.OpSameID, editName: program.OpName, editNameBehind: program.OpNameBehind, editNameAhead: program.OpNameAhead, editOnce: program.OpOnce}

// literal takes the source up to a place as it is.
func (a *assembler) literal(until int) {
	a.lit = append(a.lit, a.c.src[a.cursor:until]...)
	i := sort.Search(len(a.events), func(i int) bool { return a.events[i].pos > a.cursor })
	for ; i < len(a.events) && a.events[i].pos <= until; i++ {
		a.after = a.after.Then(a.events[i].is)
	}
	a.cursor = until
}

// insert writes XML that is not of the source.
func (a *assembler) insert(xml string) {
	before, behind, found := strings.Cut(xml, program.FreshID)
	a.lit = append(a.lit, before...)
	if found {
		a.emit(program.Op{Kind: program.OpFreshID})
		a.insert(behind)
	}
}

func (a *assembler) flush() {
	if len(a.lit) == 0 {
		return
	}
	o := program.Op{Kind: program.OpLiteral, Text: slices.Clone(a.lit), After: a.after}
	a.lit, a.after = a.lit[:0], program.Unchanged
	a.append(o)
}

func (a *assembler) emit(o program.Op) {
	a.flush()
	a.append(o)
}

func (a *assembler) append(o program.Op) {
	const opSize, planSize = 250, 600
	a.size += len(o.Text) + opSize
	if o.Kind == program.OpLiteral { // what its plan will take
		a.size += len(o.Text) + planSize
	}
	a.ops = append(a.ops, o)
}

// all returns the operations of the part, as they are if the memory that they do not need is little.
func (a *assembler) all() []program.Op {
	if spare := cap(a.ops) - len(a.ops); spare > len(a.ops)/4 {
		return a.taken(0)
	}
	return a.ops
}

// taken returns the operations since a place, and forgets them.
func (a *assembler) taken(from int) []program.Op {
	ops := append([]program.Op(nil), a.ops[from:]...) // nil if there are none, and not the end of a.ops
	a.ops = a.ops[:from]
	return ops
}

func (a *assembler) push(f frame) {
	a.flush()
	f.from = len(a.ops)
	a.stack = append(a.stack, f)
}

// pop ends the innermost list and appends its operation to the one around it.
func (a *assembler) pop() {
	a.flush()
	top := &a.stack[len(a.stack)-1]
	o := top.op
	if o.Kind == program.OpIf {
		o.Branches[len(o.Branches)-1].Body = a.taken(top.from)
	} else {
		o.Body = a.taken(top.from)
	}
	a.stack = a.stack[:len(a.stack)-1]
	a.append(o)
}

func (a *assembler) open(e *edit) {
	b := e.of()
	o := program.Op{Kind: program.OpIf, Branches: []program.Branch{{Tag: e.mark.tag}}, Empty: a.emptied(b)}
	if b.isLoop() {
		o = program.Op{Kind: program.OpLoop, Tag: e.mark.tag, Between: []byte(b.between), Empty: a.emptied(b), Anew: b.anew, Merges: b.merges}
		if b.perRow {
			o.Stored, o.Slot = true, b.columns.slot
		}
	}
	a.push(frame{block: b, op: o})
}

// emptied writes what a block is that gives nothing: if a section ends in it that began before, the paragraph with its properties.
func (a *assembler) emptied(b *block) []program.Op {
	if b.kept == nil {
		return nil
	}
	src, props := a.c.src, b.kept.Parent
	end := "</" + props.RawName(src) + "></" + props.Parent.RawName(src) + ">"
	text := []byte("<" + props.Parent.RawName(src) + "><" + props.RawName(src) + ">")
	var ops []program.Op
	from := b.kept.Start
	for _, ref := range a.c.repeatedHeaders(b.kept) {
		id := ref.node.Attr("r:id")
		ops = append(ops, program.Op{Kind: program.OpLiteral, Text: append(text, src[from:id.ValueStart]...)},
			program.Op{Kind: program.OpHeader, Text: slices.Clone(src[id.ValueStart:id.ValueEnd]), Header: ref.header})
		text, from = nil, id.ValueEnd
	}
	return append(ops, program.Op{Kind: program.OpLiteral, Text: slices.Concat(text, src[from:b.kept.End], []byte(end)), After: program.IsParagraph})
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
		a.catchUp(e.region)
	} else {
		a.flush()
		top.op.Branches[len(top.op.Branches)-1].Body = a.taken(top.from)
		p := program.Branch{}
		if e.mark.tag.Kind == lang.ElseIf {
			p.Tag = e.mark.tag
		}
		top.op.Branches = append(top.op.Branches, p)
	}
	a.insert(e.opening)
	return true
}

func (a *assembler) torn(e *edit) bool {
	a.c.fail(e.mark, "this block and another begin or end in the same paragraph or row, so that one would tear the other apart", "put each of their tags into a paragraph of its own")
	return false
}

// placeFor describes the place of a value, once.
func (a *assembler) placeFor(m *mark) *program.Place {
	if m.first.plain || m.first.node.Name != "w:t" {
		return nil
	}
	if p := a.places[m]; p != nil {
		return p
	}
	p := new(program.Place)
	if like := a.alike[m.first.node]; like != nil {
		*p = *like
		p.Lead = nil
	} else {
		p = a.c.placeOf(m)
		a.alike[m.first.node] = p
	}
	a.places[m] = p
	a.size += p.Size()
	return p
}

// noteLead notes what is written from the start of a value's paragraph to its tag, if that shows nothing and holds no anchor.
func (a *assembler) noteLead(m *mark) {
	p, par := a.placeFor(m), m.par.node
	if p == nil || p.LeavePar == nil || !m.leading() || slices.ContainsFunc(par.Children, func(n *wml.Node) bool { return n.End <= m.first.run.Start && n.IsRangeMarkup() }) {
		return
	}
	if at := lastStart(a.lit, []byte("<"+par.RawName(a.c.src))); at >= 0 {
		p.Lead = slices.Clone(a.lit[at:])
		a.size += len(p.Lead)
	}
}

// breaksFor returns the XML of breaks in the text that a value's tag stands in.
func (a *assembler) breaksFor(m *mark) *program.Breaks {
	switch {
	case m.first.plain:
		return &program.Breaks{Plain: true, Code: m.first.node.Name == "w:instrText"}
	case m.first.node.Name == "a:t":
		return a.c.drawingBreaks(m)
	}
	prefix := m.first.node.Prefix(a.c.src)
	b := a.forms[prefix]
	if b == nil {
		end, start := "</"+prefix+"t><"+prefix, "/><"+prefix+"t"+wml.Preserve+">"
		b = &program.Breaks{Line: []byte(end + "br" + start), Tab: []byte(end + "tab" + start)}
		a.forms[prefix] = b
	}
	return b
}
