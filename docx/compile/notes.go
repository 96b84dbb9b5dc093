package compile

import (
	"slices"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// A footnote or endnote with a reference in a block is written together with the reference: once for each time, with the variables of the
// loop. Each copy after the first gets a new id (ISO 29500-1 §17.11).

// boundNote is a note with a reference in a block.
type boundNote struct {
	reference *wml.Node
	blocks    []*lang.Tag // the tags of loops and conditions that are open around the reference
	note      *program.Note
}

// noteKinds maps references to notes.
var noteKinds = map[string]string{"w:footnoteReference": "w:footnote", "w:endnoteReference": "w:endnote"}

// noteKey returns the key that a reference and its note have in common.
func (c *compiler) noteKey(name string, n *wml.Node) string {
	return name + " " + wml.AttrValue(c.src, n, "w:id")
}

// findReferences finds the references to notes within blocks.
func (c *compiler) findReferences() {
	if !c.isMain || len(c.blocks) == 0 {
		return
	}
	for name, kind := range noteKinds {
		for _, n := range c.root.All(name) {
			inBlock := slices.ContainsFunc(c.blocks, func(b *block) bool { return b.openAt <= n.Start && n.End <= b.closeAt })
			if key := c.noteKey(kind, n); inBlock && n.Attr("w:id") != nil && c.notes[key] == nil {
				c.notes[key] = &boundNote{reference: n, note: new(program.Note)}
			}
		}
	}
}

// ownNotes returns the notes of a part that are written together with their references.
func (c *compiler) ownNotes() map[*wml.Node]*boundNote {
	own := map[*wml.Node]*boundNote{}
	if len(c.notes) == 0 || c.isMain {
		return own
	}
	for _, n := range c.root.Children {
		if n.Name != "w:footnote" && n.Name != "w:endnote" {
			continue
		}
		if note := c.notes[c.noteKey(n.Name, n)]; note != nil && n.Attr("w:id") != nil {
			own[n] = note
		}
	}
	return own
}

// editNotes writes the edits of references in blocks, and of their notes.
func (c *compiler) editNotes() {
	for n, note := range c.ownNotes() {
		id := n.Attr("w:id")
		kind := begins
		if slices.ContainsFunc(note.blocks, func(t *lang.Tag) bool { return t.Kind.IsLoop() }) {
			kind = repeats
		}
		c.hold(n.Start, n.End, kind, held(func(body []program.Step) program.Step { return &program.NoteText{Note: note.note, Body: body} }))
		c.replace(id.ValueStart, id.ValueEnd, &program.NoteID{})
	}
	if !c.isMain || len(c.notes) == 0 {
		return
	}
	for name, kind := range noteKinds {
		for _, n := range c.root.All(name) {
			if note := c.notes[c.noteKey(kind, n)]; note != nil {
				id := n.Attr("w:id")
				c.replace(id.ValueStart, id.ValueEnd, &program.NoteReference{Text: c.copy(id.ValueStart, id.ValueEnd), Note: note.note})
			}
		}
	}
}

// linkNotes has the notes of a program found by their references.
func linkNotes(part string, p *program.Part) {
	for _, step := range p.Steps {
		if text, ok := step.(*program.NoteText); ok {
			text.Note.Part, text.Note.Body, p.HasNotes = part, text.Body, true
		}
	}
}
