package lang

import (
	"errors"
	"strings"
	"time"

	"platen/docx/locale"
)

const (
	// zoneSteps is what looking a time zone up costs.
	zoneSteps = 200
	// The years that a date may be in.
	minYear, maxYear = 1, 9999
)

// moment is a date, or a date with a time of day, on its way through a tag. Input has them as texts and numbers.
type moment struct {
	time.Time
	dateOnly bool
}

// text returns the moment as ISO 8601 has it: 2024-03-05 or 2024-03-05T10:00:00+01:00.
func (m moment) text() string {
	if m.dateOnly {
		return m.Format(time.DateOnly)
	}
	return m.Format(time.RFC3339)
}

// day returns the midnight at which the moment's date begins, in UTC, so that days can be counted.
func (m moment) day() time.Time {
	return time.Date(m.Year(), m.Month(), m.Day(), 0, 0, 0, 0, time.UTC)
}

// compareMoments returns -1, 0 or 1. If one has no time of day, the dates are compared.
func compareMoments(a, b moment) int {
	if a.dateOnly || b.dateOnly {
		return a.day().Compare(b.day())
	}
	return a.Compare(b.Time)
}

// asMoment returns the moment that v is or spells. A time that names its zone is given in that of the execution, if there is one.
func (e *Env) asMoment(v Value) (m moment, ok bool) {
	if m, ok = v.(moment); ok {
		return m, true
	}
	if _, isBool := v.(bool); isBool {
		return moment{}, false
	}
	s, ok := scalarText(v)
	if !ok || len(s) > MaxDigits {
		return moment{}, false
	}
	t, dateOnly, err := locale.ParseTime(s, e.opt.Location, e.locale())
	if err != nil || t.Year() < minYear || t.Year() > maxYear {
		return moment{}, false
	}
	return moment{t, dateOnly}, true
}

// moment returns v, the value of n, as a moment.
func (e *Env) moment(n Node, v Value) (moment, error) {
	m, ok := e.asMoment(v)
	if !ok {
		return moment{}, &fault{node: n, message: e.notDate(v)}
	}
	return m, e.spend(1, n)
}

// notDate says why a value is not a date. The reason is that of a text that is written like a date, such as 31/12/2025 where the month is
// first.
func (e *Env) notDate(v Value) string {
	if s, ok := v.(string); ok && isWrittenDate(s) {
		_, _, err := locale.ParseTime(s, e.opt.Location, e.locale())
		if wrong, ok := errors.AsType[*locale.TimeError](err); ok {
			return "is not a date: " + wrong.Reason
		}
	}
	return "is " + kindName(v) + ", not a date like 2026-03-05"
}

// compareDates is compare if one of the values is a computed date; the other has to be one too.
func (e *Env) compareDates(n *Binary, l, r Value) (Value, error) {
	a, ok := e.asMoment(l)
	b, both := e.asMoment(r)
	if !ok || !both {
		if n.Op == "==" || n.Op == "!=" {
			return n.Op == "!=", nil
		}
		return nil, &fault{node: n, message: "compares " + kindName(l) + " with " + kindName(r)}
	}
	c := compareMoments(a, b)
	switch n.Op {
	case "==":
		return c == 0, nil
	case "!=":
		return c != 0, nil
	}
	return holds(n.Op, c), nil
}

// now returns the time of the execution.
func (e *Env) now(n Node) (moment, error) {
	if e.opt.Now.IsZero() {
		return moment{}, &fault{node: n, message: "is not available: there is no clock here"}
	}
	return moment{Time: e.opt.Now.In(e.location()).Truncate(time.Second)}, nil
}

// zone reads the name of a time zone, such as "Europe/Paris", or an offset, such as "+02:00".
func zone(name string) (*time.Location, bool) {
	if t, err := time.Parse("-07:00", name); err == nil {
		_, offset := t.Zone()
		return time.FixedZone(name, offset), true
	}
	if name == "" || strings.EqualFold(name, "local") { // that of the machine is nobody's business
		return nil, false
	}
	loc, err := time.LoadLocation(name)
	return loc, err == nil
}

// daysBetween returns the number of days between the dates of two moments.
func daysBetween(a, b moment) int {
	return int(b.day().Sub(a.day()) / (24 * time.Hour))
}
