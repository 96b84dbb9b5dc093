package wml

import (
	"slices"
	"strconv"

	"platen/ooxml"
)

// HeadingLevels is the number of levels that headings have, and that a table of contents can show.
const HeadingLevels = 9

// RelatedPart returns the target of the first relationship of a type; nil if there is none.
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

// MaxID is the largest ID that Word accepts.
const MaxID = 1<<31 - 2

// IDNumber returns the number that an ID spells; 0 for one that is not a number.
func IDNumber(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil || n > MaxID {
		return 0
	}
	return n
}
