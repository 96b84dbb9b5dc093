package deflate

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"
)

const (
	// bufferSize is how many bytes of the stream are gathered before they are handed on.
	bufferSize = 32 << 10
	// history is how many of the last fresh bytes are kept to be compared with; a power of two.
	history = 16 << 10
)

// Writer writes one stream. Its methods return no errors: [Writer.Err] and [Writer.Close] return the first there was.
type Writer struct {
	dst  io.Writer
	err  error
	plan *Plan

	buf  [bufferSize]byte
	n    int    // bytes in buf
	acc  uint64 // the bits behind them
	used int    // how many, less than 64

	pos    int64 // bytes of the text so far
	packed int64 // bytes of the stream handed on
	sum    uint32

	match    int // length of the copy that is going on; it is not written yet
	distance int
	source   int64 // in the fresh bytes: what comes in the stream behind what is copied
	until    int64 // where that ends

	last  []occurrence // of each piece
	piece int          // the piece that was last; -1: none
	fresh int64        // how many fresh bytes there were
	ring  [history]byte
}

// occurrence is where a piece was in the text, and the fresh bytes that came behind it.
type occurrence struct {
	pos      int64 // -1: it has not been yet
	n        int   // of its bytes that were written
	from, to int64 // to is not known of the last piece
}

var writers = sync.Pool{New: func() any { return new(Writer) }}

// NewWriter starts a stream of pieces of the plan on dst.
func NewWriter(dst io.Writer, plan *Plan) *Writer {
	w := writers.Get().(*Writer)
	w.dst, w.plan, w.err = dst, plan, nil
	w.n, w.acc, w.used = 0, 0, 0
	w.pos, w.packed, w.sum = 0, 0, 0
	w.match, w.piece, w.fresh = 0, -1, 0
	if cap(w.last) < len(plan.pieces) {
		w.last = make([]occurrence, len(plan.pieces))
	}
	w.last = w.last[:len(plan.pieces)]
	for i := range w.last {
		w.last[i].pos = -1
	}
	w.copyBits(plan.code.header, plan.code.size)
	return w
}

// Sums returns the CRC-32 and the length of the text so far and, once the stream is closed, the length of the stream.
func (w *Writer) Sums() (sum uint32, size, packed int64) { return w.sum, w.pos, w.packed }

// Piece writes the first n bytes of a piece.
func (w *Writer) Piece(number, n int) {
	p, seen := &w.plan.pieces[number], &w.last[number]
	if p.shift != nil && n == len(p.text) {
		w.sum = p.shift.apply(w.sum) ^ p.sum
	} else {
		w.sum = crc32.Update(w.sum, crc32.IEEETable, p.text[:n])
	}
	if w.piece >= 0 {
		w.last[w.piece].to = w.fresh
	}
	distance := w.pos - seen.pos
	switch {
	case seen.pos >= 0 && distance <= maxDistance && n <= seen.n && (n >= minMatch || w.match > 0 && w.distance == int(distance)):
		if w.match == 0 || w.distance != int(distance) {
			w.endMatch()
			w.distance = int(distance)
		}
		w.match += n
		w.source, w.until = seen.from, seen.to
		if n < seen.n {
			w.until = w.source
		}
	case n == len(p.text):
		w.endMatch()
		w.spans(p)
	default:
		w.endMatch()
		w.literals(p.text[:n])
	}
	*seen = occurrence{pos: w.pos, n: n, from: w.fresh}
	w.piece = number
	w.pos += int64(n)
}

// spans writes a piece whose last occurrence is too far away, or was not.
func (w *Writer) spans(p *piece) {
	for i := range p.spans {
		s := &p.spans[i]
		w.copyBits(w.plan.words[s.word:], s.bits)
		if s.n == 0 {
			continue
		}
		from := &w.last[s.from]
		distance := w.pos + int64(s.at) - from.pos - int64(s.offset)
		if from.pos < 0 || distance > maxDistance || s.offset+s.n > from.n {
			w.literals(p.text[s.at : s.at+s.n])
			continue
		}
		d := w.plan.code.distanceOf(int(distance))
		w.put(w.plan.code.length[s.n])
		w.put(d)
	}
}

