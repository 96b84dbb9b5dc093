package compile

import (
	"slices"
	"strings"

	"platen/docx/lang"
	"platen/docx/wml"
	"platen/ooxml/scan"
)

// holds reports whether a paragraph is an entry of the table of contents.
func (t *toc) holds(par *wml.Node) bool { return t.first.Start <= par.Start && par.End <= t.last.End }

// holds reports whether a paragraph is an entry that is written again, so that its text does not matter.
func (c *tocs) holds(par *wml.Node) bool {
	return slices.ContainsFunc(c.own, func(t *toc) bool { return t.holds(par) })
}

// tagsBeside returns the tags before and after the field in a paragraph of a table of contents. The paragraphs in which the field
// begins and ends are rewritten with it, so tags are not allowed there.
func (c *tocs) tagsBeside(p *paragraph) []lang.Span {
	tags, _ := lang.Find(p.text)
	return slices.DeleteFunc(tags, func(s lang.Span) bool {
		at := p.pieces[p.pieceAt(s.Start)].source(s.Start)
		_, err := lang.ParseTag(p.text[s.Start:s.End])
		return err != nil && isForeign(p.text[s.Start:s.End]) ||
			slices.ContainsFunc(c.own, func(t *toc) bool { return t.begin.Start < at && at < t.end.End || t.holds(p.node) && c.isOfNext(t, at) })
	})
}

// refuseBeside reports the tags before and after the field of a table of contents. They stay marks, so that the other tags of
// their blocks are not reported too.
func (c *tocs) refuseBeside(p *paragraph) {
	for _, span := range c.tagsBeside(p) {
		c.addMark(p, span)
	}
	for _, m := range p.marks {
		c.fail(m, "this tag is in a paragraph of the table of contents, which is rewritten", "put the tag into a separate paragraph")
		m.unreadable = true
	}
}

// isOfNext reports whether a position is after the start of a table of contents that begins where this one ends.
func (c *tocs) isOfNext(t *toc, at int) bool {
	next := t.next(c)
	return next != nil && next.Start < at
}

// next returns the instruction of a table of contents that begins in the paragraph that this one ends in, nil if none does.
func (t *toc) next(c *tocs) *wml.Node {
	for _, run := range runsOf(t.last) {
		for _, n := range run.Children {
			if n.Name != "w:instrText" || n.Start < t.end.End {
				continue
			}
			if words := fieldWords(scan.Text(c.src[n.OpenEnd:n.CloseStart])); len(words) > 0 && strings.EqualFold(words[0], "TOC") {
				return n
			}
		}
	}
	return nil
}

// forgetCopies treats tags of unchanged entries as text if they are copies of tags within a loop, such as in the caption of a
// repeated figure. They have no value here, and Word rewrites the entries.
func (c *compiler) forgetCopies() {
	copies := map[string][]string{} // the paths that the tags of entries read
	for _, m := range c.marks {
		if m.tag.Kind == lang.Print && c.isInOtherTOC(m) {
			copies[m.tag.Text] = m.tag.Paths(c.scopeAt(m))
		}
	}
	if len(copies) == 0 {
		return
	}
	ofLoop := map[string]bool{}
	for _, m := range c.marks {
		if paths, ok := copies[m.tag.Text]; ok && !ofLoop[m.tag.Text] && !c.isInOtherTOC(m) {
			ofLoop[m.tag.Text] = !slices.Equal(paths, m.tag.Paths(c.scopeAt(m)))
		}
	}
	isCopy := func(m *mark) bool { return ofLoop[m.tag.Text] && c.isInOtherTOC(m) }
	for _, p := range c.pars {
		if i := slices.IndexFunc(p.marks, isCopy); i >= 0 {
			c.warnTag(p.marks[i], "The entry with '"+p.marks[i].tag.Text+
				"' in a table of figures or a similar table stays unchanged until Word updates it (F9).")
			p.marks = slices.DeleteFunc(p.marks, isCopy)
		}
	}
	c.marks = slices.DeleteFunc(c.marks, isCopy)
}

func (c *compiler) isInOtherTOC(m *mark) bool {
	return slices.ContainsFunc(c.tocs.others, func(t *toc) bool { return t.holds(m.par.node) })
}

// scopeAt returns the scope of a tag.
func (c *compiler) scopeAt(m *mark) *lang.Scope {
	scope := new(lang.Scope)
	for _, b := range slices.Backward(c.blocks) { // outer before inner
		if b.isLoop() && b.open().order < m.order && m.order < b.close().order {
			scope.Open(b.open().tag)
		}
	}
	return scope
}
