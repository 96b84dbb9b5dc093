package compile

import (
	"bytes"
	"slices"
	"strings"

	"platen/docx/program"
	"platen/docx/wml"
)

// valuePlaces describes where the values of a part go, each place once.
type valuePlaces struct {
	*compiler
	byMark map[*mark]*program.Place
	byText map[*wml.Node]*program.Place // of one of the marks in a text
	forms  map[string]*program.Breaks   // by prefix
	shared parPlaces                    // of the last paragraph
	fields []fieldPart                  // of the part
	parted bool                         // fields is known
}

// parPlaces is what all places in a paragraph share. A paragraph may have very many tags.
type parPlaces struct {
	par        *wml.Node
	width      int64
	last       bool   // a paragraph is needed after it
	properties []byte // for other paragraphs
	mayPart    bool   // it may be split
	again      []byte // the start of the paragraph that continues it, if it may be split
}

func newValuePlaces(c *compiler) valuePlaces {
	return valuePlaces{
		compiler: c, byMark: map[*mark]*program.Place{}, byText: map[*wml.Node]*program.Place{}, forms: map[string]*program.Breaks{},
	}
}

// of describes the place of a value; nil if only text can be there. All edits must be known.
func (c *valuePlaces) of(m *mark) *program.Place {
	if m.first.plain || m.first.node.Name != "w:t" {
		return nil
	}
	if p := c.byMark[m]; p != nil {
		return p
	}
	p := new(program.Place)
	if like := c.byText[m.first.node]; like != nil {
		*p = *like
		p.Lead = nil
	} else {
		p = c.placeOf(m)
		c.byText[m.first.node] = p
	}
	p.StylesParagraph = m.stylesPar
	c.byMark[m] = p
	return p
}

// breaks returns the XML of breaks in the text that contains a value's tag.
func (c *valuePlaces) breaks(m *mark) *program.Breaks {
	switch {
	case m.first.plain:
		return &program.Breaks{Plain: true, Code: m.code}
	case m.first.node.Name == "a:t":
		return c.drawingBreaks(m)
	}
	prefix := m.first.node.Prefix(c.src)
	b := c.forms[prefix]
	if b == nil {
		b = textBreaks(prefix)
		c.forms[prefix] = b
	}
	return b
}

// textBreaks is the XML of breaks in a w:t, with a prefix.
func textBreaks(prefix string) *program.Breaks {
	end, start := "</"+prefix+"t><"+prefix, "/><"+prefix+"t"+wml.Preserve+">"
	return &program.Breaks{Line: []byte(end + "br" + start), Tab: []byte(end + "tab" + start)}
}

// drawingBreaks returns the XML of breaks in the text of a chart or diagram, where a break is between runs.
func (c *compiler) drawingBreaks(m *mark) *program.Breaks {
	t, run := m.first.node, m.first.run
	line := slices.Concat(c.closeTag(t), c.closeTag(run), []byte("<"+t.Prefix(c.src)+"br/>"), []byte(c.reopen(run)), c.src[t.Start:t.OpenEnd])
	return &program.Breaks{Line: line, Tab: []byte("\t")}
}

// holdsNoLink reports whether an element must not contain links, because it is a link or a tracked insertion (ISO 29500-1 §17.13.5.18).
func holdsNoLink(n *wml.Node) bool {
	return n.Name == "w:hyperlink" || n.Name == "w:ins" || n.Name == "w:moveTo"
}

// placeOf describes the place of a value's tag.
func (c *valuePlaces) placeOf(m *mark) *program.Place {
	t, run, par := m.first.node, m.first.run, c.inParagraph(m.par.node)
	p := &program.Place{Prefix: t.Prefix(c.src), Width: par.width, Properties: c.propertiesOf(run.Child("w:rPr")),
		InLink: run.Ancestor(holdsNoLink) != nil, Last: par.last, ParagraphProperties: par.properties}
	if len(c.tocs.own) > 0 && par.par.Ancestor(wml.Named("w:txbxContent")) == nil {
		p.Headings, p.Styles = c.tocs.richHeadings(), c.tocs.styledHeadings()
	}
	p.Unmarkable = c.inField(run) || run.Ancestor(hidesLinks) != nil
	c.wayOut(p, t, run, par)
	return p
}

