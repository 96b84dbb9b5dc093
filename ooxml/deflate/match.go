package deflate

import (
	"encoding/binary"
	"math/bits"
	"sort"
)

const (
	// minOwn is the shortest copy within a piece, minOther that from another piece: writing it takes time.
	minOwn, minOther = 4, 12
	// maxChain is the number of earlier positions that are tried for the longest copy, and niceMatch a sufficient length.
	maxChain, niceMatch = 24, 130
	hashBits            = 15

	// expectedValue is about the number of fresh bytes at once, expectedRounds about the number of rounds of a loop.
	expectedValue, expectedRounds = 8, 24
	// unit is the weight of bytes that are written once.
	unit = 64
)

// token is a byte of the text if n is 0, else a copy of n bytes: at a distance if from is -1, else from a piece, at an offset.
type token struct {
	n, at int
	from  int
}

// matcher finds what pieces have in common with themselves and with those before.
type matcher struct {
	sketch *Sketch
	all    []byte // the texts, concatenated
	starts []int  // of the texts in all
	places []int  // of the texts in the stream, about
	head   [1 << hashBits]int32
	prev   []int32
	freq   *frequencies
	weight uint64
}

// tokens returns the tokens of each text, and the expected frequencies of symbols.
func (s *Sketch) tokens() ([][]token, *frequencies) {
	m := matcher{sketch: s, freq: new(frequencies), starts: make([]int, len(s.texts)), places: make([]int, len(s.texts))}
	place := 0
	for i, t := range s.texts {
		m.starts[i], m.places[i] = len(m.all), place
		m.all = append(m.all, t.text...)
		place += len(t.text)
		if t.text == nil {
			place += expectedValue
		}
	}
	m.prev = make([]int32, len(m.all))
	for i := range m.head {
		m.head[i] = -1
	}
	tokens := make([][]token, len(s.texts))
	for i, t := range s.texts {
		m.weight = unit
		if t.text != nil {
			tokens[i] = m.parse(i)
		} else {
			m.expectValue(t.loops)
		}
	}
	m.expectLoops()
	m.freq.literal[endOfBlock] = unit
	return tokens, m.freq
}

// parse turns a text into tokens.
func (m *matcher) parse(index int) []token {
	start := m.starts[index]
	end := start + len(m.sketch.texts[index].text)
	var tokens []token
	at := start
	t := m.find(index, at, end)
	for at < end {
		m.insert(at, end)
		if t.n == 0 {
			tokens = append(tokens, t)
			m.freq.literal[m.all[at]] += unit
			at++
			t = m.find(index, at, end)
			continue
		}
		if t.n < niceMatch {
			if next := m.find(index, at+1, end); next.n > t.n {
				tokens = append(tokens, token{})
				m.freq.literal[m.all[at]] += unit
				at, t = at+1, next
				continue
			}
		}
		tokens = append(tokens, t)
		m.count(t, index, at)
		for range t.n - 1 {
			at++
			m.insert(at, end)
		}
		at++
		t = m.find(index, at, end)
	}
	return tokens
}

func (m *matcher) count(t token, index, at int) {
	distance := t.at
	if t.from >= 0 {
		distance = m.places[index] + at - m.starts[index] - m.places[t.from] - t.at
	}
	m.expect(t.n, distance, unit)
}

// expect counts a copy.
func (m *matcher) expect(n, distance int, weight uint64) {
	s, _ := lengthSymbol(n)
	d, _, _ := distanceSymbol(min(distance, maxDistance))
	m.freq.literal[s] += weight
	m.freq.distance[d] += weight
}

func (m *matcher) hash(at int) uint32 {
	return binary.LittleEndian.Uint32(m.all[at:]) * 2654435761 >> (32 - hashBits)
}

func (m *matcher) insert(at, end int) {
	if at+minOwn <= end {
		h := m.hash(at)
		m.prev[at] = m.head[h]
		m.head[h] = int32(at)
	}
}

// find returns the longest copy of the bytes at a position, or a token without a length if there is none.
func (m *matcher) find(index, at, end int) token {
	best := token{from: -1}
	if at+minOwn > end {
		return best
	}
	limit := min(end-at, maxMatch)
	candidate := int(m.head[m.hash(at)])
	for range maxChain {
		if candidate < 0 || at-candidate > maxDistance {
			break
		}
		if best.n == 0 || m.all[candidate+best.n] == m.all[at+best.n] {
			m.try(&best, index, at, candidate, limit)
			if best.n >= min(niceMatch, limit) {
				break
			}
		}
		candidate = int(m.prev[candidate])
	}
	return best
}

// try takes a candidate if it is better than the best so far.
func (m *matcher) try(best *token, index, at, candidate, limit int) {
	n := common(m.all[candidate:], m.all[at:at+limit])
	start := m.starts[index]
	if candidate >= start {
		if n >= minOwn && n > best.n {
			*best = token{n: n, at: at - candidate, from: -1}
		}
		return
	}
	if n < minOther || n <= best.n {
		return
	}
	from := sort.SearchInts(m.starts, candidate+1) - 1
	n = min(n, m.starts[from]+len(m.sketch.texts[from].text)-candidate)
	offset := candidate - m.starts[from]
	distance := m.places[index] + at - start - m.places[from] - offset
	if closed := m.sketch.texts[from].closed; closed > 0 && closed <= index || distance > maxDistance*7/8 {
		return
	}
	if n >= minOther && n > best.n {
		*best = token{n: n, at: offset, from: from}
	}
}

// common returns the length of the common prefix of a and b. b must not be longer than a.
func common(a, b []byte) int {
	n := 0
	for len(b)-n >= 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
		n += 8
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// expectLoops counts the copies of whole pieces in the rounds of loops after the first.
func (m *matcher) expectLoops() {
	texts := m.sketch.texts
	for from := 0; from < len(texts); {
		to, round := from, 0
		for ; to < len(texts) && texts[to].loops > 0; to++ {
			round += max(len(texts[to].text), 1)
			if texts[to].text == nil {
				round += expectedValue
			}
		}
		for _, t := range texts[from:to] {
			eachMatch(len(t.text), func(n int) {
				m.expect(n, round, rounds(t.loops)*3/4)
				m.expect(n, round+round/8, rounds(t.loops)/4)
			})
		}
		from = to + 1
	}
}

// rounds returns the weight of bytes that are written in each round of loops.
func rounds(loops int) uint64 {
	if loops == 0 {
		return unit
	}
	return unit * expectedRounds
}

// eachMatch divides a length into the lengths of copies.
func eachMatch(n int, do func(n int)) {
	for n >= minMatch {
		k := min(n, maxMatch)
		if left := n - k; left > 0 && left < minMatch {
			k -= minMatch
		}
		do(k)
		n -= k
	}
}

// typical has bytes with the frequencies that they have in values: digits, and the letters of most languages.
const typical = "0123456789012345678901234567890123456789 etaoinsrhldcumfgpwybvkxjqz eaionrstl ETAOINSRHLDCUMFGPWYBVKXJQZ " +
	"eaionrst  .,-.,-:/()%&amp;\xc3\xc3\xbc\xa4\xe2\x82\xac\xb6\xa9"

// expectValue counts the bytes of a value.
func (m *matcher) expectValue(loops int) {
	for _, c := range []byte(typical) {
		m.freq.literal[c] += rounds(loops) * expectedValue / uint64(len(typical))
	}
}
