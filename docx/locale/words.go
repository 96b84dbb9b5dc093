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

// spelling is how a language says numbers.
type spelling struct {
	whole func(l *Locale, n uint64) string // 0 to maxWords
	minus string
	point string // before the decimals, which are spelled out digit by digit
	join  string // between the parts
}

var spellings = map[string]spelling{
	"en": {english, "minus", "point", " "},
	"de": {german, "minus", "Komma", " "},
	"nl": {dutch, "min", "komma", " "},
	"sv": {swedish, "minus", "komma", " "},
	"fr": {french, "moins", "virgule", " "},
	"es": {spanish, "menos", "coma", " "},
	"it": {italian, "meno", "virgola", " "},
	"pt": {portuguese, "menos", "vírgula", " "},
	"pl": {polish, "minus", "przecinek", " "},
	"ja": {japanese, "マイナス", "・", ""},
	"zh": {chinese, "负", "点", ""},
	"ar": {arabic, "ناقص", "فاصلة", " "},
}

// Words spells out d as a cardinal number: "one hundred twenty-three", or with decimals "one point zero five". The largest whole number is
// 999 999 999 999 999 999, and there are up to 20 decimals, without trailing zeros. Larger numbers are errors.
//
// Words follows the region if customs differ: Britain and similar countries use "and" (one hundred and one),
// Switzerland and Belgium septante and nonante, Switzerland huitante and dreissig, and Portugal mil milhões instead of
// Brazil's um bilhão. French is spelled as before 1990 (vingt et un). Spanish, Portuguese, Polish, and Arabic numbers are masculine.
func (l *Locale) Words(d decimal.Decimal) (string, error) {
	s := spellings[l.language]
	minus, point := s.minus, s.point
	if strings.HasPrefix(l.tag, "zh-Hant") {
		minus, point = "負", "點"
	}
	var buf [64]byte
	n, ok := digitsOf(d, 0, buf[:])
	places := n.fraction()
	if !ok || n.whole > 18 {
		return "", fmt.Errorf("the number is too large to be spelled out; the largest is %d", uint64(maxWords))
	}
	if places > maxWordPlaces {
		return "", fmt.Errorf("the number has %d decimals, and at most %d are spelled out; round it first", places, maxWordPlaces)
	}
	var whole uint64
	for place := n.whole - 1; place >= 0; place-- {
		whole = whole*10 + uint64(n.at(place)-'0')
	}
	parts := []string{s.whole(l, whole)}
	if n.negative {
		parts = []string{minus, parts[0]}
	}
	if places > 0 {
		parts = append(parts, point)
		for place := -1; place >= -places; place-- {
			parts = append(parts, s.whole(l, uint64(n.at(place)-'0')))
		}
	}
	return strings.Join(parts, s.join), nil
}

// group is three (or six) digits of a number and the power of thousand (or million) they count.
type group struct {
	n     int
	power int
}

// groupsOf splits n into its groups that are not 0, the greatest first.
func groupsOf(n, size uint64) []group {
	var groups []group
	for power := 0; n > 0; power++ {
		if g := int(n % size); g > 0 {
			groups = append([]group{{g, power}}, groups...)
		}
		n /= size
	}
	return groups
}

// Ordinal writes n as an ordinal number in digits, without groups: 3rd, 3., 3e, 3.º, 3:e, 第3.
func (l *Locale) Ordinal(n int64) (string, error) {
	number := string(l.appendOrdinal(nil, n))
	last, hundredth := n%10, n%100
	if n < 0 {
		last, hundredth = -last, -hundredth
	}
	teen := hundredth/10 == 1
	switch l.language {
	case "en":
		return number + englishOrdinal(last, teen), nil
	case "fr":
		if n == 1 {
			return number + "er", nil
		}
		return number + "e", nil
	case "nl":
		return number + "e", nil
	case "es":
		return number + ".º", nil
	case "it", "pt":
		return number + "º", nil
	case "sv":
		if (last == 1 || last == 2) && !teen {
			return number + ":a", nil
		}
		return number + ":e", nil
	case "ja", "zh":
		return "第" + number, nil
	}
	return number + ".", nil
}

func englishOrdinal(last int64, teen bool) string {
	switch {
	case teen:
	case last == 1:
		return "st"
	case last == 2:
		return "nd"
	case last == 3:
		return "rd"
	}
	return "th"
}

// appendOrdinal writes all digits of n.
func (l *Locale) appendOrdinal(dst []byte, n int64) []byte {
	text := strconv.FormatInt(n, 10)
	if n < 0 {
		dst, text = append(dst, l.minus...), text[1:]
	}
	for i := range len(text) {
		dst = l.appendDigit(dst, text[i])
	}
	return dst
}
