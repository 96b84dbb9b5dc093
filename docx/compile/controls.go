package compile

import (
	"slices"
	"strconv"
	"strings"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
	"platen/ooxml/scan"
)

// editBound removes the data bindings and placeholder flags of content controls that contain tags, because they would replace
// the values. Word and LibreOffice fill a control that is bound to data of the document, such as its title, when they open the
// document, and treat a control that shows its placeholder as empty (ISO 29500-1 §17.5.2.6, §17.5.2.39).
func (c *compiler) editBound() {
	seen := map[*wml.Node]bool{}
	for _, m := range c.marks {
		for n := m.par.node.Parent; n != nil; n = n.Parent {
			c.free(n, seen)
		}
		for n := m.first.node; n != nil && n != m.par.node; n = n.Parent {
			c.free(n, seen)
		}
	}
}

func (c *compiler) free(sdt *wml.Node, seen map[*wml.Node]bool) {
	if sdt.Name != "w:sdt" || seen[sdt] {
		return
	}
	seen[sdt] = true
	for _, name := range []string{"w:dataBinding", "w15:dataBinding", "w:showingPlcHdr"} {
		if n := sdt.Child("w:sdtPr").Child(name); n != nil {
			c.remove(n.Start, n.End)
		}
	}
}

// A content control (ISO 29500-1 §17.5.2) whose tag or title is a value's tag shows the value according to its kind: a
// check box is ticked, a list shows the entry with that name, and a date has the control's format. The formatting is
// that of its content in the template.

// controls are the content controls of one part that take values.
type controls struct {
	*compiler
	bound []*boundControl
}

// boundControl is a content control that takes a value.
type boundControl struct {
	aside   *aside
	sdt     *wml.Node
	control *program.Control
}

// controlKinds are the kinds of content controls that take values.
var controlKinds = []string{"w14:checkbox", "w:dropDownList", "w:comboBox", "w:date", "w:text", "w:richText"}

// listKinds are those with a list of entries.
var listKinds = []string{"w:dropDownList", "w:comboBox"}

// find finds the content controls whose tag or title is a value's tag.
func (c *controls) find() {
	for _, sdt := range c.sdts {
		text := c.tagOf(sdt)
		switch {
		case c.sections.leavesOut(sdt):
		case text == "":
			c.warnMixed(sdt)
		case isRepeating(sdt):
		case sdt.Child("w:sdtPr").Child("w:picture") != nil:
			c.pictures.findInControl(sdt, text)
		default:
			c.findControl(sdt, text)
		}
	}
}

// tagOf returns the tag that is the tag or title of a content control, or "".
func (c *compiler) tagOf(sdt *wml.Node) string {
	if sdt.Child("w:sdtContent") == nil {
		return ""
	}
	for _, text := range c.namesOf(sdt) {
		if spans, _ := lang.Find(text); len(spans) == 1 && spans[0] == (lang.Span{Start: 0, End: len(text)}) {
			return text
		}
	}
	return ""
}

// namesOf returns the tag and the title of a content control; "" for a missing one.
func (c *compiler) namesOf(sdt *wml.Node) (names [2]string) {
	for i, name := range []string{"w:tag", "w:alias"} {
		names[i] = strings.TrimSpace(scan.Text([]byte(wml.AttrValue(c.src, sdt.Child("w:sdtPr").Child(name), "w:val"))))
	}
	return names
}

// warnMixed warns of a content control that takes no value because its tag or title contains other things than one tag.
func (c *controls) warnMixed(sdt *wml.Node) {
	for _, text := range c.namesOf(sdt) {
		if tags, orphans := lang.Find(text); len(tags)+len(orphans) > 0 {
			c.warnAside(sdt, text, "content control",
				"The content control '"+text+"' stays unchanged: its tag or title must be one tag and nothing else.")
			return
		}
	}
}

func (c *controls) findControl(sdt *wml.Node, text string) {
	content := sdt.Child("w:sdtContent")
	if len(shownIn(content)) == 0 || len(content.All("w:sdt")) > 0 ||
		slices.ContainsFunc(c.marks, func(m *mark) bool { return sdt.Start <= m.start() && m.start() < sdt.End }) {
		c.warnAside(sdt, text, "content control", "The content control '"+text+
			"' contains no text that its value could replace; it stays unchanged.")
		return
	}
	a := c.asideIn(sdt, text, "content control")
	if a == nil {
		return
	}
	k := &program.Control{Kind: "w:richText", Ticked: program.Box{Glyph: '☒'}, Blank: program.Box{Glyph: '☐'}}
	props := sdt.Child("w:sdtPr")
	for _, kind := range controlKinds {
		if n := props.Child(kind); n != nil {
			k.Kind = kind
			c.readControl(k, n)
		}
	}
	if a.mark.tag.Filter("options") != nil && !slices.Contains(listKinds, k.Kind) {
		c.failAside(a, text, &lang.SyntaxError{
			Message: "the filter options is only for lists; this content control is not one", Hint: "insert a drop-down list or a combo box",
		})
		return
	}
	a.reads = k.AddTo
	c.asides = append(c.asides, a)
	c.bound = append(c.bound, &boundControl{a, sdt, k})
}

