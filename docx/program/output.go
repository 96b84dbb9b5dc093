package program

import (
	"bytes"
	"cmp"

	"platen/budget"
	"platen/docx/validate"
	"platen/ooxml/deflate"
)

const (
	// flushAt and flushPieces are the numbers of bytes and of literals at which the output is flushed to the compressor.
	flushAt, flushPieces = 64 << 10, 256

	// maxKeptBuffer is the largest buffer that is kept for the next execution. Guards may need larger ones.
	maxKeptBuffer = 4 * flushAt
)

// output buffers the output for the compressor: bytes, and between them literals by their numbers, because their compressed form is known.
// It can discard the output since a guard began.
type output struct {
	w      *deflate.Writer // nil if the output is read as bytes and then discarded
	buf    []byte
	pieces []placed // in the order of their places
	guards int      // open guards that have not yielded; while there are any, nothing is flushed
	holds  int      // callers that will read the buffer; while there are any, nothing is flushed
	held   int      // bytes of memory taken from the meter
	meter  *budget.Meter

	check *validate.Output // of the flushed output
}

// placed is a literal, or its start, at a place in the buffer.
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

// place returns the place of the next byte.
func (o *output) place() (bytes, pieces int) { return len(o.buf), len(o.pieces) }

// takeBack discards the output since a place.
func (o *output) takeBack(bytes, pieces int) { o.buf, o.pieces = o.buf[:bytes], o.pieces[:pieces] }

// cut removes a text from the end of the buffer, and reports whether it was there.
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

// flush passes the buffer to the compressor, unless a guard may discard it.
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

// pieceBytes is the memory of a literal in the buffer.
const pieceBytes = 12

// hold takes the memory of output that must not be flushed from the meter.
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

// takeOutput returns an empty output, with the buffer of an earlier one if possible.
func (d *Document) takeOutput() output {
	if o, ok := d.outputs.Get().(*output); ok {
		return *o
	}
	return output{buf: make([]byte, 0, flushAt/8)}
}

// keepOutput keeps the buffer of an output for the next execution.
func (d *Document) keepOutput(o *output) {
	if cap(o.buf) <= maxKeptBuffer && cap(o.pieces) <= maxKeptBuffer/8 {
		d.outputs.Put(&output{buf: o.buf[:0], pieces: o.pieces[:0]})
	}
}
