package locale

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The spaces in the conventions of CLDR.
const (
	nbsp  = "\u00a0" // no-break space
	nnbsp = "\u202f" // narrow no-break space
)

// none is the value of a convention that a locale does not have, although its parent has it.
const none = "\x00"

// conventions are what differs from language to language and from region to region, as tools/cldr writes them. An empty field is
// that of the parent. Lists have | between their items.
type conventions struct {
	tags   string // of the locales that share the row, the one that names it first
	parent string

	decimal, group           string
	moneyDecimal, moneyGroup string // "" means decimal and group
	minus                    string
	percentSign              string
	percent                  string // with # for the digits
	money, negativeMoney     string // with # for the digits and ¤ for the symbol
	zero                     string // the digit zero
	secondary                string // digits of the groups further left
	minGroup                 string // minimum digits before the first separator, for a number to be grouped
	unitGap                  string // between a number and the name of a currency

	dates, times                                   string // short, medium, long, full
	months, shortMonths, narrowMonths, aloneMonths string // from January; on their own, if that differs
	days, shortDays, narrowDays, aloneDays         string // from Sunday
	aloneShortMonths, aloneShortDays               string
	quarters, shortQuarters, am, pm                string
	periods                                        string // the hours that parts of the day begin at, and their names
	weekStart                                      string // the first day of the week; 0 is Sunday
	weekDays                                       string // least number of days of the new year in its first week
	comma, lastAnd, pairAnd                        string // of lists
}

// texts returns the fields that a locale inherits.
func (c *conventions) texts() []*string {
	return []*string{
		&c.decimal, &c.group, &c.moneyDecimal, &c.moneyGroup, &c.minus, &c.percentSign, &c.percent, &c.money, &c.negativeMoney,
		&c.zero, &c.secondary, &c.minGroup, &c.unitGap, &c.dates, &c.times,
		&c.months, &c.shortMonths, &c.narrowMonths, &c.aloneMonths, &c.aloneShortMonths,
		&c.days, &c.shortDays, &c.narrowDays, &c.aloneDays, &c.aloneShortDays,
		&c.quarters, &c.shortQuarters, &c.am, &c.pm, &c.periods, &c.weekStart, &c.weekDays, &c.comma, &c.lastAnd, &c.pairAnd,
	}
}

// inherit returns the conventions, completed with those of the parent.
func (c conventions) inherit(parent *conventions) conventions {
	from := parent.texts()
	for i, text := range c.texts() {
		switch *text {
		case "":
			*text = *from[i]
		case none:
			*text = ""
		}
	}
	return c
}

// months12 are the names of months, from 1.
type months12 [13]string

func monthsOf(list string) (m months12) {
	copy(m[1:], strings.Split(list, "|"))
	return m
}

// calendarName is the name of a month or day as people write it in a date, without a point at its end or a hyphen in it.
type calendarName struct {
	name   string
	number int
}

// calendarNames returns the names in lists, each once. The first name of a list has the number first.
func calendarNames(first int, lists ...[]string) []calendarName {
	var all []calendarName
	for _, list := range lists {
		for i, name := range list {
			name, _, _ = strings.Cut(name, "-") // quinta-feira
			n := calendarName{strings.TrimSuffix(name, "."), i + first}
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}

func daysOf(list string) (d [7]string) {
	copy(d[:], strings.Split(list, "|"))
	return d
}

func fourOf(list string) (f [4]string) {
	copy(f[:], strings.Split(list, "|"))
	return f
}

// period is a part of the day, such as the afternoon.
type period struct {
	from int // the hour
	name string
}

func periodsOf(list string) []period {
	var all []period
	for item := range strings.SplitSeq(list, "|") {
		from, name, _ := strings.Cut(item, " ")
		all = append(all, period{digitsIn(from), name})
	}
	return all
}

// digitsIn returns the number that a convention is.
func digitsIn(text string) int {
	n, _ := strconv.Atoi(text) // the table has digits, as its test checks
	return n
}

// zeroOf returns the digit zero, or 0 for the ASCII one.
func zeroOf(text string) rune {
	if r, _ := utf8.DecodeRuneInString(text); r != '0' {
		return r
	}
	return 0
}