// Fresh writes bytes that are not known beforehand.
func (w *Writer) Fresh(b []byte) {
	w.sum = crc32.Update(w.sum, crc32.IEEETable, b)
	w.pos += int64(len(b))
	if w.match > 0 {
		n := w.goesOn(b)
		w.match += n
		w.source += int64(n)
		w.remember(b[:n])
		if b = b[n:]; len(b) == 0 {
			return
		}
		w.endMatch()
	}
	w.literals(b)
	w.remember(b)
}

// goesOn returns how many of the fresh bytes are those that came behind what is copied.
func (w *Writer) goesOn(b []byte) int {
	if w.fresh-w.source > history {
		return 0
	}
	limit := min(int64(len(b)), w.until-w.source)
	n := int64(0)
	for n < limit && w.ring[(w.source+n)&(history-1)] == b[n] {
		n++
	}
	return int(n)
}

// remember keeps fresh bytes.
func (w *Writer) remember(b []byte) {
	w.fresh += int64(len(b))
	if len(b) > history {
		b = b[len(b)-history:]
	}
	at := (w.fresh - int64(len(b))) & (history - 1)
	n := copy(w.ring[at:], b)
	copy(w.ring[:], b[n:])
}

// endMatch writes the copy that is going on.
func (w *Writer) endMatch() {
	if w.match == 0 {
		return
	}
	d := w.plan.code.distanceOf(w.distance)
	for n := w.match; n > 0; {
		k := min(n, maxMatch)
		if left := n - k; left > 0 && left < minMatch {
			k -= minMatch
		}
		w.put(w.plan.code.length[k])
		w.put(d)
		n -= k
	}
	w.match = 0
}

// put writes one symbol.
func (w *Writer) put(s symbol) {
	w.acc |= s.bits() << w.used
	if w.used += s.len(); w.used >= 64 {
		w.store()
		w.used -= 64
		w.acc = s.bits() >> (s.len() - w.used)
	}
}

// store moves the 64 bits in acc to the buffer.
func (w *Writer) store() {
	if w.n+8 > len(w.buf) {
		w.handOn()
	}
	binary.LittleEndian.PutUint64(w.buf[w.n:], w.acc)
	w.n += 8
}

// copyBits writes the first n bits of words.
func (w *Writer) copyBits(words []uint64, n int) {
	used := w.used
	for ; n >= 64; n -= 64 {
		v := words[0]
		words = words[1:]
		w.acc |= v << used
		w.store()
		w.acc = v >> (64 - used)
	}
	if n > 0 {
		v := words[0]
		w.acc |= v << used
		if w.used += n; w.used >= 64 {
			w.store()
			w.used -= 64
			w.acc = v >> (n - w.used)
		}
	}
}

// literals writes bytes one by one.
func (w *Writer) literals(b []byte) {
	code := &w.plan.code.literal
	acc, used := w.acc, w.used
	for _, c := range b {
		s := code[c]
		acc |= s.bits() << used
		if used += s.len(); used >= 64 {
			w.acc = acc
			w.store()
			used -= 64
			acc = s.bits() >> (s.len() - used)
		}
	}
	w.acc, w.used = acc, used
}

// handOn writes the whole bytes of the buffer to dst.
func (w *Writer) handOn() {
	if w.err == nil {
		_, w.err = w.dst.Write(w.buf[:w.n])
	}
	w.packed += int64(w.n)
	w.n = 0
}

// Err returns the first error of the writer underneath.
func (w *Writer) Err() error { return w.err }

// Close ends the stream. The writer must not be used after its sums have been read.
func (w *Writer) Close() error {
	w.endMatch()
	w.put(w.plan.code.end)
	if w.n+8 > len(w.buf) {
		w.handOn()
	}
	binary.LittleEndian.PutUint64(w.buf[w.n:], w.acc)
	w.n += (w.used + 7) / 8
	w.handOn()
	return w.err
}

// Free gives the writer back for another stream.
func (w *Writer) Free() {
	w.dst, w.plan = nil, nil
	writers.Put(w)
}
