package importer

import (
	"bytes"
	"sort"
	"strings"

	"platen/docx/wml"
	"platen/ooxml/scan"
)

// paragraph is a w:p with its text in one string. The text of its text boxes is not included, because they contain paragraphs themselves.
type paragraph struct {
	node    *wml.Node
	text    string
	pieces  []piece
	fields  []*field
	heading string // the text of the nearest heading
	twin    bool   // a copy in the fallback of a text box, or of a description of an image
	aside   *aside // where the text is, if it is not that of a w:p
	tags    []*tag // in it, in their order

	continued []*tag // that begin in other paragraphs
}

// piece is a part of a paragraph's text that comes from one element: a w:t, or an element that counts as one character.
type piece struct {
	node     *wml.Node
	from, to int   // in the text
	offsets  []int // of a w:t whose bytes are not its text: the source offset of each byte, and the end
	plain    bool  // it is an attribute, or the content of another element
}

func (p *piece) isText() bool { return p.plain || p.node.Name == "w:t" }

// source returns the position in the part of a byte of the text, which is in the piece or at its end.
func (p *piece) source(offset int) int {
	if p.offsets != nil {
		return p.offsets[offset-p.from]
	}
	return p.node.OpenEnd + offset - p.from
}

// pieceAt returns the index of the piece with a byte of the text.
func (p *paragraph) pieceAt(offset int) int {
	return sort.Search(len(p.pieces), func(i int) bool { return p.pieces[i].to > offset })
}

// flatten returns the paragraphs of a part in the order in which they start.
func flatten(src []byte, root *wml.Node) []*paragraph {
	f := flattener{src: src}
	f.walk(root)
	return f.all
}

type flattener struct {
	src     []byte
	all     []*paragraph
	heading string
	p       *paragraph
	text    bytes.Buffer
	fields  fieldReader
}

func (f *flattener) walk(n *wml.Node) {
	if n.IsTextless() {
		return
	}
	if n.Name == "w:p" {
		f.p = &paragraph{node: n, heading: f.heading, twin: n.Ancestor(wml.Named("mc:Fallback")) != nil}
		f.text.Reset()
		f.fields = fieldReader{}
		f.content(n)
		f.p.text = f.text.String()
		f.all = append(f.all, f.p)
		if text := strings.TrimSpace(f.p.text); text != "" && f.isHeading(n) {
			f.heading = shorten(text)
		}
	}
	for _, c := range n.Children {
		f.walk(c)
	}
}

// isHeading reports whether a paragraph has the style of a heading, by the name that Word gives it.
func (f *flattener) isHeading(p *wml.Node) bool {
	style := strings.ToLower(wml.AttrValue(f.src, p.Child("w:pPr").Child("w:pStyle"), "w:val"))
	return strings.HasPrefix(style, "heading") || style == "title"
}

// content walks the children of a paragraph, or of an element that may contain its runs.
func (f *flattener) content(n *wml.Node) {
	for _, c := range n.Children {
		switch {
		case c.IsTextless() || c.Name == "w:p":
		case c.Name == "w:r":
			f.run(c)
		case c.Name == "m:oMath" || c.Name == "m:oMathPara":
			f.character(c, wml.Object)
		case c.Name == "w:fldSimple":
			f.simpleField(c)
		default:
			f.content(c)
		}
	}
}

func (f *flattener) run(r *wml.Node) {
	for _, c := range r.Children {
		switch {
		case c.Name == "w:t":
			f.piece(c)
		case c.Name == "w:instrText":
			f.fields.code(c, scan.Text(f.src[c.OpenEnd:c.CloseStart]))
		case c.Name == "w:fldChar":
			if done := f.fields.mark(wml.AttrValue(f.src, c, "w:fldCharType"), c, f.text.Len()); done != nil {
				f.p.fields = append(f.p.fields, done)
			}
			f.character(c, wml.Object)
		case c.IsCharacter():
			f.character(c, wml.Characters[c.Name])
		}
	}
}

func (f *flattener) character(n *wml.Node, char rune) {
	from := f.text.Len()
	f.text.WriteRune(char)
	f.p.pieces = append(f.p.pieces, piece{node: n, from: from, to: f.text.Len()})
}

func (f *flattener) piece(t *wml.Node) {
	p := piece{node: t, from: f.text.Len()}
	raw := f.src[t.OpenEnd:t.CloseStart]
	if bytes.IndexByte(raw, '&') < 0 && bytes.IndexByte(raw, '<') < 0 {
		f.text.Write(raw)
	} else {
		p.offsets = scan.Decode(&f.text, raw, t.OpenEnd)
	}
	if p.to = f.text.Len(); p.to > p.from {
		f.p.pieces = append(f.p.pieces, p)
	}
}
