package ooxml

import (
	"bytes"

	"platen/ooxml/scan"
)

// Omission is a package without some of its parts.
type Omission struct {
	Parts    map[*Part]bool    // the omitted parts
	Listings map[string][]byte // the new contents of the content types and of relationships, by part name; those unchanged are missing
}

// Omit returns the package without the parts that relationships of a type lead to from a part, and without those that only these refer
// to. Their relationships and content types are removed too. It returns nil if there are none.
func (p *Package) Omit(source, relType string) (*Omission, error) {
	o := &Omission{Parts: map[*Part]bool{}, Listings: map[string][]byte{}}
	rels, err := p.Rels(source)
	if err != nil {
		return nil, err
	}
	for _, r := range rels {
		if part := p.Part(r.Target); r.Type == relType && !r.External && part != nil {
			if err := p.omitAll(o, part); err != nil {
				return nil, err
			}
		}
	}
	if len(o.Parts) == 0 {
		return nil, nil
	}
	isOmitted := func(r *scan.Reader) bool { return r.Attr("Type") == relType && r.LocalName() == "Relationship" }
	if err := p.omitFrom(o, p.Part(relsName(source)), isOmitted); err != nil {
		return nil, err
	}
	return o, p.omitFrom(o, p.Part(ContentTypesName), func(r *scan.Reader) bool {
		return r.LocalName() == "Override" && o.Parts[p.Part(r.Attr("PartName"))]
	})
}

// omitAll omits a part, its relationships, and the parts that these lead to.
func (p *Package) omitAll(o *Omission, part *Part) error {
	if o.Parts[part] {
		return nil
	}
	o.Parts[part] = true
	listing := p.Part(relsName(part.Name))
	if listing == nil {
		return nil
	}
	o.Parts[listing] = true
	rels, err := p.Rels(part.Name)
	if err != nil {
		return err
	}
	for _, r := range rels {
		if target := p.Part(r.Target); !r.External && target != nil {
			if err := p.omitAll(o, target); err != nil {
				return err
			}
		}
	}
	return nil
}

// omitFrom removes elements from a listing.
func (p *Package) omitFrom(o *Omission, listing *Part, isOmitted func(*scan.Reader) bool) error {
	src, err := p.ReadXML(listing)
	if err != nil {
		return err
	}
	var kept bytes.Buffer
	at := 0
	r := scan.New(src)
	r.Next()
	for range r.Children {
		if isOmitted(r) {
			kept.Write(src[at:r.Start])
			at = r.Start + len(r.Element())
		}
	}
	if r.Err() != nil {
		return badXML(listing.Name, r.Err())
	}
	kept.Write(src[at:])
	o.Listings[listing.Name] = kept.Bytes()
	return nil
}
