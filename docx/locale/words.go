package locale

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

const (
	// maxWords is the largest number that is spelled out, in every language.
	maxWords = 999_999_999_999_999_999
	// maxWordPlaces is the largest number of decimals that are spelled out.
	maxWordPlaces = 20
)

// Words spells out d as a cardinal number: "one hundred twenty-three", or with decimals "one point zero five". The largest whole number is
// 999 999 999 999 999 999, and there are up to 20 decimals, without trailing zeros. Larger numbers are errors.
//
// Words follows the region if customs differ: Britain and similar countries use "and" (one hundred and one), India lakh and crore,
// Switzerland and Belgium septante and nonante, Switzerland huitante and dreissig, and Portugal mil milhões instead of
// Brazil's um bilhão. French is spelled as before 1990 (vingt et un). Languages with genders have the one that counts without a noun.
func (l *Locale) Words(d decimal.Decimal) (string, error) {
	var buf [64]byte
	n, ok := digitsOf(d, 0, buf[:])
	places := n.fraction()
	if !ok || n.whole > 18 {
		return "", tooLarge()
	}
	if places > maxWordPlaces {
		return "", fmt.Errorf("the number has %d decimals, and at most %d are spelled out; round it first", places, maxWordPlaces)
	}
	s := l.spelling()
	var b strings.Builder
	if n.negative {
		b.WriteString(s.minus)
	}
	b.WriteString(s.say(n.part(n.whole-1, 0), alone))
	if places > 0 {
		b.WriteString(s.point)
		for place := -1; place >= -places; place-- {
			if place < -1 {
				b.WriteString(s.gap)
			}
			b.WriteString(s.say(uint64(n.at(place)-'0'), alone))
		}
	}
	return b.String(), nil
}

func tooLarge() error {
	return fmt.Errorf("the number is too large to be spelled out; the largest is %d", uint64(maxWords))
}

// part returns the number that the digits from one place to another are.
func (n *digits) part(from, to int) uint64 {
	var part uint64
	for place := from; place >= to; place-- {
		part = part*10 + uint64(n.at(place)-'0')
	}
	return part
}

// Ordinal writes n as an ordinal number in digits, without groups: 3rd, 3., 3e, 3.º, 3:e, 第3. Languages with genders have the
// masculine form, and Swedish the common one.
func (l *Locale) Ordinal(n int64) (string, error) {
	size := uint64(n)
	if n < 0 {
		size = -size
	}
	text := l.ordinalOfSize(size)
	if n < 0 {
		before, after, _ := strings.Cut(text, string(l.appendWhole(nil, size)))
		return before + l.minus + string(l.appendWhole(nil, size)) + after, nil
	}
	return text, nil
}

func (l *Locale) ordinalOfSize(n uint64) string {
	number := string(l.appendWhole(nil, n))
	switch l.language { // CLDR has no suffix for Greek, and ones that nobody writes for Ukrainian and Romanian
	case "el":
		return number + "ος"
	case "uk":
		return number + "-й"
	case "ro":
		if n == 1 {
			return "primul"
		}
		return "al " + number + "-lea"
	}
	rules := l.ordinals()
	for _, set := range []string{"%digits-ordinal", "%digits-ordinal-masculine"} {
		if !rules.has(set) {
			continue
		}
		if text := rules.say(set, n); text != number {
			return text
		}
	}
	return number + "."
}

// appendWhole writes all digits of n.
func (l *Locale) appendWhole(dst []byte, n uint64) []byte {
	text := strconv.FormatUint(n, 10)
	for i := range len(text) {
		dst = l.appendDigit(dst, text[i])
	}
	return dst
}
