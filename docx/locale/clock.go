package locale

import (
	"strings"
	"time"
)

// appendClock writes a field of the time of day or of the time zone.
func (l *Locale) appendClock(dst []byte, t time.Time, letter byte, width int) []byte {
	switch letter {
	case 'a':
		if t.Hour() < 12 {
			return append(dst, l.am...)
		}
		return append(dst, l.pm...)
	case 'B':
		return append(dst, l.periodAt(t.Hour())...)
	case 'H':
		return l.appendInt(dst, t.Hour(), width)
	case 'h':
		return l.appendInt(dst, (t.Hour()+11)%12+1, width)
	case 'K':
		return l.appendInt(dst, t.Hour()%12, width)
	case 'k':
		return l.appendInt(dst, (t.Hour()+23)%24+1, width)
	case 'm':
		return l.appendInt(dst, t.Minute(), width)
	case 's':
		return l.appendInt(dst, t.Second(), width)
	case 'S':
		fraction := t.Nanosecond()
		for range 9 - width {
			fraction /= 10
		}
		return l.appendInt(dst, fraction, width)
	}
	return appendZone(dst, t, letter, width)
}

// periodAt returns the name of the part of the day that an hour belongs to.
func (l *Locale) periodAt(hour int) string {
	name := ""
	for _, p := range l.periods {
		if p.from <= hour {
			name = p.name
		}
	}
	return name
}

// appendZone writes the time zone. Long names are not translated: instead of "Central European Standard Time" it
// writes CLDR's form for zones without names, GMT+01:00, which is correct everywhere, and the same in every language.
func appendZone(dst []byte, t time.Time, letter byte, width int) []byte {
	name, offset := t.Zone()
	switch {
	case letter == 'V':
		return append(dst, t.Location().String()...)
	case letter == 'z' && width < 4:
		if name == "" || strings.ContainsAny(name, "+-0123456789") {
			return appendGMT(dst, offset, false)
		}
		return append(dst, name...)
	case letter == 'z', letter == 'O', letter == 'Z' && width == 4:
		return appendGMT(dst, offset, width == 4)
	case letter == 'X' && offset == 0, letter == 'Z' && width == 5 && offset == 0:
		return append(dst, 'Z')
	case letter == 'Z':
		return appendOffset(dst, offset, width == 5, true)
	}
	colon := width == 3 || width == 5
	return appendOffset(dst, offset, colon, width > 1)
}

// appendGMT writes GMT, GMT+1, GMT+5:30 or, when it is long, GMT+01:00.
func appendGMT(dst []byte, offset int, long bool) []byte {
	dst = append(dst, "GMT"...)
	if offset == 0 {
		return dst
	}
	if long {
		return appendOffset(dst, offset, true, true)
	}
	at := len(dst) + 1
	dst = appendOffset(dst, offset, true, false)
	if dst[at] == '0' {
		dst = append(dst[:at], dst[at+1:]...)
	}
	return dst
}

// appendOffset writes the distance from UTC in hours and minutes; the minutes only if there are any, unless they must.
func appendOffset(dst []byte, seconds int, colon, minutes bool) []byte {
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	h, m := seconds/3600, seconds/60%60
	dst = append(dst, sign, byte('0'+h/10%10), byte('0'+h%10))
	if m == 0 && !minutes {
		return dst
	}
	if colon {
		dst = append(dst, ':')
	}
	return append(dst, byte('0'+m/10), byte('0'+m%10))
}
