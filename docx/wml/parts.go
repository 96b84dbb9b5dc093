package wml

import (
	"slices"
	"strconv"

	"platen/ooxml"
)

// HeadingLevels is how many levels headings have, and a table of contents can show.
const HeadingLevels = 9

// RelatedPart returns the part that a relationship of that type leads to, or nil.
func RelatedPart(pkg *ooxml.Package, from *ooxml.Part, relType string) (*ooxml.Part, error) {
	rels, err := pkg.Rels(from.Name)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rels, func(r ooxml.Relationship) bool { return r.Type == relType && !r.External })
	if i < 0 {
		return nil, nil
	}
	return pkg.Part(rels[i].Target), nil
}

// MaxID is the largest id that Word takes.
const MaxID = 1<<31 - 2

// IDNumber is the number an id spells; what is none counts as 0.
func IDNumber(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil || n > MaxID {
		return 0
	}
	return n
}
