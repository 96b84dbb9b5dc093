package compile

import (
	"cmp"
	"slices"

	"platen/docx/program"
)

// edit replaces src[pos:end] by what its action writes. All edits of a part, sorted, are its program in another form.
type edit struct {
	pos, end int
	rank     rank
	bound    bound
	order    int // of the mark, among borders at one position
	action   action
	region   *region // that it begins or ends, once regions are found
}

// rank orders edits at one position.
type rank uint8

const (
	rankProperties   rank = iota // of an element without any
	rankHeadingStart             // after the properties, before all of the text
	rankLoneEnd
	rankHeadingEnd
	rankGuardEnd
	rankBorder
	rankGuard
	rankHeading
	rankLone
	rankYield
	rankParagraph
	rankReplace
)

// bound is the effect of an edit on regions of the source.
type bound uint8

const (
	within  bound = iota // it does not
	begins               // a region begins, which may be left out
	repeats              // a region begins, which may be left out or repeated
	yields               // a region begins, which something else may replace as a whole
	whole                // the edit is such a region itself
	parts                // another branch of the region begins
	ends                 // the region ends
	passes               // steps are held without a region, because they always run
	passed               // and end
)

// action replaces the source of an edit, or keeps it.
type action interface {
	// apply adds the steps of e to the program. If e would split a block, it reports an error and returns false.
	apply(a *assembler, e *edit) bool
}

// deleted writes nothing.
type deleted struct{}

func (deleted) apply(*assembler, *edit) bool { return true }

// inserted writes XML, in which [program.FreshID] means a new id.
type inserted string

func (xml inserted) apply(a *assembler, _ *edit) bool {
	a.insert(string(xml))
	return true
}

// emitted writes a step.
type emitted struct{ step program.Step }

func (s emitted) apply(a *assembler, _ *edit) bool {
	a.emit(s.step)
	return true
}

// held writes a step that contains all steps up to the matching released edit. It is called when these are complete.
type held func(body []program.Step) program.Step

func (h held) apply(a *assembler, _ *edit) bool {
	a.push(frame{hold: h})
	return true
}

// released ends the steps that are held.
type released struct{}

func (released) apply(a *assembler, e *edit) bool {
	a.pop()
	a.catchUp(e.region)
	return true
}

func (c *compiler) add(e edit) { c.edits = append(c.edits, e) }

// remove deletes a stretch of the source.
func (c *compiler) remove(pos, end int) {
	if pos < end {
		c.add(edit{pos: pos, end: end, rank: rankReplace, action: deleted{}})
	}
}

// insert inserts XML.
func (c *compiler) insert(pos int, xml string) {
	c.add(edit{pos: pos, end: pos, rank: rankReplace, action: inserted(xml)})
}

// replace replaces a range of the source with a step.
func (c *compiler) replace(pos, end int, step program.Step) {
	c.add(edit{pos: pos, end: end, rank: rankReplace, action: emitted{step}})
}

// emit puts a step between two bytes of the source.
func (c *compiler) emit(pos int, rank rank, step program.Step) {
	c.add(edit{pos: pos, end: pos, rank: rank, action: emitted{step}})
}

// yield adds a step that reports visible content after pos to the guards around it.
func (c *compiler) yield(pos int) { c.emit(pos, rankYield, &program.Yield{}) }

// hold puts the steps for a range of the source into another step, such as a guard.
func (c *compiler) hold(pos, end int, b bound, h action) {
	c.add(edit{pos: pos, end: pos, rank: rankGuard, bound: b, action: h})
	c.add(edit{pos: end, end: end, rank: rankGuardEnd, bound: ends, action: released{}})
}

// copy returns a copy of a stretch of the source, which a step may keep.
func (c *compiler) copy(pos, end int) []byte { return slices.Clone(c.src[pos:end]) }

// sortEdits puts the edits into the order in which the assembler applies them.
func (c *compiler) sortEdits() {
	slices.SortStableFunc(c.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.pos, b.pos), cmp.Compare(a.rank, b.rank), cmp.Compare(a.order, b.order))
	})
}
