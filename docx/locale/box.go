package locale

import "strings"

// BoxDate converts a pattern of Box's templates, such as dd-mm-yyyy, mm-dd-yyyy, or dd-mmm-yy, to one for
// [Locale.Date]. The letters may be in either case: m is the month, unless it follows hours (hh:mm) or precedes
// seconds; ddd and dddd are the day of the week; h counts to 24 unless the pattern contains "AM/PM" (or a). LDML
// patterns of the same letters, such as d MMMM yyyy, stay unchanged. ok is false if the text is not a date pattern.
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

// saysHalfOfDay reports whether the letter a is outside apostrophes.
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

// field writes a run of one letter as LDML has it; rest is the pattern after it.
func (b *boxDate) field(out *strings.Builder, letter byte, width int, rest string) bool {
	minutes := b.hours
	b.hours = false
	b.fields++
	var to byte
	most := 4
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
		afterColon := minutes && strings.HasSuffix(out.String(), ":") // HH:MM is never hours and months
		if afterColon || letter == 'm' && (minutes || strings.HasPrefix(strings.TrimLeft(rest, ":."), "s")) {
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
		if before := out.String(); letter == 'e' && before != "" && isASCIILetter(before[len(before)-1]) { // as in the word de
			return false
		}
		to = 'E'
	case 't': // between date and time
		out.WriteString("'T'")
		return letter == 'T' && width == 1
	default:
		return false
	}
	if strings.HasSuffix(out.String(), string(to)) { // the two would be one field
		return false
	}
	out.WriteString(strings.Repeat(string(to), width))
	return width <= most
}
