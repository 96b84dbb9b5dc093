package locale

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// pattern is a compiled pattern of a date: fields, and the text between them.
type pattern []field

type field struct {
	letter byte // 0: text
	width  int  // the number of letters
	text   string
}

// dateFields are the LDML letters that a pattern may contain, each with its largest width.
var dateFields = map[byte]int{
	'y': 4, 'Y': 4, 'u': 4, 'Q': 4, 'q': 4, 'M': 5, 'L': 5, 'w': 2, 'd': 2, 'D': 3, 'E': 6, 'e': 6, 'c': 6,
	'a': 3, 'B': 5, 'h': 2, 'H': 2, 'k': 2, 'K': 2, 'm': 2, 's': 2, 'S': 9, 'z': 4, 'Z': 5, 'O': 4, 'X': 5, 'x': 5, 'V': 2,
}

// Date formats the date and time of t, in its own location, with an LDML pattern (Unicode Technical Standard 35, part
// 4, Date Field Symbols) and the words of the language:
//
//	y yy yyyy     2026 26 2026       year; Y: the year the week belongs to
//	M MM MMM MMMM 3 03 Mar March     month; MMMMM its letter; L: on its own ("marzec", not "marca"); c: a day so
//	d dd D        5 05 64            day of the month, of the year
//	E EEEE        Thu Thursday       day of the week (EEEEE its letter); e: its number, counted as the region does
//	w Q QQQ QQQQ  10 1 Q1 1st quarter  week of the year, quarter
//	h hh H HH     2 02 14 14         hour, to 12 and to 24; a: AM or PM; B: in the afternoon
//	m mm s ss SSS 7 07 9 09 250      minute, second, fraction of it
//	z zzzz        CET GMT+01:00      time zone; Z +0100, XXX +01:00 or Z, VV Europe/Paris
//
// Text must be between apostrophes (d 'de' MMMM), and two apostrophes are one. Other characters than ASCII letters need none. The styles
// "short", "medium", "long", and "full" are those of the region. An unknown letter is a [*PatternError], and so are letters that spell a
// word, and a part of the date that occurs twice.
func (l *Locale) Date(t time.Time, pattern string) (string, error) {
	return l.formatTime(t, styled(pattern, &l.dates))
}

// Time is [Locale.Date] for the time of day: "short" (14:07 or 2:07 PM), "medium" (with seconds), "long" and "full" (with
// the time zone) are the styles of a time.
func (l *Locale) Time(t time.Time, pattern string) (string, error) {
	return l.formatTime(t, styled(pattern, &l.times))
}

// styled returns the pattern of a style, or the pattern itself.
func styled(pattern string, styles *[4]string) string {
	switch pattern {
	case "short":
		return styles[0]
	case "medium":
		return styles[1]
	case "long":
		return styles[2]
	case "full":
		return styles[3]
	}
	return pattern
}

func (l *Locale) formatTime(t time.Time, text string) (string, error) {
	p, err := l.patterns.get(text, compilePattern)
	if err != nil {
		return "", err
	}
	var buf [64]byte
	out := buf[:0]
	for i := range *p {
		f := &(*p)[i]
		if f.letter == 0 {
			out = append(out, f.text...)
			continue
		}
		out = l.appendField(out, t, f.letter, f.width)
	}
	return string(out), nil
}

// compilePattern reads the pattern of a date.
func compilePattern(text string) (*pattern, error) {
	fail := func(reason string, args ...any) (*pattern, error) {
		return nil, &PatternError{Pattern: text[:min(len(text), maxPatternBytes)], Reason: fmt.Sprintf(reason, args...)}
	}
	if text == "" || len(text) > maxPatternBytes {
		return fail("it must have 1 to %d bytes, such as d MMMM yyyy", maxPatternBytes)
	}
	var p pattern
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\'':
			quoted, rest, ok := cutQuoted(text[i:])
			if !ok {
				return fail("the apostrophe before %.20q has no partner; an apostrophe itself is written twice", text[i+1:])
			}
			p.addText(quoted)
			i = len(text) - len(rest)
		case c == '%' && i+1 < len(text) && isASCIILetter(text[i+1]):
			return fail("the letters of a date have no %%; write a pattern such as dd.MM.yyyy HH:mm")
		case isASCIILetter(c):
			width := 1
			for i+width < len(text) && text[i+width] == c {
				width++
			}
			most, ok := dateFields[c]
			if !ok {
				if c == 'A' && strings.ContainsAny(text, hourLetters) {
					return fail("the letter A means nothing in a date; write a for am or pm")
				}
				return fail("the letter %c means nothing in a date; put text between apostrophes: %s", c, quoteWords(text))
			}
			if word := wordMistake(text); width > most && word != "" {
				return fail("%s", word)
			}
			if width > most {
				return fail("%s is too long; use %c at most %d times", text[i:i+width], c, most)
			}
			p = append(p, field{letter: c, width: width})
			i += width
		default:
			p.addText(text[i : i+1])
			i++
		}
	}
	if reason := cmp.Or(wordMistake(text), p.repetition(text)); reason != "" {
		return fail("%s", reason)
	}
	return &p, nil
}

