package deflate

import (
	"cmp"
	"math/bits"
	"slices"
)

// The alphabets of a block (RFC 1951 §3.2.5).
const (
	endOfBlock  = 256
	firstLength = 257
	literals    = 286 // of the alphabet of bytes, the end of the block, and lengths
	distances   = 30

	minMatch    = 3
	maxMatch    = 258
	maxDistance = 32 << 10
	maxCodeBits = 15
)

// symbol is a code word, first bit lowest, with the number of its bits in the lowest 8 bits.
type symbol uint64

func (s symbol) bits() uint64 { return uint64(s) >> 8 }
func (s symbol) len() int     { return int(s & 0xff) }

func (s symbol) with(extra uint64, n int) symbol {
	return symbol(s.bits()|extra<<s.len())<<8 | symbol(s.len()+n)
}

// code is a pair of Huffman codes in which every symbol has a code word, so that any data can be written.
type code struct {
	header   []uint64 // the start of a block with this code, that is the last
	size     int      // of the header, in bits
	literal  [256]symbol
	length   [maxMatch + 1]symbol // with its extra bits
	distance [distances]symbol
	end      symbol
}

// frequencies are the expected frequencies of symbols.
type frequencies struct {
	literal  [literals]uint64
	distance [distances]uint64
}

func newCode(f *frequencies) *code {
	c := new(code)
	lit, dist := codeLengths(f.literal[:], maxCodeBits), codeLengths(f.distance[:], maxCodeBits)
	c.writeHeader(lit, dist)
	symbols := canonical(lit)
	copy(c.literal[:], symbols)
	c.end = symbols[endOfBlock]
	for n := minMatch; n <= maxMatch; n++ {
		s, extra := lengthSymbol(n)
		c.length[n] = symbols[s].with(uint64(n-lengthBase[s-firstLength]), extra)
	}
	copy(c.distance[:], canonical(dist))
	return c
}

// lengthBase has the smallest length of each length symbol.
var lengthBase = func() (base [literals - firstLength]int) {
	n := minMatch
	for i := range base {
		base[i] = n
		n += 1 << lengthExtra(i)
	}
	base[len(base)-1] = maxMatch
	return base
}()

func lengthExtra(i int) int {
	if i < 8 || i == literals-firstLength-1 {
		return 0
	}
	return i/4 - 1
}

// lengthSymbol returns the symbol of a length, and the number of its extra bits.
func lengthSymbol(n int) (symbol, extra int) {
	i, exact := slices.BinarySearch(lengthBase[:], n)
	if !exact {
		i--
	}
	return firstLength + i, lengthExtra(i)
}

// distanceSymbol returns the symbol of a distance, and its extra bits.
func distanceSymbol(d int) (symbol int, extra uint64, n int) {
	v := uint(d - 1)
	if v < 4 {
		return int(v), 0, 0
	}
	n = bits.Len(v) - 2
	return 2*n + int(v>>n), uint64(v) & (1<<n - 1), n
}

func (c *code) distanceOf(d int) symbol {
	s, extra, n := distanceSymbol(d)
	return c.distance[s].with(extra, n)
}

// codeLengths returns the lengths of the words of a Huffman code, none of them longer than limit. A symbol that is never
// expected gets a word as well.
func codeLengths(freq []uint64, limit int) []int {
	f := make([]uint64, len(freq))
	for i := range freq {
		f[i] = max(freq[i], 1)
	}
	for {
		lengths := huffman(f)
		if slices.Max(lengths) <= limit {
			return lengths
		}
		for i := range f { // flatter, until it fits
			f[i] = f[i]/2 + 1
		}
	}
}

// huffman returns the depths of the leaves of the Huffman tree of at least two symbols.
func huffman(freq []uint64) []int {
	type vertex struct {
		weight uint64
		parent int
	}
	n := len(freq)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(freq[a], freq[b]) })
	tree := make([]vertex, 0, 2*n)
	for _, s := range order {
		tree = append(tree, vertex{weight: freq[s]})
	}
	leaf, inner := 0, n
	lightest := func() int { // the leaves are sorted, and inner vertices are created in order
		if inner == len(tree) || leaf < n && tree[leaf].weight <= tree[inner].weight {
			leaf++
			return leaf - 1
		}
		inner++
		return inner - 1
	}
	for len(tree) < 2*n-1 {
		a := lightest()
		b := lightest()
		tree[a].parent, tree[b].parent = len(tree), len(tree)
		tree = append(tree, vertex{weight: tree[a].weight + tree[b].weight})
	}
	depth := make([]int, len(tree))
	for i := len(tree) - 2; i >= 0; i-- {
		depth[i] = depth[tree[i].parent] + 1
	}
	lengths := make([]int, n)
	for i, s := range order {
		lengths[s] = depth[i]
	}
	return lengths
}

// canonical returns the code words that are determined by the lengths (RFC 1951 §3.2.2).
func canonical(lengths []int) []symbol {
	var next, count [maxCodeBits + 2]int
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	for n := 1; n <= maxCodeBits; n++ {
		next[n+1] = (next[n] + count[n]) << 1
	}
	symbols := make([]symbol, len(lengths))
	for i, n := range lengths {
		if n > 0 {
			word := bits.Reverse16(uint16(next[n])) >> (16 - n)
			next[n]++
			symbols[i] = symbol(word)<<8 | symbol(n)
		}
	}
	return symbols
}

// lengthOrder is the order in which the lengths of the code of code lengths are written (RFC 1951 §3.2.7).
var lengthOrder = [19]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// repeatLast repeats the last length 3 to 6 times, with the number in two extra bits.
const repeatLast = 16

// writeHeader writes the start of the one block: the lengths of both codes, themselves in a Huffman code.
func (c *code) writeHeader(lit, dist []int) {
	const last, dynamic = 1, 2
	type run struct{ symbol, extra int }
	var runs []run
	var freq [19]uint64
	all := slices.Concat(lit, dist)
	for i := 0; i < len(all); {
		same := 1
		for i+same < len(all) && all[i+same] == all[i] {
			same++
		}
		runs = append(runs, run{all[i], 0})
		i++
		for same--; same >= 3; {
			n := min(same, 6)
			runs = append(runs, run{repeatLast, n - 3})
			i, same = i+n, same-n
		}
	}
	for _, r := range runs {
		freq[r.symbol]++
	}
	lengths := codeLengths(freq[:], 7)
	symbols := canonical(lengths)
	var b bitList
	put := func(v, n int) { b.put(symbol(v)<<8 | symbol(n)) }
	put(last, 1)
	put(dynamic, 2)
	put(literals-257, 5)
	put(distances-1, 5)
	put(len(lengthOrder)-4, 4)
	for _, s := range lengthOrder {
		put(lengths[s], 3)
	}
	for _, r := range runs {
		b.put(symbols[r.symbol])
		if r.symbol == repeatLast {
			put(r.extra, 2)
		}
	}
	c.header, c.size = b.words(), b.n
}
