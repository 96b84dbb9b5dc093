// Package scan reads the XML of Office files in one pass, without building a tree. Everything in Platen that reads such XML uses it, except
// docx/validate, which must not share a reader with the packages whose output it checks.
//
// A [Reader] stops at each tag. It has the position of the tag in the source, its name with the prefix that package names has for its
// namespace, its attributes, and the text before it:
//
//	r := scan.New(part)
//	for range r.All {
//		if r.Name() == "w:pStyle" {
//			style = r.Attr("w:val")
//		}
//	}
//	return r.Err()
//
// A Reader does not check that the XML is well formed (ooxml.CheckXML does), but it stays within its limits for any input.
package scan

import (
	"bytes"
	"errors"
	"fmt"
)

// Kind is the kind of a tag.
type Kind uint8

// The kinds of tags.
const (
	None  Kind = iota // no tag has been read
	Open              // <a>
	Close             // </a>
	Void              // <a/>
)

const (
	maxDepth      = 1000 // of elements in one another
	maxAttributes = 1000 // of one element
)

// ErrLimit means that the XML exceeds a limit of the Reader. Other errors mean that it is not well formed.
var ErrLimit = errors.New("the XML exceeds a limit")

var (
	errTooDeep     = fmt.Errorf("%w: elements are nested deeper than %d", ErrLimit, maxDepth)
	errTooMany     = fmt.Errorf("%w: an element has more than %d attributes", ErrLimit, maxAttributes)
	errTagEnds     = errors.New("the XML ends inside a tag")
	errElementEnds = errors.New("the XML ends inside an element")
	errNotOpen     = errors.New("the XML closes an element that is not open")
)

// Reader reads the tags of a part.
type Reader struct {
	// Classify, if not nil, returns the class of a name, for Class. It is called about once for each name of the part. Set it before the
	// first call of Next.
	Classify func(name string) Class

	// The tag that was read last is src[Start:End], and the text before it src[TextStart:Start]. At the end of the part, the tag is
	// empty.
	Kind                  Kind
	Start, End, TextStart int

	src   []byte
	depth int // of the element that the tag belongs to, from 1
	name  *name
	attrs []Attribute
	names namespaces
	err   error
}

// Attribute is an attribute of a tag. Start is the position of the blanks before it. Its name is
// src[NameStart:NameEnd], the name without the prefix src[LocalStart:NameEnd], and its value src[ValueStart:ValueEnd].
type Attribute struct{ Start, NameStart, LocalStart, NameEnd, ValueStart, ValueEnd int }

// End is where the attribute ends, after the quote.
func (a *Attribute) End() int { return a.ValueEnd + 1 }

// New returns a Reader of src, which must not change while it is read.
func New(src []byte) *Reader {
	r := &Reader{src: src}
	r.names.init()
	return r
}

// Next moves to the next tag. It returns false at the end of the part and after an error.
func (r *Reader) Next() bool {
	if r.err != nil {
		return false
	}
	if r.Kind >= Close {
		r.leave()
	}
	r.TextStart, r.Start = r.End, r.End
	start := r.nextTag(r.End)
	switch {
	case start < 0:
		r.Kind, r.Start, r.End = None, len(r.src), len(r.src)
		if r.depth > 0 {
			r.fail(errElementEnds)
		}
		return false
	case r.src[start+1] == '/':
		return r.close(start)
	}
	return r.open(start)
}

// Err returns the error that ended the reading; nil if it reached the end of the part.
func (r *Reader) Err() error { return r.err }

// LimitErr returns the error of Err if it is ErrLimit. Readers that use a malformed part as far as it goes ignore other errors.
func (r *Reader) LimitErr() error {
	if errors.Is(r.err, ErrLimit) {
		return r.err
	}
	return nil
}

func (r *Reader) fail(err error) bool {
	r.err = err
	return false
}

// leave ends the element of the last tag.
func (r *Reader) leave() {
	if r.depth <= r.names.innermost {
		r.names.leave(r.depth)
	}
	r.depth--
}

// nextTag returns the start of the next tag, or -1 if there is none.
func (r *Reader) nextTag(at int) int {
	src := r.src
	for {
		if at < len(src) && src[at] != '<' { // there is text before it
			i := bytes.IndexByte(src[at:], '<')
			if i < 0 {
				return -1
			}
			at += i
		}
		if at+1 >= len(src) {
			return -1
		}
		if c := src[at+1]; c != '!' && c != '?' {
			return at
		}
		at += markupLen(src[at:])
	}
}

func (r *Reader) close(start int) bool {
	if r.depth == 0 {
		return r.fail(errNotOpen)
	}
	r.Kind, r.Start, r.End = Close, start, len(r.src)
	if i := bytes.IndexByte(r.src[start:], '>'); i >= 0 {
		r.End = start + i + 1
	}
	return true
}

// open reads a start tag.
func (r *Reader) open(start int) bool {
	if r.depth++; r.depth > maxDepth {
		return r.fail(errTooDeep)
	}
	nameEnd := endOfName(r.src, start+1)
	if err := r.attributes(nameEnd); err != nil {
		return r.fail(err)
	}
	r.Start = start
	r.name = r.names.find(r.src[start+1 : nameEnd])
	r.resolve(r.name)
	r.Kind = Open
	if r.src[r.End-2] == '/' {
		r.Kind = Void
	}
	return true
}

// blankBytes are the bytes between attributes, afterName those that can follow a name.
var (
	blankBytes = [256]bool{' ': true, '\t': true, '\n': true, '\r': true}
	afterName  = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, '/': true, '>': true, '=': true}
)

func endOfName(src []byte, at int) int {
	for at < len(src) && !afterName[src[at]] {
		at++
	}
	return at
}

// attributes finds the attributes of a tag, from the end of its name, and sets where the tag ends.
func (r *Reader) attributes(at int) error {
	src := r.src
	r.attrs = r.attrs[:0]
	for {
		start := at
		for at < len(src) && blankBytes[src[at]] {
			at++
		}
		if at+1 < len(src) && src[at] == '/' {
			r.End = at + 2
			return nil
		}
		if at < len(src) && src[at] == '>' {
			r.End = at + 1
			return nil
		}
		nameEnd, local := at, at
		for ; nameEnd < len(src) && !afterName[src[nameEnd]]; nameEnd++ {
			if src[nameEnd] == ':' && local == at {
				local = nameEnd + 1
			}
		}
		value := nameEnd
		for value < len(src) && src[value] != '"' && src[value] != '\'' {
			value++
		}
		if value == len(src) {
			return errTagEnds
		}
		length := bytes.IndexByte(src[value+1:], src[value])
		if length < 0 {
			return errTagEnds
		}
		a := Attribute{
			Start: start, NameStart: at, LocalStart: local, NameEnd: nameEnd,
			ValueStart: value + 1, ValueEnd: value + 1 + length,
		}
		if len(r.attrs) == maxAttributes {
			return errTooMany
		}
		r.attrs = append(r.attrs, a)
		if name := src[at:nameEnd]; len(name) >= len("xmlns") && name[0] == 'x' {
			r.names.declare(name, src[a.ValueStart:a.ValueEnd], r.depth)
		}
		at = a.End()
	}
}
