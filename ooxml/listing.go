package ooxml

import (
	"slices"

	"platen/ooxml/scan"
)

// The parts that the container itself reads are listings: a root with elements that have only attributes.

// listed is an element in the root of a listing, without the prefix of its name, and the values of the attributes asked for.
type listed struct {
	name   string
	values []string
}

// readListing returns the elements of a listing that is well formed, with the values of the attributes of those names. Prefixes do
// not count.
func readListing(src []byte, attributes ...string) ([]listed, error) {
	var all []listed
	r := scan.New(src)
	r.Next()
	for range r.Children {
		found := listed{r.LocalName(), make([]string, len(attributes))}
		for i := range r.Attributes() {
			a := &r.Attributes()[i]
			if at := slices.Index(attributes, string(src[a.LocalStart:a.NameEnd])); at >= 0 {
				found.values[at] = scan.Value(r.Value(a))
			}
		}
		all = append(all, found)
	}
	return all, r.Err()
}
