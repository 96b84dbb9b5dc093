package scan

import (
	"bytes"
	"slices"
	"strings"
)

// Depth returns the depth of the element of the last tag: 1 for the root.
func (r *Reader) Depth() int { return r.depth }

// Name returns the canonical name of the element of the last start tag, such as "w:p", whatever its prefix; "" for a namespace that package
// names does not have, and without a namespace.
func (r *Reader) Name() string { return r.name.canonical }

// Class returns the result of Classify for the element of the last start tag.
func (r *Reader) Class() Class { return r.name.class }

// RawName returns the name in the last start tag as written.
func (r *Reader) RawName() string { return r.name.raw }

// LocalName returns the name in the last start tag without its prefix.
func (r *Reader) LocalName() string { return r.name.raw[strings.IndexByte(r.name.raw, ':')+1:] }

// Attributes returns the attributes of the last start tag. The slice is valid until the next call of Next.
func (r *Reader) Attributes() []Attribute { return r.attrs }

// AttributeName returns the canonical name of an attribute. One without a prefix has no namespace and keeps its name. The
// declaration of a prefix has the name "".
func (r *Reader) AttributeName(a *Attribute) string {
	raw := r.src[a.NameStart:a.NameEnd]
	n := r.names.find(raw)
	if a.LocalStart == a.NameStart {
		return n.raw
	}
	if bytes.HasPrefix(raw, []byte("xmlns:")) {
		return ""
	}
	r.resolve(n)
	return n.canonical
}

// Value returns the value of an attribute as written.
func (r *Reader) Value(a *Attribute) []byte { return r.src[a.ValueStart:a.ValueEnd] }

// RawAttr returns the value, as written, of the attribute with a canonical name; nil if the last start tag has none.
func (r *Reader) RawAttr(name string) []byte {
	for i := range r.attrs {
		a := &r.attrs[i]
		if r.AttributeName(a) == name {
			return r.src[a.ValueStart:a.ValueEnd]
		}
	}
	return nil
}

// Attr returns the value of the attribute with a canonical name; "" if the last start tag has none.
func (r *Reader) Attr(name string) string { return Value(r.RawAttr(name)) }

// IsOn returns the value of an on/off attribute, which is on unless it says otherwise (ST_OnOff, ISO/IEC 29500-1 §22.9.2.7).
func IsOn[T string | []byte](value T) bool {
	switch string(value) {
	case "0", "false", "off":
		return false
	}
	return true
}

// Text returns the text between the last two tags, or after the last one at the end of the part. It is a part of the source if
// nothing in it is escaped.
func (r *Reader) Text() []byte { return decode(r.src[r.TextStart:r.Start]) }

// All iterates over the start tags of the part that have not been read.
func (r *Reader) All(yield func() bool) {
	for r.Next() {
		if r.Kind != Close && !yield() {
			return
		}
	}
}

// Children iterates over the children of the element of the last start tag, up to that element's end. It skips the content of a child that
// the loop does not read. After a break, the Reader stays at its position.
func (r *Reader) Children(yield func() bool) {
	if r.Kind != Open {
		return
	}
	depth := r.depth
	for r.Next() && r.depth > depth {
		if !yield() {
			return
		}
		if !r.skipTo(depth + 1) {
			return
		}
	}
}

// Scope identifies the namespaces in effect in the last start tag. In one part, the same number means the same namespaces.
func (r *Reader) Scope() int { return r.names.scope }

// Element returns the source of the element of the last start tag, including its end tag.
func (r *Reader) Element() []byte {
	at := r.End
	for depth := 1; r.Kind == Open && depth > 0; {
		start := r.nextTag(at)
		if start < 0 {
			return r.src[r.Start:]
		}
		if at = r.tagEnd(start); at < 0 {
			return r.src[r.Start:]
		}
		switch {
		case r.src[start+1] == '/':
			depth--
		case r.src[at-2] != '/':
			depth++
		}
	}
	return r.src[r.Start:at]
}

// Skip moves to the end of the element of the last start tag.
func (r *Reader) Skip() bool { return r.skipTo(r.depth) }

// skipTo moves to the end of the element with a depth that contains the last tag.
func (r *Reader) skipTo(depth int) bool {
	for r.err == nil && (r.depth > depth || r.Kind == Open) {
		if r.Kind >= Close {
			r.leave()
		}
		start := r.nextTag(r.End)
		if start < 0 {
			return r.fail(errElementEnds)
		}
		end := r.tagEnd(start)
		if end < 0 {
			return r.fail(errTagEnds)
		}
		r.TextStart, r.Start, r.End = r.End, start, end
		switch {
		case r.src[start+1] == '/':
			r.Kind = Close
			continue
		case r.src[end-2] == '/':
			r.Kind = Void
		default:
			r.Kind = Open
		}
		r.depth++
	}
	return r.err == nil
}

// tagEnd returns the end of a tag, or -1 if it has none.
func (r *Reader) tagEnd(start int) int {
	rest := r.src[start:]
	end := bytes.IndexByte(rest, '>')
	if end < 0 {
		return -1
	}
	if tag := rest[:end]; bytes.IndexByte(tag, '\'') < 0 && bytes.Count(tag, quote)%2 == 0 {
		return start + end + 1 // the > is not in a value
	}
	for i := start; i < len(r.src); i++ {
		switch c := r.src[i]; c {
		case '>':
			return i + 1
		case '"', '\'':
			length := bytes.IndexByte(r.src[i+1:], c)
			if length < 0 {
				return -1
			}
			i += length + 1
		}
	}
	return -1
}

var quote = []byte{'"'}

// Enter reads the start tags at some positions of the source: the root, and then each time a descendant of the element
// before. It moves to the last of them from any position, and returns false if one of them cannot be read.
func (r *Reader) Enter(starts ...int) bool {
	r.Kind, r.End, r.depth, r.err = None, 0, 0, nil
	r.names.leave(0)
	for _, start := range starts {
		r.Start, r.TextStart = start, start
		if start < 0 || start >= len(r.src) || !r.open(start) {
			return false
		}
	}
	return len(starts) > 0
}

// Ahead calls read, which may use the Reader to read after the last tag, and then returns to that tag.
func (r *Reader) Ahead(read func()) {
	saved := *r
	saved.attrs, saved.names.bindings = slices.Clone(r.attrs), slices.Clone(r.names.bindings)
	saved.names.outer = slices.Clone(r.names.outer)
	read()
	saved.names.scopes = r.names.scopes // so that no number of a scope is used twice
	*r = saved
	if r.name != nil {
		r.resolve(r.name) // read may have resolved the name in another scope
	}
}
