package importer

import (
	"strings"

	"platen/docx/wml"
	"platen/ooxml/scan"
)

// field is a field of Word in one paragraph, with its code. The codes of the fields in it are in braces.
type field struct {
	code     string
	nodes    []*wml.Node // its marks and codes, with those of the fields in it
	from, to int         // in the text of the paragraph, with its marks
	result   int         // in the text, where what it shows begins; -1 if it shows nothing
	inner    bool        // it is in another field
}

// fieldReader finds the fields of a paragraph.
type fieldReader struct{ open []*field }

// code adds a piece of the code of the innermost field.
func (r *fieldReader) code(n *wml.Node, text string) {
	if len(r.open) == 0 {
		return
	}
	f := r.open[len(r.open)-1]
	f.nodes = append(f.nodes, n)
	if f.result < 0 {
		f.code += text
	}
}

// mark adds a mark at an offset of the text, and returns the field that it ends.
func (r *fieldReader) mark(kind string, n *wml.Node, at int) *field {
	if kind == "begin" {
		r.open = append(r.open, &field{from: at, result: -1, inner: len(r.open) > 0})
	}
	if len(r.open) == 0 {
		return nil
	}
	f := r.open[len(r.open)-1]
	f.nodes = append(f.nodes, n)
	end := at + len(string(wml.Object))
	switch kind {
	case "separate":
		f.result = end
	case "end":
		f.to, f.code = end, strings.Join(strings.Fields(f.code), " ")
		r.open = r.open[:len(r.open)-1]
		if len(r.open) > 0 {
			outer := r.open[len(r.open)-1]
			outer.nodes = append(outer.nodes, f.nodes...)
			if outer.result < 0 {
				outer.code += "{ " + f.code + " }"
			}
		}
		return f
	}
	return nil
}

// simpleField reads a w:fldSimple, whose code is an attribute.
func (f *flattener) simpleField(n *wml.Node) {
	from := f.text.Len()
	f.content(n)
	code := strings.Join(strings.Fields(scan.Value([]byte(wml.AttrValue(f.src, n, "w:instr")))), " ")
	if code == "" {
		return
	}
	f.p.fields = append(f.p.fields, &field{
		code: code, nodes: []*wml.Node{n}, from: from, to: f.text.Len(), result: from, inner: len(f.fields.open) > 0,
	})
}

// placeField replaces a field: its result becomes the tag, and its marks and codes are removed.
func (p *part) placeField(t *tag) {
	f := t.field
	at := -1
	if f.result >= 0 {
		at = p.firstText(t.par, f.result, f.to)
	}
	for i, n := range f.nodes {
		switch {
		case n.Name == "w:fldSimple":
			p.unwrap(n)
		case at < 0 && i == 0:
			prefix := n.Prefix(p.src)
			p.edits = append(p.edits, edit{n.Start, n.End, "<" + prefix + "t" + wml.Preserve + ">" + escape(t.out) + "</" + prefix + "t>"})
		default:
			p.edits = append(p.edits, edit{n.Start, n.End, ""})
		}
	}
	for i := range t.par.pieces {
		piece := &t.par.pieces[i]
		if piece.from < f.from || piece.to > f.to || !piece.isText() {
			continue
		}
		with := ""
		if i == at {
			with = escape(t.out)
		}
		p.edits = append(p.edits, edit{piece.source(piece.from), piece.source(piece.to), with})
	}
}

// firstText returns the index of the first piece of text in a stretch, or -1.
func (p *part) firstText(par *paragraph, from, to int) int {
	for i := range par.pieces {
		if piece := &par.pieces[i]; piece.isText() && piece.from >= from && piece.to <= to {
			return i
		}
	}
	return -1
}

// unwrap removes the tags of an element around its content. An element without content becomes nothing.
func (p *part) unwrap(n *wml.Node) {
	p.edits = append(p.edits, edit{n.Start, n.OpenEnd, ""})
	if !n.Void() {
		p.edits = append(p.edits, edit{n.CloseStart, n.End, ""})
	}
}
