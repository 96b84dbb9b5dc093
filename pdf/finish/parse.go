package finish

import (
	"bytes"
	"encoding/hex"
	"strconv"
)

// Limits of one object. LibreOffice nests at most five levels deep; its largest objects are lists of pages and of
// page contents.
const (
	maxDepth = 64
	maxItems = 1 << 22 // number of nested objects, at any depth
)

// parser parses objects in the syntax of ISO 32000-1, 7.2 and 7.3.
type parser struct {
	data  []byte
	at    int
	items int
}

func (p *parser) peek(ahead int) byte {
	if at := p.at + ahead; at < len(p.data) {
		return p.data[at]
	}
	return 0
}

func white(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func delimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

func regular(c byte) bool { return !white(c) && !delimiter(c) }

// space skips white space and comments.
func (p *parser) space() {
	for p.at < len(p.data) {
		switch c := p.data[p.at]; {
		case white(c):
			p.at++
		case c == '%':
			for p.at < len(p.data) && p.data[p.at] != '\n' && p.data[p.at] != '\r' {
				p.at++
			}
		default:
			return
		}
	}
}

// word reads regular characters.
func (p *parser) word() string {
	begun := p.at
	for p.at < len(p.data) && regular(p.data[p.at]) {
		p.at++
	}
	return string(p.data[begun:p.at])
}

// accept reads a keyword if it is next.
func (p *parser) accept(word string) bool {
	p.space()
	if end := p.at + len(word); !bytes.HasPrefix(p.data[p.at:], []byte(word)) || end < len(p.data) && regular(p.data[end]) {
		return false
	}
	p.at += len(word)
	return true
}

// natural reads a nonnegative integer if it is next.
func (p *parser) natural() (int, bool) {
	p.space()
	before := p.at
	n, err := strconv.ParseUint(p.word(), 10, 50)
	if err != nil {
		p.at = before
		return 0, false
	}
	return int(n), true
}

// object reads the next object.
func (p *parser) object(depth int) (object, error) {
	p.items++
	if depth > maxDepth || p.items > maxItems {
		return nil, broken("an object is nested too deeply or too large")
	}
	p.space()
	switch c := p.peek(0); {
	case c == '/':
		p.at++
		return name(p.word()), nil
	case c == '(':
		return p.literal()
	case c == '[':
		return p.array(depth)
	case c == '<' && p.peek(1) == '<':
		return p.dict(depth)
	case c == '<':
		return p.hex()
	case c >= '0' && c <= '9':
		if r, ok := p.ref(); ok {
			return r, nil
		}
	}
	return p.simple()
}

func (p *parser) simple() (object, error) {
	switch word := p.word(); word {
	case "true", "false":
		return keyword(word), nil
	case "null":
		return nil, nil
	default:
		if !numeric(word) {
			return nil, broken("an object has an unknown type")
		}
		return number(word), nil
	}
}

func numeric(word string) bool {
	digits, points := 0, 0
	for i, c := range []byte(word) {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			points++
		case i > 0 || c != '+' && c != '-':
			return false
		}
	}
	return digits > 0 && points <= 1
}

// ref reads a reference, such as 12 0 R, if it is next.
func (p *parser) ref() (ref, bool) {
	before := p.at
	if n, ok := p.natural(); ok && white(p.peek(0)) {
		if generation, ok := p.natural(); ok && p.accept("R") {
			return ref{n, generation}, true
		}
	}
	p.at = before
	return ref{}, false
}

func (p *parser) array(depth int) (object, error) {
	p.at++
	a := array{}
	for {
		if p.space(); p.peek(0) == ']' {
			p.at++
			return a, nil
		}
		element, err := p.object(depth + 1)
		if err != nil {
			return nil, err
		}
		a = append(a, element)
	}
}

func (p *parser) dict(depth int) (object, error) {
	p.at += 2
	d := dict{}
	for {
		p.space()
		if p.peek(0) == '>' && p.peek(1) == '>' {
			p.at += 2
			return d, nil
		}
		if p.peek(0) != '/' {
			return nil, broken("a dictionary has a key that is not a name")
		}
		p.at++
		key := name(p.word())
		value, err := p.object(depth + 1)
		if err != nil {
			return nil, err
		}
		if value != nil { // null means that the key is absent, 7.3.7
			d = append(d, entry{key, value})
		}
	}
}

func (p *parser) hex() (object, error) {
	p.at++
	var digits []byte
	for ; p.peek(0) != '>'; p.at++ {
		if p.at >= len(p.data) {
			return nil, broken("a string has no end")
		}
		if c := p.data[p.at]; !white(c) {
			digits = append(digits, c)
		}
	}
	p.at++
	if len(digits)%2 == 1 {
		digits = append(digits, '0')
	}
	n, err := hex.Decode(digits, digits)
	if err != nil {
		return nil, broken("a string has invalid digits")
	}
	return str(digits[:n]), nil
}

// literal reads a string in parentheses (7.3.4.2).
func (p *parser) literal() (object, error) {
	p.at++
	var s []byte
	for open := 1; ; {
		if p.at >= len(p.data) {
			return nil, broken("a string has no end")
		}
		c := p.data[p.at]
		p.at++
		switch c {
		case '\\':
			s = p.escape(s)
			continue
		case '\r': // every line ending means a line feed
			if c = '\n'; p.peek(0) == '\n' {
				p.at++
			}
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return str(s), nil
			}
		}
		s = append(s, c)
	}
}

// escape reads the characters after a backslash.
func (p *parser) escape(s []byte) []byte {
	c := p.peek(0)
	p.at++
	if at := bytes.IndexByte([]byte("nrtbf"), c); at >= 0 {
		return append(s, "\n\r\t\b\f"[at])
	}
	switch {
	case c >= '0' && c <= '7':
		value := c - '0'
		for range 2 {
			if d := p.peek(0); d >= '0' && d <= '7' {
				value = value<<3 | (d - '0')
				p.at++
			}
		}
		return append(s, value)
	case c == '\n': // line continuation
		return s
	case c == '\r':
		if p.peek(0) == '\n' {
			p.at++
		}
		return s
	}
	return append(s, c)
}
