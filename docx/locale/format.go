package locale

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxPatternBytes is the largest length of a number format or date pattern.
const maxPatternBytes = 256

// minGroupDigits is the smallest number of digits after the last comma of a format. Fewer digits are decimals in German, for example, and
// would be grouped silently.
const minGroupDigits = 3

// A PatternError is a number format or the pattern of a date that cannot be read.
type PatternError struct {
	Pattern string
	Reason  string // the mistake, and what to write instead
}

func (e *PatternError) Error() string { return fmt.Sprintf("pattern %q: %s", e.Pattern, e.Reason) }

// numberFormat is a compiled number format.
type numberFormat struct {
	body
	positive, negative affixes
	zero               *affixes // of the number 0; nil: those of positive numbers
	zeroIsText         bool     // no digits are between those of zero
}

// compileFormat reads a number format for the locale.
func (l *Locale) compileFormat(text string) (*numberFormat, error) {
	fail := func(format string, args ...any) (*numberFormat, error) {
		shown := text[:min(len(text), maxPatternBytes)]
		return nil, &PatternError{Pattern: shown, Reason: fmt.Sprintf(format, args...)}
	}
	if len(text) > maxPatternBytes {
		return fail("it is longer than %d bytes", maxPatternBytes)
	}
	if strings.Count(text, "'")%2 > 0 {
		return fail("text goes between two apostrophes, and one of them is missing; the locale separates groups: write #,##0")
	}
	if mistake := ExcelCode(text); mistake != "" {
		return fail("%s", mistake)
	}
	positive, rest, several := cutOutsideQuotes(text, ';')
	prefix, digits, suffix := cutDigits(positive)
	p := &numberFormat{}
	if reason := p.layOut(digits); reason != "" {
		return fail("%s", reason)
	}
	if strings.HasPrefix(suffix, "E0") || strings.HasPrefix(suffix, "E+0") {
		return fail("numbers with an exponent cannot be shown; for a letter E write 'E'")
	}
	p.positive = affixes{l.affix(prefix, p), l.affix(suffix, p)}
	if _, more, _ := cutDigits(suffix); more != "" {
		return fail("the format has digits (#,##0.00) in two places; put a # or 0 that is text between apostrophes")
	}
	p.negative = affixes{l.minus + p.positive.prefix, p.positive.suffix}
	if several {
		if reason := l.sections(p, digits, rest); reason != "" {
			return fail("%s", reason)
		}
	}
	return p, nil
}

// sections reads the formats of negative numbers and of zero. Their digits are those of positive
// numbers. It returns the mistake in them, or "".
func (l *Locale) sections(p *numberFormat, digits, rest string) string {
	negative, zero, three := cutOutsideQuotes(rest, ';')
	prefix, own, suffix := cutDigits(negative)
	switch {
	case own == "":
		return "after the semicolon, write the format of negative numbers, such as (#)"
	case own != digits && strings.Trim(own, "#,") != "":
		return "negative numbers have the digits of positive ones: after the semicolon, write " + digits + " or #"
	}
	p.negative = affixes{l.affix(prefix, nil), l.affix(suffix, nil)}
	if !three {
		return ""
	}
	if _, _, four := cutOutsideQuotes(zero, ';'); four {
		return "it has more than three sections: for positive numbers, for negative ones, and for zero"
	}
	prefix, own, suffix = cutDigits(zero)
	if own != "" && own != digits && strings.Trim(own, "#,") != "" {
		return "zero has the digits of positive numbers: in the third section, write " + digits + ", #, or a text"
	}
	p.zero, p.zeroIsText = &affixes{l.affix(prefix, nil), l.affix(suffix, nil)}, own == ""
	return ""
}

// cutOutsideQuotes cuts at the first sep outside apostrophes.
func cutOutsideQuotes(s string, sep byte) (before, after string, found bool) {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case s[i] == sep && !quoted:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// cutDigits splits a format around its digits.
func cutDigits(s string) (prefix, digits, suffix string) {
	quoted, start := false, -1
	for i := range len(s) {
		switch c := s[i]; {
		case start >= 0 && !isLayout(c):
			return trimLayout(s, start, i)
		case c == '\'':
			quoted = !quoted
		case start < 0 && !quoted && (c == '#' || c == '0' || c == '.' && i+1 < len(s) && isDigitMark(s[i+1])):
			start = i
		}
	}
	if start < 0 {
		return s, "", ""
	}
	return trimLayout(s, start, len(s))
}

// trimLayout leaves a comma or point after the last digit to the text that follows.
func trimLayout(s string, start, end int) (prefix, digits, suffix string) {
	for !isDigitMark(s[end-1]) {
		end--
	}
	return s[:start], s[start:end], s[end:]
}

func isDigitMark(c byte) bool { return c == '#' || c == '0' }

func isLayout(c byte) bool { return isDigitMark(c) || c == ',' || c == '.' }

// layOut parses the digits of a format, and returns the mistake in them, "" if there is none.
func (b *body) layOut(digits string) string {
	whole, fraction, _ := strings.Cut(digits, ".")
	switch {
	case digits == "":
		return "it shows no digit; write 0 or # where the number is to stand, such as #,##0.00"
	case strings.ContainsAny(fraction, ".,"):
		return "after the decimal point, only 0 and # are allowed; the point always separates decimals, and the comma groups"
	case strings.Contains(strings.TrimLeft(fraction, "0"), "0"):
		return "after the decimal point, write 0 before #, such as 0.0#"
	case strings.Contains(strings.TrimLeft(strings.ReplaceAll(whole, ",", ""), "#"), "#"):
		return "before the decimal point, write # before 0, such as #,##0"
	case strings.Contains(whole, ",,") || strings.HasPrefix(whole, ",") || strings.HasSuffix(whole, ","):
		return "write commas between digits, such as #,##0"
	case len(fraction) > maxFraction:
		return fmt.Sprintf("it has more than %d decimals", maxFraction)
	}
	b.minWhole = strings.Count(whole, "0")
	b.minFrac, b.maxFrac = strings.Count(fraction, "0"), len(fraction)
	if b.minWhole == 0 && b.maxFrac == 0 {
		b.minWhole = 1
	}
	if last := strings.LastIndexByte(whole, ','); last >= 0 {
		b.primary = len(whole) - last - 1
		b.secondary = b.primary
		if before := strings.LastIndexByte(whole[:last], ','); before >= 0 {
			b.secondary = last - before - 1
		}
		if b.primary < minGroupDigits || b.secondary == 1 {
			return "the comma separates groups and not decimals; write the point for the decimal sign, such as 0.00"
		}
	}
	return ""
}

// affix writes the text around the digits for the locale, and notes in p that it counts in hundredths or thousandths.
func (l *Locale) affix(s string, p *numberFormat) string {
	var out strings.Builder
	shift := 0
	for s != "" {
		if quoted, rest, ok := cutQuoted(s); s[0] == '\'' && ok {
			out.WriteString(quoted)
			s = rest
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		switch r {
		case '-':
			out.WriteString(l.minus)
		case '%':
			out.WriteString(l.percentSign)
			shift = 2
		case '‰':
			out.WriteRune(r)
			shift = 3
		default:
			out.WriteString(s[:size])
		}
		s = s[size:]
	}
	if p != nil && shift != 0 {
		p.shift = shift
	}
	return out.String()
}
