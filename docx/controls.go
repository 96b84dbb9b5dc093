package docx

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"platen/docx/lang"
	"platen/docx/locale"
)

// A content control (ISO 29500-1 §17.5.2) whose tag or title is a value's tag takes the value in its own kind: a check box is
// ticked, a list shows the entry of that name, a date is written as the control says. What it shows so far gives the look.

// control is a content control that takes a value.
type control struct {
	aside  *aside
	sdt    *node
	kind   string // the canonical name of the property that says what it is
	breaks *breaks
	prefix string // of the elements of its content
	bare   bool   // the run of its box has no properties

	items         []controlItem // of lists
	format        string        // of dates
	language      string        // of dates
	ticked, blank boxState      // of check boxes
}

// controlItem is an entry of a list.
type controlItem struct{ value, text string }

// controlKinds are the kinds of content controls that take values.
var controlKinds = []string{"w14:checkbox", "w:dropDownList", "w:comboBox", "w:date", "w:text", "w:richText"}

// findControls finds the content controls whose tag or title is a value's tag.
func (c *compiler) findControls() {
	for _, sdt := range c.root.all("w:sdt") {
		props, content := sdt.child("w:sdtPr"), sdt.child("w:sdtContent")
		for _, name := range []string{"w:tag", "w:alias"} {
			text := strings.TrimSpace(entities([]byte(attrValue(c.src, props.child(name), "w:val"))))
			spans, _ := lang.Find(text)
			if len(spans) != 1 || spans[0] != (lang.Span{Start: 0, End: len(text)}) || content == nil {
				continue
			}
			if props.child("w:picture") != nil {
				c.findPictureControl(sdt, text)
			} else {
				c.findControl(sdt, text)
			}
			break
		}
	}
}

func (c *compiler) findControl(sdt *node, text string) {
	content := sdt.child("w:sdtContent")
	if len(shownIn(content)) == 0 || len(content.all("w:sdt")) > 0 || slices.ContainsFunc(c.marks, func(m *mark) bool { return sdt.start <= m.start() && m.start() < sdt.end }) {
		c.warnings = append(c.warnings, "The content control '"+text+"' has no text of its own that its value could take the place of; it stays as it is.")
		return
	}
	a := c.asideIn(sdt, text, "content control")
	if a == nil {
		return
	}
	k := &control{aside: a, sdt: sdt, kind: "w:richText", ticked: boxState{glyph: '☒'}, blank: boxState{glyph: '☐'}}
	props := sdt.child("w:sdtPr")
	for _, kind := range controlKinds {
		if n := props.child(kind); n != nil {
			k.kind = kind
			k.read(c, n)
		}
	}
	c.asides = append(c.asides, a)
	c.controls = append(c.controls, k)
}

// read takes in what a control says of its kind.
func (k *control) read(c *compiler, n *node) {
	for _, child := range n.children {
		switch child.name {
		case "w:listItem":
			value := entities([]byte(attrValue(c.src, child, "w:value")))
			text := entities([]byte(attrValue(c.src, child, "w:displayText")))
			if text == "" {
				text = value
			}
			k.items = append(k.items, controlItem{value, text})
		case "w:dateFormat":
			k.format = entities([]byte(attrValue(c.src, child, "w:val")))
		case "w:lid":
			k.language = attrValue(c.src, child, "w:val")
		case "w14:checkedState":
			k.ticked.read(c, child)
		case "w14:uncheckedState":
			k.blank.read(c, child)
		}
	}
}

// The parts of a content control that its value changes.
const (
	controlText = iota
	controlTicked
	controlDate
	controlBox  // the box of a check box
	controlFont // the font of its run
)

// editControls writes the edits of the content controls that take values.
func (c *compiler) editControls() {
	for _, k := range c.controls {
		if c.isGone(k.sdt) {
			continue
		}
		props, content := k.sdt.child("w:sdtPr"), k.sdt.child("w:sdtContent")
		c.add(edit{pos: k.sdt.start, end: k.sdt.start, phase: phaseGuard, kind: editControl, mark: k.aside.mark, control: k})
		c.add(edit{pos: k.sdt.end, end: k.sdt.end, phase: phaseGuardEnd, kind: editGuardEnd})
		for _, n := range c.spentProperties(props) {
			c.replace(n.start, n.end, editDelete)
		}
		texts := shownIn(content)
		if props.child("w:showingPlcHdr") != nil {
			for _, style := range content.all("w:rStyle") { // that of placeholder text
				c.replace(style.start, style.end, editDelete)
			}
		}
		k.breaks, k.prefix = c.controlBreaks(texts[0]), texts[0].prefix(c.src)
		part := func(pos, end, slot int) {
			c.add(edit{pos: pos, end: end, phase: phaseReplace, kind: editControlPart, slot: slot, control: k})
		}
		for _, t := range texts[1:] {
			c.replace(t.start, t.end, editDelete)
		}
		if k.kind == "w14:checkbox" {
			part(texts[0].start, texts[0].end, controlBox)
			pos, end := k.fontOf(texts[0].parent)
			c.add(edit{pos: pos, end: end, phase: phaseParagraph, kind: editControlPart, slot: controlFont, control: k})
		} else {
			part(texts[0].start, texts[0].end, controlText)
		}
		if a := props.child("w14:checkbox").child("w14:checked").attrOf("w14:val"); a != nil {
			part(a.valueStart, a.valueEnd, controlTicked)
		}
		if a := props.child("w:date").attrOf("w:fullDate"); a != nil {
			part(a.valueStart, a.valueEnd, controlDate)
		}
	}
}

