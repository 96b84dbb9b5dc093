package compile

import (
	"bytes"
	"strings"

	"platen/docx/program"
	"platen/docx/wml"
)

// Shapes of VML have ids that embedded objects, form controls, and text boxes refer to, such as o:OLEObject with ShapeID (ISO 29500-4
// §19.1.2 and §19.2.2). In a loop, each copy of a shape gets its own ids, and so do the references to it in the same round.

// shapes are the shapes of a part that are in loops, and the kinds of shapes that it defines.
type shapes struct {
	own        []shape
	references map[string][]span // by id
	kinds      map[string]*shapeKind
	textBoxes  []*textBoxes
	sharing    map[textBoxKey]*textBoxes // the same
}

// shape is a shape whose id must be unique.
type shape struct {
	id   *wml.Attr
	loop *region
}

// shapeNames are the elements that are shapes.
var shapeNames = map[string]bool{
	"v:shape": true, "v:rect": true, "v:roundrect": true, "v:oval": true, "v:line": true, "v:polyline": true, "v:curve": true, "v:arc": true,
	"v:image": true, "v:group": true,
}

// shapeReferences are the attributes that refer to shapes, by element. A value may begin with #.
var shapeReferences = map[string]string{
	"o:OLEObject": "ShapeID", "w:control": "w:shapeid", "o:proxy": "idref", "o:r": "idref", "v:textbox": "style",
}

// nextTextBox precedes the id of the text box in which the text of one continues, in its style (ISO 29500-4 §19.1.2.22).
const nextTextBox = "mso-next-textbox:"

// note records a shape, or a reference to one.
func (s *shapes) note(src []byte, n *wml.Node, loop *region) {
	if id := n.Attr("id"); shapeNames[n.Name] && id != nil {
		s.own = append(s.own, shape{id, loop})
		switch own := n.Attr("o:spid"); {
		case own == nil:
		case bytes.Equal(src[own.ValueStart:own.ValueEnd], src[id.ValueStart:id.ValueEnd]):
			s.refer(src, span{own.ValueStart, own.ValueEnd})
		default:
			s.own = append(s.own, shape{own, loop})
		}
	}
	a := n.Attr(shapeReferences[n.Name])
	if a == nil {
		return
	}
	at := span{a.ValueStart, a.ValueEnd}
	if n.Name == "v:textbox" {
		i := bytes.Index(src[at.start:at.end], []byte(nextTextBox))
		if i < 0 {
			return
		}
		at.start += i + len(nextTextBox)
		if end := bytes.IndexByte(src[at.start:at.end], ';'); end >= 0 {
			at.end = at.start + end
		}
	}
	s.refer(src, at)
}

// refer records a stretch of the source that may be the id of a shape.
func (s *shapes) refer(src []byte, at span) {
	if s.references == nil {
		s.references = map[string][]span{}
	}
	id := bytes.TrimPrefix(bytes.TrimSpace(src[at.start:at.end]), []byte("#"))
	start := at.start + bytes.Index(src[at.start:at.end], id)
	s.references[string(id)] = append(s.references[string(id)], span{start, start + len(id)})
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

// A text box of DrawingML has an id if others continue its text, and these have the same one (wps:txbx and wps:linkedTxbx, [MS-ODRAWXML]
// 2.20). In a loop, the boxes of each round get an id of their own.

// textBoxes are the text boxes in a loop that share a text.
type textBoxes struct {
	ids   []*wml.Attr
	begun bool // the box in which the text begins is among them
}

// textBoxKey is what text boxes in a loop that share a text have in common.
type textBoxKey struct {
	id   string
	loop *region
}

// noteTextBox records a text box of DrawingML.
func (s *shapes) noteTextBox(src []byte, n *wml.Node, loop *region) {
	attr := n.Attr("id")
	if attr == nil {
		return
	}
	key := textBoxKey{string(src[attr.ValueStart:attr.ValueEnd]), loop}
	t := s.sharing[key]
	if t == nil {
		if t = new(textBoxes); s.sharing == nil {
			s.sharing = map[textBoxKey]*textBoxes{}
		}
		s.sharing[key] = t
		s.textBoxes = append(s.textBoxes, t)
	}
	t.ids = append(t.ids, attr)
	t.begun = t.begun || n.Name == "wps:txbx"
}

// editTextBoxes writes the edits of the ids of text boxes of DrawingML in loops.
func (e *idEditor) editTextBoxes() {
	for _, t := range e.shapes.textBoxes {
		if !t.begun {
			continue
		}
		first := e.id(t.ids[0], program.TextBoxIDs)
		e.c.replace(t.ids[0].ValueStart, t.ids[0].ValueEnd, first)
		for _, id := range t.ids[1:] {
			e.c.replace(id.ValueStart, id.ValueEnd, &program.SameID{Slot: first.Slot, Text: e.c.copy(id.ValueStart, id.ValueEnd)})
		}
	}
}

// Shapes refer to their kind, such as "#_x0000_t136" for WordArt, which the first shape of that kind defines in a v:shapetype (ISO 29500-4
// §19.1.2.20). If a block with a definition is left out, the next shape of that kind that is written gets the definition.

// shapeKind is the last definition of a kind of shapes.
type shapeKind struct {
	text   []byte
	slot   int     // of its [program.Once]
	always bool    // it is always in the document
	at     *branch // if not
}

// define records a definition of a kind of shapes in a branch.
func (e *idEditor) define(n *wml.Node, at *branch) {
	id := wml.AttrValue(e.c.src, n, "id")
	if known := e.shapes.kinds[id]; known != nil && known.always {
		if at != nil && at.repeats != nil {
			e.onceAt(n, at)
		}
		return
	}
	k := &shapeKind{always: at == e.base, at: at}
	if !k.always {
		k.text = e.c.copy(n.Start, n.End)
		k.slot = e.once(span{n.Start, n.End}, k.text, at)
	}
	if e.shapes.kinds == nil {
		e.shapes.kinds = map[string]*shapeKind{}
	}
	e.shapes.kinds[id] = k
}

// useKind has the kind of a shape in a branch defined before the shape, if the definition may have been left out.
func (e *idEditor) useKind(n *wml.Node, at *branch) {
	k := e.shapes.kinds[strings.TrimPrefix(wml.AttrValue(e.c.src, n, "type"), "#")]
	if k == nil || k.always || commonBranch(k.at, at) == k.at {
		return
	}
	k.always = at == e.base
	e.c.emit(n.Start, rankReplace, &program.Once{Slot: k.slot, Text: k.text})
	noteOnce(k.slot, at)
}
