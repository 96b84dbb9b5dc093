package program

import (
	"platen/ooxml"
	"platen/ooxml/names"
)

// headers are the template's headers that already have new content.
type headers map[*Header]bool

// Header is a header or footer of a section that a loop repeats.
type Header struct {
	Part    *ooxml.Part
	RelType string
	Shared  bool  // a section outside the loop uses it too
	Body    *Part // nil if it is the same in all rounds
}

// HeaderReference writes the id of the relationship to a header or footer of a section, and the header itself as a part. The first one
// replaces the template's header, unless another section uses it.
type HeaderReference struct {
	Text   []byte // the id in the template
	Header *Header
}

func (o *HeaderReference) run(x *execution) error {
	h := o.Header
	if x.toc.collecting || h.Body == nil {
		x.out.buf = append(x.out.buf, o.Text...)
		return nil
	}
	name := h.Part.Name
	others := x.added.Rels(name)
	x.added.RelateAll(name, nil)
	text, err := x.aside(name, h.Body.Steps)
	if err != nil {
		return err
	}
	if !h.Shared && !x.headers[h] {
		if x.headers == nil {
			x.headers = headers{}
		}
		x.headers[h] = true
		if err := x.meter.Hold(len(text)); err != nil {
			return err
		}
		x.added.Replace(name, text)
		x.out.buf = append(x.out.buf, o.Text...)
		return nil
	}
	own := x.added.Rels(name)
	x.added.RelateAll(name, others)
	id, err := x.addHeader(h, text, own)
	x.out.buf = append(x.out.buf, id...)
	return err
}

// addHeader adds a header as a new part, with the relationships of the template's header and its own ones. It returns the id of the
// relationship to the part.
func (x *execution) addHeader(h *Header, text []byte, own []ooxml.Relationship) (id string, err error) {
	rels, err := x.d.Package.Rels(h.Part.Name)
	if err != nil {
		return "", err
	}
	stem := "/word/header"
	if h.RelType == names.RelFooter {
		stem = "/word/footer"
	}
	name, err := x.added.Add(stem, "xml", h.Part.ContentType, text)
	if err != nil {
		return "", err
	}
	x.added.RelateAll(name, append(rels, own...))
	return x.added.Relate(x.part, h.RelType, name, false)
}

// isHeaderOfRounds reports whether a part is a header or footer that gets new content.
func (d *Document) isHeaderOfRounds(part *ooxml.Part) bool {
	h := d.Headers[part.Name]
	return h != nil && !h.Shared
}
