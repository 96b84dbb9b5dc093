// Package deflate writes deflate streams (RFC 1951) that are mostly known beforehand: the pieces of a template, with fresh bytes between
// them.
//
// A stream has one block with one Huffman code, which a [Plan] derives from the pieces. The compressed bits of a piece are therefore
// known, and writing the piece copies them. While it writes, a Writer finds the previous occurrence of the piece, which replaces the
// whole piece by a copy; the occurrence of another piece that has bytes in common with it; and whether the fresh bytes are those that
// followed then. Long runs of fresh bytes are searched for repetitions. The checksum of a piece is combined with that of the stream, so
// that the bytes of the piece are not even read.
package deflate

import "hash/crc32"

// Plan is a set of pieces, compressed. It does not change and serves many writers at once.
type Plan struct {
	code   *code
	pieces []piece
	words  []uint64 // bits of all spans
	shifts map[int]*shift
}

// piece is text that is known beforehand.
type piece struct {
	text  []byte
	sum   uint32 // CRC-32
	shift *shift // past the text; nil if it is short
	spans []span
}

// span is a part of a piece: literal bits, followed by a copy from another piece if n is not 0.
type span struct {
	word, bits uint32 // in the words of the plan
	from       uint32 // the piece that is copied from
	offset     uint32 // in its text
	at         uint32 // of the same bytes in the text of this piece
	n          uint16
}

// Sketch describes a stream in the order in which it will be written.
type Sketch struct {
	texts  []sketched
	scopes []scope
}

// sketched is a piece, or fresh bytes if it has no text.
type sketched struct {
	text   []byte
	loops  int // around it
	closed int // the index from which on this piece may not have been written; 0: it surely has
}

type scope struct {
	loop  bool
	first int
}

// Piece adds a piece, and returns its number. The text must not change while the plan is in use.
func (s *Sketch) Piece(text []byte) int {
	s.note(sketched{text: text})
	return len(s.texts) - 1
}

// Fresh adds a place of unknown bytes.
func (s *Sketch) Fresh() { s.note(sketched{}) }

func (s *Sketch) note(t sketched) {
	for _, scope := range s.scopes {
		if scope.loop {
			t.loops++
		}
	}
	s.texts = append(s.texts, t)
}

// Enter begins a scope that may be repeated, in a loop, or otherwise left out.
func (s *Sketch) Enter(loop bool) { s.scopes = append(s.scopes, scope{loop, len(s.texts)}) }

// Leave ends the scope of the last Enter.
func (s *Sketch) Leave() {
	last := s.scopes[len(s.scopes)-1]
	s.scopes = s.scopes[:len(s.scopes)-1]
	if last.loop {
		return
	}
	for i := last.first; i < len(s.texts); i++ {
		if s.texts[i].closed == 0 {
			s.texts[i].closed = len(s.texts)
		}
	}
}

// NewPlan compresses the pieces of a sketch.
func NewPlan(s *Sketch) *Plan {
	p := &Plan{pieces: make([]piece, len(s.texts)), shifts: map[int]*shift{}}
	tokens, freq := s.tokens()
	p.code = newCode(freq)
	for i, t := range s.texts {
		pc := &p.pieces[i]
		pc.text = t.text
		pc.sum = crc32.ChecksumIEEE(t.text)
		if len(t.text) >= minShift {
			pc.shift = p.shiftBy(len(t.text))
		}
		pc.spans = p.encode(t.text, tokens[i])
	}
	return p
}

// Size returns the approximate memory of the plan without the texts, in bytes.
func (p *Plan) Size() int {
	const pieceSize, spanSize, shiftSize, codeSize = 88, 24, 512, 2600
	n := codeSize + 8*len(p.words) + shiftSize*len(p.shifts) + pieceSize*len(p.pieces)
	for i := range p.pieces {
		n += spanSize * len(p.pieces[i].spans)
	}
	return n
}

// encode turns the tokens of a text into spans.
func (p *Plan) encode(text []byte, tokens []token) []span {
	var spans []span
	var b bitList
	at, start := 0, len(p.words)
	cut := func(t token) {
		spans = append(spans, span{uint32(start), uint32(b.n), uint32(t.from), uint32(t.at), uint32(at), uint16(t.n)})
		p.words = append(p.words, b.words()...)
		start, b = len(p.words), bitList{full: b.full[:0]}
	}
	for _, t := range tokens {
		switch {
		case t.n == 0:
			b.put(p.code.literal[text[at]])
			at++
			continue
		case t.from < 0:
			b.put(p.code.length[t.n])
			b.put(p.code.distanceOf(t.at))
		default:
			cut(t)
		}
		at += t.n
	}
	cut(token{})
	return spans
}

// bitList collects bits in words of wordBits.
type bitList struct {
	full []uint64
	acc  uint64
	n    int
}

// put adds a symbol of less than wordBits.
func (b *bitList) put(s symbol) {
	used := b.n % wordBits
	b.acc |= s.bits() << used & (1<<wordBits - 1)
	b.n += s.len()
	if used+s.len() >= wordBits {
		b.full = append(b.full, b.acc)
		b.acc = s.bits() >> (wordBits - used)
	}
}

// words returns the bits, with the last word padded with zeros.
func (b *bitList) words() []uint64 {
	if b.n%wordBits == 0 {
		return b.full
	}
	return append(b.full, b.acc)
}
