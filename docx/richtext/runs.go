package richtext

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"platen/docx/wml"
)

// inlines writes runs, with links around those with an address.
func (w *writer) inlines(all []inline, l looks) {
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].format.link == all[from].format.link {
			to++
		}
		part, id := all[from:to], ""
		if address := all[from].format.link; address != "" && !w.InLink {
			id = w.host.Link(address)
		}
		linked := id != ""
		if id = cmp.Or(w.Link, id); id == "" {
			w.stretch(part, l, false)
		} else {
			w.printf(`<%shyperlink xmlns:r="%s" r:id="%s">`, w.Prefix, w.RelNamespace, id)
			w.stretch(part, l, linked)
			w.shut("hyperlink")
		}
		from = to
	}
}

// stretch writes runs that are all inside a link, or all outside.
func (w *writer) stretch(all []inline, l looks, linked bool) {
	for from := 0; from < len(all); {
		if all[from].kind == picture {
			if run, ok := w.host.Picture(all[from].picture); ok {
				w.dst = append(w.dst, run...)
				from++
				continue
			}
		}
		to := from + 1
		for to < len(all) && all[to].kind != picture && all[to].format == all[from].format {
			to++
		}
		w.run(all[from:to], l, linked)
		from = to
	}
}

// run writes a run of one format.
func (w *writer) run(all []inline, l looks, linked bool) {
	w.open("r")
	if props := w.runProps(all[0].format, l, linked); props != "" {
		w.open("rPr")
		w.dst = append(w.dst, props...)
		w.shut("rPr")
	}
	for i := range all {
		if all[i].kind == lineBreak {
			w.void("br")
			continue
		}
		w.text(all[i].text)
	}
	w.shut("r")
}

// text writes a w:t, and w:tab where there are tabs. Characters that XML 1.0 does not allow are left out.
func (w *writer) text(s string) {
	inText := false
	ensure := func(in bool) {
		switch {
		case in && !inText:
			w.dst = append(append(append(w.dst, '<'), w.Prefix...), `t xml:space="preserve">`...)
		case !in && inText:
			w.shut("t")
		}
		inText = in
	}
	for _, r := range s {
		switch {
		case r == '\t':
			ensure(false)
			w.void("tab")
		case r == '\n':
			ensure(false)
			w.void("br")
		case r < ' ' || r == '\uFFFE' || r == '\uFFFF':
		default:
			ensure(true)
			w.dst = appendRune(w.dst, r)
		}
	}
	ensure(false)
}

func appendRune(dst []byte, r rune) []byte {
	switch r {
	case '&':
		return append(dst, "&amp;"...)
	case '<':
		return append(dst, "&lt;"...)
	case '>':
		return append(dst, "&gt;"...)
	}
	return utf8.AppendRune(dst, r)
}

// escape writes text escaped for an attribute.
func escape(s string) string {
	var b []byte
	for _, r := range s {
		b = appendRune(b, r)
	}
	return strings.ReplaceAll(string(b), `"`, "&quot;")
}

// oneWidth is the font of code.
const oneWidth = "Courier New"

// runProps returns the content of the w:rPr of a format.
func (w *writer) runProps(f format, l looks, linked bool) string {
	if f.link = ""; linked {
		f.link = "-" // where to does not matter to the look
	}
	props, ok := l.known[f]
	if !ok {
		base := l.base
		if _, ok := w.host.Style("character", "Hyperlink"); ok && linked {
			base = without(base, linkLook)
		}
		props = wml.RunOrder.Merge(base, w.own(f, l, linked))
		l.known[f] = props
	}
	return props
}

// linkLook has the properties that the style of links sets.
var linkLook = setOf("color u")

// own returns the properties that a format says.
func (w *writer) own(f format, l looks, linked bool) []property {
	var own []property
	toggled := func(t toggle, names ...string) {
		for _, name := range names {
			switch t {
			case on:
				own = append(own, w.prop(name))
			case off:
				own = append(own, w.prop(name, "val", "0"))
			case unsaid:
			}
		}
	}
	if linked {
		w.link(&f, &own)
	}
	if l.bold && f.bold == unsaid {
		f.bold = on
	}
	toggled(f.bold, "b", "bCs")
	toggled(f.italic, "i", "iCs")
	toggled(f.strike, "strike")
	switch f.underline {
	case on:
		own = append(own, w.prop("u", "val", "single"))
	case off:
		own = append(own, w.prop("u", "val", "none"))
	case unsaid:
	}
	if f.color != "" {
		own = append(own, w.prop("color", "val", f.color))
	}
	if f.fill != "" {
		own = append(own, w.prop("shd", "val", "clear", "color", "auto", "fill", f.fill))
	}
	if f.marked {
		own = append(own, w.prop("highlight", "val", "yellow"))
	}
	if f.raised != 0 {
		own = append(own, w.prop("vertAlign", "val", map[int8]string{1: "superscript", -1: "subscript"}[f.raised]))
	}
	if f.rightToLeft {
		own = append(own, w.prop("rtl"))
	}
	return append(own, w.fontProps(f, l)...)
}

// link gives a link's text the template's style for links or, if it has none, the usual formatting.
func (w *writer) link(f *format, own *[]property) {
	if id, ok := w.host.Style("character", "Hyperlink"); ok {
		*own = append(*own, w.prop("rStyle", "val", escape(id)))
		return
	}
	if f.color == "" {
		f.color = "0563C1"
	}
	if f.underline == unsaid {
		f.underline = on
	}
}

func (w *writer) fontProps(f format, l looks) []property {
	var own []property
	font := f.font
	if f.code && font == "" {
		font = oneWidth
	}
	if font != "" {
		font = escape(font)
		own = append(own, w.prop("rFonts", "ascii", font, "hAnsi", font, "cs", font))
	}
	size := f.size
	if size == 0 && (f.scale > 0 || l.bold) {
		size = l.size
		if f.scale > 0 {
			size = l.size * f.scale / 100
		}
	}
	if size > 0 {
		val := strconv.Itoa(min(max(size, 1), maxFontSize))
		own = append(own, w.prop("sz", "val", val), w.prop("szCs", "val", val))
	}
	return own
}
