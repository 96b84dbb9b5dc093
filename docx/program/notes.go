package program

import (
	"strconv"
)

// Footnotes and endnotes with references in blocks are written together with their references.

// notes is the state of these notes in an execution.
type notes struct {
	written map[*Note][]byte // the notes that were written with their references
	id      string           // of the note that is being written
}

// Note is a footnote or endnote that is written for each reference.
type Note struct {
	Part string // name of its part
	Body []Step // nil if there is none
}

// NoteReference writes the id of a note, and keeps the note itself for its part.
type NoteReference struct {
	Text []byte // the id in the template
	Note *Note
}

func (o *NoteReference) run(x *execution) error {
	if x.toc.collecting || o.Note.Body == nil {
		x.out.buf = append(x.out.buf, o.Text...)
		return nil
	}
	made, again := x.notes.written[o.Note]
	id := string(o.Text)
	if again {
		id = strconv.Itoa(x.fresh(NoteIDs))
	}
	outer := x.notes.id
	x.notes.id = id
	text, err := x.aside(o.Note.Part, o.Note.Body)
	x.notes.id = outer
	if err != nil {
		return err
	}
	if x.notes.written == nil {
		x.notes.written = map[*Note][]byte{}
	}
	x.notes.written[o.Note] = append(made, text...)
	x.out.buf = append(x.out.buf, id...)
	return x.meter.Hold(len(text))
}

// NoteText writes the notes that their references have kept.
type NoteText struct {
	Note *Note
	Body []Step // of the note; runs for each reference
}

func (o *NoteText) run(x *execution) error {
	x.out.buf = append(x.out.buf, x.notes.written[o.Note]...)
	return nil
}

func (o *NoteText) sketch(s *sketcher) { s.steps(o.Body) }

// NoteID writes the id of the note that is being written.
type NoteID struct{}

func (*NoteID) run(x *execution) error {
	x.out.buf = append(x.out.buf, x.notes.id...)
	return nil
}

// aside returns the output of steps as separate text in a part.
func (x *execution) aside(part string, steps []Step) ([]byte, error) {
	out, flow, missing, outer := x.out, x.flow, x.values.missing, x.part
	x.out, x.part = output{holds: 1, meter: x.meter}, part
	err := x.block(steps)
	text := x.out.buf
	x.out.release()
	x.out, x.flow, x.values.missing, x.part = out, flow, missing, outer
	return text, err
}
