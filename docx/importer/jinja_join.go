package importer

import (
	"regexp"
	"slices"
	"strings"

	"platen/docx/wml"
)

// errHyphen is the reason for a hyphen whose effect has no equivalent.
var errHyphen = &cannot{"the hyphen joins it with the text or paragraph next to it", "write the text in one paragraph, without the hyphen"}

// joinParagraphs removes what is between a tag with a hyphen and the text before or after it, in other runs or paragraphs: docxtpl joins
// them before it fills the template.
func joinParagraphs(p *part, _ []any) {
	p.findColumns()
	p.mergeCells()
	texts := p.root.All("w:t")
	for _, t := range p.tags {
		text := t.original()
		if t.err == nil {
			t.err = p.alone(t)
		}
		before, after := strings.HasPrefix(text[2:], "-"), strings.HasSuffix(text[:len(text)-2], "-")
		if !before && !after || t.kind == kText {
			continue
		}
		if strings.HasPrefix(text, "{{") || before && !p.joinBefore(t, texts) || after && !p.joinAfter(t, texts) {
			t.err = errHyphen
		}
	}
}

// alone returns an error if a tag that stands for an element is not the only text in it: docxtpl removes everything else in the element.
// A comment that stands for a row or a cell removes it.
func (p *part) alone(t *tag) error {
	remark := t.kind == kText && strings.HasPrefix(t.original(), "{#")
	element := t.par.node
	switch {
	case t.unit == unitRow && t.row() != nil:
		element = t.row()
	case t.unit == unitCell && remark && t.cell() != nil && len(t.row().All("w:tc")) > 1:
		element = t.cell()
	case t.unit != unitParagraph:
		return nil
	}
	isIn := func(par *paragraph) bool {
		return par.node.Ancestor(func(n *wml.Node) bool { return n == element }) != nil
	}
	others := slices.ContainsFunc(p.tags, func(o *tag) bool { return o != t && isIn(o.par) })
	if remark && !others && element != t.par.node {
		t.text, t.place = "", func() { p.drop(element) }
		return nil
	}
	for _, par := range p.pars {
		text := par.text
		if par == t.par {
			text = text[:t.span.from] + text[t.span.to:]
		}
		if isIn(par) && strings.TrimSpace(strings.ReplaceAll(text, string(wml.Object), "")) != "" {
			return &cannot{"it removes the other text of its paragraph or row", "put it into a paragraph or row of its own"}
		}
	}
	return nil
}

// joinBefore joins a tag with the text before it, and reports whether that is possible. docxtpl also removes the text before the tag in
// its own run.
func (p *part) joinBefore(t *tag, texts []*wml.Node) bool {
	piece := &t.par.pieces[t.par.pieceAt(t.span.from)]
	if strings.TrimSpace(t.par.text[piece.from:t.span.from]) != "" {
		return false
	}
	i := slices.Index(texts, piece.node)
	return i > 0 && p.join(t, texts[i-1], piece.node, piece.source(t.span.from), 0)
}

// joinAfter joins a tag with the text after it, and reports whether that is possible.
func (p *part) joinAfter(t *tag, texts []*wml.Node) bool {
	piece := &t.par.pieces[t.par.pieceAt(t.span.to-1)]
	if strings.TrimSpace(t.par.text[t.span.to:piece.to]) != "" {
		return false
	}
	i := slices.Index(texts, piece.node)
	if i < 0 || i+1 == len(texts) {
		return false
	}
	next := texts[i+1]
	if strings.HasPrefix(strings.TrimSpace(string(p.src[next.OpenEnd:next.CloseStart])), "{%-") {
		return true // which joins the two
	}
	return p.join(t, piece.node, next, next.OpenEnd, piece.source(t.span.to))
}

// notJoined are elements that must not be removed from between two texts.
var notJoined = regexp.MustCompile(`<\w+:(?:fldChar|fldSimple|drawing|pict|object|sectPr|hyperlink|sdt|ins|del|tbl|oMath|\w*Reference|` +
	`\w*Range(?:Start|End)|bookmark(?:Start|End)|AlternateContent)\b`)

// join removes what is between two texts, up to an offset of the source, and from another offset in the first text, or from its end.
func (p *part) join(t *tag, a, b *wml.Node, to, from int) bool {
	from = max(from, 0)
	if from == 0 {
		from = a.CloseStart
	}
	pa, pb := a.Parent.Parent, b.Parent.Parent
	if a.Void() || b.Void() || pa.Name != "w:p" || pb.Name != "w:p" || pa.Parent != pb.Parent || notJoined.Match(p.src[from:to]) {
		return false
	}
	t.joined = append(t.joined, joint{a, &wml.Node{Start: from, End: to}})
	return true
}

// joint is the gap that is removed to join two texts.
type joint struct{ first, gap *wml.Node }
