package lang

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	// maxShift is how many of a unit a date can be moved by.
	maxShift = 1_000_000
	// maxShifts is how many steps one argument may say.
	maxShifts = 20
)

// shift is one step of moving a date: so many of a unit; or to the start or end of one, or to a day of the week.
type shift struct {
	n    int
	unit string // second minute hour day workday week month quarter year; or start, end, next, previous
	of   string // of start and end: a unit
	day  time.Weekday
}

// parseShift reads steps such as "+1 month", "-2 weeks 3 days", "1 month end of month" or "next monday". A sign holds for
// the amounts behind it too.
func parseShift(s string) ([]shift, bool) {
	words := shiftWords(s)
	var steps []shift
	sign := 1
	for len(words) > 0 {
		if len(steps) == maxShifts {
			return nil, false
		}
		step, used, ok := oneShift(words, &sign)
		if !ok {
			return nil, false
		}
		steps, words = append(steps, step), words[used:]
	}
	return steps, len(steps) > 0
}

// shiftWords cuts a text into words, numbers and signs.
func shiftWords(s string) []string {
	var words []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return isBlank(r) || r == ',' }) {
		for word != "" {
			n := len(word)
			first := kindOfRune(rune(word[0]))
			for i, r := range word {
				if k := kindOfRune(r); k != first || k == signRune && i > 0 {
					n = i
					break
				}
			}
			if w := word[:n]; w != "and" {
				words = append(words, w)
			}
			word = word[n:]
		}
	}
	return words
}

const (
	signRune = iota
	digitRune
	otherRune
)

func kindOfRune(r rune) int {
	switch {
	case r == '+' || r == '-':
		return signRune
	case unicode.IsDigit(r):
		return digitRune
	}
	return otherRune
}

// oneShift reads one step from the beginning of words and tells how many of them it took.
func oneShift(words []string, sign *int) (step shift, used int, ok bool) {
	switch words[0] {
	case "+", "-":
		*sign = 1
		if words[0] == "-" {
			*sign = -1
		}
		step, used, ok = amount(words[1:], *sign)
		return step, used + 1, ok
	case "start", "end":
		if len(words) < 3 || words[1] != "of" || !isPeriod[unitNames[words[2]]] {
			return shift{}, 0, false
		}
		return shift{unit: words[0], of: unitNames[words[2]]}, 3, true
	case "next", "previous":
		if len(words) < 2 {
			return shift{}, 0, false
		}
		step.unit = words[0]
		step.day, ok = weekday(words[1])
		return step, 2, ok
	}
	return amount(words, *sign)
}

// amount reads a number and a unit.
func amount(words []string, sign int) (step shift, used int, ok bool) {
	if len(words) < 2 {
		return shift{}, 0, false
	}
	n, err := strconv.Atoi(words[0])
	unit := unitNames[words[1]]
	used = 2
	if words[1] == "working" || words[1] == "business" {
		if len(words) < 3 || unitNames[words[2]] != "day" {
			return shift{}, 0, false
		}
		unit, used = "workday", 3
	}
	return shift{n: n * sign, unit: unit}, used, err == nil && n <= maxShift && unit != ""
}

// unitNames holds the spellings of units of time.
var unitNames = map[string]string{
	"second": "second", "seconds": "second", "sec": "second", "s": "second", "minute": "minute", "minutes": "minute", "min": "minute",
	"hour": "hour", "hours": "hour", "h": "hour", "day": "day", "days": "day", "d": "day", "workday": "workday", "workdays": "workday",
	"week": "week", "weeks": "week", "w": "week", "month": "month", "months": "month", "quarter": "quarter", "quarters": "quarter",
	"year": "year", "years": "year", "y": "year",
}

// isPeriod holds the units that have a first and a last day.
var isPeriod = map[string]bool{"week": true, "month": true, "quarter": true, "year": true}

// apply moves a moment. The time of day stays, but for hours, minutes and seconds, which give a date the time they lead to.
func (s shift) apply(m moment) moment {
	switch s.unit {
	case "second":
		return moment{Time: m.Add(time.Duration(s.n) * time.Second)}
	case "minute":
		return moment{Time: m.Add(time.Duration(s.n) * time.Minute)}
	case "hour":
		return moment{Time: m.Add(time.Duration(s.n) * time.Hour)}
	case "day":
		return m.plusDays(s.n)
	case "workday":
		return m.plusWorkdays(s.n)
	case "week":
		return m.plusDays(7 * s.n)
	case "month":
		return m.plusMonths(s.n)
	case "quarter":
		return m.plusMonths(3 * s.n)
	case "year":
		return m.plusMonths(12 * s.n)
	case "next":
		return m.plusDays((int(s.day-m.Weekday())+6)%7 + 1)
	case "previous":
		return m.plusDays(-((int(m.Weekday()-s.day)+6)%7 + 1))
	}
	return s.border(m)
}

// border moves a moment to the first or last day of its period. A week begins on Monday.
func (s shift) border(m moment) moment {
	if s.of == "week" {
		monday := m.plusDays(-(int(m.Weekday()) + 6) % 7)
		if s.unit == "end" {
			return monday.plusDays(6)
		}
		return monday
	}
	months := map[string]int{"month": 1, "quarter": 3, "year": 12}[s.of]
	first := time.Month((int(m.Month())-1)/months*months + 1)
	if s.unit == "end" {
		return m.at(m.Year(), first+time.Month(months), 0)
	}
	return m.at(m.Year(), first, 1)
}

func (m moment) plusDays(n int) moment { return m.at(m.Year(), m.Month(), m.Day()+n) }

// plusMonths keeps the day of the month, or takes the last one if the month is too short.
func (m moment) plusMonths(n int) moment {
	last := time.Date(m.Year(), m.Month()+time.Month(n)+1, 0, 0, 0, 0, 0, time.UTC)
	return m.at(last.Year(), last.Month(), min(m.Day(), last.Day()))
}

// plusWorkdays counts Monday to Friday.
func (m moment) plusWorkdays(n int) moment {
	if n == 0 {
		return m
	}
	step := 1
	if n < 0 {
		n, step = -n, -1
	}
	m = m.weekdayBefore(step).plusDays(step * (n / 5 * 7))
	for range n % 5 {
		m = m.plusDays(step)
		for m.isWeekend() {
			m = m.plusDays(step)
		}
	}
	return m
}

// weekdayBefore returns the moment, or on a weekend that on the weekday that was met last when going in the direction of step.
func (m moment) weekdayBefore(step int) moment {
	for m.isWeekend() {
		m = m.plusDays(-step)
	}
	return m
}

func (m moment) isWeekend() bool { return m.Weekday() == time.Saturday || m.Weekday() == time.Sunday }
