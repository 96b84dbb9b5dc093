package chart

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"platen/ooxml/scan"
)

const (
	// maxDepth is how deep the elements of a chart may nest.
	maxDepth = 100
	// maxElements is the largest number of elements in a chart. Each value takes two.
	maxElements = 1_000_000
)

// element is an element of a chart: src[start:end], its content src[open:close].
type element struct {
	name                    string // as written
	start, open, close, end int
	children                []*element
}

// parse reads a well-formed document.
func parse(src []byte) (*element, error) {
	above := &element{}
	open := []*element{above}
	r := scan.New(src)
	for count := 0; r.Next(); count++ {
		in := open[len(open)-1]
		if r.Kind == scan.Close {
			if !bytes.HasPrefix(src[r.Start:], []byte("</"+in.name)) {
				return nil, errors.New("cannot be read: an element is closed that is not open")
			}
			in.close, in.end = r.Start, r.End
			open = open[:len(open)-1]
			continue
		}
		e := &element{name: r.RawName(), start: r.Start, open: r.End, close: r.End, end: r.End}
		in.children = append(in.children, e)
		if r.Kind == scan.Open {
			open = append(open, e)
		}
		if len(open) > maxDepth || count > maxElements {
			return nil, errors.New("cannot be read: it has too many elements")
		}
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if len(above.children) != 1 {
		return nil, errors.New("cannot be read: it has no end")
	}
	return above.children[0], nil
}

// child returns the first child with one of the names, or nil if there is none or e is nil.
func (e *element) child(names ...string) *element {
	for _, name := range names {
		if e == nil {
			return nil
		}
		i := slices.IndexFunc(e.children, func(c *element) bool { return c.name == name })
		if i < 0 {
			return nil
		}
		e = e.children[i]
	}
	return e
}

// all returns the elements of a name in e, which do not nest.
func (e *element) all(name string) []*element {
	var found []*element
	for _, c := range e.children {
		if c.name == name {
			found = append(found, c)
		} else {
			found = append(found, c.all(name)...)
		}
	}
	return found
}

// first returns the first element with a name in e, or nil if there is none or e is nil.
func (e *element) first(name string) *element {
	if e == nil {
		return nil
	}
	if all := e.all(name); len(all) > 0 {
		return all[0]
	}
	return nil
}

// attr returns the value of an attribute, "" if it is missing.
func (e *element) attr(src []byte, name string) string {
	r := scan.New(src[e.start:e.open])
	r.Next()
	for i := range r.Attributes() {
		a := &r.Attributes()[i]
		if string(src[e.start+a.NameStart:e.start+a.NameEnd]) == name {
			return scan.Value(r.Value(a))
		}
	}
	return ""
}

// text returns the text of an element; of none, the empty text.
func (e *element) text(src []byte) string {
	if e == nil {
		return ""
	}
	var text []byte
	r := scan.New(src[e.start:e.end])
	for r.Next() {
		text = append(text, r.Text()...)
	}
	return string(text)
}
