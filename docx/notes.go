package docx

import (
	"slices"
	"strconv"

	"platen/docx/lang"
)

// A footnote or endnote that is referred to within a block is written where the reference is: as often as that comes out, with
// the loop's variables, and not at all if it does not. Each time but the first it has another id (ISO 29500-1 §17.11).

// boundNote is a note that is referred to within a block.
type boundNote struct {
	reference *node
	blocks    []*lang.Tag // the tags of loops and conditions that are open around the reference
	part      string      // that the note is in
	body      []op        // the note; nil if there is none
}

// noteKinds are the elements that refer to notes, with those that are notes.
var noteKinds = map[string]string{"w:footnoteReference": "w:footnote", "w:endnoteReference": "w:endnote"}

// noteKey is what a reference and its note have in common.
func (c *compiler) noteKey(name string, n *node) string {
	return name + " " + attrValue(c.src, n, "w:id")
}

// findReferences finds the references to notes within blocks.
func (c *compiler) findReferences() {
	if !c.isMain || len(c.blocks) == 0 {
		return
	}
	for name, kind := range noteKinds {
		for _, n := range c.root.all(name) {
			inBlock := slices.ContainsFunc(c.blocks, func(b *block) bool { return b.openAt <= n.start && n.end <= b.closeAt })
			if key := c.noteKey(kind, n); inBlock && n.attr("w:id") != nil && c.notes[key] == nil {
				c.notes[key] = &boundNote{reference: n}
			}
		}
	}
}

// ownNotes returns the notes of a part of notes that are written where they are referred to.
func (c *compiler) ownNotes() map[*node]*boundNote {
	own := map[*node]*boundNote{}
	if len(c.notes) == 0 || c.isMain {
		return own
	}
	for _, n := range c.root.children {
		if n.name != "w:footnote" && n.name != "w:endnote" {
			continue
		}
		if note := c.notes[c.noteKey(n.name, n)]; note != nil && n.attr("w:id") != nil {
			own[n] = note
		}
	}
	return own
}

// editNotes writes the edits of references within blocks, and of the notes that they lead to.
func (c *compiler) editNotes() {
	for n, note := range c.ownNotes() {
		id := n.attr("w:id")
		c.add(edit{pos: n.start, end: n.start, phase: phaseGuard, kind: editNote, note: note})
		c.add(edit{pos: id.valueStart, end: id.valueEnd, phase: phaseReplace, kind: editNoteID})
		c.add(edit{pos: n.end, end: n.end, phase: phaseGuardEnd, kind: editGuardEnd})
	}
	if !c.isMain || len(c.notes) == 0 {
		return
	}
	for name, kind := range noteKinds {
		for _, n := range c.root.all(name) {
			if note := c.notes[c.noteKey(kind, n)]; note != nil {
				id := n.attr("w:id")
				c.add(edit{pos: id.valueStart, end: id.valueEnd, phase: phaseReplace, kind: editReference, note: note})
			}
		}
	}
}

// linkNotes has the notes of a program found by their references.
func (p *program) linkNotes(part string) {
	for i := range p.ops {
		if o := &p.ops[i]; o.kind == opNote {
			o.note.part, o.note.body, p.hasNotes = part, o.body, true
		}
	}
}

// reference writes the id of a note, and the note aside.
func (x *execution) reference(o *op) error {
	if x.contents.collecting || o.note.body == nil {
		x.out.buf = append(x.out.buf, o.text...)
		return nil
	}
	made, again := x.notes[o.note]
	id := string(o.text)
	if again {
		id = strconv.Itoa(x.fresh(noteIDs))
	}
	outer := x.noteID
	x.noteID = id
	text, err := x.aside(o.note.part, o.note.body)
	x.noteID = outer
	if x.notes == nil {
		x.notes = map[*boundNote][]byte{}
	}
	x.notes[o.note] = append(made, text...)
	x.out.buf = append(x.out.buf, id...)
	return err
}

// aside returns what operations write, as a text of its own of a part.
func (x *execution) aside(part string, ops []op) ([]byte, error) {
	out, last, yielded, missing, outer := x.out, x.last, x.yielded, x.missing, x.part
	x.out, x.part = output{holds: 1}, part
	err := x.run(ops)
	text := x.out.buf
	x.out, x.last, x.yielded, x.missing, x.part = out, last, yielded, missing, outer
	return text, err
}
