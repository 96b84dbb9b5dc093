package compile

import (
	"slices"

	"platen/docx/program"
	"platen/docx/wml"
)

// Bookmarks, comments, editable ranges, and moves begin at one mark and end at another with the same id. A block, or an element
// that vanishes when it is empty, may contain only one of the two. The start is then written at its position, or after the region
// that contains it if that region is not written. The same is true for the end, but an end in a loop is written after the last
// round. Ranges are therefore complete, and do not change if all of the source is written.

// rangeKind is a kind of ranges.
type rangeKind struct {
	start, end string
	once       bool // a range of this kind refers to something that is there once, or is tied to another
}

var rangeKinds = []*rangeKind{
	{"w:bookmarkStart", "w:bookmarkEnd", false},
	{"w:permStart", "w:permEnd", false},
	{"w:commentRangeStart", "w:commentRangeEnd", true},
	{"w:moveFromRangeStart", "w:moveFromRangeEnd", true},
	{"w:moveToRangeStart", "w:moveToRangeEnd", true},
}

// rangeMarks has the kinds by the names of their marks.
var rangeMarks = func() map[string]*rangeKind {
	all := map[string]*rangeKind{}
	for _, k := range rangeKinds {
		all[k.start], all[k.end] = k, k
	}
	return all
}()

// markedRange is a start and an end with the same id. One of them may be missing in the template.
type markedRange struct {
	kind           *rangeKind
	start, end     *wml.Node
	startIn, endIn *branch
}

// rangeKey is the key that the marks of a range have in common.
type rangeKey struct {
	kind  *rangeKind
	story *wml.Node
	id    string
}

// half is a mark of a range that some region parts.
type half struct {
	node   *wml.Node
	slot   int
	end    bool
	once   bool
	behind bool   // it is only written after its region
	inner  []edit // of its id and name
}

// noteMark records a mark of a range.
func (e *idEditor) noteMark(n *wml.Node, kind *rangeKind, at *branch) {
	id := n.Attr("w:id")
	if id == nil {
		return
	}
	key := rangeKey{kind, e.story, string(e.c.src[id.ValueStart:id.ValueEnd])}
	r := e.open[key]
	if isStart := n.Name == kind.start; r == nil || isStart {
		r = &markedRange{kind: kind}
		e.ranges = append(e.ranges, r)
		if isStart {
			e.open[key], r.start, r.startIn = r, n, at
			return
		}
	}
	r.end, r.endIn = n, at
	delete(e.open, key)
}

// editRanges keeps ranges complete, and repeats them in loops if possible.
func (e *idEditor) editRanges() {
	for _, r := range e.ranges {
		whole := r.start != nil && r.end != nil
		common := commonBranch(r.startIn, r.endIn)
		isFixed := func(region *region) bool { return region.fixed }
		switch {
		case whole && r.startIn == r.endIn:
			if in := r.startIn; in != nil && in.repeats != nil {
				e.editWhole(r, in.repeats)
			}
		case whole && !slices.ContainsFunc(slices.Concat(r.startIn.upTo(common), r.endIn.upTo(common)), isFixed):
			e.editParted(r, common)
		default:
			e.onceInLoop(r.start, r.startIn)
			e.onceInLoop(r.end, r.endIn)
		}
	}
}

// editWhole edits a range within one round of a loop.
func (e *idEditor) editWhole(r *markedRange, loop *region) {
	if r.kind.once {
		e.onceAt(r.start, r.startIn)
		e.onceAt(r.end, r.endIn)
		return
	}
	start, end := e.renumber(r, loop)
	e.c.edits = append(e.c.edits, slices.Concat(start, end)...)
}

func (e *idEditor) onceInLoop(n *wml.Node, in *branch) {
	if n != nil && in != nil && in.repeats != nil {
		e.onceAt(n, in)
	}
}

// editParted edits a range whose marks are not in one branch; common is the innermost that holds both.
func (e *idEditor) editParted(r *markedRange, common *branch) {
	slot := e.c.slots.Ranges.Next()
	start := &half{node: r.start, slot: slot, once: r.kind.once}
	end := &half{node: r.end, slot: slot, once: r.kind.once, end: true}
	if common != nil && common.repeats != nil && !r.kind.once {
		start.inner, end.inner = e.renumber(r, common.repeats)
	}
	e.place(start, r.startIn.upTo(common))
	e.place(end, r.endIn.upTo(common))
}

// place writes the edits of a mark that is in these regions, inner first, and the other mark of its range in none of them.
func (e *idEditor) place(h *half, regions []*region) {
	for _, r := range regions {
		r.ranges = append(r.ranges, h.slot)
		h.behind = h.behind || h.end && r.loop
	}
	if n := len(regions); n > 0 {
		regions[n-1].behind = append(regions[n-1].behind, h)
	}
	e.c.add(edit{pos: h.node.Start, end: h.node.End, rank: rankReplace, action: h})
}

func (h *half) apply(a *assembler, _ *edit) bool {
	if !h.behind {
		a.emit(h.step(a.c))
	}
	return true
}

// step returns the step that writes the mark.
func (h *half) step(c *compiler) program.Step {
	var body []program.Step
	at := h.node.Start
	for i := range h.inner {
		e := &h.inner[i]
		body = append(body, &program.Literal{Text: c.copy(at, e.pos)}, e.action.(emitted).step)
		at = e.end
	}
	body = append(body, &program.Literal{Text: c.copy(at, h.node.End)})
	if h.end {
		return &program.RangeEnd{Slot: h.slot, Body: body, Once: h.once}
	}
	return &program.RangeStart{Slot: h.slot, Body: body}
}

// tornRanges returns the marks in a part of the source whose other marks are outside, and the references to comments of such ranges. The
// replacement of the part has them at its end, so that these ranges stay complete.
func (c *compiler) tornRanges(from, to int) []byte {
	inside := map[string][]*wml.Node{} // marks by the key that a range and its comment have in common
	var order []string
	var walk func(n *wml.Node)
	walk = func(n *wml.Node) {
		if n.End <= from || n.Start >= to {
			return
		}
		kind, key := rangeMarks[n.Name], ""
		switch {
		case n.Start < from || n.End > to:
		case kind != nil:
			key = kind.start + wml.AttrValue(c.src, n, "w:id")
		case n.Name == "w:r" && n.Child("w:commentReference") != nil && onlyPieces(n, 1):
			key = "w:commentRangeStart" + wml.AttrValue(c.src, n.Child("w:commentReference"), "w:id")
		}
		if key == "" {
			for _, child := range n.Children {
				walk(child)
			}
			return
		}
		if inside[key] == nil {
			order = append(order, key)
		}
		inside[key] = append(inside[key], n)
	}
	walk(c.root)
	var torn []byte
	for _, key := range order {
		isMark := func(n *wml.Node) bool { return rangeMarks[n.Name] != nil }
		marks := inside[key]
		if i := slices.IndexFunc(marks, isMark); i < 0 || slices.ContainsFunc(marks[i+1:], isMark) {
			continue // the whole of it is inside, or not a range
		}
		for _, n := range marks {
			torn = append(torn, c.src[n.Start:n.End]...)
		}
	}
	return torn
}

// catchUp writes the marks of ranges that were left out in the region that ends here.
func (a *assembler) catchUp(r *region) {
	if r == nil {
		return
	}
	for _, h := range r.behind {
		a.emit(h.step(a.c))
	}
}
