package compile

import (
	"bytes"
	"math/bits"
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"

	"platen/docx/wml"
	"platen/ooxml/scan"
)

// paragraph is a w:p with its visible text in one string. The text of its text boxes is not included, because they contain paragraphs
// themselves.
type paragraph struct {
	node   *wml.Node
	text   string
	pieces []piece
	marks  []*mark
	brs    []*piece // of breaks

	heading string // before it, for people
	fields  bool   // it has fields

	deleted []bool  // by byte of text: gone from the template, as the text of block tags is; nil if nothing is
	dirty   bool    // more was deleted since count
	kept    []int32 // kept[i] is the number of bytes of text[:i] that are not deleted; nil if none are deleted
	visible []tally // of the bytes that are not deleted and not blank
}

// piece is a part of a paragraph's text that comes from one element: a w:t, or an element that counts as one character.
type piece struct {
	node    *wml.Node
	run     *wml.Node
	plain   bool  // text in which only text can be: of an attribute, a field's code, an equation, or a property
	from    int   // into the text
	to      int   // after its last byte
	touched bool  // the w:t stays, but with other text
	offsets []int // of a w:t whose bytes are not its text: the source offset of each byte, and the end
}

// tally marks some of the bytes in a part of a text, and has the number of marked bytes before it.
type tally struct {
	bits   uint64
	before int32
}

// tallySize is the number of bytes of a tally.
const tallySize = 64

