package locale

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	maxAmountBytes = 100
	maxAmount      = 1_000_000 // of one unit
)

// Add returns t moved by an amount, in its own location. An amount is one or several of these, with or without commas
// between them, done from left to right; letter case does not matter:
//
//	+1 month   -2 weeks   90 days   1 year 6 months   a week   3 days ago
//	  second, minute, hour, day, business day (Monday to Friday; also weekday, working day), week, month, quarter, year
//	end of month   start of year   beginning of week   first day of month   last day of quarter
//	  the start is midnight of the first day, the end midnight of the last; weeks begin on Monday; also of day
//	next monday   last friday     the nearest one after or before t, never t itself
//	next month   last year        one more, one less
//	today   tomorrow   yesterday  midnight of that day
//
// A day that the month does not have becomes its last: a month after 31 January is 28 February, or 29. Days, weeks and
// larger keep the time of day, also when clocks change; hours and smaller are exact time. "ago" turns the number before
// it around. The years go from 1 to 9999.
func Add(t time.Time, amount string) (time.Time, error) {
	fail := func(reason string) (time.Time, error) {
		return time.Time{}, fmt.Errorf("%q is not an amount of time: %s", amount[:min(len(amount), maxAmountBytes)], reason)
	}
	if len(amount) > maxAmountBytes {
		return fail(fmt.Sprintf("it is longer than %d bytes", maxAmountBytes))
	}
	words := amountWords(amount)
	if len(words) == 0 {
		return fail("write it like +1 month, -2 weeks, end of month or next monday")
	}
	for len(words) > 0 {
		step, rest, ok := readStep(words)
		if !ok {
			return fail(fmt.Sprintf("%q cannot be read; write it like +1 month, -2 weeks, end of month or next monday", strings.Join(words, " ")))
		}
		t, words = step(t), rest
		if t.Year() < minYear || t.Year() > maxYear {
			return fail(fmt.Sprintf("it leads out of the years %d to %d", minYear, maxYear))
		}
	}
	return t, nil
}

// amountWords splits an amount into words. It separates numbers from units (2weeks), and joins them with their signs (+ 1).
func amountWords(amount string) []string {
	var text strings.Builder
	var last rune
	for _, r := range strings.ReplaceAll(strings.ToLower(amount), "−", "-") {
		digit := '0' <= r && r <= '9'
		if digit != ('0' <= last && last <= '9') && last != '+' && last != '-' || r == '+' || r == '-' {
			text.WriteByte(' ')
		}
		if r == ',' {
			r = ' '
		}
		text.WriteRune(r)
		last = r
	}
	words := strings.Fields(text.String())
	for i := 0; i+1 < len(words); i++ {
		if words[i] == "+" || words[i] == "-" {
			words[i] += words[i+1]
			words = append(words[:i+1], words[i+2:]...)
		}
	}
	return words
}

type step func(time.Time) time.Time

// readStep reads the first step of an amount.
func readStep(words []string) (step, []string, bool) {
	first, rest := words[0], words[1:]
	switch first {
	case "today":
		return func(t time.Time) time.Time { return midnight(t, 0) }, rest, true
	case "tomorrow":
		return func(t time.Time) time.Time { return midnight(t, 1) }, rest, true
	case "yesterday":
		return func(t time.Time) time.Time { return midnight(t, -1) }, rest, true
	case "next", "last", "previous":
		return readNeighbor(first, rest)
	case "start", "beginning", "end", "the", "first":
		return readBoundary(words)
	case "a", "an":
		return readMove(1, rest)
	}
	n, err := strconv.Atoi(first)
	if err != nil || n > maxAmount || n < -maxAmount {
		return nil, nil, false
	}
	return readMove(n, rest)
}

// readNeighbor reads the words after "next" and "last": a day of the week, a unit, or the words of a boundary.
func readNeighbor(first string, words []string) (step, []string, bool) {
	if len(words) == 0 {
		return nil, nil, false
	}
	direction := 1
	if first != "next" {
		direction = -1
	}
	if d := Default().weekdayNamed(words[0]); d >= 0 {
		return func(t time.Time) time.Time {
			days := (int(time.Weekday(d)-t.Weekday())*direction + 7) % 7
			if days == 0 {
				days = 7
			}
			return t.AddDate(0, 0, direction*days)
		}, words[1:], true
	}
	if first == "last" && words[0] == "day" && len(words) > 1 {
		return readBoundary(append([]string{first}, words...))
	}
	return readMove(direction, words)
}

