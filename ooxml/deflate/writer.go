package deflate

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"
)

const (
	// bufferSize is the number of bytes of the stream that are buffered before they are written.
	bufferSize = 32 << 10
	// wordBytes is the number of bytes of a word that are used, so that a word can be added to an incomplete byte.
	wordBytes, wordBits = 7, 56
	// maxSpanBytes is the maximum number of bytes that a word and a copy take, including bytes stored past their end.
	maxSpanBytes = 32
	// history is the number of the last fresh bytes that are kept for comparison; a power of two.
	history = 16 << 10
)

// Writer writes one stream. Its methods return no errors: [Writer.Err] and [Writer.Close] return the first there was.
type Writer struct {
	dst  io.Writer
	err  error
	plan *Plan

	buf  [bufferSize]byte
	n    int    // bytes in buf; there is room for 8 more
	acc  uint64 // the bits after them
	used int    // their number, less than 8

	pos    int64 // bytes of the text so far
	packed int64 // bytes of the stream handed on
	sum    uint32

	match    int // length of the open copy, which is not written yet
	distance int
	source   int64 // in the fresh bytes: the position of the bytes that follow the copied ones in the stream
	until    int64 // the end of those bytes

	last  []occurrence // of each piece
	piece int          // the piece that was last; -1: none
	fresh int64        // number of fresh bytes so far
	ring  [history]byte

	window *window // of long values; nil: there were none
}

// occurrence is the position of a piece in the text, and the fresh bytes that followed it.
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
	if w.window != nil {
		w.window.forget()
	}
	w.copyBits(plan.code.header, plan.code.size)
	return w
}

// Sums returns the CRC-32 and the length of the text so far and, once the stream is closed, the length of the stream.
func (w *Writer) Sums() (sum uint32, size, packed int64) { return w.sum, w.pos, w.packed }

// Text is the text of a piece.
func (w *Writer) Text(number int) []byte { return w.plan.pieces[number].text }

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

// spans writes a piece that has no earlier occurrence, or one that is too far away. A document without loops spends
// its time here, so the state of the stream is kept in local variables.
func (w *Writer) spans(p *piece) {
	code, last := w.plan.code, w.last
	acc, used, n := w.acc, w.used, w.n
	for i := range p.spans {
		s := &p.spans[i]
		if n > bufferSize-maxSpanBytes || s.bits > wordBits {
			w.acc, w.used, w.n = acc, used, n
			w.copyBits(w.plan.words[s.word:], int(s.bits))
			acc, used, n = w.acc, w.used, w.n
		} else if s.bits > 0 {
			acc |= w.plan.words[s.word] << used
			used += int(s.bits)
			binary.LittleEndian.PutUint64(w.buf[n:], acc)
			n, acc, used = n+used>>3, acc>>(used&^7), used&7
		}
		if s.n == 0 {
			continue
		}
		from := &last[s.from]
		distance := w.pos + int64(s.at) - from.pos - int64(s.offset)
		if from.pos < 0 || distance > maxDistance || int(s.offset)+int(s.n) > from.n || n > bufferSize-maxSpanBytes {
			w.acc, w.used, w.n = acc, used, n
			w.copyOther(p, s, from, distance)
			acc, used, n = w.acc, w.used, w.n
			continue
		}
		length, d := code.length[s.n], code.distanceOf(int(distance))
		acc |= (length.bits() | d.bits()<<length.len()) << used
		used += length.len() + d.len()
		binary.LittleEndian.PutUint64(w.buf[n:], acc)
		n, acc, used = n+used>>3, acc>>(used&^7), used&7
	}
	w.acc, w.used, w.n = acc, used, n
}

// copyOther writes the copy at the end of a span, or its bytes if the bytes to copy are missing.
func (w *Writer) copyOther(p *piece, s *span, from *occurrence, distance int64) {
	if from.pos < 0 || distance > maxDistance || int(s.offset)+int(s.n) > from.n {
		w.literals(p.text[s.at : s.at+uint32(s.n)])
		return
	}
	w.copyFrom(w.plan.code.length[s.n], w.plan.code.distanceOf(int(distance)))
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
	if len(b) >= minLong {
		w.long(b)
	} else {
		w.literals(b)
	}
	w.remember(b)
}

// goesOn returns the number of fresh bytes that equal those that followed the copied bytes.
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

// endMatch writes the open copy.
func (w *Writer) endMatch() {
	if w.match == 0 {
		return
	}
	code := w.plan.code
	d := code.distanceOf(w.distance)
	for n := w.match; n > 0; {
		k := min(n, maxMatch)
		if left := n - k; left > 0 && left < minMatch {
			k -= minMatch
		}
		w.copyFrom(code.length[k], d)
		n -= k
	}
	w.match = 0
}

// copyFrom writes a copy: the symbols of its length, with at most 20 bits, and of its distance, with at most 28.
func (w *Writer) copyFrom(length, distance symbol) {
	w.acc |= (length.bits() | distance.bits()<<length.len()) << w.used
	w.used += length.len() + distance.len()
	w.store()
}

// put writes one symbol.
func (w *Writer) put(s symbol) {
	w.acc |= s.bits() << w.used
	w.used += s.len()
	w.store()
}

// store moves the complete bytes of acc to the buffer. It always writes 8 bytes, the last of which may be overwritten later.
func (w *Writer) store() {
	binary.LittleEndian.PutUint64(w.buf[w.n:], w.acc)
	w.n += w.used >> 3
	w.acc >>= w.used &^ 7
	w.used &= 7
	if w.n > bufferSize-8 {
		w.handOn()
	}
}

// copyBits writes the first n bits of words.
func (w *Writer) copyBits(words []uint64, n int) {
	i := 0
	for ; n > wordBits; n -= wordBits {
		w.acc |= words[i] << w.used
		binary.LittleEndian.PutUint64(w.buf[w.n:], w.acc)
		w.acc >>= wordBits
		i++
		if w.n += wordBytes; w.n > bufferSize-8 {
			w.handOn()
		}
	}
	if n > 0 {
		w.acc |= words[i] << w.used
		w.used += n
		w.store()
	}
}

// literals writes bytes one by one.
func (w *Writer) literals(b []byte) {
	code := &w.plan.code.literal
	for len(b) >= 3 { // 7 bits that are left over and three symbols of 15 are less than a word
		acc, used := w.acc, w.used
		for _, c := range b[:3] {
			acc |= code[c].bits() << used
			used += code[c].len()
		}
		w.acc, w.used = acc, used
		w.store()
		b = b[3:]
	}
	for _, c := range b {
		w.put(code[c])
	}
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
	w.used += -w.used & 7 // zeros up to the end of the byte
	w.store()
	w.handOn()
	return w.err
}

// Free returns the writer to the pool for another stream.
func (w *Writer) Free() {
	w.dst, w.plan = nil, nil
	writers.Put(w)
}
