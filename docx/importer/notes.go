package importer

import (
	"strings"

	"platen/docx/wml"
)

// reference is a reference to a footnote or an endnote.
type reference struct {
	pos  int
	note string
}

// noteKinds are the elements of notes, by those of the references to them.
var noteKinds = map[string]string{"w:footnoteReference": "w:footnote", "w:endnoteReference": "w:endnote"}

// references returns the references to notes in a part, in languages whose notes are in the loops around them.
func (p *part) references(w *writer) []reference {
	if !w.notesInside {
		return nil
	}
	if w.references == nil {
		w.references = map[string][]*scope{}
	}
	var all []reference
	var walk func(n *wml.Node)
	walk = func(n *wml.Node) {
		if kind := noteKinds[n.Name]; kind != "" {
			all = append(all, reference{n.Start, kind + wml.AttrValue(p.src, n, "w:id")})
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(p.root)
	return all
}

// passReferences records the scopes around the references before a position, and returns the others.
func (w *writer) passReferences(references []reference, pos int) []reference {
	for len(references) > 0 && references[0].pos < pos {
		w.references[references[0].note] = append([]*scope{}, w.scopes...)
		references = references[1:]
	}
	return references
}

// noteOf returns the note that a tag is in; "" for none.
func (p *part) noteOf(t *tag) string {
	n := t.par.node.Ancestor(func(n *wml.Node) bool { return n.Name == "w:footnote" || n.Name == "w:endnote" })
	if n == nil {
		return ""
	}
	return n.Name + strings.TrimSpace(wml.AttrValue(p.src, n, "w:id"))
}
