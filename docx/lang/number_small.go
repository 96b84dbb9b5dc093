package lang

import (
	"cmp"
	"encoding/json"
	"math/bits"
	"strings"

	"github.com/shopspring/decimal"
)

// maxSmallDigits is the number of digits that always fit into an int64.
const maxSmallDigits = 18

// small is a number with few digits, worth digits / 10^scale: nearly all that documents compute with. It takes no memory of its
// own; what does not fit is left to [number].
type small struct {
	digits int64
	scale  int // number of decimals, up to maxSmallDigits
}

// tens has the powers of ten that fit into an int64.
var tens = func() (powers [maxSmallDigits + 1]int64) {
	powers[0] = 1
	for i := range maxSmallDigits {
		powers[i+1] = powers[i] * 10
	}
	return powers
}()

// asSmall returns the number that v is, or that its text spells, if it is written plainly and is small.
func asSmall(v Value) (small, bool) {
	switch v := v.(type) {
	case json.Number:
		return parseSmall(string(v))
	case string:
		return parseSmall(strings.TrimSpace(v))
	case number:
		if !v.rounded && v.Exponent() <= 0 && v.Exponent() >= -maxSmallDigits && v.NumDigits() <= maxSmallDigits {
			return small{v.CoefficientInt64(), -int(v.Exponent())}, true
		}
	}
	return small{}, false
}

func parseSmall(s string) (x small, ok bool) {
	negative := strings.HasPrefix(s, "-")
	if negative {
		s = s[1:]
	}
	point := -1
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			x.digits = x.digits*10 + int64(c-'0')
		case c == '.' && point < 0:
			point = i
		default:
			return small{}, false
		}
		if i > maxSmallDigits {
			return small{}, false
		}
	}
	digits := len(s)
	if point >= 0 {
		digits--
		x.scale = digits - point
	}
	if negative {
		x.digits = -x.digits
	}
	return x, 0 < digits && digits <= maxSmallDigits
}

// number returns x as a number without limits.
func (x small) number() number { return number{Decimal: decimal.New(x.digits, -int32(x.scale))} }

// calculate returns x op y for + - and *; ok is false if that is not small.
func (x small) calculate(op string, y small) (z small, ok bool) {
	if op == "*" {
		product, ok := multiply(x.digits, y.digits)
		return small{product, x.scale + y.scale}, ok && x.scale+y.scale <= maxSmallDigits
	}
	if op == "-" {
		y.digits = -y.digits
	} else if op != "+" {
		return small{}, false
	}
	if x, y, ok = align(x, y); !ok {
		return small{}, false
	}
	sum := x.digits + y.digits
	return small{sum, x.scale}, (x.digits < 0) != (y.digits < 0) || (sum < 0) == (x.digits < 0)
}

// align gives both numbers the same scale.
func align(x, y small) (small, small, bool) {
	if x.scale > y.scale {
		y, x, ok := align(y, x)
		return x, y, ok
	}
	digits, ok := multiply(x.digits, tens[y.scale-x.scale])
	return small{digits, y.scale}, y, ok
}

func multiply(a, b int64) (int64, bool) {
	high, low := bits.Mul64(uint64(max(a, -a)), uint64(max(b, -b)))
	if high != 0 || low >= 1<<63 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(low), true
	}
	return int64(low), true
}

// compareNumbers compares two values that are or spell numbers; ok is false unless both do.
func compareNumbers(l, r Value) (order int, ok bool) {
	x, xok := asSmall(l)
	y, yok := asSmall(r)
	if xok && yok {
		if x, y, ok := align(x, y); ok {
			return cmp.Compare(x.digits, y.digits), true
		}
	}
	a, ok := asNumber(l)
	if !ok {
		return 0, false
	}
	b, ok := asNumber(r)
	return a.compare(b), ok
}

// smallSum returns the sum of items if all of them, and it, are small.
func smallSum(items []Value) (total small, ok bool) {
	for _, item := range items {
		x, ok := asSmall(item)
		if !ok {
			return small{}, false
		}
		if total, ok = total.calculate("+", x); !ok {
			return small{}, false
		}
	}
	return total, true
}
