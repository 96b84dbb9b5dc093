package lang

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// special marks the bytes at which the quick way through a string ends.
var special = func() (table [256]bool) {
	for c := range table {
		table[c] = c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf
	}
	return table
}()

// string reads a string, of which the quote is next. It is plain if it is a part of the text as it is.
func (d *decoder) string() (s string, plain bool, err error) {
	start := d.at + 1
	ascii := true
	for i := start; i < len(d.text); i++ {
		c := d.text[i]
		if !special[c] {
			continue
		}
		switch {
		case c == '"':
			s = d.text[start:i]
			if !ascii && !utf8.ValidString(s) {
				return d.unescape(start)
			}
			d.at = i + 1
			return s, true, nil
		case c >= utf8.RuneSelf:
			ascii = false
		case c == '\\':
			return d.unescape(start)
		default:
			return "", false, d.control(i)
		}
	}
	return "", false, d.unclosed()
}

// unescape reads a string that starts at an offset and is not plain.
func (d *decoder) unescape(start int) (s string, plain bool, err error) {
	var b strings.Builder
	for i := start; i < len(d.text); {
		switch c := d.text[i]; {
		case c == '"':
			d.at = i + 1
			return b.String(), false, nil
		case c == '\\':
			n := d.escape(&b, i)
			if n == 0 {
				return "", false, d.badEscape(i)
			}
			i += n
		case c < ' ':
			return "", false, d.control(i)
		default:
			r, n := utf8.DecodeRuneInString(d.text[i:])
			b.WriteRune(r)
			i += n
		}
	}
	return "", false, d.unclosed()
}

// escapes gives what the letter behind a backslash stands for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape writes what the escape at i stands for and returns its length, 0 if it is none.
func (d *decoder) escape(b *strings.Builder, i int) int {
	if i+1 == len(d.text) {
		return 0
	}
	if c := escapes[d.text[i+1]]; c != 0 {
		b.WriteByte(c)
		return 2
	}
	r, ok := d.hex(i)
	if !ok {
		return 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := d.hex(i + 6); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				b.WriteRune(pair)
				return 12
			}
		}
	}
	b.WriteRune(r) // U+FFFD for a surrogate
	return 6
}

// hex returns the code unit that \uXXXX at i is.
func (d *decoder) hex(i int) (rune, bool) {
	if len(d.text) < i+6 || d.text[i] != '\\' || d.text[i+1] != 'u' {
		return 0, false
	}
	for _, c := range []byte(d.text[i+2 : i+6]) {
		if !isHex(c) {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(d.text[i+2:i+6], 16, 16)
	return rune(n), err == nil
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
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
		return "", d.unexpected("a digit is needed behind the minus sign")
	}
	if d.ahead() == '.' {
		d.at++
		if !d.digits() {
			return "", d.unexpected("a digit is needed behind the decimal point")
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
		return "", d.fault(start, "a number cannot begin with 0 and go on with a digit; write it without the zeros, or as text in double quotes")
	}
	return d.text[start:d.at], nil
}

// digits passes over digits and tells whether there was one.
func (d *decoder) digits() bool {
	start := d.at
	for d.at < len(d.text) && isDigit(rune(d.text[d.at])) {
		d.at++
	}
	return d.at > start
}
