package lang

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// special marks the bytes that end the plain part of a string.
var special = func() (table [256]bool) {
	for c := range table {
		table[c] = c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf
	}
	return table
}()

// string reads a string. The offset is at its quote. A plain string has no escapes, and shares the memory of the text.
func (d *decoder) string() (s string, plain bool, err error) {
	start := d.at
	ascii, escaped := true, false
	for i := start + 1; i < len(d.text); i++ {
		c := d.text[i]
		if !special[c] {
			continue
		}
		switch {
		case c == '"':
			d.at = i + 1
			if s = d.text[start+1 : i]; !escaped && (ascii || utf8.ValidString(s)) {
				return s, true, nil
			}
			return d.unquote(start)
		case c >= utf8.RuneSelf:
			ascii = false
		case c == '\\':
			escaped = true
			i++
		default:
			return "", false, d.badString(start)
		}
	}
	return "", false, d.badString(start)
}

// unquote returns the value of the string from start to the current offset.
func (d *decoder) unquote(start int) (s string, plain bool, err error) {
	text, err := jsontext.AppendUnquote(nil, d.text[start:d.at])
	if err != nil {
		err = d.badString(start)
	}
	return string(text), false, err
}

// word passes over true, false or null.
func (d *decoder) word(want string) error {
	if !strings.HasPrefix(d.text[d.at:], want) {
		return d.noValue()
	}
	d.at += len(want)
	return nil
}

// number reads a number.
func (d *decoder) number() (string, error) {
	start := d.at
	if d.ahead() == '-' {
		d.at++
	}
	if d.ahead() == '0' {
		d.at++
	} else if !d.digits() {
		return "", d.unexpected("a digit is needed after the minus sign")
	}
	if d.ahead() == '.' {
		d.at++
		if !d.digits() {
			return "", d.unexpected("a digit is needed after the decimal point")
		}
	}
	if d.ahead()|0x20 == 'e' {
		d.at++
		if c := d.ahead(); c == '+' || c == '-' {
			d.at++
		}
		if !d.digits() {
			return "", d.unexpected("a digit is needed in the exponent")
		}
	}
	if c := d.ahead(); isDigit(rune(c)) {
		return "", d.fault(start, "a number cannot have leading zeros; remove them, or write it as text in double quotes")
	}
	return d.text[start:d.at], nil
}

// digits passes over digits and reports whether there was one.
func (d *decoder) digits() bool {
	start := d.at
	for d.at < len(d.text) && isDigit(rune(d.text[d.at])) {
		d.at++
	}
	return d.at > start
}
