package locale

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainDigits returns a text with ASCII digits in place of those of the locale, and without the marks that set its direction.
func (l *Locale) plainDigits(text string) string {
	if isASCII(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case l.zero != 0 && l.zero <= r && r <= l.zero+9:
			return r - l.zero + '0'
		case r == '\u200e' || r == '\u200f' || r == '\u061c':
			return -1
		}
		return r
	}, text)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// parseStyled reads a date in one of the styles of the locale, and a time after it. If it cannot, it returns failed.
func (l *Locale) parseStyled(text string, failed timeParser) timeParser {
	p := timeParser{rest: l.plainDigits(text), locale: l}
	if !p.style() {
		return failed
	}
	if p.timeOfDay(); p.reason != "" {
		return failed
	}
	return p
}

// style reads a date that is written in one of the styles of the locale, such as "2026. március 5., csütörtök", and leaves the rest. It is
// false if no style with all digits of the year fits.
func (p *timeParser) style() bool {
	if !strings.ContainsAny(p.rest, "0123456789") {
		return false
	}
	for _, text := range slices.Backward(p.locale.dates[:]) { // the full style begins like the long one
		pattern, err := p.locale.patterns.get(text, compilePattern)
		if err != nil {
			continue
		}
		read := timeParser{rest: p.rest, locale: p.locale}
		if read.matches(*pattern) {
			if read.checkDate(); read.reason == "" {
				*p = read
				return true
			}
		}
	}
	return false
}

// matches reads the fields and texts of a pattern.
func (p *timeParser) matches(pattern pattern) bool {
	for i := range pattern {
		f := &pattern[i]
		ok := false
		switch f.letter {
		case 0:
			ok = p.literal(f.text)
		case 'y':
			ok = f.width != 2 && leadingDigits(p.rest) == 4 && p.digits(&p.year)
		case 'd':
			ok = p.digits(&p.day)
		case 'M', 'L':
			ok = f.width < 3 && p.digits(&p.month) || f.width >= 3 && p.monthName()
		case 'E', 'c':
			ok = p.weekdayName()
		}
		if !ok {
			return false
		}
	}
	return true
}

// literal passes over a text of a pattern. Blanks are as good as each other.
func (p *timeParser) literal(text string) bool {
	for _, want := range text {
		r, size := utf8.DecodeRuneInString(p.rest)
		switch {
		case r == want || unicode.IsSpace(r) && unicode.IsSpace(want):
			p.rest = p.rest[size:]
		case strings.ContainsRune("\u200e\u200f\u061c", want): // not in the text, see plainDigits
		default:
			return false
		}
	}
	return true
}

// digits reads a number.
func (p *timeParser) digits(to *int) bool {
	n := leadingDigits(p.rest)
	if n == 0 || n > 4 {
		return false
	}
	*to, p.rest = number(p.rest[:n]), p.rest[n:]
	return true
}

func (p *timeParser) monthName() bool {
	l, longest := p.locale, 0
	for _, names := range []*months12{&l.months, &l.aloneMonths, &l.shortMonths, &l.aloneShortMonths} {
		for m := 1; m <= 12; m++ {
			if n := foldedPrefix(p.rest, names[m]); n > longest {
				p.month, longest = m, n
			}
		}
	}
	p.rest = p.rest[longest:]
	return longest > 0
}

func (p *timeParser) weekdayName() bool {
	l, longest := p.locale, 0
	for _, names := range []*[7]string{&l.days, &l.aloneDays, &l.shortDays, &l.aloneShortDays} {
		for _, name := range names {
			longest = max(longest, foldedPrefix(p.rest, name))
		}
	}
	p.rest = p.rest[longest:]
	return longest > 0
}

// foldedPrefix returns the length of the beginning of s that is a name, in any letter case, or 0.
func foldedPrefix(s, name string) int {
	if len(s) < len(name) || !strings.EqualFold(s[:len(name)], name) {
		return 0
	}
	return len(name)
}
