package fidelitytest

import (
	"iter"
	"math/bits"
	"slices"
)

// A pair is a word that two texts have in common, as an index in each.
type pair struct{ a, b int }

// align returns a longest common subsequence of two texts, in order. If there are several, the choice does not depend
// on the order of the arguments: align(b, a) returns the same pairs, swapped.
//
// The result is exact, in O(len(a)·len(b)/64) time and linear memory for any input. It computes the lengths of common
// subsequences with bit operations (Hyyrö 2004), and divides and conquers (Hirschberg 1975). Algorithms whose cost
// depends on the number of differences, such as Myers', take minutes for long texts that have nothing in common. The
// libraries that limit that cost do not always find the longest subsequence.
func align(a, b []string) []pair {
	if slices.Compare(a, b) > 0 {
		pairs := align(b, a)
		for i, p := range pairs {
			pairs[i] = pair{p.b, p.a}
		}
		return pairs
	}
	ids := map[string]int{}
	al := aligner{a: number(ids, a), b: number(ids, b)}
	al.places = make([][]block, len(ids))
	al.halve(0, len(a), 0, len(b))
	return al.pairs
}

// number returns an ID for each word. Equal words have equal IDs.
func number(ids map[string]int, words []string) []int {
	numbers := make([]int, len(words))
	for i, w := range words {
		id, ok := ids[w]
		if !ok {
			id = len(ids)
			ids[w] = id
		}
		numbers[i] = id
	}
	return numbers
}

// An aligner aligns two texts of word IDs.
type aligner struct {
	a, b   []int
	places [][]block // of each ID, in the current part of a; empty between calls of lengths
	pairs  []pair
}

// A block is 64 positions of a text, with a bit set for each occurrence of a word.
type block struct {
	at   int
	bits uint64
}

// halve appends the pairs of a[a0:a1] and b[b0:b1].
func (al *aligner) halve(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && al.a[a0] == al.b[b0] {
		al.pairs = append(al.pairs, pair{a0, b0})
		a0, b0 = a0+1, b0+1
	}
	end := 0 // number of equal words at the end of both
	for a0 < a1 && b0 < b1 && al.a[a1-1] == al.b[b1-1] {
		a1, b1, end = a1-1, b1-1, end+1
	}
	switch {
	case a0 == a1 || b0 == b1:
	case b1-b0 == 1:
		if i := slices.Index(al.a[a0:a1], al.b[b0]); i >= 0 {
			al.pairs = append(al.pairs, pair{a0 + i, b0})
		}
	default:
		middle := (b0 + b1) / 2
		cut := a0 + best(al.lengths(al.a[a0:a1], al.b[b0:middle]), al.lengths(backwards(al.a[a0:a1]), backwards(al.b[middle:b1])))
		al.halve(a0, cut, b0, middle)
		al.halve(cut, a1, middle, b1)
	}
	for i := range end {
		al.pairs = append(al.pairs, pair{a1 + i, b1 + i})
	}
}

// lengths returns, for each i up to len(a), the length of the longest common subsequence of a[:i] and b.
func (al *aligner) lengths(a, b []int) []int {
	for i, id := range a {
		if n := len(al.places[id]); n == 0 || al.places[id][n-1].at != i/64 {
			al.places[id] = append(al.places[id], block{at: i / 64})
		}
		al.places[id][len(al.places[id])-1].bits |= 1 << (i % 64)
	}
	// A 0 bit at position i means that a[:i+1] has one more word in common with b than a[:i].
	row := slices.Repeat([]uint64{^uint64(0)}, (len(a)+63)/64)
	for _, id := range b {
		next(row, al.places[id])
	}
	lengths := make([]int, len(a)+1)
	for i, id := range a {
		lengths[i+1] = lengths[i] + int(^row[i/64]>>(i%64)&1)
		al.places[id] = al.places[id][:0]
	}
	return lengths
}

// next advances the row by one word of b. places are the positions of that word in a.
func next(row []uint64, places []block) {
	var carry uint64
	for i, v := range row {
		var found uint64
		if len(places) > 0 && places[0].at == i {
			found, places = places[0].bits, places[1:]
		}
		var sum uint64
		sum, carry = bits.Add64(v, v&found, carry)
		row[i] = sum | v&^found
	}
}

// best returns where to split a text in two, so that its parts have the most in common with the halves of the other
// one. beginnings and ends are the lengths for its prefixes and suffixes.
func best(beginnings, ends []int) int {
	cut, most := 0, -1
	for i, n := range beginnings {
		if n += ends[len(ends)-1-i]; n > most {
			cut, most = i, n
		}
	}
	return cut
}

func backwards(text []int) []int {
	text = slices.Clone(text)
	slices.Reverse(text)
	return text
}

// steps iterates over two texts of n and m words at once. It yields both indexes of matched words, and the index and
// -1 for each other word.
func steps(pairs []pair, n, m int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		i, j := 0, 0
		for _, p := range append(pairs, pair{n, m}) {
			for ; i < p.a; i++ {
				if !yield(i, -1) {
					return
				}
			}
			for ; j < p.b; j++ {
				if !yield(-1, j) {
					return
				}
			}
			if i == n || !yield(i, j) {
				return
			}
			i, j = i+1, j+1
		}
	}
}
