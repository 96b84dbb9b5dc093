package expect

import (
	"slices"
	"strings"

	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// drawn is what a drawing shows, apart from text boxes.
type drawn struct {
	format  []string             // its size and the like
	rest    []string             // more of it
	inGroup bool                 // its shapes are in a group
	rels    []ooxml.Relationship // in the order in which it refers to them
	words   []string             // WordArt
	boxes   []*wml.Node          // w:txbxContent
}

// drawing adds the lines of a w:drawing, w:pict, or w:object.
func (in *inline) drawing(n *wml.Node) {
	d := &drawn{}
	in.readDrawing(n, d)
	findBoxes(n, d)
	o, place := in.outliner, in.places.Locate(n)
	in.addObject(func(depth int, position []string) {
		base := Line{Part: o.name, Heading: o.heading, Place: place, Depth: depth, Format: append(position, d.all()...)}
		before := len(o.lines)
		for _, r := range d.rels {
			o.related(base, r)
		}
		for _, text := range d.words {
			l := base
			l.Kind, l.Text = WordArt, text
			o.add(l)
		}
		for _, box := range d.boxes {
			l := base
			l.Kind = TextBox
			o.add(l)
			o.box(box, depth+1)
		}
		if len(o.lines) == before && o.err == nil {
			base.Kind = Shape
			o.add(base)
		}
	})
}

// box writes the content of a text box, whose fields are its own.
func (o *outliner) box(n *wml.Node, depth int) {
	own := *o.part
	own.fields, own.codes, own.joining = nil, 0, nil
	o.within(&own, func() { o.blocks(n, depth) })
}

// findBoxes finds the text boxes of a drawing. Boxes in others belong to those.
func findBoxes(n *wml.Node, d *drawn) {
	for _, child := range n.Children {
		switch child.Name {
		case "w:txbxContent":
			d.boxes = append(d.boxes, child)
		case "mc:AlternateContent":
			if branch := alternative(child); branch != nil {
				findBoxes(branch, d)
			}
		default:
			findBoxes(child, d)
		}
	}
}

// readDrawing reads the attributes of a drawing, without its text boxes.
func (in *inline) readDrawing(n *wml.Node, d *drawn) {
	r := in.reader
	if !in.enter(n) {
		return
	}
	depth, seen := r.Depth(), map[string]bool{}
	for more := true; more && r.Depth() >= depth; more = r.Next() {
		if r.Kind == scan.Close {
			if r.Depth() == depth {
				return
			}
			continue
		}
		switch r.Name() {
		case "w:txbxContent", "mc:Fallback", "v:shapetype":
			if r.Kind == scan.Open && !r.Skip() {
				return
			}
			continue
		}
		for i := range r.Attributes() {
			a := &r.Attributes()[i]
			if name := r.AttributeName(a); strings.HasPrefix(name, "r:") {
				id := scan.Value(r.Value(a))
				if rel, ok := in.rels[id]; ok && !seen[id] {
					seen[id] = true
					d.rels = append(d.rels, rel)
				}
			}
		}
		isEnd := r.Kind == scan.Void && r.Depth() == depth
		if read := drawnElements[drawnName(r)]; read != nil {
			read(d, r)
		}
		if isEnd {
			return
		}
	}
}

// related writes what a relationship of a drawing leads to. The layout of a diagram and the like have no lines.
func (o *outliner) related(l Line, r ooxml.Relationship) {
	p, content, err := o.contentOf(r)
	if err != nil {
		o.fail(err)
		return
	}
	if p != nil {
		l.Part = p.Name
	}
	switch {
	case r.Type == names.RelImage:
		l.Kind = Image
	case r.Type == names.RelHyperlink:
		l.Kind, content = Shape, "link "+r.Target
	case r.Type == names.RelPackage || r.Type == names.RelOLEObject:
		l.Kind = Embedded
	case p != nil && (r.Type == names.RelChart || r.Type == names.RelExtendedChart):
		o.chart(l, p)
		return
	case p != nil && r.Type == names.RelDiagramData:
		o.diagram(l, p)
		return
	default:
		return
	}
	l.Format = append(slices.Clip(l.Format), content)
	o.add(l)
}

// contentOf returns the part that a relationship leads to, and a text for its content; nil, and a text for the address, if there is none.
func (o *outliner) contentOf(r ooxml.Relationship) (p *ooxml.Part, content string, err error) {
	if p = o.pkg.Part(r.Target); p == nil || r.External {
		return nil, "at " + r.Target, nil
	}
	file, err := o.pkg.Read(p)
	if err != nil {
		return nil, "", err
	}
	return p, "content " + hashOf(file), nil
}
