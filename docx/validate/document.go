package validate

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"platen/ooxml"
)

// document is the state of checking one document.
type document struct {
	pkg      *ooxml.Package
	memory   Memory
	part     string
	ids      map[string]bool // unique ids, by space and id
	uses     []use
	grids    grids
	fields   fields
	problems []Problem
}

// use is a reference to an id that may be defined in a later part.
type use struct {
	part, place string
	key         string // in ids
	fault       *fault
}

// report records a problem, up to the limit.
func (d *document) report(part, place string, f *fault) {
	if len(d.problems) < MaxProblems {
		d.problems = append(d.problems, Problem{part, place, f.code, f.message, f.warning})
	}
}

func (d *document) fault(f *fault, at *point, offset int64) { d.report(d.part, where(at, offset), f) }

// check checks one part, and records the ids and references in it.
func (d *document) check(part *ooxml.Part) {
	d.part, d.grids, d.fields = part.Name, nil, nil
	if part.ContentType == "" && part.Name != ooxml.ContentTypesName {
		d.report(part.Name, "", &fault{CodeContentType, "the part has no content type", false})
	}
	isRels := strings.HasSuffix(part.Name, ".rels")
	isXML := part.Name == ooxml.ContentTypesName || strings.HasSuffix(part.ContentType, "+xml") || strings.HasSuffix(part.ContentType, "/xml")
	if !isXML {
		d.checkMedia(part)
		return
	}
	src, err := d.pkg.Read(part)
	if err != nil {
		d.report(part.Name, "", &fault{CodePackage, err.Error(), false})
		return
	}
	if err := checkCharacters(src); err != nil {
		d.report(part.Name, "", &fault{CodeXML, err.Error(), false})
		return
	}
	before := len(d.problems)
	r := reader{memory: &d.memory, at: d.memory.start(), watch: d}
	r.read(src)
	r.end()
	if isRels && len(d.problems) == before {
		d.checkRels(part)
	}
}

// open records the ids and references of an element.
func (d *document) open(p *point, t *tag, offset int64) {
	for i := range t.attrs {
		prefix, local, broken := p.scope.attribute(t.attrs[i].name)
		switch {
		case broken != nil:
			d.fault(broken, p, offset)
		case prefix == "r" && len(t.attrs[i].value) > 0:
			id := string(t.attrs[i].value)
			d.use(p, offset, "rel "+d.part+" "+id, noRelationship(id))
		case prefix == "mc" && string(local) == "Ignorable":
			d.ignorable(p, string(t.attrs[i].value), offset)
		}
	}
	for i := range p.elem.facts {
		f := &p.elem.facts[i]
		if id, ok := f.value(p, t); ok {
			d.state(f, id, p, offset)
		}
	}
	if p.elem.grid != noRole {
		if f := d.grids.open(p, t); f != nil {
			d.fault(f, p, offset)
		}
	}
	if p.elem.required != "" {
		if f := t.lacks(p); f != nil {
			d.fault(f, p, offset)
		}
	}
	if p.elem.field != noField {
		if f := d.fields.take(openStep(p, t)); f != nil {
			d.fault(f, p, offset)
		}
	}
}

func (d *document) close(p *point, offset int64) {
	if p.elem.grid != noRole {
		if f := d.grids.close(p); f != nil {
			d.fault(f, p, offset)
		}
	}
	if p.elem.field == fieldStory {
		if f := d.fields.take(storyEnds); f != nil {
			d.fault(f, p, offset)
		}
	}
}

// state records an id, or a reference to one.
func (d *document) state(f *fact, id string, p *point, offset int64) {
	key := path.Dir(d.part) + " " + f.space + " " + id // a glossary is a separate document
	switch f.does {
	case defines, unique:
		own := key
		if f.space == "style" {
			own = d.part + key // another part may have styles for an old version of Word
		}
		if d.ids[own] && !p.unread {
			d.fault(f.twice(id), p, offset)
		}
		d.ids[key], d.ids[own] = true, true
	case refers, mentions:
		if f.space == "list" && id == "0" {
			return // no list (ISO 29500-1 §17.9.18)
		}
		d.use(p, offset, key, &fault{CodeReference, "there is no " + f.space + " " + id, f.does == mentions})
	}
}

// maxUses is the number of references that are kept until all parts have been read.
const maxUses = 1 << 20

func (d *document) use(p *point, offset int64, key string, f *fault) {
	if len(d.uses) < maxUses && !d.ids[key] {
		d.uses = append(d.uses, use{d.part, where(p, offset), key, f})
	}
}

// ignorable checks that the prefixes in mc:Ignorable are declared (ISO 29500-3 §7.2): Word refuses the file otherwise.
func (d *document) ignorable(p *point, prefixes string, offset int64) {
	for prefix := range strings.FieldsSeq(prefixes) {
		if _, ok := p.scope.prefixes[prefix]; !ok {
			d.fault(undeclared(prefix), p, offset)
		}
	}
}

// resolve reports the references to missing ids.
func (d *document) resolve() {
	for _, u := range d.uses {
		if !d.ids[u.key] {
			d.report(u.part, u.place, u.fault)
		}
	}
}

// checkRels checks the relationships of a part (ISO 29500-2 §6.5).
func (d *document) checkRels(part *ooxml.Part) {
	dir, base, _ := strings.Cut(part.Name, "_rels/")
	source := dir + strings.TrimSuffix(base, ".rels")
	if source != "/" && d.pkg.Part(source) == nil {
		d.report(part.Name, "", &fault{CodeRelationship, "the part that these relationships belong to is missing", true})
		return
	}
	rels, err := d.pkg.Rels(source)
	if err != nil {
		d.report(part.Name, "", &fault{CodeRelationship, err.Error(), false})
		return
	}
	for _, r := range rels {
		key := "rel " + source + " " + r.ID
		if d.ids[key] {
			d.report(part.Name, "", &fault{CodeRelationship, fmt.Sprintf("the relationship %q is defined twice", r.ID), false})
		}
		d.ids[key] = true
		if !r.External && d.pkg.Part(r.Target) == nil && r.Target != source && !r.IsOwn() {
			d.report(part.Name, "", &fault{CodeRelationship,
				fmt.Sprintf("the relationship %q points to %s, which is missing", r.ID, r.Target), false})
		}
	}
}

// signatures maps the content types of images to the bytes that such files begin with.
var signatures = map[string]string{"image/png": "\x89PNG", "image/jpeg": "\xFF\xD8\xFF", "image/gif": "GIF8", "image/bmp": "BM"}

// checkMedia reports an image that does not match its content type.
func (d *document) checkMedia(part *ooxml.Part) {
	want := signatures[part.ContentType]
	if want == "" {
		return
	}
	src, err := d.pkg.Read(part)
	if err == nil && !bytes.HasPrefix(src, []byte(want)) {
		d.report(part.Name, "", &fault{CodeContentType, "the image does not have the type " + part.ContentType, true})
	}
}
