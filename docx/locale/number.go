package locale

import (
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// body is how the digits of a number are laid out.
type body struct {
	minWhole           int // zeros fill up to here
	minFrac, maxFrac   int
	primary, secondary int // digits in the group next to the point, and in the others; 0: no groups
	minGroup           int // minimum digits before the first separator, for one to be written
	shift              int // 2: percent, 3: per mille
}

// affixes are the text around the digits.
type affixes struct{ prefix, suffix string }

// Number formats d with a CLDR number format, and the separators of the locale:
//
//	#,##0.00    at least one digit, in groups, two decimals          1,234.50
//	0.0#        one or two decimals                                  1234.5
//	000         at least three digits                                007
//	#,##0;(#)   after the semicolon: the text around a negative  (1,234)
//	0;(0);'-'   after another one: that around 0, or instead of it   -
//	0.#%        percent; ‰ per mille                                 25.6%
//
// # is an optional digit, and 0 a digit that is always written. A comma determines the size of groups, even if the region groups in another
// way. Other text may precede and follow the digits ("€ #,##0.00", "0 kg"). Characters with a meaning must be between
// apostrophes ('#'0), and two apostrophes are one. Rounding is exact, with halves away from zero. An invalid format is a [*PatternError].
func (l *Locale) Number(d decimal.Decimal, format string) (string, error) {
	p, err := l.formats.get(format, l.compileFormat)
	if err != nil {
		return "", err
	}
	around := &p.positive
	var buf [64]byte
	n, ok := digitsOf(d, p.shift, buf[:])
	if !ok {
		return l.exponential(d), nil
	}
	n = n.round(p.maxFrac)
	switch {
	case n.negative:
		around = &p.negative
	case p.zero != nil && d.IsZero():
		if around = p.zero; p.zeroIsText {
			return around.prefix, nil
		}
	}
	return l.write(&n, &p.body, around, l.decimal, l.group), nil
}

// Decimal returns d in groups, with minFrac to maxFrac decimals (0 to 100), as the region's custom is: Spanish, Polish
// and the Portuguese of Portugal do not separate four digits.
func (l *Locale) Decimal(d decimal.Decimal, minFrac, maxFrac int) string {
	b := l.customary(minFrac, maxFrac)
	return l.signed(d, &b, &affixes{}, l.decimal, l.group)
}

// Percent formats the ratio d (0.256) as a percentage with minFrac to maxFrac decimals, in the form of the region: 25.6%, 25,6 %.
func (l *Locale) Percent(d decimal.Decimal, minFrac, maxFrac int) string {
	b := l.customary(minFrac, maxFrac)
	b.shift = 2
	return l.signed(d, &b, &l.percentAffixes, l.decimal, l.group)
}

// customary returns the layout of a grouped number in the region.
func (l *Locale) customary(minFrac, maxFrac int) body {
	b := body{minWhole: 1, primary: 3, secondary: l.secondary, minGroup: l.minGroup}
	b.minFrac = min(max(minFrac, 0), maxFraction)
	b.maxFrac = min(max(maxFrac, b.minFrac), maxFraction)
	return b
}

// signed writes d with the sign in front of all.
func (l *Locale) signed(d decimal.Decimal, b *body, around *affixes, point, group string) string {
	var buf [64]byte
	n, ok := digitsOf(d, b.shift, buf[:])
	if !ok {
		return l.exponential(d)
	}
	n = n.round(b.maxFrac)
	if n.negative {
		around = &affixes{prefix: l.minus + around.prefix, suffix: around.suffix}
	}
	return l.write(&n, b, around, point, group)
}

// exponential writes a number that has too many digits to be written out: the first of them, and the power of ten.
func (l *Locale) exponential(d decimal.Decimal) string {
	const significant = 34
	c := d.Coefficient()
	text := c.Text(10)
	sign := ""
	if text[0] == '-' {
		sign, text = l.minus, text[1:]
	}
	power := decimal.NewFromInt(int64(len(text)) - 1).Add(decimal.NewFromInt32(d.Exponent()))
	text = text[:min(len(text), significant)]
	if len(text) > 1 {
		text = text[:1] + l.decimal + text[1:]
	}
	return sign + text + "E" + power.String()
}

// write puts the digits between the affixes.
func (l *Locale) write(n *digits, b *body, around *affixes, point, group string) string {
	var buf [96]byte
	out := append(buf[:0], around.prefix...)
	whole, places := max(n.whole, b.minWhole), min(max(n.fraction(), b.minFrac), b.maxFrac)
	if whole+places == 0 { // at least one digit is written, as in ICU: 0 in the format #.##
		whole = 1
	}
	grouped := b.primary > 0 && whole >= b.primary+max(b.minGroup, 1)
	for place := whole - 1; place >= 0; place-- {
		out = l.appendDigit(out, n.at(place))
		if grouped && place > 0 && b.separates(place) {
			out = append(out, group...)
		}
	}
	if places > 0 {
		out = append(out, point...)
		for place := -1; place >= -places; place-- {
			out = l.appendDigit(out, n.at(place))
		}
	}
	return string(append(out, around.suffix...))
}

// separates reports whether a separator follows the digit at a place.
func (b *body) separates(place int) bool {
	return place == b.primary || place > b.primary && (place-b.primary)%b.secondary == 0
}

func (l *Locale) appendDigit(dst []byte, digit byte) []byte {
	if l.zero == 0 {
		return append(dst, digit)
	}
	return utf8.AppendRune(dst, l.zero+rune(digit-'0'))
}

// appendInt writes an integer of a date with at least width digits.
func (l *Locale) appendInt(dst []byte, n, width int) []byte {
	var buf [20]byte
	i := len(buf)
	for ; n > 0 || width > 0 || i == len(buf); width-- {
		i--
		buf[i] = byte('0' + n%10)
		n /= 10
		if i == 0 {
			break
		}
	}
	for _, digit := range buf[i:] {
		dst = l.appendDigit(dst, digit)
	}
	return dst
}
