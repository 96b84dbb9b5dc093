package program

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"platen/docx/lang"
	"platen/docx/picture"
	"platen/docx/richtext"
	"platen/ooxml/names"
)

// A value with markup becomes rich text: one that looks like HTML, or that has the filter html or markdown. Inline content is written into
// the paragraph of the tag. Paragraphs, lists, and tables replace the paragraph or split it. If it cannot be split, they become lines of
// it.

// markup is the content of a value with markup.
type markup interface {
	Inline() bool // it has no paragraphs or tables
	Shaped() bool // its only paragraph has a form of its own
	EndsWithTable() bool
	Text() string
	AppendInline(dst []byte, c richtext.Context, h richtext.Host) []byte
	AppendBlocks(dst []byte, c richtext.Context, h richtext.Host) []byte
}

// readMarkup returns the markup of a value, or nil if it is plain text.
func (x *execution) readMarkup(tag *lang.Tag, v *shown) (markup, error) {
	var doc *richtext.Doc
	var err error
	switch {
	case !v.ok || v.present != nil && v.present.Link != "":
	case v.isWordML():
		return x.readWordML(tag, v)
	case v.present != nil && v.present.As == lang.AsMarkdown:
		doc, err = richtext.Markdown(x.meter, v.text)
	case v.present != nil && v.present.As == lang.AsHTML,
		(v.present == nil || v.present.As == lang.AsText) && richtext.LooksLikeHTML(v.text):
		doc, err = richtext.HTML(x.meter, v.text)
	}
	if err != nil {
		return nil, err
	}
	if doc != nil && doc.Reduced() {
		x.warn(tag, fmt.Sprintf("The markup of the value of '%s' is too long or nested too deeply; its text is shown without formatting.",
			tag.Expr))
	}
	if doc == nil {
		return nil, nil
	}
	return doc, nil
}

// rich is the state of the paragraphs that rich text splits.
type rich struct {
	split   *Place // of the last value, whose paragraph continues if it has more content; nil if it was not split
	entered []byte // the XML with which the last split paragraph continued
}

// writeRich writes rich text at the place of a value's tag.
func (x *execution) writeRich(o *Value, v shown) error {
	p := o.Place
	h := &richHost{x: x, tag: o.Tag, at: p}
	c, err := x.richContext(o.Tag, p, v)
	if err != nil {
		return err
	}
	if v.isWordML() && !v.doc.Inline() && p.LeavePar == nil {
		x.faultNoPlace(o)
		return nil
	}
	if v.doc.Inline() || p.LeavePar == nil {
		x.leave(p.LeaveRun, p.EnterRun)
		x.out.buf = v.doc.AppendInline(x.out.buf, c, h)
		x.out.buf = append(x.out.buf, p.EnterRun...)
		return h.err
	}
	c.AfterTable = x.endParagraph(p) && x.flow.last.joinsTable()
	x.out.buf = v.doc.AppendBlocks(x.out.buf, c, h)
	x.setLast(v.doc)
	x.rich.split = p
	return h.err
}

// endParagraph ends the paragraph before a place, or discards it if it is empty. taken reports whether it was discarded.
func (x *execution) endParagraph(p *Place) (taken bool) {
	if len(p.Lead) > 0 && x.out.cut(p.Lead) || len(x.rich.entered) > 0 && x.out.cut(x.rich.entered) {
		return true
	}
	return x.leave(p.LeavePar, p.EnterPar)
}

// LoneValue is a paragraph that contains only the tag of a value. Its body writes the paragraph, unless the value is rich text that takes
// the paragraph's place.
type LoneValue struct {
	Tag   *lang.Tag
	Place *Place
	Merge int // as in [Value]
	Body  []Step
}

func (o *LoneValue) sketch(s *sketcher) { s.value(o.Body) }

func (o *LoneValue) run(x *execution) error {
	v, err := x.show(o.Tag)
	if err != nil {
		return err
	}
	if v.doc != nil && (!v.doc.Inline() || v.doc.Shaped()) && !x.tables.continues(o.Merge) {
		return x.richParagraph(o, v)
	}
	x.values.pending = v
	return x.run(o.Body)
}

// richParagraph writes rich text in place of the paragraph that contains only its tag.
func (x *execution) richParagraph(o *LoneValue, v shown) error {
	x.yield()
	x.values.missing = false
	h := &richHost{x: x, tag: o.Tag, at: o.Place}
	c, err := x.richContext(o.Tag, o.Place, v)
	if err != nil {
		return err
	}
	c.AfterTable, c.MustEndWithParagraph = x.flow.last.joinsTable(), o.Place.Last
	from := len(x.out.buf)
	x.out.buf = v.doc.AppendBlocks(x.out.buf, c, h)
	switch {
	case len(x.out.buf) == from: // nothing was written, so that the last block is the same
	case o.Place.Last:
		x.flow.last = IsParagraph
	default:
		x.setLast(v.doc)
	}
	return h.err
}

