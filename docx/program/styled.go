package program

import (
	"fmt"
	"strings"

	"platen/docx/lang"
	"platen/docx/wml"
	"platen/ooxml/names"
)

// Values that are not text in the run of their tag.

// present writes a value according to the presentation filters of its tag.
func (x *execution) present(o *Value, v shown) error {
	switch p := v.present; {
	case p.As == lang.AsImage || p.As == lang.AsQRCode || p.As == lang.AsBarcode:
		return x.inlinePicture(o, v)
	case p.As == lang.AsPageBreak:
		x.breakPage(o.Place)
		return nil
	case p.Link != "":
		return x.link(o, v)
	case p.Bold || p.Italic || p.Underline || p.Strike || p.Color != "" || p.Style != "":
		return x.shaped(o, v.text, p)
	}
	return x.plain(o, v.text)
}

// PageBreak breaks the page, except in the last round of a loop.
type PageBreak struct{ Place *Place }

func (o *PageBreak) run(x *execution) error {
	x.values.missing = false
	if !x.env.LastRound() {
		x.yield()
		x.breakPage(o.Place)
	}
	return nil
}

func (x *execution) breakPage(p *Place) {
	x.leave(p.LeaveText, p.EnterText)
	x.out.buf = fmt.Appendf(x.out.buf, `<%[1]sbr %[1]stype="page"/>`, p.Prefix)
	x.out.buf = append(x.out.buf, p.EnterText...)
}

// leave ends the elements around the text, or discards their start if they are empty. taken reports whether it was discarded.
func (x *execution) leave(leave, enter []byte) (taken bool) {
	if x.out.cut(enter) {
		return true
	}
	x.out.buf = append(x.out.buf, leave...)
	return false
}

// styled writes text in a separate run with the given properties.
func (x *execution) styled(o *Value, s, props string) {
	x.leave(o.Place.LeaveRun, o.Place.EnterRun)
	x.writeRun(o, s, props)
	x.out.buf = append(x.out.buf, o.Place.EnterRun...)
}

func (x *execution) writeRun(o *Value, s, props string) {
	prefix := o.Place.Prefix
	x.out.buf = fmt.Appendf(x.out.buf, "<%[1]sr><%[1]srPr>%[2]s</%[1]srPr><%[1]st%[3]s>", prefix, props, wml.Preserve)
	x.text(o, s)
	x.out.buf = fmt.Appendf(x.out.buf, "</%[1]st></%[1]sr>", prefix)
}

// link writes a value as a link. If the address is invalid, or links are not allowed here, it writes plain text.
func (x *execution) link(o *Value, v shown) error {
	address, wrong := linkAddress(v.present.Link)
	if wrong != nil {
		x.warn(o.Tag, fmt.Sprintf(badAddress+" Its text is shown without a link.", o.Tag.Expr, wrong))
	}
	if address == "" || o.Place.InLink {
		return x.shaped(o, v.text, v.present)
	}
	id, err := x.mark(o.Tag, o.Place) // which takes the place of the address
	if id == "" && err == nil {
		id, err = x.added.Relate(x.part, names.RelHyperlink, address, true)
	}
	if err != nil {
		return err
	}
	props := x.linkProps(o, v.present)
	if x.marks.style != "" {
		props = x.markedProps(props, o.Place.Prefix)
	}
	x.linked(o, v.text, id, props)
	return nil
}

// relNamespace returns the namespace of attributes that refer to a relationship.
func (d *Document) relNamespace() string { return names.Namespace("r", d.Package.Strict()) }

// linkProps returns the properties of a link's text: the template's style for links or, if it has none, blue and underlined.
func (x *execution) linkProps(o *Value, want *lang.Present) string {
	look := *want
	if look.Style == "" && look.Color == "" {
		if look.Style = "Hyperlink"; x.d.styleID("character", look.Style) == "" {
			look.Style, look.Color, look.Underline = "", "0563C1", true
		}
	}
	return x.runProps(o.Tag, o.Place, &look)
}

// styleID returns the id of the style with a kind and name, or "" if the template has none.
func (d *Document) styleID(kind, name string) string {
	return d.StyleIDs[kind+" "+strings.ToLower(name)]
}

// hasStyleID reports whether the template has a style of a kind with an id.
func (d *Document) hasStyleID(kind, id string) bool {
	for key, known := range d.StyleIDs {
		if known == id && strings.HasPrefix(key, kind+" ") {
			return true
		}
	}
	return false
}

// runProps returns, as XML, the properties of the run at the place of a tag with those of the value. A style that the
// template does not have is ignored, with a warning.
func (x *execution) runProps(tag *lang.Tag, p *Place, want *lang.Present) string {
	var more []wml.Property
	add := func(name, val string) {
		xml := "<" + p.Prefix + name
		if val != "" {
			xml += " " + p.Prefix + `val="` + val + `"`
		}
		more = append(more, wml.Property{Name: name, XML: xml + "/>"})
	}
	if want.Style != "" {
		if id := x.d.styleID("character", want.Style); id != "" {
			add("rStyle", id)
		} else if !x.d.stylesParagraph(want.Style) {
			x.warn(tag, "The template has no style '"+want.Style+"'; the text is shown without it.")
		} else if !p.StylesParagraph {
			x.warn(tag, "The paragraph style '"+want.Style+"' cannot be applied by a tag in a block inside the paragraph.")
		}
	}
	if want.Bold {
		add("b", "")
		add("bCs", "")
	}
	if want.Italic {
		add("i", "")
		add("iCs", "")
	}
	if want.Strike {
		add("strike", "")
	}
	if want.Color != "" {
		add("color", want.Color)
	}
	if want.Underline {
		add("u", "single")
	}
	return wml.RunOrder.Merge(p.Properties, more)
}