// inField reports whether a run is inside a complex field, where LibreOffice shows the text of links twice.
func (c *valuePlaces) inField(run *wml.Node) bool {
	if !c.parted {
		c.parted = true
		if slices.ContainsFunc(c.pars, func(p *paragraph) bool { return p.fields }) {
			c.fields = fieldParts(c.findFields(c.root, nil, new([]*field)))
		}
	}
	return partAt(c.fields, run.Start).depth > 0
}

// hidesLinks reports whether LibreOffice loses the text of links in an element, or shows their addresses: in a field, or in a content
// control that is not merely a part of the document, such as a cover page.
func hidesLinks(n *wml.Node) bool {
	return n.Name == "w:fldSimple" || n.Name == "w:sdt" && n.Child("w:sdtPr").Child("w:docPartObj") == nil
}

// inParagraph returns what the places in a paragraph share.
func (c *valuePlaces) inParagraph(par *wml.Node) *parPlaces {
	p := &c.shared
	if p.par == par {
		return p
	}
	*p = parPlaces{
		par: par, width: int64(c.columnWidth(par)), last: c.needsParagraphBehind(par), mayPart: sectionOf(par) == nil && !c.isEntry(par),
	}
	if props := par.Child("w:pPr"); props != nil {
		p.properties = c.copied(props)
	}
	if p.mayPart {
		p.again = c.anotherPar(par)
	}
	return p
}

// wayOut sets the XML for leaving a text and returning to it. The XML for leaving the paragraph begins with that for leaving the run, which
// begins with that for leaving the text. The XML for returning ends in the same way. So both are created once.
func (c *compiler) wayOut(p *program.Place, t, run *wml.Node, in *parPlaces) {
	around, mayPart := between(run, in.par)
	mayPart = mayPart && in.mayPart
	var enter []byte
	if mayPart {
		enter = slices.Clone(in.again)
		for _, n := range slices.Backward(around) {
			enter = append(enter, c.reopen(n)...)
		}
	}
	atRun := len(enter)
	enter = append(enter, c.reopen(run)...)
	atText := len(enter)
	enter = slices.Clip(append(enter, c.reopen(t)...))
	p.EnterText, p.EnterRun = enter[atText:], enter[atRun:]
	const usual = 48
	leave := append(make([]byte, 0, usual), c.closeTag(t)...)
	p.LeaveText = slices.Clip(leave)
	leave = append(leave, c.closeTag(run)...)
	p.LeaveRun = slices.Clip(leave)
	if mayPart {
		for _, n := range around {
			leave = append(leave, c.closeTag(n)...)
		}
		p.LeavePar, p.EnterPar = slices.Clip(append(leave, c.closeTag(in.par)...)), enter
	}
}

// between returns the elements between a run and its paragraph, from inside outward. ok reports whether all of them can be split.
func between(run, par *wml.Node) (all []*wml.Node, ok bool) {
	for n := run.Parent; n != par; n = n.Parent {
		if n == nil || !splittable[n.Name] {
			return nil, false
		}
		all = append(all, n)
	}
	return all, true
}

// sideMargins is the default total of the left and the right margin in a cell, in twentieths of a point.
const sideMargins = 216

// columnWidth returns how wide the text around a paragraph is in twentieths of a point: that of its cell if it is known, else
// the page's.
func (c *compiler) columnWidth(par *wml.Node) int {
	width := par.Ancestor(wml.Named("w:tc")).Child("w:tcPr").Child("w:tcW")
	if wml.AttrValue(c.src, width, "w:type") == "dxa" {
		if w := wml.IDNumber(wml.AttrValue(c.src, width, "w:w")) - sideMargins; w > 0 {
			return w
		}
	}
	return c.textWidth()
}

// inner returns the content of an element; n may be nil.
func (c *compiler) inner(n *wml.Node) []byte {
	if n == nil {
		return nil
	}
	return c.src[n.OpenEnd:n.CloseStart]
}

// without returns the content of an element but for some of its children.
func (c *compiler) without(n *wml.Node, names ...string) []byte {
	var kept []byte
	at := n.OpenEnd
	for _, child := range n.Children {
		if slices.Contains(names, child.Name) {
			kept = append(kept, c.src[at:child.Start]...)
			at = child.End
		}
	}
	return append(kept, c.src[at:n.CloseStart]...)
}