func (x *execution) setLast(doc markup) {
	x.flow.last = IsParagraph
	if doc.EndsWithTable() {
		x.flow.last = IsTable
	}
}

// rejoin continues the paragraph that rich text has split, before steps[i], and returns the index of the step to run next. If nothing
// is left of the paragraph, it does not begin again. Otherwise it begins without the spaces after the tag. It stays split as long as only
// spaces and empty values follow.
func (x *execution) rejoin(steps []Step, i int) (next int) {
	switch steps[i].(type) {
	case *If, *Loop: // which may write nothing
		return i
	}
	p := x.rich.split
	if j, rest := p.ending(steps, i); j >= 0 {
		x.rich.split = nil
		isTable := x.flow.last == IsTable
		if isTable && (p.Last || !p.beginsParagraph(rest)) {
			x.emptyParagraph([]byte("<" + p.Prefix + "p/>"))
			isTable = false
		}
		x.restOf(steps[j].(*Literal), rest)
		if isTable && !bytes.Contains(rest, []byte("</"+p.Prefix+"p>")) {
			x.flow.last = IsTable // the literal has the end of a paragraph that was not written
		}
		return j + 1
	}
	switch o := steps[i].(type) {
	case *Tail:
		return i + 1
	case *Value:
		if x.isEmpty(o) {
			return i + 1
		}
	case *Literal:
		text := bytes.TrimLeft(o.Text, " ")
		if len(text) > 0 {
			x.enterAgain()
			x.restOf(o, text)
		}
		return i + 1
	}
	x.enterAgain()
	return i
}

// isEmpty reports whether a value is an empty text. It keeps other values for the next step.
func (x *execution) isEmpty(o *Value) bool {
	v, err := x.show(o.Tag)
	if err != nil {
		return false // the error is reported when the value is shown
	}
	if v.ok && v.text == "" && v.doc == nil && v.present == nil {
		return true
	}
	x.values.pending = v
	return false
}

// enterAgain begins the second half of a split paragraph.
func (x *execution) enterAgain() {
	x.rich.entered = append(x.rich.entered[:0], x.writeFresh(x.rich.split.EnterPar)...)
	x.rich.split = nil
}

// beginsParagraph reports whether XML begins with the start of a paragraph, or is empty because a paragraph or a step follows.
func (p *Place) beginsParagraph(xml []byte) bool {
	xml = bytes.TrimSpace(xml)
	return len(xml) == 0 || bytes.HasPrefix(xml, []byte("<"+p.Prefix+"p>")) || bytes.HasPrefix(xml, []byte("<"+p.Prefix+"p "))
}

// restOf writes the rest of a literal, as bytes because no piece begins there.
func (x *execution) restOf(o *Literal, rest []byte) {
	if len(rest) == len(o.Text) {
		x.out.literal(o)
	} else {
		x.out.buf = append(x.out.buf, rest...)
	}
	x.flow.last = x.flow.last.Then(o.After)
}

// ending returns the index of the literal in which the paragraph ends, from steps[i] on, and the rest of the literal.
// The index is -1 if the paragraph has more content than spaces.
func (p *Place) ending(steps []Step, i int) (j int, rest []byte) {
	open := p.LeavePar // the tags that must follow
	for j = i; j < len(steps); j++ {
		var text []byte
		o, isLiteral := steps[j].(*Literal)
		if _, isTail := steps[j].(*Tail); isTail {
			continue
		}
		if isLiteral {
			text = o.Text
		}
		for len(open) > 0 && len(text) > 0 {
			n := nextToken(text)
			if !bytes.HasPrefix(text, []byte("<"+p.Prefix+"proofErr ")) && !isBlankText(text[:n]) {
				if !bytes.HasPrefix(open, text[:n]) {
					return -1, nil
				}
				open = open[n:]
			}
			text = text[n:]
		}
		switch {
		case len(open) == 0:
			return j, text
		case !isLiteral:
			return -1, nil
		}
	}
	return -1, nil
}

// nextToken returns the length of the tag, or of the text before the next tag, at the start of XML.
func nextToken(xml []byte) int {
	end := bytes.IndexByte(xml[1:], '<') + 1
	if xml[0] == '<' {
		end = bytes.IndexByte(xml, '>') + 1
	}
	if end == 0 {
		return len(xml)
	}
	return end
}

func isBlankText(text []byte) bool { return text[0] != '<' && len(bytes.Trim(text, " ")) == 0 }

