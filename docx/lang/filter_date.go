package lang

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"platen/docx/locale"
)

// dateFilters parse their value as a date (see [locale.ParseTime]), and format or change it.
var dateFilters = map[string]*filter{
	"date": {
		usage: `date, date("d MMMM yyyy") or date("long")`, arity: arity{0, 1}, also: []string{"formatdate", "dateformat"},
		takesFor: dateTakes, args: []takes{like(aText, "yyyy-MM-dd")}, formats: true,
		check: checkPattern((*locale.Locale).Date, datePattern), apply: eachScalar(date),
	},
	"time": {
		usage: `time, time("HH:mm") or time("medium")`, arity: arity{0, 1},
		takes: takes{want: aTime}, args: []takes{like(aText, "HH:mm")}, formats: true,
		check: checkPattern((*locale.Locale).Time, meantLetters), apply: eachScalar(timeOfDay),
	},
	"timezone": {
		usage: `timezone("Europe/Paris")`, arity: arity{1, 1}, also: []string{"tz"},
		takes: takes{want: aTime}, same: true, args: []takes{like(aText, "Europe/Paris")}, check: checkZone, apply: eachScalar(timezone),
	},
	"add": {
		usage: `add(5), add("+1 month") or add("end of month")`, arity: arity{1, 1}, also: []string{"plus"},
		takesFor: addTakes, same: true, args: []takes{likeNumber("5")}, check: checkAmount, apply: eachScalar(add),
	},
}

// checkPattern returns the check of a pattern with which a date or a time is written.
func checkPattern(write func(*locale.Locale, time.Time, string) (string, error), meant func(string) string) func(*Filter, string) string {
	return func(_ *Filter, pattern string) string {
		return dateMistake(write, meant(pattern))
	}
}

// dateMistake returns why dates cannot be written with a pattern, or "".
func dateMistake(write func(*locale.Locale, time.Time, string) (string, error), pattern string) string {
	_, err := write(locale.Default(), time.Time{}, pattern)
	if unusable, ok := errors.AsType[*locale.PatternError](err); ok {
		return cannotBeUsed + unusable.Reason
	}
	return ""
}

// dateTakes returns what date takes its value for: a date, with a time if its pattern shows one.
func dateTakes(f *Filter) takes { return datedBy(datePattern(f.pattern())) }

// datedBy returns the use of a value that is written in the pattern of a date.
func datedBy(pattern string) takes {
	if ShowsTime(pattern) {
		return takes{want: aTime}
	}
	return takes{want: aDate}
}

// date writes a date, by default in the long form of the locale.
func date(e *Env, f *Filter, v Value) (Value, error) {
	m, err := e.moment(e.subject, v)
	if err != nil {
		return nil, err
	}
	pattern, err := e.textOr(f, 0, "long")
	if err != nil {
		return nil, err
	}
	return e.writeDate(f, m, datePattern(pattern))
}

// timeOfDay writes the time of day, by default in the short form of the locale.
func timeOfDay(e *Env, f *Filter, v Value) (Value, error) {
	m, err := e.moment(e.subject, v)
	if err != nil {
		return nil, err
	}
	if m.dateOnly {
		return nil, &fault{node: e.subject, message: "is a date without a time of day"}
	}
	pattern, err := e.textOr(f, 0, "short")
	if err != nil {
		return nil, err
	}
	pattern = meantLetters(pattern)
	e.checkClock(m, pattern)
	s, err := e.locale().Time(m.Time, pattern)
	if err != nil {
		return nil, unusablePattern(f, err)
	}
	return e.made(s)
}

func (e *Env) writeDate(f *Filter, m moment, pattern string) (Value, error) {
	e.checkClock(m, pattern)
	s, err := e.locale().Date(m.Time, pattern)
	if err != nil {
		return nil, unusablePattern(f, err)
	}
	return e.made(s)
}

// unusablePattern returns the fault of the pattern of a filter, which is its first argument.
func unusablePattern(f *Filter, err error) error {
	if unusable, ok := errors.AsType[*locale.PatternError](err); ok {
		return &fault{node: f.Args[0], message: cannotBeUsed + unusable.Reason}
	}
	return err
}

const cannotBeUsed = "cannot be used: "

// checkClock warns about a pattern with a time of day that a date does not have, and about hours up to 12 that may be in the morning or in
// the afternoon, except in fields of Word.
func (e *Env) checkClock(m moment, pattern string) {
	if !ShowsTime(pattern) {
		return
	}
	letters := unquoted(pattern)
	switch {
	case m.dateOnly:
		e.doubtAbout(e.subject, "The value of '"+e.subject.String()+"'"+NoTime)
	case !e.tag.ofField && strings.ContainsAny(letters, "hK") && !strings.ContainsAny(letters, "aB"):
		e.doubt("The hours in the pattern " + quote(pattern) +
			" are those of a 12-hour clock, without am or pm. Write HH for 24 hours, or add a.")
	}
}

// NoTime is the end of a warning about a date in a pattern that [ShowsTime].
const NoTime = " is a date without a time of day. Its time is shown as midnight."

