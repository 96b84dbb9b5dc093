package compile

import (
	"bytes"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"platen/docx/wml"
)

// paragraph is a w:p with its text flattened: what a reader sees of it, in one string, without what is in its text
// boxes (they have paragraphs of their own).
type paragraph struct {
	node   *wml.Node
	text   string
	pieces []piece
	marks  []*mark
	brs    []*piece // of breaks

	deleted []bool  // by byte of text: gone from the template, as the text of block tags is
	dirty   bool    // more was deleted since count
	kept    []int32 // kept[i]: how many bytes of text[:i] are not deleted
	visible []int32 // visible[i]: how many of those are not blank
}

// piece is a stretch of a paragraph's text that comes from one element: a w:t, or what counts as one character.
type piece struct {
	node    *wml.Node
	run     *wml.Node
	plain   bool  // text that is no w:t: of an attribute, a field's code or a property
	from    int   // into the text
	to      int   // behind its last byte
	touched bool  // the w:t stays, but with other text
	offsets []int // of a w:t whose bytes are not its text: the source offset of each byte, and the end
}

// Object stands in the text for what is no text: pictures, note references, fields' limits. A tag cannot hold one.
const Object = '\uFFFC'

// characters gives what the elements of a run are in the text. w:tab and w:br inside properties are passed over with
// those.
var characters = map[string]rune{
	"w:tab": '\t', "w:br": '\n', "w:cr": '\n', "w:noBreakHyphen": '\u2011', "w:softHyphen": '\u00AD',
	"w:drawing": Object, "w:pict": Object, "w:object": Object, "mc:AlternateContent": Object, "w:sym": Object, "w:ptab": Object,
	"w:footnoteReference": Object, "w:endnoteReference": Object, "w:footnoteRef": Object, "w:endnoteRef": Object, "w:fldChar": Object,
	"w:separator": Object, "w:continuationSeparator": Object, "w:pgNum": Object, "w:dayShort": Object, "w:monthShort": Object,
	"w:yearShort": Object, "w:dayLong": Object, "w:monthLong": Object, "w:yearLong": Object, "w:ruby": Object,
}

// flatten collects the paragraphs of a part in the order they start in.
func flatten(src []byte, root *wml.Node) []*paragraph {
	var all []*paragraph
	var walk func(n *wml.Node)
	walk = func(n *wml.Node) {
		if wml.Textless[n.Name] {
			return
		}
		if isParagraphOf(n) {
			p := &paragraph{node: n}
			f := flattener{src: src, p: p}
			f.content(n)
			p.text = f.text.String()
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
	text strings.Builder
}

// content walks the children of a paragraph or of what may stand around runs in it.
func (f *flattener) content(n *wml.Node) {
	for _, c := range n.Children {
		switch {
		case wml.Textless[c.Name]:
		case isRun(c):
			f.run(c)
		case c.Name == "a:br":
			f.character(c, nil, '\n')
		case c.Name == "m:oMath" || c.Name == "m:oMathPara":
			f.character(c, nil, Object)
		case isParagraphOf(c): // a paragraph inside a paragraph is malformed, but its text is its own
		default:
			f.content(c)
		}
	}
}

func (f *flattener) run(r *wml.Node) {
	for _, c := range r.Children {
		if isText(c) {
			f.piece(c, r)
		} else if char, ok := characters[c.Name]; ok {
			if c.Name == "w:br" && f.isBreakOfPage(c) {
				char = Object
			}
			f.character(c, r, char)
		}
	}
}

// isBreakOfPage tells breaks of pages and columns from those of lines.
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
		p.offsets = wml.Decode(&f.text, raw, t.OpenEnd)
	}
	p.to = f.text.Len()
	f.p.pieces = append(f.p.pieces, p)
}

// isText tells a w:t from what counts as one character.
func (p *piece) isText() bool { return p.plain || isText(p.node) }

// Text stands in runs in paragraphs, in WordprocessingML and in the DrawingML of charts and diagrams alike.
func isText(n *wml.Node) bool        { return n.Name == "w:t" || n.Name == "a:t" }
func isRun(n *wml.Node) bool         { return n.Name == "w:r" || n.Name == "a:r" || n.Name == "a:fld" }
func isParagraphOf(n *wml.Node) bool { return n.Name == "w:p" || n.Name == "a:p" }

// source gives the place in the part of a byte of the text, which must be of this piece or its end.
func (p *piece) source(offset int) int {
	if p.offsets != nil {
		return p.offsets[offset-p.from]
	}
	return p.node.OpenEnd + offset - p.from
}

// pieceAt returns the index of the piece that holds a byte of the text.
func (p *paragraph) pieceAt(offset int) int {
	return sort.Search(len(p.pieces), func(i int) bool { return p.pieces[i].to > offset })
}

// extent returns which stretch of the text comes from inside n, a node of the paragraph.
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

// count makes anyKept and anyVisible answer for what is deleted now.
func (p *paragraph) count() {
	if p.kept == nil {
		both := make([]int32, 2*(len(p.text)+1))
		p.kept, p.visible = both[:len(p.text)+1], both[len(p.text)+1:]
	}
	p.dirty = false
	kept, visible, blankUntil := int32(0), int32(0), 0
	for i := range len(p.text) {
		if i >= blankUntil {
			blankUntil = i + blankAt(p.text[i:])
		}
		if p.deleted == nil || !p.deleted[i] {
			kept++
			if i >= blankUntil {
				visible++
			}
		}
		p.kept[i+1], p.visible[i+1] = kept, visible
	}
}

// blankAt is how many bytes a blank has that a text begins with; 0 if it begins with none.
func blankAt(s string) int {
	if c := s[0]; c > ' ' && c < utf8.RuneSelf {
		return 0
	}
	if r, n := utf8.DecodeRuneInString(s); isBlank(r) {
		return n
	}
	return 0
}

func (p *paragraph) anyKept(from, to int) bool    { return p.kept[to] > p.kept[from] }
func (p *paragraph) anyVisible(from, to int) bool { return p.visible[to] > p.visible[from] }

// shows tells whether anything visible is left of the paragraph.
func (p *paragraph) shows() bool {
	if p.visible == nil {
		p.count()
	}
	return p.anyVisible(0, len(p.text))
}

// isBlank is for the blanks people type, the non-breaking one and the soft break of lines among them, and for the marks of
// direction that editors put around tags in text that goes from right to left.
func isBlank(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\u00A0', '\u200B', '\u2009', '\u202F', '\u3000':
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}