// flatten collects the paragraphs of a part in the order they start in.
func flatten(src []byte, root *wml.Node) []*paragraph {
	var all []*paragraph
	var f flattener
	var pieces []piece // allocated for one paragraph
	var walk func(n *wml.Node)
	walk = func(n *wml.Node) {
		if n.IsTextless() {
			return
		}
		if isParagraphOf(n) {
			p := &paragraph{node: n, pieces: pieces[:0]}
			f.src, f.p = src, p
			f.text.Reset()
			f.content(n)
			pieces = p.pieces
			p.text, p.pieces = f.text.String(), slices.Clone(pieces)
			all = append(all, p)
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(root)
	return all
}

type flattener struct {
	src  []byte
	p    *paragraph
	text bytes.Buffer
}

// content walks the children of a paragraph, or of an element that may contain its runs.
func (f *flattener) content(n *wml.Node) {
	for _, c := range n.Children {
		switch {
		case c.IsTextless():
		case isRun(c):
			f.run(c)
		case c.Name == "a:br":
			f.character(c, nil, '\n')
		case c.Name == "m:oMath" || c.Name == "m:oMathPara":
			f.character(c, nil, wml.Object)
		case isParagraphOf(c): // a paragraph inside a paragraph is malformed, but its text is its own
		default:
			f.p.fields = f.p.fields || c.Name == "w:fldSimple"
			f.content(c)
		}
	}
}

func (f *flattener) run(r *wml.Node) {
	for _, c := range r.Children {
		if isText(c) {
			f.piece(c, r)
		} else if c.IsCharacter() {
			char := wml.Characters[c.Name]
			f.p.fields = f.p.fields || c.Name == "w:fldChar"
			if c.Name == "w:br" && f.isBreakOfPage(c) {
				char = wml.Object
			}
			f.character(c, r, char)
		}
	}
}

// isBreakOfPage reports whether a break is one of pages or columns, and not of lines.
func (f *flattener) isBreakOfPage(br *wml.Node) bool {
	a := br.Attr("w:type")
	return a != nil && string(f.src[a.ValueStart:a.ValueEnd]) != "textWrapping"
}

func (f *flattener) character(n, run *wml.Node, char rune) {
	from := f.text.Len()
	f.text.WriteRune(char)
	f.p.pieces = append(f.p.pieces, piece{node: n, run: run, from: from, to: f.text.Len()})
}

func (f *flattener) piece(t, run *wml.Node) {
	p := piece{node: t, run: run, from: f.text.Len()}
	raw := f.src[t.OpenEnd:t.CloseStart]
	if bytes.IndexByte(raw, '&') < 0 && bytes.IndexByte(raw, '<') < 0 {
		f.text.Write(raw)
	} else {
		p.offsets = scan.Decode(&f.text, raw, t.OpenEnd)
	}
	p.to = f.text.Len()
	f.p.pieces = append(f.p.pieces, p)
}

// isText reports whether the piece is a w:t, and not an element that counts as one character.
func (p *piece) isText() bool { return p.plain || isText(p.node) }

// Text is in runs of paragraphs, both in WordprocessingML and in the DrawingML of charts and diagrams.
func isText(n *wml.Node) bool        { return n.Name == "w:t" || n.Name == "a:t" }
func isRun(n *wml.Node) bool         { return n.Name == "w:r" || n.Name == "a:r" || n.Name == "a:fld" }
func isParagraphOf(n *wml.Node) bool { return n.Name == "w:p" || n.Name == "a:p" }

// source returns the position in the part of a byte of the text. The byte must be in this piece, or at its end.
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

// extent returns the range of the text that comes from n, a node in the paragraph.
func (p *paragraph) extent(n *wml.Node) (from, to int) {
	first := sort.Search(len(p.pieces), func(i int) bool { return p.pieces[i].node.Start >= n.Start })
	last := sort.Search(len(p.pieces), func(i int) bool { return p.pieces[i].node.Start >= n.End })
	if first == last {
		return 0, 0
	}
	return p.pieces[first].from, p.pieces[last-1].to
}

// remove takes text[from:to] out of the template. Before count.
func (p *paragraph) remove(from, to int) {
	if p.deleted == nil {
		p.deleted = make([]bool, len(p.text))
	}
	p.dirty = true
	for i := from; i < to; i++ {
		p.deleted[i] = true
	}
}

// count updates the numbers that anyKept and anyVisible use.
func (p *paragraph) count() {
	p.visible = make([]tally, len(p.text)/tallySize+1)
	p.dirty = false
	for i := 0; i < len(p.text); {
		size, blank := 1, false
		if c := p.text[i]; c <= ' ' || c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(p.text[i:])
			size, blank = n, isBlank(r)
		}
		for range size {
			if !blank && (p.deleted == nil || !p.deleted[i]) {
				p.visible[i/tallySize].bits |= 1 << (i % tallySize)
			}
			i++
		}
	}
	for i := range p.visible[1:] {
		p.visible[i+1].before = p.visible[i].before + int32(bits.OnesCount64(p.visible[i].bits))
	}
	p.countKept()
}

func (p *paragraph) countKept() {
	if p.deleted == nil {
		return
	}
	if p.kept == nil {
		p.kept = make([]int32, len(p.text)+1)
	}
	kept := int32(0)
	for i, gone := range p.deleted {
		if !gone {
			kept++
		}
		p.kept[i+1] = kept
	}
}

func (p *paragraph) anyKept(from, to int) bool {
	if p.kept == nil {
		return from < to
	}
	return p.kept[to] > p.kept[from]
}

func (p *paragraph) anyVisible(from, to int) bool { return p.visibleBefore(to) > p.visibleBefore(from) }

// visibleBefore returns the number of visible bytes in text[:at].
func (p *paragraph) visibleBefore(at int) int32 {
	t := p.visible[at/tallySize]
	return t.before + int32(bits.OnesCount64(t.bits&(1<<(at%tallySize)-1)))
}

// shows reports whether anything visible is left of the paragraph.
func (p *paragraph) shows() bool {
	if p.visible == nil {
		p.count()
	}
	return p.anyVisible(0, len(p.text))
}

// isBlank reports whether r is a blank, including non-breaking spaces and soft line breaks, or a direction mark that
// editors put around tags in right-to-left text.
func isBlank(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\u00A0', '\u200B', '\u2009', '\u202F', '\u3000':
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}
