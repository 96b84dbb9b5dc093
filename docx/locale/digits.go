package locale

import (
	"strconv"

	"github.com/shopspring/decimal"
)

const (
	// maxDigits is the largest number of digits before, or places after, the decimal point of a number. Larger numbers are written with an
	// exponent, and smaller ones are 0.
	maxDigits = 1000
	// maxFraction is the largest number of decimals that are written.
	maxFraction = 100

	fastDigits = 18 // what fits an int64 with certainty
)

// digits is a number in its written form: decimal digits without leading zeros, and the number of digits before the
// point. If that is negative, it is the number of zeros after the point.
type digits struct {
	negative bool
	text     []byte
	whole    int
}

// digitsOf returns the digits of d times ten to the power of shift, in buf if they fit. It is false when the number is
// too large to be written out.
func digitsOf(d decimal.Decimal, shift int, buf []byte) (digits, bool) {
	n := digits{negative: d.Sign() < 0}
	if count := d.NumDigits(); count <= fastDigits {
		c := d.CoefficientInt64()
		if c < 0 {
			c = -c
		}
		n.text = strconv.AppendInt(buf[:0], c, 10)
	} else {
		n.text = d.Coefficient().Append(nil, 10) // never buf: it would leave the stack of every caller
		if n.text[0] == '-' {
			n.text = n.text[1:]
		}
	}
	if n.text[0] == '0' {
		n.text, n.negative = n.text[:0], false
	}
	n.whole = len(n.text) + int(d.Exponent()) + shift
	if len(n.text) == 0 || n.whole < -maxDigits {
		n.text, n.whole = n.text[:0], 0
	}
	return n, n.whole <= maxDigits && len(n.text) <= 2*maxDigits
}

// round returns n with at most places decimals. Halves are rounded away from zero. A number that becomes 0 loses its
// sign. (n is not changed in place, because a value that a pointer refers to leaves the stack of the caller.)
func (n digits) round(places int) digits {
	keep := n.whole + places
	if keep >= len(n.text) {
		return n
	}
	up := keep >= 0 && n.text[keep] >= '5'
	n.text = n.text[:max(keep, 0)]
	if up {
		n = n.increment()
	}
	if len(n.text) == 0 {
		n.negative, n.whole = false, 0
	}
	return n
}

// increment returns n with one added to its last digit.
func (n digits) increment() digits {
	for i := len(n.text) - 1; i >= 0; i-- {
		if n.text[i] != '9' {
			n.text[i]++
			return n
		}
		n.text[i] = '0'
	}
	n.text = append(n.text, '0')
	copy(n.text[1:], n.text)
	n.text[0] = '1'
	n.whole++
	return n
}

// at returns the digit at a place: 0 is the first before the point, growing to the left; -1 the first after it.
func (n *digits) at(place int) byte {
	if i := n.whole - 1 - place; i >= 0 && i < len(n.text) {
		return n.text[i]
	}
	return '0'
}

// fraction returns the number of decimals without trailing zeros.
func (n *digits) fraction() int {
	last := len(n.text)
	for last > 0 && n.text[last-1] == '0' {
		last--
	}
	return max(last-n.whole, 0)
}
