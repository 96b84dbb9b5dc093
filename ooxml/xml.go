package ooxml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// CheckXML checks that src is a well-formed XML document in UTF-8 without a document type declaration, so that it
// cannot define entities. It rejects elements that are nested deeper than maxDepth. The error is an *Error about part.
func CheckXML(part string, src []byte, maxDepth int) error {
	if isPlainXML(src, maxDepth) {
		return nil
	}
	return checkAnyXML(part, src, maxDepth)
}

func checkAnyXML(part string, src []byte, maxDepth int) error {
	c := &xmlCheck{maxDepth: maxDepth}
	d := xml.NewDecoder(bytes.NewReader(src))
	d.CharsetReader = func(charset string, r io.Reader) (io.Reader, error) {
		if strings.EqualFold(charset, "us-ascii") {
			return r, nil
		}
		return nil, fmt.Errorf("the encoding %q is not UTF-8", charset)
	}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.token(tok)
		}
		if e, ok := errors.AsType[*Error](err); ok {
			e.Part = part
			return e
		}
		if err != nil {
			return badXML(part, err)
		}
	}
	if c.roots != 1 {
		return badXML(part, errors.New("there is no root element"))
	}
	return nil
}

func badXML(part string, err error) error {
	return &Error{Code: CodeBadXML, Part: part, Message: "the XML is not well formed", Remedy: remedySaveAgain, Err: err}
}

// xmlCheck has the checks that encoding/xml leaves to its caller: one root with nothing around it, no duplicate attributes, and no DTD.
type xmlCheck struct {
	maxDepth, depth, roots int
}

func (c *xmlCheck) token(tok xml.Token) error {
	switch tok := tok.(type) {
	case xml.Directive:
		return &Error{Code: CodeDoctype, Message: "a document type declaration is not allowed in a document part", Remedy: remedySaveAgain}
	case xml.StartElement:
		if c.depth++; c.depth > c.maxDepth {
			return fmt.Errorf("elements are nested deeper than %d", c.maxDepth)
		}
		if c.depth == 1 {
			if c.roots++; c.roots > 1 {
				return errors.New("there is more than one root element")
			}
		}
		return checkAttributes(tok)
	case xml.EndElement:
		c.depth--
	case xml.CharData:
		outside := bytes.TrimPrefix(tok, []byte("\uFEFF"))
		if c.depth == 0 && len(bytes.TrimSpace(outside)) > 0 {
			return errors.New("there is text outside the root element")
		}
	}
	return nil
}

// maxAttributes is the largest number of attributes of an element, each of which is compared with the others.
const maxAttributes = 1000

func checkAttributes(e xml.StartElement) error {
	if len(e.Attr) > maxAttributes {
		return fmt.Errorf("element %s has more than %d attributes", e.Name.Local, maxAttributes)
	}
	for i, a := range e.Attr {
		for _, b := range e.Attr[:i] {
			if a.Name == b.Name {
				return fmt.Errorf("element %s has the attribute %s twice", e.Name.Local, a.Name.Local)
			}
		}
	}
	return nil
}