// copied returns the content of a w:pPr for other paragraphs: without the children named, and without the section break and
// the tracked changes, which are of the one paragraph. If its mark was deleted, accepting that would join the others too.
func (c *compiler) copied(props *wml.Node, names ...string) []byte {
	content := c.without(props, append(names, "w:rPr", "w:sectPr", "w:pPrChange")...)
	mark := props.Child("w:rPr")
	if mark == nil {
		return content
	}
	own := c.without(mark, "w:ins", "w:del", "w:moveFrom", "w:moveTo", "w:rPrChange")
	return slices.Concat(content, c.src[mark.Start:mark.OpenEnd], own, c.src[mark.CloseStart:mark.End])
}

func (c *compiler) closeTag(n *wml.Node) []byte { return []byte("</" + n.RawName(c.src) + ">") }

// anotherPar returns the start of a paragraph like par that continues its text: it is not a list item, and has no id.
func (c *compiler) anotherPar(par *wml.Node) []byte {
	open := slices.Clone(c.src[par.Start:par.OpenEnd])
	if id := par.Attr("w14:paraId"); id != nil {
		open = slices.Concat(c.src[par.Start:id.Start], c.src[id.End:par.OpenEnd])
	}
	props := par.Child("w:pPr")
	if props == nil {
		return open
	}
	return slices.Concat(open, c.src[props.Start:props.OpenEnd], c.copied(props, "w:numPr"), c.src[props.CloseStart:props.End])
}

// needsParagraphBehind reports whether the replacement of a paragraph must end with a paragraph, because the container ends
// there, or because a table follows. If a paragraph follows that may vanish, guardContainers adds one when it has vanished.
func (c *compiler) needsParagraphBehind(par *wml.Node) bool {
	if par.Parent == nil {
		return true
	}
	i := par.Index()
	for _, n := range par.Parent.Children[i+1:] {
		switch n.Name {
		case "w:p":
			return c.mayVanish(n) && !par.Parent.NeedsParagraph()
		case "w:tbl", "w:sdt", "w:sectPr":
			return true
		}
	}
	return true
}

// isEntry reports whether a table of contents has an entry for a paragraph, which must lead to it.
func (c *compiler) isEntry(par *wml.Node) bool { return c.tocs.levelsOf(par) != nil }

// mayTakeParagraph reports whether a value's tag has its paragraph to itself, so that blocks can take the paragraph's place.
func (c *compiler) mayTakeParagraph(m *mark) bool {
	p := m.par
	return len(p.marks) == 1 && p.node.Name == "w:p" && m.leading() && m.trailing() && !c.isGone(p.node) && sectionOf(p.node) == nil &&
		!c.pinned[p.node] && !c.isEntry(p.node) &&
		p.node.Parent != nil && !hasOther(p.node, m.first.run.Under(p.node), m.last.run.Under(p.node))
}

// hasOther reports whether a paragraph holds an anchor of something between its runs that would be lost with it.
func hasOther(par, first, last *wml.Node) bool {
	return slices.ContainsFunc(par.Children, func(n *wml.Node) bool {
		return n != first && n != last && (n.IsRangeMarkup() || n.Name == "w:sdt")
	})
}

// lastStart returns the position of the last start tag in xml that begins with open, where open ends with the complete
// name. It returns -1 if there is none.
func lastStart(xml, open []byte) int {
	for end := len(xml); ; {
		at := bytes.LastIndex(xml[:end], open)
		if at < 0 {
			return -1
		}
		if behind := xml[at+len(open):]; len(behind) > 0 && (behind[0] == ' ' || behind[0] == '>') {
			return at
		}
		end = at + len(open) - 1
	}
}

// propertiesOf returns the children of an element, which may be nil, but for the record of a tracked change.
func (c *compiler) propertiesOf(n *wml.Node) []wml.Property {
	if n == nil {
		return nil
	}
	xml := string(c.src[n.Start:n.End])
	all := make([]wml.Property, 0, len(n.Children))
	for _, child := range n.Children {
		if child.Name != "w:rPrChange" && child.Name != "w:pPrChange" {
			all = append(all, wml.Property{Name: strings.TrimPrefix(child.Name, "w:"), XML: xml[child.Start-n.Start : child.End-n.Start]})
		}
	}
	return all
}
