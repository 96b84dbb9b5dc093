package font

import "sort"

// cmap is the table that maps the characters of a font to glyphs (OpenType, "cmap"). It is read in place, so that a table costs no more
// memory than its bytes. The zero value has no glyphs.
type cmap struct {
	sub    []byte
	symbol bool // the font has its symbols at U+F000 to U+F0FF
}

// cmapRank ranks tables by platform and encoding. Tables for all of Unicode come before those for its first plane, and these before tables
// for symbols.
var cmapRank = map[[2]uint16]int{
	{3, 10}: 6, {0, 6}: 5, {0, 4}: 5, {3, 1}: 4, {0, 3}: 3, {0, 2}: 3, {0, 1}: 3, {0, 0}: 3, {3, 0}: 2,
}

// readCmap chooses the best table for characters.
func readCmap(b []byte) cmap {
	best, bestRank := cmap{}, 0
	for i := range int(u16(b, 2)) {
		record := 4 + 8*i
		platform, encoding, offset := u16(b, record), u16(b, record+2), u32(b, record+4)
		rank := cmapRank[[2]uint16{platform, encoding}]
		if rank <= bestRank || int64(offset) >= int64(len(b)) {
			continue
		}
		switch u16(b, int(offset)) {
		case 0, 4, 6, 10, 12, 13:
			best, bestRank = cmap{sub: b[offset:], symbol: platform == 3 && encoding == 0}, rank
		}
	}
	return best
}

// glyph returns the number of the glyph for a character, or 0 if there is none.
func (c cmap) glyph(r rune) uint32 {
	g := c.lookup(uint32(r))
	if g == 0 && c.symbol && r <= 0xFF {
		return c.lookup(uint32(r) + 0xF000)
	}
	return g
}

func (c cmap) lookup(r uint32) uint32 {
	b := c.sub
	switch u16(b, 0) {
	case 0:
		if r < 256 && int(r)+6 < len(b) {
			return uint32(b[6+r])
		}
	case 4:
		return lookup4(b, r)
	case 6:
		if first := uint32(u16(b, 6)); r >= first && r-first < uint32(u16(b, 8)) {
			return uint32(u16(b, 10+2*int(r-first)))
		}
	case 10:
		if first := u32(b, 12); r >= first && r-first < u32(b, 16) {
			return uint32(u16(b, 20+2*int(r-first)))
		}
	case 12, 13:
		return lookup12(b, r)
	}
	return 0
}

// lookup4 searches the segments of the first plane.
func lookup4(b []byte, r uint32) uint32 {
	if r > 0xFFFF {
		return 0
	}
	n := min(int(u16(b, 6)), max(0, len(b)-16)) / 2 // number of segments
	ends, starts := 14, 16+2*n
	deltas, offsets := starts+2*n, starts+4*n
	i := sort.Search(n, func(i int) bool { return uint32(u16(b, ends+2*i)) >= r })
	start := uint32(u16(b, starts+2*i))
	if i == n || r < start {
		return 0
	}
	delta := u16(b, deltas+2*i)
	offset := int(u16(b, offsets+2*i))
	if offset == 0 {
		return uint32(uint16(r) + delta)
	}
	g := u16(b, offsets+2*i+offset+2*int(r-start))
	if g == 0 {
		return 0
	}
	return uint32(g + delta)
}

// lookup12 searches the groups of all planes. In format 13, all characters of a group have the same glyph.
func lookup12(b []byte, r uint32) uint32 {
	n := min(int(u32(b, 12)), max(0, len(b)-16)/12)
	i := sort.Search(n, func(i int) bool { return u32(b, 16+12*i+4) >= r })
	if i == n {
		return 0
	}
	start, glyph := u32(b, 16+12*i), u32(b, 16+12*i+8)
	switch {
	case r < start:
		return 0
	case u16(b, 0) == 13:
		return glyph
	default:
		return glyph + r - start
	}
}
