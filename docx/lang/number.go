package lang

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

const (
	// MaxDigits is the maximum number of digits, and the maximum exponent, of a number in a computation. A number that
	// is only printed has no limit.
	MaxDigits = 200
	// quotientDigits is the number of significant digits of a quotient, as in IEEE 754's decimal128.
	quotientDigits = 34
	// roundedPlaces is the number of decimals that are shown of a rounded number.
	roundedPlaces = 16
)

// number is a decimal on its way through an expression.
type number struct {
	decimal.Decimal
	rounded bool // a division on the way had no exact result
}

// parseNumber reads what JSON, a literal or a text gives as a number.
func parseNumber(s string) (number, bool) {
	if len(s) == 0 || len(s) > MaxDigits {
		return number{}, false
	}
	if i := exponentAt(s); i >= 0 {
		exp, err := strconv.Atoi(s[i+1:])
		if err != nil || exp > MaxDigits || exp < -MaxDigits {
			return number{}, false
		}
	}
	d, err := decimal.NewFromString(s)
	return number{Decimal: d}, err == nil
}

// exponentAt returns the offset of the e in a number, or -1.
func exponentAt(s string) int {
	for i := range len(s) {
		if s[i]|0x20 == 'e' {
			return i
		}
	}
	return -1
}

// asNumber returns the number that v is, or that its text spells.
func asNumber(v Value) (number, bool) {
	switch v := v.(type) {
	case number:
		return v, true
	case json.Number:
		return parseNumber(string(v))
	case string:
		return parseNumber(strings.TrimSpace(v))
	}
	return number{}, false
}

// wholeOf returns a whole number.
func wholeOf(n int) number { return number{Decimal: decimal.NewFromInt(int64(n))} }

// text returns all digits of x, without exponent and without needless zeros.
func (x number) text() string { return x.shown().String() }

// shown returns x with the digits that mean something.
func (x number) shown() decimal.Decimal {
	if !x.rounded {
		return x.Decimal
	}
	return x.Round(roundedPlaces - int32(min(x.magnitude(), 0)))
}

// magnitude returns the number of digits of x before the decimal point. If it is negative, it is the number of zeros after the point.
func (x number) magnitude() int { return x.NumDigits() + int(x.Exponent()) }

// fits reports whether x, a result, is within the limits of a number that may be computed with further.
func (x number) fits() bool {
	return x.NumDigits() <= 2*MaxDigits && x.Exponent() >= -2*MaxDigits && x.magnitude() <= 2*MaxDigits
}

// compare returns -1, 0 or 1. Rounded numbers are compared as they would be shown.
func (x number) compare(y number) int {
	if x.rounded || y.rounded {
		x.rounded, y.rounded = true, true
		return x.shown().Cmp(y.shown())
	}
	return x.Cmp(y.Decimal)
}

// over returns x / y; y is not 0.
func (x number) over(y number) number {
	places := max(quotientDigits-(x.magnitude()-y.magnitude()), 0)
	q := x.DivRound(y.Decimal, int32(places))
	return number{q, x.rounded || y.rounded || !q.Mul(y.Decimal).Equal(x.Decimal)}
}

// numberText returns the printed form of a JSON number in the input, with all digits of the input.
func numberText(n json.Number) (string, bool) {
	if exponentAt(string(n)) < 0 {
		return string(n), true
	}
	x, ok := parseNumber(string(n))
	return x.text(), ok
}
