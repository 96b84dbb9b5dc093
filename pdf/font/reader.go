package font

import (
	"bytes"
	"errors"
	"html"

	"platen/ooxml/names"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/xml"
)

// reader goes through the elements of a part. Names have the prefixes that Word writes, whatever the part calls its
// namespaces.
type reader struct {
	lex     *xml.Lexer
	kind    kind
	name    []byte // of the element that starts or ends
	text    []byte // not yet unescaped
	literal bool   // the text is from a CDATA section, where nothing is escaped
	attrs   []attribute
	void    bool              // the element that started ends at once
	depth   int               // of elements
	renamed map[string]string // prefixes that are not those of Word
	err     error
}

type kind int

const (
	startTag kind = iota
	endTag
	textual
)

type attribute struct{ name, value []byte }

const (
	maxElementDepth = 1000 // of elements in one another; reading goes as deep as they are
	maxAttributes   = 1000 // of one element
	maxRenamed      = 1000 // prefixes
)

var (
	errTooDeep = errors.New("elements are nested too deeply")
	errTooMany = errors.New("an element has too many attributes")
)

func newReader(part []byte) *reader {
	return &reader{lex: xml.NewLexer(parse.NewInputBytes(part))}
}

// next goes to the next start or end of an element, or text between them. It is false at the end of the part, and where
// the part is no XML.
func (x *reader) next() bool {
	if x.err != nil {
		return false
	}
	if x.void {
		x.void, x.kind = false, endTag
		x.depth--
		return true
	}
	for {
		token, _ := x.lex.Next()
		switch token {
		case xml.ErrorToken:
			return false
		case xml.StartTagToken:
			x.start()
			return x.err == nil
		case xml.EndTagToken:
			x.kind, x.name = endTag, x.lex.Text()
			x.depth--
			return true
		case xml.TextToken, xml.CDATAToken:
			x.kind, x.text, x.literal = textual, x.lex.Text(), token == xml.CDATAToken
			if x.literal {
				x.text = bytes.TrimSuffix(x.text, []byte("]]>"))
			}
			return true
		default: // comments, declarations and their attributes
		}
	}
}

// start reads a start tag with its attributes.
func (x *reader) start() {
	x.kind, x.name = startTag, x.lex.Text()
	x.attrs = x.attrs[:0]
	if x.depth++; x.depth > maxElementDepth {
		x.err = errTooDeep
		return
	}
	for {
		switch token, _ := x.lex.Next(); token {
		case xml.AttributeToken:
			name, value := x.lex.Text(), x.lex.AttrVal()
			if len(value) >= 2 {
				value = value[1 : len(value)-1]
			}
			if bytes.HasPrefix(name, []byte("xmlns")) {
				x.declare(name, value)
			}
			if x.attrs = append(x.attrs, attribute{name, value}); len(x.attrs) > maxAttributes {
				x.err = errTooMany
				return
			}
		case xml.StartTagCloseVoidToken:
			x.void = true
			x.name = x.canonical(x.name)
			return
		case xml.StartTagCloseToken:
			x.name = x.canonical(x.name)
			return
		default: // the part ends in the tag
			x.kind, x.void = endTag, false
			return
		}
	}
}

// declare takes note of a namespace that has not the prefix of Word's, and of a prefix of Word's with another namespace.
func (x *reader) declare(name, namespace []byte) {
	_, prefix, _ := bytes.Cut(name, []byte(":"))
	usual := names.Prefix(string(namespace))
	known := usual != ""
	if usual == "rel" { // whose elements are known by their local names
		usual = ""
	}
	switch {
	case known && usual == string(prefix), len(prefix) == 0 && !known:
		delete(x.renamed, string(prefix))
		return
	case !known:
		usual = "other"
		if !isUsual(string(prefix)) {
			return
		}
	}
	if x.renamed == nil {
		x.renamed = map[string]string{}
	}
	if len(x.renamed) < maxRenamed {
		x.renamed[string(prefix)] = usual
	}
}

func isUsual(prefix string) bool {
	switch prefix {
	case "w", "a", "m", "r", "mc", "c", "v":
		return true
	}
	return false
}

// canonical is a name with the prefix of Word.
func (x *reader) canonical(name []byte) []byte {
	if len(x.renamed) == 0 {
		return name
	}
	prefix, local, ok := bytes.Cut(name, []byte(":"))
	if !ok {
		prefix, local = nil, name
	}
	usual, renamed := x.renamed[string(prefix)]
	switch {
	case !renamed:
		return name
	case usual == "":
		return local
	}
	return []byte(usual + ":" + string(local))
}

// attr is the value of an attribute, or "".
func (x *reader) attr(name string) string {
	raw := x.rawAttr(name)
	if bytes.IndexByte(raw, '&') >= 0 {
		return html.UnescapeString(string(raw))
	}
	return string(raw)
}

func (x *reader) rawAttr(name string) []byte {
	for _, a := range x.attrs {
		if string(a.name) == name {
			return a.value
		}
	}
	if len(x.renamed) == 0 {
		return nil
	}
	for _, a := range x.attrs {
		// Attributes without a prefix are in no namespace, whatever the default one is.
		if bytes.IndexByte(a.name, ':') >= 0 && string(x.canonical(a.name)) == name {
			return a.value
		}
	}
	return nil
}

// on is the value of an element that switches something on unless it says otherwise (ISO 29500-1 §17.17.4).
func (x *reader) on() bool {
	switch string(x.rawAttr("w:val")) {
	case "0", "false", "off":
		return false
	}
	return true
}

// starts goes to each element of the part, however deep it is, that was not read before.
func (x *reader) starts(yield func() bool) {
	for x.next() {
		if x.kind == startTag && !yield() {
			return
		}
	}
}

// children goes to each element in the one that has just started, and ends at the end of that one. Each must be read to its own end.
func (x *reader) children(yield func() bool) {
	for x.next() && x.kind != endTag {
		if x.kind == startTag && !yield() {
			return
		}
	}
}

// skip goes to the end of the element that has just started.
func (x *reader) skip() {
	for depth := x.depth; x.depth >= depth && x.next(); {
	}
}
