package locale

import (
	"strconv"
	"strings"
)

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
		if text := number; rules.has(set) {
			if text = rules.say(set, n); text != number {
				return text
			}
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
