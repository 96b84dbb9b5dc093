package importer

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"platen/docx/wml"
)

// edit replaces src[from:to].
type edit struct {
	from, to int
	with     string
}

// rewriter collects the changes of a part.
type rewriter struct {
	src       []byte
	edits     []edit
	preserved map[*wml.Node]bool
	removed   []*wml.Node

	done   []edit // the changes that were made, in their order
	shifts []int  // how much longer the part is after each number of them
}

func newRewriter(src []byte) *rewriter {
	return &rewriter{src: src, preserved: map[*wml.Node]bool{}, shifts: []int{0}}
}

// replace replaces a stretch of a paragraph's text. The new text has the formatting of the first character of the stretch; an empty
// stretch inserts text at its position.
func (r *rewriter) replace(p *paragraph, from, to int, with string) {
	escape := escape
	if p.aside != nil {
		escape = p.aside.escape
	}
	i := p.textAt(from)
	if i < 0 {
		r.addRun(p, false, with)
		return
	}
	first := &p.pieces[i]
	r.preserve(first)
	at := first.source(min(max(from, first.from), first.to))
	if to <= first.to {
		r.edits = append(r.edits, edit{at, first.source(max(to, first.from)), escape(with)})
		return
	}
	r.edits = append(r.edits, edit{at, first.source(first.to), escape(with)})
	for j := i + 1; j < len(p.pieces) && p.pieces[j].from < to; j++ {
		r.remove(&p.pieces[j], to)
	}
}

// textAt returns the index of the piece of text with a byte, or, if there is none, of the nearest piece of text; -1 for none at all.
func (p *paragraph) textAt(offset int) int {
	i := p.pieceAt(offset)
	for j := i; j < len(p.pieces); j++ {
		if p.pieces[j].isText() {
			return j
		}
	}
	for j := min(i, len(p.pieces)) - 1; j >= 0; j-- {
		if p.pieces[j].isText() {
			return j
		}
	}
	return -1
}

// remove removes the start of a piece, up to an offset of the text.
func (r *rewriter) remove(p *piece, to int) {
	if !p.isText() {
		r.edits = append(r.edits, edit{p.node.Start, p.node.End, ""})
		return
	}
	r.preserve(p)
	r.edits = append(r.edits, edit{p.source(p.from), p.source(min(to, p.to)), ""})
}

// preserve keeps the blanks at the ends of a w:t, which may be there after a change.
func (r *rewriter) preserve(p *piece) {
	t := p.node
	if !p.plain && bytes.ContainsAny(r.src[t.OpenEnd:t.CloseStart], " \t\n\u00A0") {
		r.keepBlanks(t)
	}
}

// keepBlanks keeps the blanks at the ends of a w:t.
func (r *rewriter) keepBlanks(t *wml.Node) {
	if r.preserved[t] || bytes.Contains(r.src[t.Start:t.OpenEnd], []byte("xml:space")) {
		return
	}
	r.preserved[t] = true
	r.edits = append(r.edits, edit{t.OpenEnd - 1, t.OpenEnd - 1, wml.Preserve})
}

// addRun adds a run with text at the start or the end of a paragraph.
func (r *rewriter) addRun(p *paragraph, atEnd bool, text string) {
	prefix := p.node.Prefix(r.src)
	run := textRun(prefix, text)
	if !p.node.Void() {
		at := p.node.OpenEnd
		if props := p.node.Child("w:pPr"); props != nil {
			at = props.End
		}
		if atEnd {
			at = p.node.CloseStart
		}
		r.edits = append(r.edits, edit{at, at, run})
		return
	}
	open := strings.TrimRight(strings.TrimSuffix(string(r.src[p.node.Start:p.node.End]), "/>"), " ")
	r.edits = append(r.edits, edit{p.node.Start, p.node.End, open + ">" + run + "</" + prefix + "p>"})
}

// textRun returns a run with text.
func textRun(prefix, text string) string {
	return "<" + prefix + "r><" + prefix + "t" + wml.Preserve + ">" + escape(text) + "</" + prefix + "t></" + prefix + "r>"
}

// addParagraph adds a paragraph with a tag before or after another.
func (r *rewriter) addParagraph(beside *wml.Node, after bool, text string) {
	prefix := beside.Prefix(r.src)
	at := beside.Start
	if after {
		at = beside.End
	}
	r.edits = append(r.edits, edit{at, at, "<" + prefix + "p><" + prefix + "r><" + prefix + "t>" + escape(text) + "</" + prefix + "t></" +
		prefix + "r></" + prefix + "p>"})
}

// drop removes an element with everything in it, including other changes.
func (r *rewriter) drop(n *wml.Node) { r.removed = append(r.removed, n) }

// isDropped reports whether an element is removed. r is nil before anything is changed.
func (r *rewriter) isDropped(n *wml.Node) bool {
	return r != nil && slices.ContainsFunc(r.removed, func(o *wml.Node) bool { return o.Start <= n.Start && n.End <= o.End })
}

// sorted returns the changes in the order of the source, without those in elements that are removed.
func (r *rewriter) sorted() []edit {
	removed := slices.SortedFunc(slices.Values(r.removed), func(a, b *wml.Node) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	end := 0
	removed = slices.DeleteFunc(removed, func(n *wml.Node) bool { // it is in one before it
		isIn := n.End <= end
		end = max(end, n.End)
		return isIn
	})
	edits := slices.DeleteFunc(slices.Clone(r.edits), func(e edit) bool {
		i, found := slices.BinarySearchFunc(removed, e.from, func(n *wml.Node, at int) int { return cmp.Compare(n.Start, at) })
		if !found {
			i--
		}
		return i >= 0 && removed[i].Start < e.to && e.to <= removed[i].End && e.from < removed[i].End
	})
	for _, n := range removed {
		edits = append(edits, edit{n.Start, n.End, ""})
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return edits
}

// bytes returns the changed part, and sets what position needs.
func (r *rewriter) bytes() []byte {
	var out []byte
	at := 0
	r.done, r.shifts = r.sorted(), []int{0}
	for _, e := range r.done {
		out = append(append(out, r.src[at:e.from]...), e.with...)
		at = e.to
		r.shifts = append(r.shifts, len(out)-at)
	}
	return append(out, r.src[at:]...)
}

// escape returns text as the content of a w:t.
func escape(text string) string {
	return escaper.Replace(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text))
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// position returns the position in the changed part of what replaces a tag, or of the tag if it stays.
func (p *part) position(t *tag) int {
	at := t.start()
	i, _ := slices.BinarySearchFunc(p.done, at, func(e edit, at int) int { return cmp.Compare(e.from, at) })
	return at + p.shifts[i]
}
