package ooxml

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"platen/budget"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

const (
	// MaxAddedRels is the largest number of relationships that are added to one part.
	MaxAddedRels = 200_000
	// relBytes and partBytes are the approximate memory of a relationship without its target, and of a part without its content.
	relBytes, partBytes = 150, 300
	// maxRelSearch is the number of the last relationships among which an equal one is searched.
	maxRelSearch = 32
)

// Additions are parts and relationships that are added to a package while it is copied. What lists them (the parts for
// which Deferred answers true) must not be copied: WriteTo writes it, last of all, when everything is known. Names and
// ids follow from the order of the calls alone. The zero value is not usable; see [NewAdditions].
type Additions struct {
	pkg     *Package
	meter   *budget.Meter
	rels    map[string][]Relationship // by the part they start from
	parts   []addedPart
	media   map[[sha256.Size]byte]string // names by content
	replace map[string][]byte            // parts of the package with new content
	omitted map[*Part]bool
	names   map[string]bool // of the new parts, folded
	number  int             // the last that a name was given
}

type addedPart struct {
	name, contentType string
	data              []byte
}

// NewAdditions returns empty additions to pkg. Their memory is taken from the meter.
func NewAdditions(pkg *Package, meter *budget.Meter) *Additions {
	return &Additions{pkg: pkg, meter: meter}
}

// Relate adds a relationship to a part of the package, or to a new one, and returns its id. relType is the
// transitional type. The target of an internal relationship is the name of a part.
func (a *Additions) Relate(source, relType, target string, external bool) (id string, err error) {
	rels := a.rels[source]
	for _, r := range rels[max(len(rels)-maxRelSearch, 0):] {
		if r.Type == relType && r.Target == target && r.External == external {
			return r.ID, nil
		}
	}
	if len(rels) >= MaxAddedRels {
		return "", fmt.Errorf("%s would have more than %d links and pictures", source, MaxAddedRels)
	}
	if a.rels == nil {
		a.rels = map[string][]Relationship{}
	}
	id = a.pkg.freeRelID() + strconv.Itoa(len(rels)+1)
	a.rels[source] = append(rels, Relationship{ID: id, Type: relType, Target: target, External: external})
	return id, a.meter.Hold(relBytes + len(target))
}

// RelateAll replaces the added relationships of a part with the given ones and their ids.
func (a *Additions) RelateAll(source string, rels []Relationship) {
	if a.rels == nil {
		a.rels = map[string][]Relationship{}
	}
	if a.rels[source] = slices.Clone(rels); len(rels) == 0 {
		delete(a.rels, source)
	}
}

// Rels returns the relationships that a part was given.
func (a *Additions) Rels(source string) []Relationship { return a.rels[source] }

// Media adds a file such as an image, and returns the name of its part. The same bytes are added once. isNew reports whether this call
// added them.
func (a *Additions) Media(data []byte, extension, contentType string) (name string, isNew bool, err error) {
	key := sha256.Sum256(data)
	if name, ok := a.media[key]; ok {
		return name, false, nil
	}
	if name, err = a.Add("/word/media/value", extension, contentType, data); err != nil {
		return "", false, err
	}
	if a.media == nil {
		a.media = map[[sha256.Size]byte]string{}
	}
	a.media[key] = name
	return name, true, nil
}

// Add adds a part named stem and extension, with a number between them where that name is taken, and returns the name.
func (a *Additions) Add(stem, extension, contentType string, data []byte) (name string, err error) {
	if err := a.meter.Hold(partBytes + len(data)); err != nil {
		return "", err
	}
	name = stem + "." + extension
	for a.pkg.Part(name) != nil || a.names[fold(name)] {
		a.number++
		name = stem + strconv.Itoa(a.number) + "." + extension
	}
	if a.names == nil {
		a.names = map[string]bool{}
	}
	a.names[fold(name)] = true
	a.parts = append(a.parts, addedPart{name, contentType, data})
	return name, nil
}

// Replace replaces the content of a part of the package, which must not have been copied yet.
func (a *Additions) Replace(name string, data []byte) {
	if a.replace == nil {
		a.replace = map[string][]byte{}
	}
	a.replace[fold(name)] = data
}

// Omit leaves a part of the package out. The relationships and the content type that name it must be replaced.
func (a *Additions) Omit(part *Part) {
	if a.omitted == nil {
		a.omitted = map[*Part]bool{}
	}
	a.omitted[part] = true
}

// HasRel reports whether a relationship with this ID was added to a part.
func (a *Additions) HasRel(source, id string) bool {
	number, ok := strings.CutPrefix(id, a.pkg.freeRelID())
	n, err := strconv.Atoi(number)
	return ok && err == nil && n >= 1 && n <= len(a.rels[source])
}

// Content is a part that is new, or that has new content.
type Content struct {
	ContentType string
	Data        []byte
}

// Contents returns the parts that are new or have new content, by name, in the order of the names.
func (a *Additions) Contents() iter.Seq2[string, Content] {
	return func(yield func(string, Content) bool) {
		for _, name := range slices.Sorted(maps.Keys(a.replace)) {
			if part := a.pkg.byName[name]; part != nil && !yield(part.Name, Content{part.ContentType, a.replace[name]}) {
				return
			}
		}
		for _, part := range a.parts {
			if !yield(part.name, Content{part.contentType, part.data}) {
				return
			}
		}
	}
}

