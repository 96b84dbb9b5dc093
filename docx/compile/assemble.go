package compile

import (
	"slices"
	"sort"
	"strings"

	"platen/docx/program"
	"platen/docx/wml"
)

// assembler turns sorted edits into steps.
type assembler struct {
	c      *compiler
	cursor int
	lit    []byte // of the literal that is being written
	after  program.LastBlock
	events []blockEvent
	stack  []frame
	steps  []program.Step // of the frames that are open, inner ones last
}

// frame is a step that holds others and is being written. The first frame is the part.
type frame struct {
	from int // where its steps begin
	hold held

	block *block // of a loop or a condition, else nil
	loop  *program.Loop
	cond  *program.If

	isElse bool // the loop's {{else}} is being written
}

// blockEvent has the last block from a position on.
type blockEvent struct {
	pos int
	is  program.LastBlock
}

// assemble returns the program that the edits describe. If the edits split a block, it reports an error and returns nil.
func (c *compiler) assemble() (*program.Part, error) {
	c.sortEdits()
	mostSteps := 2*len(c.edits) + 1 // one for each edit, and a literal before it
	a := &assembler{c: c, stack: make([]frame, 1), steps: make([]program.Step, 0, mostSteps)}
	a.collectEvents(c.root)
	slices.SortFunc(a.events, func(x, y blockEvent) int { return x.pos - y.pos })
	for i := range c.edits {
		if c.spend(1) || !a.apply(&c.edits[i]) {
			return nil, c.ended
		}
	}
	a.literal(len(c.src))
	a.flush()
	return program.NewPart(a.taken(0)), c.ended
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

// apply applies one edit. It returns false if the edit splits a block.
func (a *assembler) apply(e *edit) bool {
	b, isBorder := e.action.(*border)
	_, isStep := e.action.(always)
	switch {
	case e.pos >= a.cursor:
		a.literal(e.pos)
	case isStep:
	case !isBorder:
		return true // it is inside a deleted range
	case b.closing != "":
		return b.torn(a.c)
	} // else a border between two tags that were deleted as one stretch: the end of that is as good
	a.cursor = max(a.cursor, e.end)
	return e.action.apply(a, e)
}

// literal writes the source up to a position unchanged.
func (a *assembler) literal(until int) {
	a.lit = append(a.lit, a.c.src[a.cursor:until]...)
	i := sort.Search(len(a.events), func(i int) bool { return a.events[i].pos > a.cursor })
	for ; i < len(a.events) && a.events[i].pos <= until; i++ {
		a.after = a.after.Then(a.events[i].is)
	}
	a.cursor = until
}

// insert writes XML that is not in the source.
func (a *assembler) insert(xml string) {
	before, after, found := strings.Cut(xml, program.FreshID)
	a.lit = append(a.lit, before...)
	if found {
		a.emit(&program.NewID{})
		a.insert(after)
	}
}

// flush ends the literal that is being written.
func (a *assembler) flush() {
	if len(a.lit) > 0 {
		a.steps = append(a.steps, &program.Literal{Text: slices.Clone(a.lit), After: a.after})
		a.lit, a.after = a.lit[:0], program.Unchanged
	}
}

// emit writes a step.
func (a *assembler) emit(s program.Step) {
	a.flush()
	a.steps = append(a.steps, s)
}

// taken returns the steps since a position, and forgets them.
func (a *assembler) taken(from int) []program.Step {
	steps := append([]program.Step(nil), a.steps[from:]...) // nil if there are none, and not the end of a.steps
	clear(a.steps[from:])
	a.steps = a.steps[:from]
	return steps
}

// push begins a step that holds others.
func (a *assembler) push(f frame) {
	a.flush()
	f.from = len(a.steps)
	a.stack = append(a.stack, f)
}

// pop ends the innermost frame and writes its step.
func (a *assembler) pop() {
	a.flush()
	top := a.stack[len(a.stack)-1]
	a.stack = a.stack[:len(a.stack)-1]
	body := a.taken(top.from)
	switch {
	case top.cond != nil:
		top.cond.Branches[len(top.cond.Branches)-1].Body = body
		a.emit(top.cond)
	case top.loop != nil && top.isElse:
		top.loop.Empty = append(body, top.loop.Empty...)
		a.emit(top.loop)
	case top.loop != nil:
		top.loop.Body = body
		a.emit(top.loop)
	default:
		a.emit(top.hold(body))
	}
}