// weekdayNamed returns the day of the week of that name, in full or shortened, or -1.
func (l *Locale) weekdayNamed(word string) int {
	for d := range l.days {
		if strings.EqualFold(word, l.days[d]) || strings.EqualFold(word, l.shortDays[d]) {
			return d
		}
	}
	return -1
}

// readMove reads the unit that is counted.
func readMove(n int, words []string) (step, []string, bool) {
	if len(words) == 0 {
		return nil, nil, false
	}
	unit, rest := strings.TrimSuffix(words[0], "s"), words[1:]
	if (unit == "business" || unit == "busines" || unit == "working") && len(rest) > 0 {
		unit, rest = "weekday", rest[1:]
		if day := words[1]; day != "day" && day != "days" {
			return nil, nil, false
		}
	}
	if len(rest) > 0 && rest[0] == "ago" {
		n, rest = -n, rest[1:]
	}
	move, ok := map[string]step{
		"second":  func(t time.Time) time.Time { return t.Add(time.Duration(n) * time.Second) },
		"minute":  func(t time.Time) time.Time { return t.Add(time.Duration(n) * time.Minute) },
		"hour":    func(t time.Time) time.Time { return t.Add(time.Duration(n) * time.Hour) },
		"day":     func(t time.Time) time.Time { return t.AddDate(0, 0, n) },
		"weekday": func(t time.Time) time.Time { return addWeekdays(t, n) },
		"week":    func(t time.Time) time.Time { return t.AddDate(0, 0, 7*n) },
		"month":   func(t time.Time) time.Time { return addMonths(t, n) },
		"quarter": func(t time.Time) time.Time { return addMonths(t, 3*n) },
		"year":    func(t time.Time) time.Time { return addMonths(t, 12*n) },
	}[unit]
	return move, rest, ok
}

// readBoundary reads "[the] end of [the] month" and its kin.
func readBoundary(words []string) (step, []string, bool) {
	words = without(words, "the")
	if len(words) > 1 && (words[0] == "first" || words[0] == "last") && words[1] == "day" {
		words = append([]string{words[0]}, words[2:]...)
	}
	if len(words) < 2 || words[1] != "of" {
		return nil, nil, false
	}
	end := words[0] == "end" || words[0] == "last"
	words = append(words[:1:1], without(words[2:], "the")...)
	if len(words) < 2 {
		return nil, nil, false
	}
	start, ok := map[string]step{
		"day":     func(t time.Time) time.Time { return midnight(t, 0) },
		"week":    func(t time.Time) time.Time { return midnight(t, -((int(t.Weekday()) + 6) % 7)) },
		"month":   func(t time.Time) time.Time { return firstOf(t, t.Month()) },
		"quarter": func(t time.Time) time.Time { return firstOf(t, (t.Month()-1)/3*3+1) },
		"year":    func(t time.Time) time.Time { return firstOf(t, time.January) },
	}[words[1]]
	if !ok || !end {
		return start, words[2:], ok
	}
	next, _, ok := readMove(1, words[1:2])
	return func(t time.Time) time.Time { return midnight(next(start(t)), -1) }, words[2:], ok
}

// without drops a word at the front.
func without(words []string, word string) []string {
	if len(words) > 0 && words[0] == word {
		return words[1:]
	}
	return words
}

// midnight returns the beginning of the day that is days away.
func midnight(t time.Time, days int) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+days, 0, 0, 0, 0, t.Location())
}

func firstOf(t time.Time, month time.Month) time.Time {
	return time.Date(t.Year(), month, 1, 0, 0, 0, 0, t.Location())
}

// addMonths keeps the day of the month if the month has it, and otherwise returns the last day.
func addMonths(t time.Time, n int) time.Time {
	months := t.Year()*12 + int(t.Month()) - 1 + n
	year, month := months/12, time.Month(months%12+1)
	if months < 0 {
		year, month = -1, time.January // the caller refuses it
	}
	day := min(t.Day(), daysIn(year, month))
	return time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
}

// addWeekdays counts the days from Monday to Friday; five of them are a week from any of these days.
func addWeekdays(t time.Time, n int) time.Time {
	direction := 1
	if n < 0 {
		direction, n = -1, -n
	}
	if weekend(t) && n > 0 { // begin on the last weekday before, seen in the direction
		for weekend(t) {
			t = t.AddDate(0, 0, -direction)
		}
	}
	t = t.AddDate(0, 0, direction*(n/5)*7)
	for range n % 5 {
		t = t.AddDate(0, 0, direction)
		for weekend(t) {
			t = t.AddDate(0, 0, direction)
		}
	}
	return t
}

func weekend(t time.Time) bool { return t.Weekday() == time.Saturday || t.Weekday() == time.Sunday }
