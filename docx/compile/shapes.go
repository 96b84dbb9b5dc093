package compile

import (
	"strings"

	"platen/docx/program"
	"platen/docx/wml"
)

// Shapes of VML have ids that embedded objects and form controls refer to, such as o:OLEObject with ShapeID (ISO 29500-4 §19.1.2 and
// §19.2.2). In a loop, each copy of a shape gets its own id, and so do the references to it in the same round.

// shapes are the shapes of a part that are in loops.
type shapes struct {
	own        []shape
	references map[string][]span // by id
}

// shape is a shape whose id must be unique.
type shape struct {
	id   *wml.Attr
	loop *region
}

// shapeNames are the elements that are shapes. Definitions of kinds of shapes (v:shapetype) are shared.
var shapeNames = map[string]bool{
	"v:shape": true, "v:rect": true, "v:roundrect": true, "v:oval": true, "v:line": true, "v:polyline": true, "v:curve": true, "v:arc": true,
	"v:image": true, "v:group": true,
}

// shapeReferences are the attributes that refer to shapes, by element. A value may begin with #.
var shapeReferences = map[string]string{"o:OLEObject": "ShapeID", "w:control": "w:shapeid", "o:proxy": "idref"}

// note records a shape, or a reference to one.
func (s *shapes) note(src []byte, n *wml.Node, loop *region) {
	if id := n.Attr("id"); shapeNames[n.Name] && id != nil {
		s.own = append(s.own, shape{id, loop})
		if own := n.Attr("o:spid"); own != nil {
			s.refer(src, own)
		}
	}
	if name := shapeReferences[n.Name]; name != "" {
		if a := n.Attr(name); a != nil {
			s.refer(src, a)
		}
	}
}

// refer records an attribute that may have the id of a shape.
func (s *shapes) refer(src []byte, a *wml.Attr) {
	if s.references == nil {
		s.references = map[string][]span{}
	}
	value := string(src[a.ValueStart:a.ValueEnd])
	id := strings.TrimPrefix(value, "#")
	s.references[id] = append(s.references[id], span{a.ValueEnd - len(id), a.ValueEnd})
}

// editShapes writes the edits of the ids of shapes in loops.
func (e *idEditor) editShapes() {
	for _, s := range e.shapes.own {
		id, slot := string(e.c.src[s.id.ValueStart:s.id.ValueEnd]), e.c.slots.Names.Next()
		name := func(at span, role program.NameRole) {
			e.c.replace(at.start, at.end, &program.Name{Slot: slot, Text: e.c.copy(at.start, at.end), Role: role})
		}
		name(span{s.id.ValueStart, s.id.ValueEnd}, program.NameOfBookmark)
		for _, ref := range e.shapes.references[id] {
			switch {
			case ref.start < s.loop.from || ref.end > s.loop.to:
			case ref.start < s.id.ValueStart:
				name(ref, program.NameBeforehand)
			default:
				name(ref, program.NameAfter)
			}
		}
		delete(e.shapes.references, id) // of two shapes with one id, references are to the first
	}
}