func (p *pattern) addText(s string) {
	if n := len(*p); n > 0 && (*p)[n-1].letter == 0 {
		(*p)[n-1].text += s
		return
	}
	*p = append(*p, field{text: s})
}

// cutQuoted reads the text between apostrophes that s begins with; two apostrophes are one.
func cutQuoted(s string) (quoted, rest string, ok bool) {
	if strings.HasPrefix(s, "''") {
		return "'", s[2:], true
	}
	var text strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			text.WriteByte(s[i])
			continue
		}
		if i+1 == len(s) || s[i+1] != '\'' {
			return text.String(), s[i+1:], true
		}
		text.WriteByte('\'')
		i++
	}
	return "", "", false
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// appendField writes one field of a date. The fields of the time and the zone are in clock.go.
func (l *Locale) appendField(dst []byte, t time.Time, letter byte, width int) []byte {
	switch letter {
	case 'y', 'u':
		return l.appendYear(dst, t.Year(), width)
	case 'Y':
		year, _ := l.week(t)
		return l.appendYear(dst, year, width)
	case 'w':
		_, week := l.week(t)
		return l.appendInt(dst, week, width)
	case 'M':
		return l.appendMonth(dst, t.Month(), width, false)
	case 'L':
		return l.appendMonth(dst, t.Month(), width, true)
	case 'd':
		return l.appendInt(dst, t.Day(), width)
	case 'D':
		return l.appendInt(dst, t.YearDay(), width)
	case 'E', 'e', 'c':
		return l.appendWeekday(dst, t.Weekday(), letter, width)
	case 'Q', 'q':
		return l.appendQuarter(dst, (int(t.Month())+2)/3, width)
	}
	return l.appendClock(dst, t, letter, width)
}

func (l *Locale) appendYear(dst []byte, year, width int) []byte {
	if year < 0 {
		dst, year = append(dst, l.minus...), -year
	}
	if width == 2 {
		year %= 100
	}
	return l.appendInt(dst, year, width)
}

func (l *Locale) appendMonth(dst []byte, m time.Month, width int, alone bool) []byte {
	switch {
	case width <= 2:
		return l.appendInt(dst, int(m), width)
	case width == 3 && alone:
		return append(dst, l.aloneShortMonths[m]...)
	case width == 3:
		return append(dst, l.shortMonths[m]...)
	case width == 5:
		return append(dst, l.narrowMonths[m]...)
	case alone:
		return append(dst, l.aloneMonths[m]...)
	}
	return append(dst, l.months[m]...)
}

func (l *Locale) appendWeekday(dst []byte, d time.Weekday, letter byte, width int) []byte {
	alone := letter == 'c'
	switch {
	case width <= 2 && letter != 'E':
		return l.appendInt(dst, (int(d)-l.weekStart+7)%7+1, width)
	case width == 4 && alone:
		return append(dst, l.aloneDays[d]...)
	case width == 4:
		return append(dst, l.days[d]...)
	case width == 5:
		return append(dst, l.narrowDays[d]...)
	case alone:
		return append(dst, l.aloneShortDays[d]...)
	}
	return append(dst, l.shortDays[d]...)
}

func (l *Locale) appendQuarter(dst []byte, quarter, width int) []byte {
	switch {
	case width <= 2:
		return l.appendInt(dst, quarter, width)
	case width == 3:
		return append(dst, l.shortQuarters[quarter-1]...)
	}
	return append(dst, l.quarters[quarter-1]...)
}

// week returns the week of t and the year it belongs to, counted as the region does: a week begins on weekStart, and the
// first one of a year has at least weekDays days of it.
func (l *Locale) week(t time.Time) (year, week int) {
	day := (int(t.Weekday()) - l.weekStart + 7) % 7 // days since the week began
	year = t.Year()
	// This day decides whether the week is the first one of a year, and its year is that of the week.
	decisive := t.AddDate(0, 0, 7-l.weekDays-day)
	if decisive.Year() != year {
		year = decisive.Year()
	}
	return year, (decisive.YearDay()-1)/7 + 1
}
