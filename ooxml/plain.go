package ooxml

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// Nearly all XML of documents is plain: elements, attributes, and text, with a declaration before them and names in ASCII. Whether it is
// well formed can be checked ten times as fast as encoding/xml does.

// maxPlainAttributes is the largest number of attributes of an element in plain XML.
const maxPlainAttributes = 64

// isPlainXML reports whether src is well-formed plain XML, nested up to maxDepth. XML that is not plain may be well formed too.
func isPlainXML(src []byte, maxDepth int) bool {
	if !utf8.Valid(src) || bytes.Contains(src, []byte("\uFFFE")) || bytes.Contains(src, []byte("\uFFFF")) || holdsControls(src) {
		return false
	}
	p := plainReader{src: src, at: declarationSize(src)}
	return p.read(maxDepth)
}

// holdsControls reports whether there are control characters other than tabs and line breaks.
func holdsControls(src []byte) bool {
	const size, high, blanks = 8, 0x8080808080808080, 0x2020202020202020
	for ; len(src) >= size; src = src[size:] {
		// Taking a blank from each byte borrows from its highest bit, unless that was set, where the byte is below.
		if c := binary.LittleEndian.Uint64(src); (c-blanks)&^c&high != 0 && slices.ContainsFunc(src[:size], isControl) {
			return true
		}
	}
	return slices.ContainsFunc(src, isControl)
}

func isControl(c byte) bool { return c < ' ' && plainBytes[c] != plainBlank }

// declarationSize returns the length of the XML declaration, or 0 if there is no usual one.
func declarationSize(src []byte) int {
	const start = `<?xml version="1.0" encoding="UTF-8"`
	head := src[:min(len(src), 80)]
	if len(head) < len(start) || !bytes.EqualFold(head[:len(start)], []byte(start)) || !bytes.HasPrefix(head, []byte("<?xml version")) {
		return 0
	}
	for _, rest := range []string{`?>`, ` ?>`, ` standalone="yes"?>`, ` standalone="no"?>`, ` standalone="yes" ?>`} {
		if bytes.HasPrefix(head[len(start):], []byte(rest)) {
			return len(start) + len(rest)
		}
	}
	return 0
}

// plainReader reads plain XML. Each method skips the construct in its name, and returns false if it is not plain. The
// reader stores positions instead of slices, because writing a pointer costs more during garbage collection.
type plainReader struct {
	src   []byte
	at    int
	open  []plainSpan // names of the elements around
	attrs []plainSpan // names of the attributes of the tag, without prefixes
	roots int
}

// plainSpan is src[from:to].
type plainSpan struct{ from, to int }

func (s plainSpan) in(src []byte) []byte { return src[s.from:s.to] }

// read reads a document. All of its bytes must be allowed characters.
func (p *plainReader) read(maxDepth int) bool {
	for p.at < len(p.src) {
		if !p.text() || p.at < len(p.src) && !p.tag(maxDepth) {
			return false
		}
	}
	return p.roots == 1 && len(p.open) == 0
}

// text passes over text up to the next tag.
func (p *plainReader) text() bool {
	if p.src[p.at] == '<' { // as often as not
		return true
	}
	end := bytes.IndexByte(p.src[p.at:], '<')
	if end < 0 {
		end = len(p.src) - p.at
	}
	text := p.src[p.at : p.at+end]
	p.at += end
	if len(p.open) == 0 {
		return len(bytes.Trim(text, " \t\r\n")) == 0
	}
	return !bytes.Contains(text, []byte("]]>")) && plainReferences(text)
}

// plainReferences reports whether every reference in a text is to a predefined entity.
func plainReferences(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '&')
		if i < 0 {
			return true
		}
		text = text[i+1:]
		end := bytes.IndexByte(text[:min(len(text), len("quot;"))], ';')
		if end < 0 {
			return false
		}
		switch string(text[:end]) {
		case "amp", "lt", "gt", "quot", "apos":
		default:
			return false
		}
	}
}