// ShowsTime reports whether a pattern has letters for a time of day or its zone. The names of styles are right for any date.
func ShowsTime(pattern string) bool {
	const clockLetters = "hHkKmsSaBzZOvVXx"
	return !isStyle(pattern) && strings.ContainsAny(pattern, clockLetters) && strings.ContainsAny(unquoted(pattern), clockLetters)
}

// isStyle reports whether a pattern is the name of a style.
func isStyle(pattern string) bool {
	return pattern == "short" || pattern == "medium" || pattern == "long" || pattern == "full"
}

// timezone converts a time to a time zone. A date without a time of day stays unchanged.
func timezone(e *Env, f *Filter, v Value) (Value, error) {
	m, err := e.moment(e.subject, v)
	if err != nil || m.dateOnly {
		return m, err
	}
	name, err := e.text(f.Args[0])
	if err != nil {
		return nil, err
	}
	loc, ok := zone(name)
	if !ok {
		return nil, &fault{node: f.Args[0], message: noZone}
	}
	m.Time = m.In(loc)
	return m, e.spend(zoneSteps, f.Args[0])
}

const noZone = `is not a time zone like "Europe/Paris" or an offset like "+02:00"`

func checkZone(_ *Filter, s string) string {
	if _, ok := zone(s); !ok {
		return noZone
	}
	return ""
}

// add adds a number to a number, and to a date what its argument says: see [locale.Add].
func add(e *Env, f *Filter, v Value) (Value, error) {
	by, err := e.eval(f.Args[0])
	if err != nil || by == nil {
		return nil, err
	}
	if y, ok := asNumber(by); ok {
		x, err := operand(e.subject, v)
		if _, isDate := e.asMoment(v); isDate && err != nil {
			return nil, &fault{node: f.Args[0], message: `has no unit: add "1 day" or "1 month" to a date`}
		} else if err != nil {
			return nil, err
		}
		return calculate("+", x, y), nil
	}
	s, ok := by.(string)
	if !ok {
		return nil, &fault{node: f.Args[0], message: "is " + kindOf(by) + ", not a number or a time like \"+1 month\""}
	}
	m, err := e.moment(e.subject, v)
	if err != nil {
		return nil, err
	}
	moved, err := locale.Add(m.Time, s)
	if err != nil {
		return nil, &fault{node: f.Args[0], message: noAmount}
	}
	return moment{moved, m.dateOnly && isMidnight(moved)}, e.spend(len(s), f.Args[0])
}

// addTakes returns what add takes its value for: a date if it adds a time, else a number.
func addTakes(f *Filter) takes {
	if l, ok := f.Args[0].(*Literal); ok {
		amount, isText := l.Value.(string)
		if isText && checkAmount(f, amount) == "" && !isNumber(amount) {
			return takes{want: aDate}
		}
	}
	return takes{want: aNumber}
}

const noAmount = `is not a number or a time like "+1 month", "-2 weeks", "end of month" or "next monday"`

// isMidnight reports whether a time of day is that of a date without a time.
func isMidnight(t time.Time) bool {
	hour, minute, second := t.Clock()
	return hour == 0 && minute == 0 && second == 0
}

func checkAmount(_ *Filter, s string) string {
	if _, ok := parseNumber(strings.TrimSpace(s)); ok {
		return ""
	}
	if _, err := locale.Add(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), s); err != nil {
		return noAmount
	}
	return ""
}

// datePattern returns the pattern for a date: where m cannot be a minute, as in dd-mm-yyyy, it is a month.
func datePattern(pattern string) string {
	if isDatePattern(pattern) && strings.ContainsRune(pattern, 'M') && !hasMonthInLowercase(pattern) {
		return meantLetters(pattern)
	}
	return cmp.Or(boxDate(pattern), meantLetters(pattern))
}

// hasMonthInLowercase reports whether the letters mm of a pattern cannot be minutes, because they neither follow an hour nor precede
// seconds, as in dd.mm.yyyy HH:MM.
func hasMonthInLowercase(pattern string) bool {
	letters := unquoted(pattern)
	previous := byte(0)
	for i := 0; i < len(letters); {
		letter, end := letters[i], i+1
		for end < len(letters) && letters[end] == letter {
			end++
		}
		rest := strings.TrimLeft(letters[end:], ":. ")
		if letter == 'm' && strings.IndexByte(hourLetters, previous) < 0 && !strings.HasPrefix(rest, "s") && !strings.HasPrefix(rest, "S") {
			return true
		}
		if isASCIILetter(letter) {
			previous = letter
		}
		i = end
	}
	return false
}

// dateLetters are the letters with a meaning in a date pattern.
const dateLetters = "GyYuQqMmLwWdDEeacBhHKkjsSAzZOvVXx"

// isDatePattern reports whether a pattern has letters outside quotes, and all of them mean a part of a date.
func isDatePattern(pattern string) bool {
	quoted, found := false, false
	for _, r := range pattern {
		switch {
		case r == '\'':
			quoted = !quoted
		case quoted:
		case strings.ContainsRune(dateLetters, r):
			found = true
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '#' || '0' <= r && r <= '9':
			return false
		}
	}
	return found
}
