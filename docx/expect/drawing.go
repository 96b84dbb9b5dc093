package expect

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// drawn is what a drawing shows, apart from text boxes.
type drawn struct {
	format []string             // its size and the like
	rels   []ooxml.Relationship // in the order in which it refers to them
	words  []string             // WordArt
	boxes  []*wml.Node          // w:txbxContent
}

// drawing adds the lines of a w:drawing, w:pict, or w:object.
func (in *inline) drawing(n *wml.Node) {
	d := &drawn{}
	in.readDrawing(n, d)
	findBoxes(n, d)
	o, place := in.outliner, in.places.Locate(n)
	in.addObject(func(depth int, position []string) {
		base := Line{Part: o.name, Heading: o.heading, Place: place, Depth: depth, Format: append(position, d.format...)}
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
		case "w:txbxContent", "mc:Fallback":
			if r.Kind == scan.Open && !r.Skip() {
				return
			}
			continue
		case "wp:extent":
			d.format = append(d.format, "size "+sizeText(r.Attr("cx"), r.Attr("cy")))
		case "wp:docPr":
			d.note("alternative text ", r.Attr("descr"))
		case "a:xfrm":
			d.note("rotation ", r.Attr("rot"))
		case "a:srcRect":
			d.note("crop ", strings.TrimSpace(r.Attr("l")+" "+r.Attr("t")+" "+r.Attr("r")+" "+r.Attr("b")))
		case "v:shape", "v:rect", "v:image", "v:roundrect", "v:oval":
			d.format = append(d.format, shapeStyle(r.Attr("style"))...)
			d.note("fill ", r.Attr("fillcolor"))
		case "v:textpath":
			if text := r.Attr("string"); text != "" {
				d.words = append(d.words, text)
			}
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
		if r.Kind == scan.Void && r.Depth() == depth {
			return
		}
	}
}

// note adds a property with a value.
func (d *drawn) note(label, value string) {
	if value != "" && value != "0" {
		d.format = append(d.format, label+value)
	}
}

// shapeStyle returns the size and the rotation in the style attribute of a VML shape.
func shapeStyle(css string) []string {
	var format []string
	for declaration := range strings.SplitSeq(css, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		switch name = strings.TrimSpace(name); name {
		case "width", "height", "rotation":
			format = append(format, name+" "+strings.TrimSpace(value))
		}
	}
	return format
}

// related writes what a relationship of a drawing leads to. The layout of a diagram and the like have no lines.
func (o *outliner) related(l Line, r ooxml.Relationship) {
	var hash string
	if p := o.pkg.Part(r.Target); p != nil && !r.External {
		l.Part = p.Name
		switch r.Type {
		case names.RelChart, names.RelExtendedChart:
			o.chart(l, p)
			return
		case names.RelDiagramData:
			o.diagram(l, p)
			return
		}
		content, err := o.pkg.Read(p)
		if err != nil {
			o.fail(err)
			return
		}
		sum := sha256.Sum256(content)
		hash = "content " + hex.EncodeToString(sum[:6])
	} else {
		hash = "at " + r.Target
	}
	switch r.Type {
	case names.RelImage:
		l.Kind = Image
	case names.RelHyperlink:
		l.Kind, hash = Shape, "link "+r.Target
	case names.RelPackage, names.RelOLEObject:
		l.Kind = Embedded
	default:
		return
	}
	l.Format = append(slices.Clip(l.Format), hash)
	o.add(l)
}