// spentProperties are the properties of a content control that it has no more when it has a value: the tag, that it shows a
// placeholder's text, and the binding to data that would take the value's place again.
func (c *compiler) spentProperties(props *node) (spent []*node) {
	for _, n := range props.children {
		switch n.name {
		case "w:showingPlcHdr", "w:dataBinding":
			spent = append(spent, n)
		case "w:tag", "w:alias":
			if strings.Contains(attrValue(c.src, n, "w:val"), "{{") {
				spent = append(spent, n)
			}
		}
	}
	return spent
}

// controlBreaks is the XML of breaks in the text of a control.
func (c *compiler) controlBreaks(t *node) *breaks {
	prefix := t.prefix(c.src)
	end, start := "</"+prefix+"t><"+prefix, "/><"+prefix+"t"+preserve+">"
	return &breaks{line: []byte(end + "br" + start), tab: []byte(end + "tab" + start)}
}

// untouched is the control as it stays when there is no value, without the id that it has once.
func (k *control) untouched(c *compiler) []byte {
	if id := k.sdt.child("w:sdtPr").child("w:id"); id != nil {
		return slices.Concat(c.src[k.sdt.start:id.start], c.src[id.end:k.sdt.end])
	}
	return slices.Clone(c.src[k.sdt.start:k.sdt.end])
}

// filledControl is what a content control shows.
type filledControl struct {
	text   string
	ticked bool
	date   string
}

// control writes a content control with the value of its tag. Without one, or with one that its kind cannot have, it stays as
// it is.
func (x *execution) control(o *op) error {
	v, ok, err := x.env.Value(o.tag)
	if err != nil {
		return err
	}
	x.yield()
	x.last = unchanged
	if !ok {
		x.out.buf = append(x.out.buf, o.text...)
		return nil
	}
	filled, err := o.control.fill(x, v)
	if err != nil {
		x.fault(o.tag, "The content control '%s' cannot have its value: %s.", err)
		x.out.buf = append(x.out.buf, o.text...)
		return nil
	}
	outer := x.filled
	x.filled = filled
	err = x.run(o.body)
	x.filled = outer
	return err
}

// fill finds what the control shows for a value.
func (k *control) fill(x *execution, v lang.Value) (*filledControl, error) {
	if k.kind == "w14:checkbox" {
		return &filledControl{ticked: lang.Ticked(v)}, nil
	}
	s, ok := lang.Text(v)
	if !ok {
		return nil, errors.New("it is a list or an object")
	}
	switch k.kind {
	case "w:dropDownList", "w:comboBox":
		return k.choose(s)
	case "w:date":
		return k.date(x, s)
	}
	return &filledControl{text: s}, nil
}

// choose finds the entry of a list.
func (k *control) choose(s string) (*filledControl, error) {
	var names []string
	for _, item := range k.items {
		if s == item.text || s == item.value {
			return &filledControl{text: item.text}, nil
		}
		names = append(names, item.text)
	}
	if k.kind == "w:comboBox" {
		return &filledControl{text: s}, nil
	}
	return nil, fmt.Errorf("%q is none of its entries, which are %s", s, strings.Join(names, ", "))
}

// wordDates turns the letters of Word's formats into those of CLDR, where they differ.
var wordDates = strings.NewReplacer("dddd", "EEEE", "ddd", "EEE", "AM/PM", "a", "am/pm", "a")

func (k *control) date(x *execution, s string) (*filledControl, error) {
	l, ok := locale.Find(k.language)
	if !ok {
		if l = x.opt.Locale; l == nil {
			l = locale.Default()
		}
	}
	location := x.opt.Location
	if location == nil {
		location = time.UTC
	}
	t, _, err := locale.ParseTime(s, location, l)
	if err != nil {
		return nil, err
	}
	format := wordDates.Replace(k.format)
	if format == "" {
		format = "short"
	}
	text, err := l.Date(t, format)
	return &filledControl{text: text, date: t.Format("2006-01-02T15:04:05Z")}, err
}

// controlPart writes a part of a content control.
func (x *execution) controlPart(o *op) {
	switch f := x.filled; o.slot {
	case controlText:
		x.out.buf = fmt.Appendf(x.out.buf, "<%st%s>", o.control.prefix, preserve)
		x.out.buf, _ = appendValue(x.out.buf, f.text, o.breaks)
		x.out.buf = fmt.Appendf(x.out.buf, "</%st>", o.control.prefix)
	case controlTicked:
		x.out.buf = strconv.AppendInt(x.out.buf, int64(map[bool]int{true: 1}[f.ticked]), 10)
	case controlDate:
		x.out.buf = append(x.out.buf, f.date...)
	case controlBox:
		x.out.buf = o.control.state(f.ticked).appendBox(x.out.buf, o.control.prefix)
	case controlFont:
		x.out.buf = o.control.appendFont(x.out.buf, o.control.state(f.ticked).font, o.text)
	}
}
