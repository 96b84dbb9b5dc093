package opc

import (
	"bytes"
	"unicode/utf8"
)

// Nearly all XML of documents is of a plain sort: elements, attributes and text, with a declaration before them and names
// in ASCII. That it is well formed can be told ten times as fast as encoding/xml does it.

// maxPlainAttributes is how many attributes an element of plain XML has at most.
const maxPlainAttributes = 64

// isPlainXML reports whether src is well-formed XML of the plain sort, nested up to maxDepth. If it is not of that sort, it
// may be well formed all the same.
func isPlainXML(src []byte, maxDepth int) bool {
	if !utf8.Valid(src) || bytes.Contains(src, []byte("\uFFFE")) || bytes.Contains(src, []byte("\uFFFF")) {
		return false
	}
	for _, c := range src {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	p := plainReader{src: src, at: declarationSize(src)}
	for p.at < len(src) {
		if !p.text() || p.at < len(src) && !p.tag(maxDepth) {
			return false
		}
	}
	return p.roots == 1 && len(p.open) == 0
}

// declarationSize returns the length of the XML declaration, 0 if there is none of the usual ones.
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

// plainReader goes through plain XML. Its methods pass over what they are named for, and are false if it is not plain.
type plainReader struct {
	src   []byte
	at    int
	open  [][]byte // names of the elements around
	roots int
}

// text passes over text up to the next tag.
func (p *plainReader) text() bool {
	end := bytes.IndexByte(p.src[p.at:], '<')
	if end < 0 {
		end = len(p.src) - p.at
	}
	text := p.src[p.at : p.at+end]
	p.at += end
	if len(p.open) == 0 {
		return len(bytes.Trim(text, " \t\r\n")) == 0
	}
	return len(text) == 0 || !bytes.Contains(text, []byte("]]>")) && plainReferences(text)
}

// plainReferences tells whether every reference in a text is to an entity of XML itself.
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
		name := p.name()
		if len(p.open) == 0 || !bytes.Equal(name, p.open[len(p.open)-1]) {
			return false
		}
		p.open = p.open[:len(p.open)-1]
		return p.skip('>')
	}
	name := p.name()
	if name == nil || len(p.open) == maxDepth {
		return false
	}
	if len(p.open) == 0 {
		p.roots++
	}
	if !p.attributes() {
		return false
	}
	if p.skip('/') {
		return p.skip('>')
	}
	p.open = append(p.open, name)
	return p.skip('>')
}

func (p *plainReader) skip(c byte) bool {
	if p.at < len(p.src) && p.src[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *plainReader) blanks() (some bool) {
	for p.skip(' ') || p.skip('\n') || p.skip('\t') || p.skip('\r') {
		some = true
	}
	return some
}

// nameBytes holds what names are made of: 1 for what they may begin with, 2 for what may follow.
var nameBytes = func() (t [256]uint8) {
	for c := range t {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z' && c < utf8.RuneSelf, c == '_':
			t[c] = 1
		case '0' <= c && c <= '9', c == '-', c == '.':
			t[c] = 2
		}
	}
	return t
}()

// name returns a name, which may have a prefix; nil if there is none.
func (p *plainReader) name() []byte {
	start := p.at
	if !p.word() || p.skip(':') && !p.word() {
		return nil
	}
	return p.src[start:p.at]
}

func (p *plainReader) word() bool {
	if p.at == len(p.src) || nameBytes[p.src[p.at]] != 1 {
		return false
	}
	for p.at++; p.at < len(p.src) && nameBytes[p.src[p.at]] != 0; p.at++ {
	}
	return true
}

// attributes passes over the attributes of a tag. No two may have the same name but for the prefix.
func (p *plainReader) attributes() bool {
	var names [maxPlainAttributes][]byte
	for n := 0; p.blanks(); n++ {
		if p.at < len(p.src) && (p.src[p.at] == '/' || p.src[p.at] == '>') {
			return true
		}
		name := p.name()
		if name == nil || n == maxPlainAttributes || !p.skip('=') || !p.quoted() {
			return false
		}
		local := name[bytes.IndexByte(name, ':')+1:]
		for _, other := range names[:n] {
			if bytes.Equal(local, other) {
				return false
			}
		}
		names[n] = local
	}
	return true
}

func (p *plainReader) quoted() bool {
	if p.at == len(p.src) || p.src[p.at] != '"' && p.src[p.at] != '\'' {
		return false
	}
	end := bytes.IndexByte(p.src[p.at+1:], p.src[p.at])
	if end < 0 {
		return false
	}
	value := p.src[p.at+1 : p.at+1+end]
	p.at += end + 2
	return bytes.IndexByte(value, '<') < 0 && plainReferences(value)
}
