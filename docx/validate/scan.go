package validate

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file reads XML 1.0 without document types. It shares nothing with the readers of the engine on purpose: a check that used them could
// not find their mistakes.

// maxAttributes is the maximum number of attributes of an element. Each is compared with all others.
const maxAttributes = 1000

// tag is a start or end tag as written. Its slices are parts of the source.
type tag struct {
	name  []byte
	attrs []attribute
	end   bool // </…>
	void  bool // <…/>
}

type attribute struct{ name, value []byte }

// Classes of bytes in names.
const (
	nameStart = 1 << iota
	nameRest
	blank
)

var byteClass = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == ':', c >= utf8.RuneSelf:
			t[c] = nameStart | nameRest
		case c >= '0' && c <= '9', c == '-', c == '.':
			t[c] = nameRest
		case c == ' ', c == '\t', c == '\n', c == '\r':
			t[c] = blank
		}
	}
	return t
}()

var (
	errTagEnds   = errors.New("a tag, comment, or section does not end")
	errAmpersand = errors.New("an & does not begin a character reference")
)

// checkCharacters reports characters that XML does not allow.
func checkCharacters(src []byte) error {
	if !utf8.Valid(src) {
		return errors.New("the text is not UTF-8")
	}
	for i, c := range src {
		if c < ' ' && byteClass[c] != blank {
			return fmt.Errorf("byte %d is the control character U+%04X", i, c)
		}
	}
	if bytes.Contains(src, []byte("\uFFFE")) || bytes.Contains(src, []byte("\uFFFF")) {
		return errors.New("the text contains U+FFFE or U+FFFF")
	}
	return nil
}

// read reads the tag at the start of src, and returns its length in bytes.
func (t *tag) read(src []byte) (int, error) {
	*t = tag{attrs: t.attrs[:0]}
	i := 1
	if i < len(src) && src[i] == '/' {
		t.end = true
		i++
	}
	n := nameLen(src[i:])
	if i+n == len(src) {
		return 0, errTagEnds
	}
	if n == 0 {
		return 0, errors.New("a < does not begin a tag")
	}
	t.name = src[i : i+n]
	for i += n; i < len(src); {
		from := i
		for i < len(src) && byteClass[src[i]] == blank {
			i++
		}
		switch {
		case i == len(src) || src[i] == '/' && i+1 == len(src):
			return 0, errTagEnds
		case src[i] == '>':
			return i + 1, nil
		case src[i] == '/' && i+1 < len(src) && src[i+1] == '>' && !t.end:
			t.void = true
			return i + 2, nil
		case i == from || t.end:
			return 0, fmt.Errorf("the tag of %s is not well formed", t.name)
		}
		n, err := t.attribute(src[i:])
		if err != nil {
			return 0, err
		}
		i += n
	}
	return 0, errTagEnds
}

func nameLen(src []byte) int {
	if len(src) == 0 || byteClass[src[0]]&nameStart == 0 {
		return 0
	}
	n := 1
	for n < len(src) && byteClass[src[n]]&nameRest != 0 {
		n++
	}
	return n
}

// attribute reads the attribute at the start of src, and returns its length in bytes.
func (t *tag) attribute(src []byte) (int, error) {
	n := nameLen(src)
	name, i := src[:n], skipBlanks(src, n)
	if i == len(src) {
		return 0, errTagEnds
	}
	if n == 0 || src[i] != '=' {
		return 0, fmt.Errorf("the tag of %s is not well formed", t.name)
	}
	if i = skipBlanks(src, i+1); i == len(src) {
		return 0, errTagEnds
	}
	if src[i] != '"' && src[i] != '\'' {
		return 0, fmt.Errorf("the attribute %s has no value in quotes", name)
	}
	length, markup := quotedLen(src[i:])
	if length < 0 {
		return 0, errTagEnds
	}
	value := src[i+1 : i+1+length]
	if markup && bytes.IndexByte(value, '<') >= 0 {
		return 0, fmt.Errorf("the attribute %s contains a <", name)
	}
	if markup {
		if err := checkReferences(value); err != nil {
			return 0, err
		}
	}
	if len(t.attrs) >= maxAttributes {
		return 0, fmt.Errorf("%s has more than %d attributes", t.name, maxAttributes)
	}
	for _, a := range t.attrs {
		if bytes.Equal(a.name, name) {
			return 0, fmt.Errorf("%s has the attribute %s twice", t.name, name)
		}
	}
	t.attrs = append(t.attrs, attribute{name, value})
	return i + length + 2, nil
}

// quotedLen returns the length of the quoted value at the start of src, or -1 if it does not end. markup reports
// whether it contains < or &.
func quotedLen(src []byte) (length int, markup bool) {
	quote := src[0]
	for i, c := range src[1:] {
		switch c {
		case quote:
			return i, markup
		case '<', '&':
			markup = true
		}
	}
	return -1, markup
}

func skipBlanks(src []byte, i int) int {
	for i < len(src) && byteClass[src[i]] == blank {
		i++
	}
	return i
}

// checkReferences reports an & that does not begin a character reference.
func checkReferences(text []byte) error {
	for {
		i := bytes.IndexByte(text, '&')
		if i < 0 {
			return nil
		}
		const longest = len("&#x10FFFF;")
		end := bytes.IndexByte(text[i:min(len(text), i+longest+4)], ';')
		if end < 0 || !isReference(string(text[i+1:i+end])) {
			return errAmpersand
		}
		text = text[i+end:]
	}
}

func isReference(name string) bool {
	switch name {
	case "lt", "gt", "amp", "quot", "apos":
		return true
	}
	digits, base := strings.CutPrefix(name, "#")
	if !base {
		return false
	}
	radix := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, radix = hex, 16
	}
	r, err := strconv.ParseUint(digits, radix, 32)
	return err == nil && (r >= ' ' && r < 0xD800 || r > 0xDFFF && r < 0xFFFE || r > 0xFFFF && r <= utf8.MaxRune || r == '\t' ||
		r == '\n' || r == '\r')
}

// markupLen returns the length of the comment, instruction, or CDATA section at the start of src, or 0 if it is a tag.
func markupLen(src []byte) (int, error) {
	for _, kind := range []struct{ begin, end, not string }{{"<!--", "-->", "--"}, {"<![CDATA[", "]]>", ""}, {"<?", "?>", ""}} {
		rest, ok := bytes.CutPrefix(src, []byte(kind.begin))
		if !ok {
			continue
		}
		n := bytes.Index(rest, []byte(kind.end))
		if n < 0 {
			return 0, errTagEnds
		}
		if kind.not != "" && (bytes.Contains(rest[:n], []byte(kind.not)) || bytes.HasSuffix(rest[:n], []byte("-"))) {
			return 0, errors.New("a comment contains --")
		}
		return len(kind.begin) + n + len(kind.end), nil
	}
	if bytes.HasPrefix(src, []byte("<!")) {
		if len(src) < len("<![CDATA[") && bytes.IndexByte(src, '>') < 0 {
			return 0, errTagEnds
		}
		return 0, errors.New("a document type declaration is not allowed in a part")
	}
	return 0, nil
}
