package ooxml

import (
	"bytes"
	"net/url"
	"path"
	"slices"
	"strings"

	"platen/ooxml/names"
)

// Relationship is one link from a part, or from the package, to something else.
type Relationship struct {
	ID       string
	Type     string // transitional form: strict URIs are mapped to it
	Target   string // a part name ("/word/header1.xml"); when External or IsOwn, the target as written
	External bool
}

// IsOwn reports whether the relationship leads to a place in the part that it belongs to, such as "#bookmark".
func (r *Relationship) IsOwn() bool { return !r.External && strings.HasPrefix(r.Target, "#") }

var wordMainTypes = []string{names.TypeDocument, names.TypeMacroDocument, names.TypeTemplate, names.TypeMacroTemplate}

// WordMain returns the main part of a Word document: the target of the package's officeDocument relationship, if its
// content type is one of Word's.
func (p *Package) WordMain() (*Part, error) {
	rels, err := p.Rels("/")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rels, func(r Relationship) bool { return r.Type == names.RelOfficeDocument && !r.External })
	if i < 0 {
		return nil, &Error{Code: CodeNoMain, Message: "the file has no main document part", Remedy: remedySaveAgain}
	}
	main := p.Part(rels[i].Target)
	if main == nil {
		return nil, &Error{Code: CodeNoMain, Part: rels[i].Target, Message: "the main document part is missing", Remedy: remedySaveAgain}
	}
	if !slices.ContainsFunc(wordMainTypes, func(t string) bool { return strings.EqualFold(t, main.ContentType) }) {
		return nil, &Error{Code: CodeNotWord, Part: main.Name, Message: "the file is not a Word document but " + describe(main.ContentType),
			Remedy: "use a .docx file"}
	}
	return main, nil
}

func describe(contentType string) string {
	switch {
	case strings.Contains(contentType, "spreadsheetml"):
		return "an Excel workbook"
	case strings.Contains(contentType, "presentationml"):
		return "a PowerPoint presentation"
	case contentType == "":
		return "of no declared type"
	}
	return "of type " + contentType
}

// Rels returns the relationships of a part in their order in the file, or those of the package itself for "/". A part may have none.
func (p *Package) Rels(partName string) ([]Relationship, error) {
	part := p.Part(relsName(partName))
	if part == nil {
		return nil, nil
	}
	p.relsMu.Lock()
	defer p.relsMu.Unlock()
	if rels, ok := p.rels[part]; ok {
		return slices.Clone(rels), nil
	}
	rels, err := p.readRels(part, partName)
	if err != nil {
		return nil, err
	}
	if p.rels == nil {
		p.rels = map[*Part][]Relationship{}
	}
	p.rels[part] = rels
	return slices.Clone(rels), nil
}

// readRels reads the relationships of a part from the part that holds them.
func (p *Package) readRels(part *Part, partName string) ([]Relationship, error) {
	src, err := p.ReadXML(part)
	if err != nil {
		return nil, err
	}
	written, err := readListing(src, "Id", "Type", "Target", "TargetMode")
	if err != nil {
		return nil, badXML(part.Name, err)
	}
	rels := make([]Relationship, 0, len(written))
	for _, e := range written {
		if e.name != "Relationship" {
			continue
		}
		r := Relationship{ID: e.values[0], Type: names.Transitional(e.values[1]), Target: e.values[2], External: e.values[3] == "External"}
		if !r.External {
			r.Target = p.resolve(partName, r.Target)
		}
		rels = append(rels, r)
	}
	return rels, nil
}

// Strict reports whether the relationships of the package have the strict form of ISO 29500-1.
func (p *Package) Strict() bool { return p.strict }

// freeRelID returns what no relationship's id in the package begins with.
func (p *Package) freeRelID() string { return p.relID }

// surveyRels reads all relationships for Strict and freeRelID. Relationships that cannot be read are ignored here; reading them for use
// returns the error.
func (p *Package) surveyRels() error {
	p.relID = "rIdV"
	strict := []byte(names.Namespace("r", true) + "/")
	for _, part := range p.parts {
		if _, ok := relsSource(part.Name); !ok || part.Size > p.lim.XMLBytes {
			continue
		}
		src, err := p.Read(part)
		if err != nil {
			return err
		}
		p.strict = p.strict || part.Name == relsName("/") && bytes.Contains(src, strict)
		for bytes.Contains(src, []byte(p.relID)) {
			p.relID += "V"
		}
	}
	return nil
}

// relsName returns the name of the part with the relationships of another one (ISO 29500-2 §6.5.2).
func relsName(partName string) string {
	dir, base := path.Split(partName)
	return dir + "_rels/" + base + ".rels"
}

// resolve turns a relative reference into a part name. Cleaning a rooted path cannot leave the package.
func (p *Package) resolve(source, target string) string {
	if strings.HasPrefix(target, "#") {
		return target
	}
	target, _, _ = strings.Cut(target, "#")
	if !strings.HasPrefix(target, "/") {
		target = path.Dir(source) + "/" + target
	}
	target = path.Clean(target)
	if p.Part(target) == nil {
		if decoded, err := url.PathUnescape(target); err == nil && p.Part(decoded) != nil {
			return decoded
		}
	}
	return target
}

// contentTypes is what [Content_Types].xml says (ISO 29500-2 §7.2).
type contentTypes struct {
	defaults  map[string]string // by lower-case extension
	overrides map[string]string // by folded part name
}

func (p *Package) readContentTypes() error {
	part := p.Part(ContentTypesName)
	if part == nil {
		return &Error{Code: CodeNotWord, Message: "this is a zip file but not a Word document: it has no [Content_Types].xml",
			Remedy: "use a .docx file"}
	}
	src, err := p.ReadXML(part)
	if err != nil {
		return err
	}
	written, err := readListing(src, "Extension", "PartName", "ContentType")
	if err != nil {
		return badXML(part.Name, err)
	}
	p.types = contentTypes{make(map[string]string), make(map[string]string)}
	for _, e := range written {
		switch e.name {
		case "Default":
			p.types.defaults[fold(e.values[0])] = e.values[2]
		case "Override":
			p.types.overrides[fold(e.values[1])] = e.values[2]
		}
	}
	for _, part := range p.parts {
		part.ContentType = p.types.of(part.Name)
	}
	return nil
}

func (t contentTypes) of(name string) string {
	if ct, ok := t.overrides[fold(name)]; ok {
		return ct
	}
	return t.defaults[fold(strings.TrimPrefix(path.Ext(name), "."))]
}
