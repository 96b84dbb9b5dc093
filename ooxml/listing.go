package ooxml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
)

// A listing is what the parts are that the container itself reads: a root with elements that hold nothing but attributes.

// listed is an element in the root of a listing, without the prefix of its name, and the values of the attributes asked for.
type listed struct {
	name   string
	values []string
}

// readListing returns the elements of a listing that is well formed, with the values of the attributes of those names.
func readListing(src []byte, attributes ...string) ([]listed, error) {
	if all, ok := readPlainListing(src, attributes); ok {
		return all, nil
	}
	return readAnyListing(src, attributes)
}

// readPlainListing is false if the listing is not plain XML, or if a value is not to be read as it is written.
func readPlainListing(src []byte, attributes []string) (all []listed, ok bool) {
	asWritten := true
	p := plainReader{src: src, at: declarationSize(src)}
	p.visit = func(depth int, e plainElement) {
		if depth != 1 {
			return
		}
		found := listed{string(e.name.in(e.src)), make([]string, len(attributes))}
		for _, a := range e.attrs {
			value := a.value.in(e.src)
			if i := slices.Index(attributes, string(a.name.in(e.src))); i >= 0 {
				found.values[i] = string(value)
				asWritten = asWritten && !bytes.ContainsAny(value, "&\r")
			}
		}
		all = append(all, found)
	}
	return all, p.read(maxListingDepth) && asWritten
}

// maxListingDepth is how deep the elements of a plain listing may be nested.
const maxListingDepth = 8

func readAnyListing(src []byte, attributes []string) ([]listed, error) {
	var all []listed
	d := xml.NewDecoder(bytes.NewReader(src))
	for depth := 0; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth != 2 {
				continue
			}
			found := listed{token.Name.Local, make([]string, len(attributes))}
			for _, a := range token.Attr {
				if i := slices.Index(attributes, a.Name.Local); i >= 0 {
					found.values[i] = a.Value
				}
			}
			all = append(all, found)
		case xml.EndElement:
			depth--
		default: // what stands between them
		}
	}
}
