package finish

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// pdfaPart finds the part of PDF/A in XMP metadata (ISO 19005-3, 6.6.4), as an element or as an attribute.
var pdfaPart = regexp.MustCompile(`<pdfaid:part>\s*(\d+)|pdfaid:part\s*=\s*["'](\d+)`)

// archive returns which part of PDF/A a file says it keeps to; empty when none.
func (f *file) archive() (string, error) {
	catalog, err := f.catalog()
	if err != nil {
		return "", err
	}
	o, err := f.resolve(catalog.get("Metadata"))
	if err != nil || o == nil {
		return "", err
	}
	s, ok := o.(stream)
	if !ok {
		return "", broken("its metadata are none")
	}
	xmp, err := f.decode(s)
	if err != nil {
		return "", err
	}
	if found := pdfaPart.FindSubmatch(xmp); found != nil {
		return cmp.Or(string(found[1]), string(found[2])), nil
	}
	return "", nil
}

// ErrArchive is what would make a PDF/A none.
var ErrArchive = errors.New("not allowed in PDF/A")

// allow returns an ErrArchive if a file is PDF/A, unless of a part that is named.
func (f *file) allow(what string, parts ...string) error {
	part, err := f.archive()
	if err == nil && part != "" && !slices.Contains(parts, part) {
		err = fmt.Errorf("this is PDF/A-%s: %s is %w", part, what, ErrArchive)
	}
	return err
}

// version returns the version of PDF of a file, or the least one if that is higher. A catalog may raise it, but not above
// what any engine writes in the header.
func (f *file) version(least string) string {
	return max(string(f.data[len("%PDF-"):len("%PDF-1.7")]), least)
}
