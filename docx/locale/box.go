package locale

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// BoxDate translates a pattern of Box's templates, dd-mm-yyyy, mm-dd-yyyy or dd-mmm-yy, to one for [Locale.Date]. The
// letters may be of either case: m is the month, unless it follows hours (hh:mm) or stands before seconds; ddd and dddd
// are the day of the week; h counts to 24 unless "AM/PM" (or a) stands in the pattern. Patterns of LDML made of the
// same letters pass as they are: d MMMM yyyy. It is false for what is no pattern of a date.
func BoxDate(pattern string) (ldml string, ok bool) {
	if len(pattern) > maxPatternBytes {
		return "", false
	}
	text := pattern
	twelve := false
	for _, marker := range []string{"AM/PM", "am/pm", "a/p", "A/P"} {
		if before, after, found := strings.Cut(text, marker); found {
			text, twelve = before+"a"+after, true
		}
	}
	var out strings.Builder
	b := boxDate{twelve: twelve || saysHalfOfDay(text)}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'':
			quoted, rest, ok := cutQuoted(text[i:])
			if !ok {
				return "", false
			}
			out.WriteString(quote(quoted))
			i = len(text) - len(rest)
		case isASCIILetter(c):
			width := 1
			for i+width < len(text) && text[i+width]|0x20 == c|0x20 {
				width++
			}
			if !b.field(&out, c, width, text[i+width:]) {
				return "", false
			}
			i += width
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.String(), b.fields > 0
}

// saysHalfOfDay reports whether the letter a stands outside of apostrophes.
func saysHalfOfDay(text string) bool {
	_, _, found := cutOutsideQuotes(strings.ToLower(text), 'a')
	return found
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// boxDate is the translation of a pattern on its way.
type boxDate struct {
	twelve bool // the hours count to 12
	hours  bool // the last field was the hours
	fields int
}

// field writes a run of one letter as LDML has it; rest is what follows in the pattern.
func (b *boxDate) field(out *strings.Builder, letter byte, width int, rest string) bool {
	minutes := b.hours
	b.hours = false
	b.fields++
	to, most := letter, 4
	switch letter | 0x20 {
	case 'y':
		to = 'y'
	case 'd':
		to = 'd'
		if width > 2 {
			to = 'E'
		}
	case 'm':
		to = 'M'
		behindColon := minutes && strings.HasSuffix(out.String(), ":") // HH:MM is never hours and months
		if behindColon || letter == 'm' && (minutes || strings.HasPrefix(strings.TrimLeft(rest, ":."), "s")) {
			to, most = 'm', 2
		}
	case 'h':
		b.hours = true
		to, most = 'H', 2
		if b.twelve {
			to = 'h'
		}
	case 's':
		to, most = 's', 2
	case 'a':
		to, most = 'a', 1
		b.fields--
	case 'e':
		to = 'E'
	case 't': // between date and time
		out.WriteString("'T'")
		return letter == 'T' && width == 1
	default:
		return false
	}
	out.WriteString(strings.Repeat(string(to), width))
	return width <= most
}

// BoxNumber writes d as Box's format("US-Number") (300,000) or format("EU-Number") (300.000) does, with all its decimals,
// at most 100. It is false for any other name.
func BoxNumber(d decimal.Decimal, format string) (string, bool) {
	language := map[string]string{"us-number": "en", "eu-number": "de"}[strings.ToLower(format)]
	if l, ok := Find(language); ok {
		return l.Decimal(d, 0, maxFraction), true
	}
	return "", false
}

// Mask puts the characters of s in the places of the x (or X) of a mask; everything else stands as it is in the mask, and
// a backslash makes an x text: "Inv1203" in "xxx-xxxx" is "Inv-1203". Signs of the mask that s has already are
// passed over, so that "Inv-1203" gives the same. It is an error when there are more or fewer characters than places; an
// empty text stays empty.
func Mask(s, mask string) (string, error) {
	if len(mask) > maxPatternBytes {
		return "", &PatternError{Pattern: mask[:maxPatternBytes], Reason: fmt.Sprintf("it is longer than %d bytes", maxPatternBytes)}
	}
	places, signs := readMask(mask)
	if places == 0 {
		return "", &PatternError{Pattern: mask, Reason: "it has no x; write one for each character, such as xxx-xxxx"}
	}
	if s == "" {
		return "", nil
	}
	if utf8.RuneCountInString(s) != places {
		s = strings.Map(func(r rune) rune {
			if strings.ContainsRune(signs, r) {
				return -1
			}
			return r
		}, s)
	}
	if n := utf8.RuneCountInString(s); n != places {
		return "", &PatternError{Pattern: mask, Reason: fmt.Sprintf("it has room for %d characters, and the value has %d", places, n)}
	}
	return fill(mask, s), nil
}

// readMask returns how many places a mask has, and what else stands in it.
func readMask(mask string) (places int, signs string) {
	escaped := false
	for _, r := range mask {
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case !escaped && (r == 'x' || r == 'X'):
			places++
		default:
			signs += string(r)
		}
		escaped = false
	}
	return places, signs
}

// fill writes the characters of s into a mask that has as many places.
func fill(mask, s string) string {
	var out strings.Builder
	escaped := false
	for _, r := range mask {
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case !escaped && (r == 'x' || r == 'X'):
			_, size := utf8.DecodeRuneInString(s)
			out.WriteString(s[:size])
			s = s[size:]
		default:
			out.WriteRune(r)
		}
		escaped = false
	}
	return out.String()
}
