package finish

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// pdfaPart finds the part of PDF/A in XMP metadata (ISO 19005-3, 6.6.4), as an element or an attribute.
var pdfaPart = regexp.MustCompile(`<pdfaid:part>\s*(\d+)|pdfaid:part\s*=\s*["'](\d+)`)

// archive returns the part of PDF/A that a file claims to conform to, or "".
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
		return "", broken("its metadata is not a stream")
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

// ErrArchive is the error of an operation whose result would violate PDF/A.
var ErrArchive = errors.New("not allowed in PDF/A")

// allow returns an ErrArchive if the file is PDF/A, unless it is one of the given parts. what names the operation.
func (f *file) allow(what string, parts ...string) error {
	part, err := f.archive()
	if err == nil && part != "" && !slices.Contains(parts, part) {
		err = fmt.Errorf("this is PDF/A-%s: %s is %w", part, what, ErrArchive)
	}
	return err
}

// version returns the PDF version of a file, but no lower than least. It ignores the version in the catalog, because
// no engine uses one above the header's.
func (f *file) version(least string) string {
	return max(string(f.data[len("%PDF-"):len("%PDF-1.7")]), least)
}