// readControl reads the properties of a control that depend on its kind.
func (c *controls) readControl(k *program.Control, n *wml.Node) {
	for _, child := range n.Children {
		switch child.Name {
		case "w:listItem":
			value := scan.Text([]byte(wml.AttrValue(c.src, child, "w:value")))
			text := scan.Text([]byte(wml.AttrValue(c.src, child, "w:displayText")))
			if text == "" {
				text = value
			}
			k.Items = append(k.Items, program.ControlItem{Value: value, Text: text})
		case "w:dateFormat":
			k.Format = scan.Text([]byte(wml.AttrValue(c.src, child, "w:val")))
		case "w:lid":
			k.Language = wml.AttrValue(c.src, child, "w:val")
		case "w14:checkedState":
			c.readBox(&k.Ticked, child)
		case "w14:uncheckedState":
			c.readBox(&k.Blank, child)
		}
	}
}

// edit writes the edits of the content controls.
func (c *controls) edit() {
	for _, bound := range c.bound {
		if !c.isGone(bound.sdt) {
			c.editControl(bound)
		}
	}
}

func (c *controls) editControl(bound *boundControl) {
	k, sdt := bound.control, bound.sdt
	props, content := sdt.Child("w:sdtPr"), sdt.Child("w:sdtContent")
	c.hold(sdt.Start, sdt.End, yields, held(func(body []program.Step) program.Step {
		return &program.ControlValue{Tag: bound.aside.mark.tag, Control: k, Untouched: c.untouched(bound), Body: body}
	}))
	for _, n := range c.spentProperties(props) {
		c.remove(n.Start, n.End)
	}
	texts := shownIn(content)
	if props.Child("w:showingPlcHdr") != nil {
		for _, style := range content.All("w:rStyle") { // that of placeholder text
			c.remove(style.Start, style.End)
		}
	}
	for _, t := range texts[1:] {
		c.remove(t.Start, t.End)
	}
	k.Prefix = texts[0].Prefix(c.src)
	k.Breaks = textBreaks(k.Prefix)
	part := func(pos, end int, rank rank, kind program.ControlPartKind) {
		c.add(edit{pos: pos, end: end, rank: rank, action: emitted{&program.ControlPart{Part: kind, Text: c.copy(pos, end), Control: k}}})
	}
	if k.Kind == "w14:checkbox" {
		part(texts[0].Start, texts[0].End, rankReplace, program.ControlBox)
		pos, end, bare := fontOf(texts[0].Parent)
		k.Bare = bare
		part(pos, end, rankParagraph, program.ControlFont)
	} else {
		part(texts[0].Start, texts[0].End, rankReplace, program.ControlText)
	}
	if list := props.Child(k.Kind); bound.aside.mark.tag.Filter("options") != nil {
		if k.Unlisted = list.Void(); k.Unlisted {
			part(list.Start, list.End, rankReplace, program.ControlList)
		} else {
			part(list.OpenEnd, list.CloseStart, rankReplace, program.ControlList)
		}
	}
	if a := props.Child("w14:checkbox").Child("w14:checked").Attr("w14:val"); a != nil {
		part(a.ValueStart, a.ValueEnd, rankReplace, program.ControlTicked)
	}
	if a := props.Child("w:date").Attr("w:fullDate"); a != nil {
		part(a.ValueStart, a.ValueEnd, rankReplace, program.ControlDate)
	}
}

// spentProperties returns the properties that a content control loses when it gets a value: the tag, the flag that it
// shows its placeholder, and the binding to data that would replace the value.
func (c *compiler) spentProperties(props *wml.Node) (spent []*wml.Node) {
	for _, n := range props.Children {
		switch n.Name {
		case "w:showingPlcHdr", "w:dataBinding", "w15:dataBinding":
			spent = append(spent, n)
		case "w:tag", "w:alias":
			if strings.Contains(wml.AttrValue(c.src, n, "w:val"), "{{") {
				spent = append(spent, n)
			}
		}
	}
	return spent
}

// untouched returns the XML of a control without a value: that of the template without the unique id.
func (c *controls) untouched(k *boundControl) []byte {
	if id := k.sdt.Child("w:sdtPr").Child("w:id"); id != nil {
		return slices.Concat(c.src[k.sdt.Start:id.Start], c.src[id.End:k.sdt.End])
	}
	return slices.Clone(c.src[k.sdt.Start:k.sdt.End])
}

// readBox reads a w14:checkedState or w14:uncheckedState.
func (c *controls) readBox(b *program.Box, n *wml.Node) {
	if glyph, err := strconv.ParseUint(wml.AttrValue(c.src, n, "w14:val"), 16, 16); err == nil && glyph >= ' ' && glyph < 0xFFFE &&
		(glyph < 0xD800 || glyph > 0xDFFF) {
		b.Glyph = rune(glyph)
	}
	b.Font = scan.Text([]byte(wml.AttrValue(c.src, n, "w14:font")))
}

// fontOf returns the range of the font of a box's run, or the position where it belongs; bare is true if the run has no
// properties.
func fontOf(run *wml.Node) (pos, end int, bare bool) {
	props := run.Child("w:rPr")
	switch {
	case props == nil:
		return run.OpenEnd, run.OpenEnd, true
	case props.Void():
		return props.Start, props.End, true
	}
	if fonts := props.Child("w:rFonts"); fonts != nil {
		return fonts.Start, fonts.End, false
	}
	if style := props.Child("w:rStyle"); style != nil { // the only element that precedes it
		return style.End, style.End, false
	}
	return props.OpenEnd, props.OpenEnd, false
}

// shownIn returns the elements that show the text of a content control.
func shownIn(content *wml.Node) []*wml.Node {
	var found []*wml.Node
	for _, child := range content.Children {
		if child.Name == "w:t" || child.Name == "w:sym" {
			found = append(found, child)
		}
		found = append(found, shownIn(child)...)
	}
	return found
}
