package locale

import (
	"strings"
	"time"
)

const timeHint = "after a date, write a time such as 14:07:09 or 2:07 PM, and a zone such as Z or +01:00"

// clock reads the time of day and the zone after a date.
func (p *timeParser) clock() {
	separated := p.cut("t")
	if p.skipBlanks(); !separated && strings.HasPrefix(p.rest, ",") {
		p.rest = p.rest[1:]
		p.skipBlanks()
	}
	p.hour = p.twoDigits(23)
	if !strings.HasPrefix(p.rest, ":") {
		p.fail(timeHint)
		return
	}
	p.rest = p.rest[1:]
	p.minute = p.twoDigits(59)
	if strings.HasPrefix(p.rest, ":") {
		p.rest = p.rest[1:]
		p.second = p.twoDigits(59)
		p.fraction()
	}
	p.skipBlanks()
	p.halfOfDay()
	p.skipBlanks()
	p.offset()
	if p.rest != "" {
		p.fail("%.20q is too much; "+timeHint, p.rest)
	}
}

// twoDigits reads an integer of one or two digits.
func (p *timeParser) twoDigits(most int) int {
	n := leadingDigits(p.rest)
	if n == 0 || n > 2 || number(p.rest[:n]) > most {
		p.fail(timeHint)
		return 0
	}
	v := number(p.rest[:n])
	p.rest = p.rest[n:]
	return v
}

// fraction reads the fraction of a second. Digits after the nanoseconds are ignored.
func (p *timeParser) fraction() {
	if p.rest == "" || p.rest[0] != '.' && p.rest[0] != ',' || leadingDigits(p.rest[1:]) == 0 {
		return
	}
	n := leadingDigits(p.rest[1:])
	kept := p.rest[1 : 1+min(n, 9)]
	p.nanosecond = number(kept + strings.Repeat("0", 9-len(kept)))
	p.rest = p.rest[1+n:]
}

// halfOfDay reads AM or PM.
func (p *timeParser) halfOfDay() {
	var afternoon bool
	switch {
	case p.cut("am"), p.cut("a.m."):
	case p.cut("pm"), p.cut("p.m."):
		afternoon = true
	default:
		return
	}
	if p.hour < 1 || p.hour > 12 {
		p.fail("before AM and PM the hour is 1 to 12")
		return
	}
	p.hour %= 12
	if afternoon {
		p.hour += 12
	}
}

// offset reads the zone.
func (p *timeParser) offset() {
	if p.rest == "" {
		return
	}
	if p.cut("z") || p.cut("utc") || p.cut("gmt") {
		p.zone = time.UTC
		return
	}
	sign := 1
	switch {
	case strings.HasPrefix(p.rest, "+"):
		p.rest = p.rest[1:]
	case strings.HasPrefix(p.rest, "-"), strings.HasPrefix(p.rest, "−"):
		sign, p.rest = -1, strings.TrimPrefix(strings.TrimPrefix(p.rest, "-"), "−")
	default:
		return
	}
	digits := p.rest
	if len(digits) == 5 && digits[2] == ':' {
		digits = digits[:2] + digits[3:]
	}
	if n := leadingDigits(digits); n != len(digits) || n != 2 && n != 4 {
		p.fail("a zone is Z or the distance from UTC, such as +01:00")
		return
	}
	hours, minutes := number(digits[:2]), number(digits[2:])
	if hours > 15 || minutes > 59 {
		p.fail("a zone is at most 15 hours away from UTC")
		return
	}
	p.zone, p.rest = time.FixedZone("", sign*(hours*3600+minutes*60)), ""
}
