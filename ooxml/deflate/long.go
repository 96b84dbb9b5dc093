package deflate

import "encoding/binary"

const (
	// minLong is the least number of consecutive fresh bytes that are searched for repetitions. Most values are shorter, and not worth the
	// search.
	minLong = 256
	// minRepeat is the shortest repetition that is worth a copy.
	minRepeat = 6
	// windowSize is the number of bytes that are searched at once, and of earlier bytes that are kept.
	windowSize = 32 << 10
	windowBits = 13
	// skipAfter makes the search skip one more byte each time it has found nothing in so many.
	skipAfter = 6 // as a power of two
)

// window has the last long values, and finds repetitions in them and of them. It is kept with the writer for other
// streams, in which earlier bytes are not found.
type window struct {
	buf       [2 * windowSize]byte
	n         int                    // bytes in buf
	base      int64                  // the index of buf[0] among all bytes that ever were in the window
	head      [1 << windowBits]int64 // the last index of bytes with a hash
	stretches []stretch
}

// stretch is bytes of the window that follow each other in the text as well.
type stretch struct{ from, pos int64 } // index of the first, and its place in the text

// forget has nothing found that is in the window so far.
func (v *window) forget() {
	v.base += int64(v.n)
	v.n, v.stretches = 0, v.stretches[:0]
}

// add appends bytes at a place in the text and returns where they are in buf.
func (v *window) add(b []byte, pos int64) (at int) {
	if v.n+len(b) > len(v.buf) {
		drop := v.n - windowSize
		copy(v.buf[:], v.buf[drop:v.n])
		v.base, v.n = v.base+int64(drop), windowSize
		for len(v.stretches) > 1 && v.stretches[1].from <= v.base {
			v.stretches = append(v.stretches[:0], v.stretches[1:]...)
		}
	}
	at = v.n
	v.n += copy(v.buf[at:], b)
	from := v.base + int64(at)
	if last := len(v.stretches) - 1; last < 0 || v.stretches[last].pos+from-v.stretches[last].from != pos {
		v.stretches = append(v.stretches, stretch{from, pos})
	}
	return at
}

// find returns the length and the distance of the longest copy of the bytes at a position of buf, among the positions
// with the same hash. n is 0 if there is none.
func (v *window) find(at int, pos int64) (n, distance int) {
	h := binary.LittleEndian.Uint32(v.buf[at:]) * 2654435761 >> (32 - windowBits)
	candidate := v.head[h]
	v.head[h] = v.base + int64(at)
	if len(v.stretches) == 0 || candidate < max(v.base, v.stretches[0].from) {
		return 0, 0
	}
	limit := v.n
	for i := len(v.stretches) - 1; ; i-- {
		s := v.stretches[i]
		if candidate < s.from {
			limit = int(s.from - v.base)
			continue
		}
		d := pos - s.pos - (candidate - s.from)
		if d > maxDistance {
			return 0, 0
		}
		from := int(candidate - v.base)
		return common(v.buf[from:limit], v.buf[at:at+min(v.n-at, limit-from)]), int(d)
	}
}

// long writes many fresh bytes, with copies of repetitions in this or another long value.
func (w *Writer) long(b []byte) {
	if w.window == nil {
		w.window = &window{base: 1} // no hash leads to 0
	}
	v := w.window
	pos := w.pos - int64(len(b))
	for len(b) > 0 {
		chunk := b[:min(len(b), windowSize)]
		b = b[len(chunk):]
		first := v.add(chunk, pos)
		done := first // how far it was written
		for at := first; at+minOwn <= v.n; {
			n, distance := v.find(at, pos+int64(at-first))
			if n < minRepeat {
				at += 1 + (at-done)>>skipAfter
				continue
			}
			w.literals(v.buf[done:at])
			w.match, w.distance = n, distance
			w.endMatch()
			at += n
			done = at
		}
		w.literals(v.buf[done:v.n])
		pos += int64(len(chunk))
	}
}