func (x *execution) richContext(tag *lang.Tag, p *Place, v shown) (richtext.Context, error) {
	look := v.present
	if look == nil {
		look = new(lang.Present)
	}
	props, mark := x.runProps(tag, p, look), ""
	if !v.isWordML() {
		var err error
		if mark, err = x.mark(tag, p); err != nil {
			return richtext.Context{}, err
		}
	}
	if mark != "" {
		props = x.markedProps(props, p.Prefix)
	}
	return richtext.Context{
		Prefix: p.Prefix, RelNamespace: x.d.relNamespace(), Strict: x.d.Package.Strict(), InLink: p.InLink, Link: mark,
		RunProps: []byte(props), ParaProps: p.ParagraphProperties, Width: int(p.Width),
	}, nil
}

// richHost adds to the document what rich text refers to. It keeps the first error.
type richHost struct {
	x   *execution
	tag *lang.Tag
	at  *Place
	err error
}

// Link returns the id of a relationship to an address, or "" if the address is not allowed.
func (h *richHost) Link(address string) string {
	address, err := linkAddress(address)
	if err != nil {
		return ""
	}
	id, err := h.x.added.Relate(h.x.part, names.RelHyperlink, address, true)
	h.note(err)
	return id
}

// Picture adds a picture to the document. If the picture is not available, it reports an error.
func (h *richHost) Picture(want richtext.Picture) (run []byte, ok bool) {
	x := h.x
	if h.err != nil {
		return nil, false
	}
	p, err := x.prepare(want.Source, nil)
	if fatal := x.fatal(err); fatal != nil {
		h.note(fatal)
		return nil, false
	}
	if err != nil {
		x.warn(h.tag, fmt.Sprintf("A picture in the value of '%s' cannot be shown: it %s.", h.tag.Expr, err))
		return nil, false
	}
	width, height := picture.EMU(want.Width), picture.EMU(want.Height)
	if column := h.at.Width * emuPerTwip; width > column {
		width, height = column, height*column/width
	}
	drawing, err := x.drawing(h.at, p, width, height, string(picture.FitStretch), want.Alt, 0)
	if err != nil {
		h.note(err)
		return nil, false
	}
	return slices.Concat([]byte("<"+h.at.Prefix+"r>"), drawing, []byte("</"+h.at.Prefix+"r>")), true
}

// List adds a list to the numbering. All lists of bullets share one.
func (h *richHost) List(l richtext.List) int {
	x := h.x
	key := "richtext " + l.Key()
	if id := x.lists.bullets[key]; id > 0 {
		return id
	}
	prefix := x.listPrefix()
	abstract := x.addAbstractList(key, string(l.AppendLevels(nil, prefix, x.d.Package.Strict())))
	overrides := ""
	if l.Numbered() {
		overrides = fmt.Sprintf(`<%[1]slvlOverride %[1]silvl="%[2]d"><%[1]sstartOverride %[1]sval="%[3]d"/></%[1]slvlOverride>`, prefix,
			l.Level, l.Start)
	}
	id, err := x.addList(strconv.Itoa(abstract), overrides)
	h.note(err)
	if !l.Numbered() {
		if x.lists.bullets == nil {
			x.lists.bullets = map[string]int{}
		}
		x.lists.bullets[key] = id
	}
	return id
}

// Heading adds a heading to the tables of contents that show it, and counts it in its list.
func (h *richHost) Heading(of richtext.Heading) (before, behind string) {
	x, found := h.x, heading{}
	text := strings.Join(strings.Fields(of.Text), " ")
	if !of.InList {
		found.item = h.at.Styles[of.Style].Item
		found.num = found.item.Num
	}
	if text != "" {
		found.levels = h.at.levelsOf(of.Style, of.Outline)
	}
	if found.levels == nil && found.item.List == nil {
		return "", ""
	}
	id := 0
	if found.levels != nil {
		id, found.bookmark = x.headingBookmark()
	}
	if x.toc.collecting {
		clean, _ := appendValue(nil, text, &Breaks{})
		found.text = string(clean)
		h.note(x.find(found))
	}
	if found.levels == nil {
		return "", ""
	}
	name := found.bookmark
	return fmt.Sprintf(`<%[1]sbookmarkStart %[1]sid="%[2]d" %[1]sname="%[3]s"/>`, h.at.Prefix, id, name),
		fmt.Sprintf(`<%[1]sbookmarkEnd %[1]sid="%[2]d"/>`, h.at.Prefix, id)
}

// Style returns the id of a style of the template.
func (h *richHost) Style(kind, name string) (string, bool) {
	id := h.x.d.styleID(kind, name)
	if id == "" && h.x.d.hasStyleID(kind, name) { // in WordprocessingML from the data
		id = name
	}
	return id, id != ""
}

func (h *richHost) note(err error) {
	if h.err == nil {
		h.err = err
	}
}