// tag passes over a tag.
func (p *plainReader) tag(maxDepth int) bool {
	p.at++ // the bracket
	if p.skip('/') {
		last := len(p.open) - 1
		if last < 0 {
			return false
		}
		name := p.open[last].in(p.src)
		if !bytes.HasPrefix(p.src[p.at:], name) {
			return false
		}
		p.at += len(name)
		p.open = p.open[:last]
		return p.skip('>')
	}
	start := p.at
	_, end := plainName(p.src, start)
	if end < 0 || len(p.open) == maxDepth {
		return false
	}
	if p.at = end; len(p.open) == 0 {
		p.roots++
	}
	if p.attrs = p.attrs[:0]; !p.skip('>') && !p.attributes() {
		return false
	}
	if p.src[p.at-2] != '/' {
		p.open = append(p.open, plainSpan{start, end})
	}
	return true
}

func (p *plainReader) skip(c byte) bool {
	if p.at < len(p.src) && p.src[p.at] == c {
		p.at++
		return true
	}
	return false
}

// What a byte may be in plain XML.
const (
	plainNameStart = 1 << iota
	plainNameRest
	plainBlank
)

var plainBytes = func() (t [256]uint8) {
	for c := range t {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z' && c < utf8.RuneSelf, c == '_':
			t[c] = plainNameStart
		case '0' <= c && c <= '9', c == '-', c == '.':
			t[c] = plainNameRest
		case c == ' ', c == '\n', c == '\t', c == '\r':
			t[c] = plainBlank
		}
	}
	return t
}()

// plainName returns the start of the local part, and the end, of the name at a position. The end is -1 if there is no name.
func plainName(src []byte, at int) (local, end int) {
	end = plainWordEnd(src, at)
	if end > 0 && end < len(src) && src[end] == ':' {
		return end + 1, plainWordEnd(src, end+1)
	}
	return at, end
}

func plainWordEnd(src []byte, at int) int {
	if at == len(src) || plainBytes[src[at]] != plainNameStart {
		return -1
	}
	for at++; at < len(src) && plainBytes[src[at]]&(plainNameStart|plainNameRest) != 0; at++ {
	}
	return at
}

// attributes skips the attributes and the end of a tag. No two attributes may have the same local name.
func (p *plainReader) attributes() bool {
	src, at := p.src, p.at
	for {
		start := at
		for at < len(src) && plainBytes[src[at]] == plainBlank {
			at++
		}
		if p.at = at; at < len(src) && (src[at] == '/' || src[at] == '>') {
			return p.skip('>') || p.skip('/') && p.skip('>')
		}
		if at == start {
			return false
		}
		local, end := plainName(src, at)
		if end < 0 || end+1 >= len(src) || src[end] != '=' {
			return false
		}
		length := plainValue(src[end+1:])
		if length < 0 || !p.isNew(src[local:end]) {
			return false
		}
		p.attrs = append(p.attrs, plainSpan{local, end})
		at = end + len(`="`) + length + len(`"`)
	}
}

// isNew reports whether a tag may have another attribute with a name: it is the first one with that name, and there are not too many.
func (p *plainReader) isNew(name []byte) bool {
	for i := range p.attrs {
		if bytes.Equal(p.attrs[i].in(p.src), name) {
			return false
		}
	}
	return len(p.attrs) < maxPlainAttributes
}

// plainValue returns the length of the value in quotes that src begins with; -1 if it is not plain.
func plainValue(src []byte) int {
	quote, plain := src[0], true
	if quote != '"' && quote != '\'' {
		return -1
	}
	for i, c := range src[1:] {
		switch c {
		case quote:
			if plain || plainReferences(src[1:1+i]) {
				return i
			}
			return -1
		case '<':
			return -1
		case '&':
			plain = false
		}
	}
	return -1
}
