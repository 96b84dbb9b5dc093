package deflate

// CRC-32 is linear: the sum of two concatenated texts is the sum of the first, multiplied by x once for each bit of the second, plus the
// sum of the second. See "Fast CRC computation for generic polynomials" (Gopal et al., 2009) for the arithmetic; polynomials are written
// with the highest power in the lowest bit, as CRC-32 does.

// minShift is the length from which on a shift is quicker than adding up the bytes.
const minShift = 16

// polynomial of CRC-32 as in zip files (APPNOTE.TXT §4.4.7).
const polynomial = 0xEDB88320

// shift multiplies by a power of x, four bits at a time.
type shift [8][16]uint32

func (s *shift) apply(v uint32) uint32 {
	return s[0][v&15] ^ s[1][v>>4&15] ^ s[2][v>>8&15] ^ s[3][v>>12&15] ^ s[4][v>>16&15] ^ s[5][v>>20&15] ^ s[6][v>>24&15] ^ s[7][v>>28]
}

// shiftBy returns the shift past n bytes.
func (p *Plan) shiftBy(n int) *shift {
	s := p.shifts[n]
	if s == nil {
		s = newShift(n)
		p.shifts[n] = s
	}
	return s
}

func newShift(n int) *shift {
	const one, x = uint32(1) << 31, uint32(1) << 30
	power, square := one, x
	for bits := uint64(n) * 8; bits > 0; bits >>= 1 {
		if bits&1 != 0 {
			power = multiply(power, square)
		}
		square = multiply(square, square)
	}
	s := new(shift)
	for nibble := range s {
		for v := range s[nibble] {
			s[nibble][v] = multiply(power, uint32(v)<<(4*nibble))
		}
	}
	return s
}

// multiply returns a·b modulo the polynomial.
func multiply(a, b uint32) uint32 {
	var product uint32
	for ; a != 0; a <<= 1 {
		if a>>31 != 0 {
			product ^= b
		}
		b = b>>1 ^ polynomial&-(b&1)
	}
	return product
}
