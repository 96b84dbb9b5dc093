package program

import (
	"strconv"
)

// Note is what is written for a reference to it.
type Note struct {
	Part string // that it is in
	Body []Op   // nil if there is none
}

// reference writes the id of a note, and the note aside.
func (x *execution) reference(o *Op) error {
	if x.contents.collecting || o.Note.Body == nil {
		x.out.buf = append(x.out.buf, o.Text...)
		return nil
	}
	made, again := x.notes[o.Note]
	id := string(o.Text)
	if again {
		id = strconv.Itoa(x.fresh(NoteIDs))
	}
	outer := x.noteID
	x.noteID = id
	text, err := x.aside(o.Note.Part, o.Note.Body)
	x.noteID = outer
	if err != nil {
		return err
	}
	if x.notes == nil {
		x.notes = map[*Note][]byte{}
	}
	x.notes[o.Note] = append(made, text...)
	x.out.buf = append(x.out.buf, id...)
	return x.meter.Hold(len(text))
}

// aside returns what operations write, as a text of its own of a part.
func (x *execution) aside(part string, ops []Op) ([]byte, error) {
	out, last, yielded, missing, outer := x.out, x.last, x.yielded, x.missing, x.part
	x.out, x.part = output{holds: 1, meter: x.meter}, part
	err := x.run(ops)
	text := x.out.buf
	x.out.release()
	x.out, x.last, x.yielded, x.missing, x.part = out, last, yielded, missing, outer
	return text, err
}
