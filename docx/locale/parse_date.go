package locale

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxTimeBytes = 100 // of a date that is read
	minYear      = 1
	maxYear      = 9999
)

// A TimeError is a text that cannot be read as a date or time.
type TimeError struct {
	Text   string
	Reason string // the mistake, and what to write instead
}

func (e *TimeError) Error() string { return fmt.Sprintf("%q is not a date: %s", e.Text, e.Reason) }

// ParseTime parses a date, or a date with a time of day. Every text has one meaning, which does not depend on other data:
//
//	2026-03-05  2026/3/5  20260305    year, month, day
//	05-03-2026  5.3.2026              day, month, year, as in Box's examples
//	05/03/2026                        the order of the region: month first in the United States (en) and Canada, or else day first
//	5 March 2026  March 5, 2026       in English or the language of l, abbreviated or not, with or without the day of the
//	5. März 2026  Thu, 5 Mar 2026     week; also 5 de marzo de 2026 and 2026年3月5日
//	2026. március 5., csütörtök       the medium, long, and full style of the locale, if it has all digits of the year
//	1772719629  1772719629250         9 to 11 digits: seconds since 1970; 12 to 14: milliseconds
//
// A time may follow a date, after a T, a blank, or a comma: 14:07, 14:07:09, 14:07:09.25, 2:07 PM. It may be followed
// by a zone: Z, UTC, GMT, +01:00, +0100, +01. A time without a zone is in loc, where nil means UTC. A time with a zone, or since 1970, is
// converted to loc, unless loc is nil. Without a time of day the time is midnight, and dateOnly is true. Dates that do
// not exist (31 April, month 13) are errors, and are never carried over. A year has four digits. The error is a
// [*TimeError]. If l is nil, only English names are accepted.
func ParseTime(s string, loc *time.Location, l *Locale) (t time.Time, dateOnly bool, err error) {
	text := strings.TrimSpace(s)
	if text == "" || len(text) > maxTimeBytes {
		return time.Time{}, false, &TimeError{s[:min(len(s), maxTimeBytes)], "write it like 2026-03-05 or 2026-03-05T14:07:00Z"}
	}
	if l == nil {
		l = Default()
	}
	if t, ok := parseEpoch(text); ok {
		if loc == nil {
			loc = time.UTC
		}
		return t.In(loc), false, nil
	}
	p := timeParser{rest: l.plainDigits(text), locale: l}
	p.date()
	p.timeOfDay()
	if p.reason != "" {
		p = l.parseStyled(text, p)
	}
	if p.reason != "" {
		return time.Time{}, false, &TimeError{text, p.reason}
	}
	return p.time(loc), p.dateOnly, nil
}

// parseEpoch reads seconds or milliseconds since 1970.
func parseEpoch(s string) (time.Time, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	switch count := len(strings.TrimLeft(s, "+-")); {
	case 9 <= count && count <= 11:
		return time.Unix(n, 0), true
	case 12 <= count && count <= 14:
		return time.UnixMilli(n), true
	}
	return time.Time{}, false
}

// timeParser reads a date from the left; reason says why it could not.
type timeParser struct {
	rest   string
	locale *Locale
	reason string

	year, month, day                 int
	hour, minute, second, nanosecond int
	zone                             *time.Location
	dateOnly                         bool
}

func (p *timeParser) fail(format string, args ...any) {
	if p.reason == "" {
		p.reason = fmt.Sprintf(format, args...)
	}
}

// time returns the parsed time. A time without a zone is in loc, and one with a zone is converted to loc.
func (p *timeParser) time(loc *time.Location) time.Time {
	in := loc
	if p.zone != nil {
		in = p.zone
	}
	if in == nil {
		in = time.UTC
	}
	t := time.Date(p.year, time.Month(p.month), p.day, p.hour, p.minute, p.second, p.nanosecond, in)
	if p.zone != nil && loc != nil {
		t = t.In(loc)
	}
	return t
}

// timeOfDay reads the time of day after a date, if there is one.
func (p *timeParser) timeOfDay() {
	if p.rest == "" {
		p.dateOnly = true
	} else if p.reason == "" {
		p.clock()
	}
}

// date reads the date and checks that the calendar has it.
func (p *timeParser) date() {
	switch digits := leadingDigits(p.rest); {
	case digits == 8:
		p.year, p.month, p.day = number(p.rest[:4]), number(p.rest[4:6]), number(p.rest[6:8])
		p.rest = p.rest[8:]
	case digits == 4 && len(p.rest) > 4 && strings.IndexByte("-/.", p.rest[4]) >= 0:
		p.numeric(p.rest[4], &p.year, &p.month, &p.day)
	case digits == 4 && strings.HasPrefix(p.rest[4:], "年"):
		p.eastern()
	case (digits == 1 || digits == 2) && len(p.rest) > digits && p.isNumeric(p.rest[digits:]):
		if p.rest[digits] == '/' && p.locale.monthFirst {
			p.numeric('/', &p.month, &p.day, &p.year)
		} else {
			p.numeric(p.rest[digits], &p.day, &p.month, &p.year)
		}
	default:
		p.named()
	}
	if p.reason == "" {
		p.checkDate()
	}
}

// isNumeric reports whether a date is like 5.3.2026, and not like 5. März 2026.
func (p *timeParser) isNumeric(s string) bool {
	return strings.IndexByte("-/.", s[0]) >= 0 && leadingDigits(s[1:]) > 0
}