// Check reports new parts without a content type, and new relationships to missing parts.
func (a *Additions) Check() error {
	for _, part := range a.parts {
		if part.contentType == "" {
			return &Error{Code: CodeDamaged, Part: part.name, Message: "the part has no content type"}
		}
	}
	for _, source := range slices.Sorted(maps.Keys(a.rels)) {
		if a.pkg.Part(source) == nil && !a.names[fold(source)] {
			return &Error{Code: CodeDamaged, Part: source, Message: "a missing part has relationships"}
		}
		for _, r := range a.rels[source] {
			if !r.External && !r.IsOwn() && a.pkg.Part(r.Target) == nil && !a.names[fold(r.Target)] {
				return &Error{Code: CodeDamaged, Part: source, Message: "the relationship " + r.ID + " points to " + r.Target + ", which is missing"}
			}
		}
	}
	return nil
}

// Deferred reports whether WriteTo writes a part, because it lists others.
func (a *Additions) Deferred(part *Part) bool {
	return part.Name == ContentTypesName || part.Name != relsName("/") && strings.HasSuffix(part.Name, ".rels")
}

// WriteTo writes the new parts, and then the deferred parts of the package with the additions that they must list.
// also are further parts of the package that Replace may have changed.
func (a *Additions) WriteTo(w *Writer, also ...*Part) error {
	for _, part := range a.parts {
		if err := w.write(part.name, part.data); err != nil {
			return err
		}
	}
	for _, source := range slices.Sorted(maps.Keys(a.rels)) {
		if a.pkg.Part(relsName(source)) == nil {
			if err := w.write(relsName(source), a.newRels(a.rels[source])); err != nil {
				return err
			}
		}
	}
	for _, part := range slices.Concat(also, a.deferredParts()) {
		data, err := a.changed(part)
		if err == nil && data != nil {
			err = w.write(part.Name, data)
		} else if err == nil {
			err = w.Copy(part)
		}
		if err != nil {
			return err
		}
	}
	return w.PutFirst() // the content types
}

// deferredParts returns the relationships, then the content types.
func (a *Additions) deferredParts() []*Part {
	var all []*Part
	for _, part := range a.pkg.parts {
		if a.Deferred(part) && !a.omitted[part] && part.Name != ContentTypesName {
			all = append(all, part)
		}
	}
	return append(all, a.pkg.Part(ContentTypesName))
}

// changed returns the new content of a part of the package, or nil if it is unchanged.
func (a *Additions) changed(part *Part) ([]byte, error) {
	data := a.replace[fold(part.Name)]
	source, isRels := relsSource(part.Name)
	var added []byte
	switch {
	case part.Name == ContentTypesName:
		added = a.contentTypes()
	case isRels:
		added = a.relsXML(a.rels[source])
	}
	if len(added) == 0 {
		return data, nil
	}
	if data == nil {
		src, err := a.pkg.ReadXML(part)
		if err != nil {
			return nil, err
		}
		data = src
	}
	return appendToRoot(data, added, true)
}

// contentTypes declares the new parts: by their extension if nothing is declared for it, else one by one.
func (a *Additions) contentTypes() []byte {
	var b bytes.Buffer
	types := maps.Clone(a.pkg.types.defaults)
	declare := func(name, contentType string) {
		ext := fold(strings.TrimPrefix(path.Ext(name), "."))
		switch {
		case types[ext] == contentType:
		case types[ext] == "" && !strings.HasSuffix(contentType, "+xml"):
			types[ext] = contentType
			fmt.Fprintf(&b, `<Default Extension="%s" ContentType="%s"/>`, escape(ext), escape(contentType))
		default:
			fmt.Fprintf(&b, `<Override PartName="%s" ContentType="%s"/>`, escape(name), escape(contentType))
		}
	}
	for _, part := range a.parts {
		declare(part.name, part.contentType)
	}
	for _, source := range slices.Sorted(maps.Keys(a.rels)) {
		if a.pkg.Part(relsName(source)) == nil {
			declare(relsName(source), names.TypeRelationships)
		}
	}
	return b.Bytes()
}

// XMLHeader is the start of a new part.
const XMLHeader = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

func (a *Additions) newRels(rels []Relationship) []byte {
	root := `<Relationships xmlns="` + names.Namespace("rel", false) + `">`
	return slices.Concat([]byte(XMLHeader+root), a.relsXML(rels), []byte("</Relationships>"))
}

// relsXML writes relationships, in the strict form if that is the package's.
func (a *Additions) relsXML(rels []Relationship) []byte {
	var b bytes.Buffer
	for _, r := range rels {
		relType, mode := r.Type, ""
		if a.pkg.Strict() {
			relType = names.Strict(relType)
		}
		if r.External {
			mode = ` TargetMode="External"`
		}
		fmt.Fprintf(&b, `<Relationship Id="%s" Type="%s" Target="%s"%s/>`, r.ID, escape(relType), escape(r.Target), mode)
	}
	return b.Bytes()
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // a Builder takes everything
	}
	return b.String()
}

// AppendToRoot returns src, a well-formed document, with more content at the end of its root element.
func AppendToRoot(src, content []byte) ([]byte, error) { return appendToRoot(src, content, false) }

// appendToRoot is AppendToRoot; elements without content that have no prefix can be given the root's.
func appendToRoot(src, content []byte, prefixed bool) ([]byte, error) {
	r := scan.New(src)
	if !r.Next() {
		return nil, fmt.Errorf("find the root element: %w", cmp.Or(r.Err(), io.ErrUnexpectedEOF))
	}
	name, isVoid := r.RawName(), r.Kind == scan.Void
	if prefix, _, ok := strings.Cut(name, ":"); ok && prefixed {
		content = bytes.ReplaceAll(content, []byte("<"), []byte("<"+prefix+":"))
	}
	if isVoid {
		return slices.Concat(src[:r.End-len("/>")], []byte(">"), content, []byte("</"+name+">"), src[r.End:]), nil
	}
	if !r.Skip() {
		return nil, fmt.Errorf("find the end of the root element: %w", r.Err())
	}
	return slices.Concat(src[:r.Start], content, src[r.Start:]), nil
}
