package fonts

import (
	"iter"
	"maps"
	"math/bits"
	"slices"
)

// Set is a set of characters. It occupies 32 bytes for each block of 256 characters that it contains any of. The zero value is empty.
type Set struct {
	blocks map[rune]*[4]uint64
	last   *[4]uint64 // the block of the last added character, and its number
	block  rune
	size   int
}

// Add adds a character to the set.
func (s *Set) Add(r rune) {
	if s.last == nil || s.block != r>>8 {
		s.enter(r >> 8)
	}
	word, bit := &s.last[r>>6&3], uint64(1)<<(r&63)
	if *word&bit == 0 {
		*word |= bit
		s.size++
	}
}

// addASCII adds the ASCII characters whose bits are set, except those that need no glyph.
func (s *Set) addASCII(words [2]uint64) {
	const blank, del = 1<<(' '+1) - 1, 1 << 63
	words[0] &^= blank
	words[1] &^= del
	if words == [2]uint64{} {
		return
	}
	s.enter(0)
	for i, word := range words {
		s.size += bits.OnesCount64(word &^ s.last[i])
		s.last[i] |= word
	}
}

func (s *Set) enter(block rune) {
	if s.blocks == nil {
		s.blocks = map[rune]*[4]uint64{}
	}
	if s.blocks[block] == nil {
		s.blocks[block] = new([4]uint64)
	}
	s.last, s.block = s.blocks[block], block
}

// Has reports whether the set contains a character.
func (s *Set) Has(r rune) bool {
	b := s.blocks[r>>8]
	return b != nil && b[r>>6&3]&(1<<(r&63)) != 0
}

// Len returns the number of characters in the set.
func (s *Set) Len() int { return s.size }

// All yields the characters in ascending order.
func (s *Set) All() iter.Seq[rune] {
	return func(yield func(rune) bool) {
		for _, block := range slices.Sorted(maps.Keys(s.blocks)) {
			for i, word := range s.blocks[block] {
				for ; word != 0; word &= word - 1 {
					if !yield(block<<8 | rune(i<<6|bits.TrailingZeros64(word))) {
						return
					}
				}
			}
		}
	}
}

// String returns the characters as a string, for messages and tests.
func (s *Set) String() string { return string(slices.Collect(s.All())) }
