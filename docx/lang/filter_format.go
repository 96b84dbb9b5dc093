package lang

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"platen/docx/locale"
)

// format formats a value with a pattern. The kind of the pattern determines the kind of the value:
//
//   - US-Number and EU-Number: a number, as 300,000 and 300.000;
//   - a pattern with an x, such as xxx-xxxx, or with # and other characters between, such as ###-##-####: a mask for any text, or for a
//     number with at most as many digits;
//   - a pattern with # or 0, such as #,##0.00: a number format, written as in the locale;
//   - a pattern of letters for parts of a date, such as dd-mm-yyyy: a date; mm is the month unless it follows an hour.
func format(e *Env, f *Filter, v Value) (Value, error) {
	pattern, err := e.text(f.Args[0])
	if err != nil {
		return nil, err
	}
	switch {
	case locale.ExcelCode(pattern) != "":
		return nil, &fault{node: f.Args[0], message: checkFormat(f, pattern)}
	case strings.EqualFold(pattern, "US-Number"):
		return e.groupThousands(v, ",", ".")
	case strings.EqualFold(pattern, "EU-Number"):
		return e.groupThousands(v, ".", ",")
	case isMask(pattern):
		return e.mask(v, pattern)
	case strings.ContainsAny(pattern, "#0"):
		return e.writeNumber(f, v, pattern)
	case isDatePattern(pattern) || boxDate(pattern) != "":
		m, err := e.moment(e.subject, v)
		if err != nil {
			return nil, err
		}
		return e.writeDate(f, m, cmp.Or(boxDate(pattern), pattern))
	}
	return nil, &fault{node: f.Args[0], message: notAPattern}
}

// checkFormat returns the mistake in a pattern of format, or "".
func checkFormat(_ *Filter, pattern string) string {
	switch mistake := locale.ExcelCode(pattern); {
	case mistake != "":
		return notANumberFormat + mistake
	case strings.EqualFold(pattern, "US-Number"), strings.EqualFold(pattern, "EU-Number"), isMask(pattern):
		return ""
	case strings.ContainsAny(pattern, "#0"):
		return numberMistake(pattern)
	case isDatePattern(pattern) || boxDate(pattern) != "":
		return dateMistake((*locale.Locale).Date, cmp.Or(boxDate(pattern), pattern))
	}
	return notAPattern
}

const notAPattern = `is not a pattern: use one like "dd-mm-yyyy" for a date, "#,##0.00" for a number, or "xxx-xxxx" for text`

// boxDate returns Box's pattern of a date in the letters of CLDR, or "" if it is not Box's.
func boxDate(pattern string) string {
	cldr, ok := locale.BoxDate(pattern)
	if !ok {
		return ""
	}
	return cldr
}

// isMask reports whether a pattern is for the characters of a text: it has an x and nothing of a date or number, or # with signs
// between that no number has.
func isMask(pattern string) bool {
	if strings.ContainsAny(pattern, "xX") {
		return !strings.ContainsAny(pattern, "#0")
	}
	first, last := strings.IndexByte(pattern, '#'), strings.LastIndexByte(pattern, '#')
	return first >= 0 && !strings.ContainsAny(pattern, "0,;") && strings.ContainsAny(pattern[first:last], "-/ ()")
}

// mask replaces each x or # of a pattern with a character of the text, and keeps its other characters. If the text has one of
// these in the same place, it is not written twice. If the text is shorter, the result ends with it and the characters after
// the last x or # of the pattern. If it is longer, the rest of the text follows at the end.
func (e *Env) mask(v Value, pattern string) (Value, error) {
	s, ok := scalarText(v)
	if !ok {
		return nil, &fault{node: e.subject, message: "is " + kindOf(v) + ", not text"}
	}
	if _, isText := v.(string); !isText && (strings.Trim(s, "0123456789") != "" || len(s) > places(pattern)) {
		return nil, &fault{node: e.subject, message: "is " + s + ", which does not fit " + quote(pattern) +
			": in patterns such as xxx-xxxx, each x is one character. For numbers, write 0, as in #,##0.00"}
	}
	var b strings.Builder
	for i, place := range pattern {
		if s == "" {
			if rest := pattern[i:]; !strings.ContainsAny(rest, "xX#") {
				b.WriteString(rest)
			}
			break
		}
		r, n := utf8.DecodeRuneInString(s)
		if place == 'x' || place == 'X' || place == '#' || place == r {
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		b.WriteRune(place)
	}
	return e.made(b.String() + s)
}

// places returns the number of characters that a mask takes.
func places(mask string) int {
	return strings.Count(mask, "x") + strings.Count(mask, "X") + strings.Count(mask, "#")
}
