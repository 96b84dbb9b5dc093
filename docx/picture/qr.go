package picture

import (
	"errors"
	"image"
	"image/color"
	"math/bits"
	"sync"

	"rsc.io/qr/coding"
)

const (
	qrMasks = 8
	// qrWords is the number of words for a row: the largest symbol has 177 modules on a side.
	qrWords = 3
)

// qrRow has the modules of a row or column, the first one in the lowest bit of the first word. 1 is dark.
type qrRow [qrWords]uint64

// qrSymbol is a QR code. It implements image.Image, a module a pixel.
type qrSymbol struct {
	side       int
	rows, cols []qrRow
}

// qrVersion is what all symbols of a version share. It does not change after once.
type qrVersion struct {
	once  sync.Once
	plan  *coding.Plan      // with mask 0
	masks [qrMasks]qrSymbol // by mask, the modules that differ from those with mask 0
}

var qrVersions [coding.MaxVersion + 1]qrVersion

// qrCode returns the QR code (ISO/IEC 18004) of a text at level M: the smallest one for the text, in the best mode for
// the whole text, with the mask of the lowest penalty.
func qrCode(text string) (image.Image, error) {
	mode := qrMode(text)
	for v := coding.Version(coding.MinVersion); v <= coding.MaxVersion; v++ {
		if mode.Bits(v) <= v.DataBytes(coding.M)*8 {
			return qrVersions[v].encode(v, mode)
		}
	}
	return nil, errors.New("is too long for a QR code")
}

func qrMode(text string) coding.Encoding {
	switch {
	case coding.Num(text).Check() == nil:
		return coding.Num(text)
	case coding.Alpha(text).Check() == nil:
		return coding.Alpha(text)
	}
	return coding.String(text)
}

func (q *qrVersion) encode(v coding.Version, text coding.Encoding) (image.Image, error) {
	q.once.Do(func() { q.prepare(v) })
	code, err := q.plan.Encode(text)
	if err != nil {
		return nil, err
	}
	unmasked := newQRSymbol(code.Size, code.Black)
	best, lowest := qrSymbol{}, 0
	for i := range q.masks {
		if s := unmasked.xor(&q.masks[i]); i == 0 || s.penalty() < lowest {
			best, lowest = s, s.penalty()
		}
	}
	return &best, nil
}

// prepare plans the symbols of a version. The version and the masks are valid, so there are no errors.
func (q *qrVersion) prepare(v coding.Version) {
	for i := range coding.Mask(qrMasks) {
		plan, err := coding.NewPlan(v, coding.M, i)
		if err != nil {
			panic(err)
		}
		if i == 0 {
			q.plan = plan
		}
		q.masks[i] = newQRSymbol(len(plan.Pixel), func(x, y int) bool { return (plan.Pixel[y][x]^q.plan.Pixel[y][x])&coding.Black != 0 })
	}
}

func newQRSymbol(side int, dark func(x, y int) bool) qrSymbol {
	s := qrSymbol{side, make([]qrRow, side), make([]qrRow, side)}
	for y := range side {
		for x := range side {
			if dark(x, y) {
				s.rows[y][x/64] |= 1 << (x % 64)
				s.cols[x][y/64] |= 1 << (y % 64)
			}
		}
	}
	return s
}

// xor returns s with the modules turned over that are dark in the other.
func (s *qrSymbol) xor(other *qrSymbol) qrSymbol {
	turned := qrSymbol{s.side, make([]qrRow, s.side), make([]qrRow, s.side)}
	for i := range s.side {
		for w := range qrWords {
			turned.rows[i][w] = s.rows[i][w] ^ other.rows[i][w]
			turned.cols[i][w] = s.cols[i][w] ^ other.cols[i][w]
		}
	}
	return turned
}

// penalty is how unlike a good symbol it looks (ISO/IEC 18004 §7.8.3).
func (s *qrSymbol) penalty() int {
	total, dark := 0, 0
	for i := range s.side {
		total += s.rows[i].penalty(s.side) + s.cols[i].penalty(s.side)
		if i > 0 {
			total += 3 * s.rows[i-1].boxes(&s.rows[i], s.side)
		}
		dark += s.rows[i].count()
	}
	area := s.side * s.side
	return total + 10*(max(20*dark-10*area, 10*area-20*dark)/area)
}

// penalty returns the penalty of one row or column of n modules: for runs of five or more of one color, and for
// patterns like a finder pattern.
func (r *qrRow) penalty(n int) int {
	next := r.shift(1)
	var same qrRow // modules that the next one is equal to
	for w := range qrWords {
		same[w] = ^(r[w] ^ next[w])
	}
	same.clip(n - 1)
	two := same.and(same.shift(1))
	runs := two.and(two.shift(2)) // where five modules of one color begin
	before := runs.shiftUp()
	starts := 0
	for w := range qrWords {
		starts += bits.OnesCount64(runs[w] &^ before[w])
	}
	const finder, length = 0b10111010000, 11
	return runs.count() + 2*starts + 40*(r.matches(finder, length, n)+r.matches(bits.Reverse64(finder)>>(64-length), length, n))
}

// matches counts where modules are a pattern, whose first module is the lowest bit.
func (r *qrRow) matches(pattern uint64, length, n int) int {
	found := qrRow{^uint64(0), ^uint64(0), ^uint64(0)}
	found.clip(n - length + 1)
	for i := range length {
		at := r.shift(i)
		for w := range qrWords {
			if pattern>>i&1 == 0 {
				at[w] = ^at[w]
			}
			found[w] &= at[w]
		}
	}
	return found.count()
}

// boxes counts the squares of two by two modules of one color in a row and the next.
func (r *qrRow) boxes(below *qrRow, n int) int {
	right, belowRight := r.shift(1), below.shift(1)
	var found qrRow
	for w := range qrWords {
		found[w] = ^(r[w] ^ below[w]) &^ (r[w] ^ right[w]) &^ (r[w] ^ belowRight[w])
	}
	found.clip(n - 1)
	return found.count()
}

// shift returns the row without its first n modules, which are fewer than 64.
func (r *qrRow) shift(n int) qrRow {
	return qrRow{r[0]>>n | r[1]<<(64-n), r[1]>>n | r[2]<<(64-n), r[2] >> n}
}

// shiftUp returns the row with a light module put before it.
func (r *qrRow) shiftUp() qrRow { return qrRow{r[0] << 1, r[1]<<1 | r[0]>>63, r[2]<<1 | r[1]>>63} }

func (r *qrRow) and(other qrRow) qrRow {
	return qrRow{r[0] & other[0], r[1] & other[1], r[2] & other[2]}
}

// clip makes all modules from the n-th on light.
func (r *qrRow) clip(n int) {
	for w := range qrWords {
		if left := n - 64*w; left <= 0 {
			r[w] = 0
		} else if left < 64 {
			r[w] &= 1<<left - 1
		}
	}
}

func (r *qrRow) count() int {
	return bits.OnesCount64(r[0]) + bits.OnesCount64(r[1]) + bits.OnesCount64(r[2])
}

// ColorModel implements image.Image.
func (s *qrSymbol) ColorModel() color.Model { return color.Gray16Model }

// Bounds implements image.Image.
func (s *qrSymbol) Bounds() image.Rectangle { return image.Rect(0, 0, s.side, s.side) }

// At implements image.Image.
func (s *qrSymbol) At(x, y int) color.Color {
	if s.rows[y][x/64]>>(x%64)&1 == 1 {
		return color.Black
	}
	return color.White
}
