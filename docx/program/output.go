package program

import (
	"bytes"
	"cmp"

	"platen/budget"
	"platen/docx/validate"
	"platen/ooxml/deflate"
)

const (
	// flushAt and flushPieces are how many bytes and how many literals are gathered before they go to the compressor.
	flushAt, flushPieces = 64 << 10, 256

	// maxKeptBuffer is the largest buffer that is kept for the next execution; guards may make one grow.
	maxKeptBuffer = 4 * flushAt
)

// output gathers what is written for the compressor: bytes, and the literals between them by their number, since what they
// compress to is known. It can take back what was written since a guard began.
type output struct {
	w      *deflate.Writer // nil: it is looked at as bytes and then thrown away
	buf    []byte
	pieces []placed // in the order of their places
	guards int      // that have not yielded: nothing is flushed
	holds  int      // of what is looked at when it is written: nothing is flushed
	held   int      // bytes of memory that were taken from the meter
	meter  *budget.Meter

	check *validate.Output // of what goes to the compressor
}

// placed is a literal, or the start of one, at a place in the buffer.
type placed struct {
	at    int // in the buffer
	piece int32
	n     int32
}

// literal writes the text of a literal.
func (o *output) literal(l *Literal) {
	if o.w == nil {
		o.buf = append(o.buf, l.Text...)
		return
	}
	o.pieces = append(o.pieces, placed{len(o.buf), l.piece, int32(len(l.Text))})
}

// place is where the next byte will be.
func (o *output) place() (bytes, pieces int) { return len(o.buf), len(o.pieces) }

// takeBack takes back what was written since a place.
func (o *output) takeBack(bytes, pieces int) { o.buf, o.pieces = o.buf[:bytes], o.pieces[:pieces] }

// cut takes back a text if that is what was written last.
func (o *output) cut(text []byte) bool {
	from := 0
	if n := len(o.pieces); n > 0 {
		last := &o.pieces[n-1]
		if from = last.at; from == len(o.buf) {
			if !bytes.HasSuffix(o.w.Text(int(last.piece))[:last.n], text) {
				return false
			}
			last.n -= int32(len(text))
			return true
		}
	}
	if !bytes.HasSuffix(o.buf[from:], text) {
		return false
	}
	o.buf = o.buf[:len(o.buf)-len(text)]
	return true
}

// isFull reports whether it is time to flush.
func (o *output) isFull() bool { return len(o.buf) >= flushAt || len(o.pieces) >= flushPieces }

// flush hands what was gathered to the compressor, unless a guard may want it back.
func (o *output) flush() error {
	if o.guards > 0 || o.holds > 0 {
		return o.hold()
	}
	written := len(o.buf)
	for i := range o.pieces {
		written += int(o.pieces[i].n)
	}
	o.release()
	err := o.meter.Write(written)
	if err != nil {
		return err
	}
	if o.w != nil {
		o.compress()
		err = cmp.Or(o.w.Err(), o.check.Err())
	}
	o.takeBack(0, 0)
	return err
}

// pieceBytes is how much memory a literal takes in the output.
const pieceBytes = 12

// hold takes the memory of what must not be flushed from the meter.
func (o *output) hold() error {
	more := len(o.buf) + pieceBytes*len(o.pieces) - o.held
	o.held += more
	return o.meter.Hold(more)
}

func (o *output) release() {
	o.meter.Release(o.held)
	o.held = 0
}

func (o *output) compress() {
	from := 0
	for i := range o.pieces {
		p := &o.pieces[i]
		if p.at > from {
			o.check.Write(o.buf[from:p.at])
			o.w.Fresh(o.buf[from:p.at])
			from = p.at
		}
		o.check.Segment(int(p.piece), o.w.Text(int(p.piece))[:p.n])
		o.w.Piece(int(p.piece), int(p.n))
	}
	if len(o.buf) > from {
		o.check.Write(o.buf[from:])
		o.w.Fresh(o.buf[from:])
	}
}

// takeOutput returns an empty output, with the memory of an earlier one if there is any.
func (d *Document) takeOutput() output {
	if o, ok := d.outputs.Get().(*output); ok {
		return *o
	}
	return output{buf: make([]byte, 0, flushAt/8)}
}

// keepOutput keeps the memory of an output.
func (d *Document) keepOutput(o *output) {
	if cap(o.buf) <= maxKeptBuffer && cap(o.pieces) <= maxKeptBuffer/8 {
		d.outputs.Put(&output{buf: o.buf[:0], pieces: o.pieces[:0]})
	}
}