// checkDate rejects dates that do not exist.
func (p *timeParser) checkDate() {
	switch {
	case p.year < minYear || p.year > maxYear:
		p.fail("the year %d is not within %d to %d", p.year, minYear, maxYear)
	case p.month < 1 || p.month > 12:
		p.fail("there is no month %d; write 2026-03-05, which every region reads the same way", p.month)
	case p.day < 1 || p.day > daysIn(p.year, time.Month(p.month)):
		p.fail("%s %d has no day %d", time.Month(p.month), p.year, p.day)
	}
}

func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// numeric reads three numbers with a separator between them. The year has four digits.
func (p *timeParser) numeric(separator byte, parts ...*int) {
	for i, part := range parts {
		n := leadingDigits(p.rest)
		if part == &p.year && n != 4 {
			p.fail("the year must have four digits, as in 05-03-2026")
			return
		}
		if n == 0 || n > 4 || part != &p.year && n > 2 {
			p.fail("day, month and year are numbers with %c between them, as in 2026-03-05", separator)
			return
		}
		*part = number(p.rest[:n])
		p.rest = p.rest[n:]
		if i == len(parts)-1 {
			return
		}
		if p.rest == "" || p.rest[0] != separator {
			p.fail("day, month and year are numbers with %c between them, as in 2026-03-05", separator)
			return
		}
		p.rest = p.rest[1:]
	}
}

// eastern reads 2026年3月5日.
func (p *timeParser) eastern() {
	for _, part := range []struct {
		to   *int
		mark string
	}{{&p.year, "年"}, {&p.month, "月"}, {&p.day, "日"}} {
		n := leadingDigits(p.rest)
		rest, ok := strings.CutPrefix(p.rest[n:], part.mark)
		if n == 0 || n > 4 || !ok {
			p.fail("write it like 2026年3月5日")
			return
		}
		*part.to, p.rest = number(p.rest[:n]), rest
	}
}

// named parses a date with the month in letters: numbers of one or two digits are the day, and those of four digits the year.
func (p *timeParser) named() {
	for p.day == 0 || p.month == 0 || p.year == 0 {
		p.rest = strings.TrimLeftFunc(p.rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".,،-", r) })
		switch n := leadingDigits(p.rest); {
		case p.rest == "":
			p.fail("day, month or year is missing; write it like 2026-03-05 or 5 March 2026")
			return
		case n == 4 && p.year == 0:
			p.year, p.rest = number(p.rest[:4]), p.rest[4:]
		case (n == 1 || n == 2) && p.day == 0:
			p.day, p.rest = number(p.rest[:n]), p.rest[n:]
			p.rest = cutOrdinal(p.rest)
		case n > 0:
			p.fail("a date has one day and a year of four digits; write it like 2026-03-05")
			return
		default:
			if !p.word() {
				return
			}
		}
	}
}

// cutOrdinal cuts what makes a number an ordinal: 5th, 1er, 1º.
func cutOrdinal(s string) string {
	for _, mark := range []string{"st", "nd", "rd", "th", "er", "º", "°", "ª"} {
		if rest, ok := strings.CutPrefix(s, mark); ok {
			return rest
		}
	}
	return s
}

// word reads the name of a month, or passes over the day of the week and "de".
func (p *timeParser) word() bool {
	named := *p
	if p.locale.spacedMonths && p.month == 0 && named.monthName() {
		if next, _ := utf8.DecodeRuneInString(named.rest); !isNameRune(next) {
			*p = named
			return true
		}
	}
	n := strings.IndexFunc(p.rest, func(r rune) bool { return !isNameRune(r) })
	if n < 0 {
		n = len(p.rest)
	}
	if n == 0 {
		p.fail("write it like 2026-03-05 or 5 March 2026")
		return false
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	for _, l := range []*Locale{p.locale, Default()} {
		if m := l.monthNamed(word); m != 0 && p.month == 0 {
			p.month = m
			return true
		}
		if l.isWeekday(word) {
			p.rest = strings.TrimPrefix(p.rest, "-feira")
			return true
		}
	}
	if strings.EqualFold(word, "de") || strings.EqualFold(word, "del") || strings.EqualFold(word, "of") || strings.EqualFold(word, "the") {
		return true
	}
	p.fail("%q is not a month in English or the language %s", word, p.locale.tag)
	return false
}

// isNameRune reports whether a character is part of the name of a month: a letter, or the sign of an abbreviation in Hebrew and Hindi.
func isNameRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || r == '׳' || r == '॰'
}

// monthNamed returns the month of that name, in full or shortened, in a date or on its own, or 0.
func (l *Locale) monthNamed(word string) int {
	for i := range l.readMonths {
		if strings.EqualFold(word, l.readMonths[i].name) {
			return l.readMonths[i].number
		}
	}
	if l.language == "en" && strings.EqualFold(word, "sept") {
		return int(time.September)
	}
	return 0
}

func (l *Locale) isWeekday(word string) bool {
	for i := range l.readDays {
		if strings.EqualFold(word, l.readDays[i].name) {
			return true
		}
	}
	return false
}

// leadingDigits returns the number of ASCII digits at the start of s.
func leadingDigits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// number reads a few digits.
func number(digits string) int {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

// skipBlanks passes over blanks.
func (p *timeParser) skipBlanks() { p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace) }

// cut passes over a prefix, whatever its case.
func (p *timeParser) cut(prefix string) bool {
	if len(p.rest) < len(prefix) || !strings.EqualFold(p.rest[:len(prefix)], prefix) {
		return false
	}
	if next, _ := utf8.DecodeRuneInString(p.rest[len(prefix):]); unicode.IsLetter(next) && len(prefix) > 1 {
		return false
	}
	p.rest = p.rest[len(prefix):]
	return true
}
