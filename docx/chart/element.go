package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	// maxDepth is how deep the elements of a chart may nest.
	maxDepth = 100
	// maxElements is how many a chart may have; each value that is shown takes two.
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
	d := xml.NewDecoder(bytes.NewReader(src))
	above := &element{}
	open := []*element{above}
	for count := 0; ; count++ {
		before := int(d.InputOffset())
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("cannot be read: %w", err)
		}
		after := int(d.InputOffset())
		in := open[len(open)-1]
		switch tok := tok.(type) {
		case xml.StartElement:
			e := &element{name: rawName(tok.Name), start: before, open: after}
			in.children = append(in.children, e)
			open = append(open, e)
		case xml.EndElement:
			if in == above || in.name != rawName(tok.Name) {
				return nil, errors.New("cannot be read: an end tag has no start tag")
			}
			in.close, in.end = before, after
			open = open[:len(open)-1]
		}
		if len(open) > maxDepth || count > maxElements {
			return nil, errors.New("cannot be read: it has too many elements")
		}
	}
	if len(above.children) != 1 || len(open) > 1 {
		return nil, errors.New("cannot be read: it is not complete")
	}
	return above.children[0], nil
}

func rawName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// child returns the first child of a name, nil if there is none or no element.
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

// first returns the first element of a name in e, nil if there is none or no element.
func (e *element) first(name string) *element {
	if e == nil {
		return nil
	}
	if all := e.all(name); len(all) > 0 {
		return all[0]
	}
	return nil
}

// attr returns the value of an attribute; the empty text if there is none.
func (e *element) attr(src []byte, name string) string {
	tok, err := xml.NewDecoder(bytes.NewReader(src[e.start:e.open])).RawToken()
	if start, ok := tok.(xml.StartElement); err == nil && ok {
		for _, a := range start.Attr {
			if rawName(a.Name) == name {
				return a.Value
			}
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
	d := xml.NewDecoder(bytes.NewReader(src[e.open:e.close]))
	for {
		tok, err := d.RawToken()
		if err != nil { // the end: parse has checked the rest
			return string(text)
		}
		if data, ok := tok.(xml.CharData); ok {
			text = append(text, data...)
		}
	}
}
