package locale

import (
	"strings"
	"unicode"

	"github.com/shopspring/decimal"
)

// WordNumber formats d with a numeric picture of Word's switch \#, and the separators of the locale:
//
//	$#,##0.00      $1,234.50     0: a digit; #: a digit or, without one, a space; a comma anywhere groups thousands
//	x##            345           x: drops the digits to the left of it, or rounds to that place
//	-0, +0                       the sign, or a space: - for negative numbers, + also for positive ones
//	0.00;(0.00);-  (5.00)        sections for positive numbers, negative ones, and zero
//	000-00-0000    123-45-6789   other text, also between digits; in apostrophes if it has a meaning
//
// A picture may have the separators of German (#.##0,00) or French (# ##0,00). One whose separators can be meant in both ways is read as in
// English, or is a mistake if the locale has a decimal comma. Rounding is exact, with halves away from zero. A picture that cannot be read
// is a [*PatternError].
func (l *Locale) WordNumber(d decimal.Decimal, picture string) (string, error) {
	p, err := l.pictures.get(picture, l.compilePicture)
	if err != nil {
		return "", err
	}
	var buf [64]byte
	exact, ok := digitsOf(d, 0, buf[:])
	if !ok {
		return l.exponential(d), nil
	}
	s := &p.sections[0]
	if exact.negative && len(p.sections) > 1 {
		s = &p.sections[1]
	}
	n := exact.round(s.frac)
	if len(n.text) == 0 {
		s = &p.sections[0]
		if len(p.sections) == maxSections {
			s = &p.sections[2]
		}
	}
	return l.writeSection(&n, s, n.negative && !s.signed && s == &p.sections[0]), nil
}

// writeSection writes a number, with a minus sign at the beginning if there is none in the section.
func (l *Locale) writeSection(n *digits, s *wordSection, minus bool) string {
	var out []byte
	if minus {
		out = append(out, l.minus...)
	}
	whole, place := s.whole, 0
	if s.drops && n.whole > whole {
		n.whole, n.text = whole, n.text[min(n.whole-whole, len(n.text)):]
	}
	for _, item := range s.items {
		switch item.kind {
		case 0:
			out = append(out, item.text...)
		case '-', '+':
			out = append(out, l.signItem(n, item.kind)...)
		case '.':
			if whole == 0 {
				out = l.appendLeading(out, n, s)
			}
			out = append(out, l.decimal...)
		default:
			if place == 0 && whole > 0 {
				out = l.appendLeading(out, n, s)
			}
			out = l.appendPlace(out, n, whole-1-place, item.kind, s)
			place++
		}
	}
	return string(out)
}

// signItem returns what a sign in a picture shows.
func (l *Locale) signItem(n *digits, sign byte) string {
	switch {
	case n.negative:
		return l.minus
	case sign == '+' && len(n.text) > 0:
		return "+"
	}
	return " "
}

// appendPlace writes a place of a picture, which is before the decimal point if at is not negative.
func (l *Locale) appendPlace(dst []byte, n *digits, at int, kind byte, s *wordSection) []byte {
	switch {
	case at >= 0 && at < n.whole, at == 0 && len(n.text) == 0 && s.optional:
		return l.appendGrouped(dst, n, at, s)
	case at >= 0 && kind == '0':
		return l.appendGrouped(dst, n, at, s)
	case at < 0 && (-at <= n.fraction() || kind != '#'):
		return l.appendDigit(dst, n.at(at))
	}
	return append(dst, ' ')
}

// appendLeading writes the digits for which there is no place.
func (l *Locale) appendLeading(dst []byte, n *digits, s *wordSection) []byte {
	for at := n.whole - 1; at >= s.whole; at-- {
		dst = l.appendGrouped(dst, n, at, s)
	}
	return dst
}

// appendGrouped writes a digit before the decimal point, and the separator after it.
func (l *Locale) appendGrouped(dst []byte, n *digits, at int, s *wordSection) []byte {
	dst = l.appendDigit(dst, n.at(at))
	if s.grouped && at > 0 && at%minGroupDigits == 0 {
		dst = append(dst, l.group...)
	}
	return dst
}

// maxNumberText is the largest length of a number in a text.
const maxNumberText = 256

// ReadNumber reads a number as people of the locale write it: with groups, a currency sign or code, in parentheses if it is negative, or
// as a percentage. It returns the number as JSON has it, of a percentage without the sign. ok is false for other texts.
func (l *Locale) ReadNumber(text string) (number string, percent, ok bool) {
	if len(text) > maxNumberText {
		return "", false, false
	}
	text, sign := l.plainDigits(text), ""
	if inner, found := strings.CutPrefix(strings.TrimSpace(text), "("); found {
		if text, found = strings.CutSuffix(inner, ")"); !found {
			return "", false, false
		}
		sign = "-"
	}
	currency := false
	for {
		text = strings.TrimFunc(text, unicode.IsSpace)
		rest, negative := cutSign(text)
		switch {
		case rest != text && sign == "":
			text, sign = rest, "+"
			if negative {
				sign = "-"
			}
			continue
		case !percent && strings.HasSuffix(text, "%"):
			text, percent = text[:len(text)-1], true
			continue
		}
		if rest = cutCurrency(text); rest == text || currency {
			break
		}
		text, currency = rest, true
	}
	digits, ok := l.plainNumber(text)
	return strings.TrimPrefix(sign, "+") + digits, percent, ok && !(currency && percent)
}

// cutSign cuts the sign before a number.
func cutSign(s string) (rest string, negative bool) {
	for _, sign := range []string{"-", "−", "+"} {
		if rest, ok := strings.CutPrefix(s, sign); ok {
			return rest, sign != "+"
		}
	}
	return s, false
}

// cutCurrency cuts the sign or the code of a currency from one end.
func cutCurrency(s string) string {
	trimmed := strings.TrimFunc(s, func(r rune) bool { return unicode.Is(unicode.Sc, r) })
	switch n := len(s); {
	case trimmed != s:
		return trimmed
	case n > 3 && IsCurrency(s[:3]):
		return s[3:]
	case n > 3 && IsCurrency(s[n-3:]):
		return s[:n-3]
	}
	return s
}

// plainNumber returns the digits of a number as JSON has them.
func (l *Locale) plainNumber(text string) (string, bool) {
	whole, frac, hasPoint := strings.Cut(text, l.decimal)
	if hasPoint && (frac == "" || leadingDigits(frac) != len(frac)) {
		return "", false
	}
	if leadingDigits(whole) != len(whole) {
		groups := strings.Split(l.plainGroups(whole), "\x00")
		for i, group := range groups {
			n := leadingDigits(group)
			isLast := i == len(groups)-1
			if n != len(group) || n == 0 || n > minGroupDigits || isLast && n != minGroupDigits ||
				i > 0 && !isLast && n != max(l.secondary, 2) {
				return "", false
			}
		}
		whole = strings.Join(groups, "")
	}
	if whole == "" && !hasPoint {
		return "", false
	}
	number := strings.TrimLeft(whole, "0")
	if number == "" {
		number = "0"
	}
	if hasPoint {
		number += "." + frac
	}
	return number, true
}

// plainGroups replaces the separators of groups. Blanks are as good as each other, and so are apostrophes.
func (l *Locale) plainGroups(s string) string {
	group := l.group
	switch {
	case isSpace(group):
		s = strings.NewReplacer(" ", nnbsp, nbsp, nnbsp).Replace(s)
		group = nnbsp
	case group == "’" || group == "'":
		s, group = strings.ReplaceAll(s, "’", "'"), "'"
	}
	return strings.ReplaceAll(s, group, "\x00")
}
