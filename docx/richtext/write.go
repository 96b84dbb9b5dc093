package richtext

import (
	"fmt"
	"strconv"
	"strings"

	"platen/docx/wml"
)

const (
	// usualWidth is a column's where none is given: A4 between margins of an inch, in twentieths of a point.
	usualWidth = 9_026
	// usualSize is a text's where none is given, in half-points.
	usualSize = 22
	// leastWidth is the least width of text with any indentation.
	leastWidth = 1_000
)

// AppendInline appends runs that can replace the run of a tag. Blocks of the document become lines.
func (d *Doc) AppendInline(dst []byte, c Context, h Host) []byte {
	w := newWriter(dst, c, h)
	w.inlines(flatten(d.blocks), w.runs)
	return w.dst
}

// AppendBlocks appends paragraphs and tables that can replace the paragraph of a tag.
func (d *Doc) AppendBlocks(dst []byte, c Context, h Host) []byte {
	w := newWriter(dst, c, h)
	w.afterTable = c.AfterTable
	w.blocks(d.blocks, frame{width: w.width})
	if c.MustEndWithParagraph && (w.afterTable || w.first) {
		w.empty()
	}
	return w.dst
}

type writer struct {
	dst []byte
	Context
	host Host

	runs  looks      // of the text
	par   []property // of the tag's paragraph
	first bool       // no block is written yet
	width int

	marker     marker // for the next paragraph
	afterTable bool   // the last block of the container is a table
}

// marker is the bullet or number that the next paragraph begins with; none if list is 0.
type marker struct{ list, level int }

// frame is the surroundings of a block.
type frame struct {
	indent int  // of text
	lists  int  // around
	listed bool // the text belongs to an item of a list
	quoted bool
	inCell bool
	width  int
}

// looks are the properties of runs, by format.
type looks struct {
	base  []property
	size  int // of the text, in half-points
	bold  bool
	known map[format]string
}

func newWriter(dst []byte, c Context, h Host) *writer {
	w := &writer{dst: dst, Context: c, host: h, first: true, width: c.Width, par: split(c.ParaProps, c.Prefix)}
	if w.width <= 0 {
		w.width = usualWidth
	}
	base := without(split(c.RunProps, c.Prefix), never)
	w.runs = looks{base: base, size: usualSize, known: map[format]string{}}
	if xml, ok := find(base, "sz"); ok {
		if size := numberIn(xml, c.Prefix+"val"); size > 0 {
			w.runs.size = min(size, maxFontSize)
		}
	}
	return w
}

func (w *writer) printf(layout string, args ...any) { w.dst = fmt.Appendf(w.dst, layout, args...) }

// open, shut and void write tags of WordprocessingML.
func (w *writer) open(name string) {
	w.dst = append(append(append(append(w.dst, '<'), w.Prefix...), name...), '>')
}
func (w *writer) shut(name string) {
	w.dst = append(append(append(append(w.dst, "</"...), w.Prefix...), name...), '>')
}
func (w *writer) void(name string) {
	w.dst = append(append(append(append(w.dst, '<'), w.Prefix...), name...), "/>"...)
}

// prop is a property with attributes, which are pairs of name and value.
func (w *writer) prop(name string, attrs ...string) property {
	var xml strings.Builder
	xml.WriteString("<" + w.Prefix + name)
	for i := 0; i+1 < len(attrs); i += 2 {
		xml.WriteString(" " + w.Prefix + attrs[i] + `="` + attrs[i+1] + `"`)
	}
	return property{Name: name, XML: xml.String() + "/>"}
}

func (w *writer) blocks(all []block, f frame) {
	for i := range all {
		b := &all[i]
		switch b.kind {
		case list:
			w.list(b, f)
		case quote:
			in := f
			in.indent += listIndent
			in.quoted = in.quoted || b.level == 0
			w.blocks(b.blocks, in)
		case table:
			w.table(b.grid, f)
		case paragraph, heading, preformatted, rule:
			w.paragraph(b, f)
		}
	}
}

// list writes the items of a list. A number that an item says itself begins another list, as Word counts on otherwise.
func (w *writer) list(b *block, f frame) {
	l := b.list
	l.Level = min(f.lists, listLevels-1)
	id := 0
	in := f
	in.lists, in.listed, in.indent = f.lists+1, true, f.indent+listIndent
	for _, it := range b.items {
		w.marker = marker{}
		if it.marked {
			if id == 0 || it.value > 0 && l.Numbered() {
				if it.value > 0 {
					l.Start = it.value
				}
				id = w.host.List(l)
			}
			w.marker = marker{id, l.Level}
		}
		w.blocks(it.blocks, in)
		w.flushMarker(in)
	}
}

// flushMarker writes an item without text.
func (w *writer) flushMarker(f frame) {
	if w.marker.list > 0 {
		w.paragraph(&block{}, f)
	}
}

// empty writes a paragraph with nothing in it.
func (w *writer) empty() {
	w.void("p")
	w.afterTable = false
}

func (w *writer) paragraph(b *block, f frame) {
	runs := w.runs
	w.open("p")
	props, style := w.paragraphProps(b, f, &runs)
	if props != "" {
		w.open("pPr")
		w.dst = append(w.dst, props...)
		w.shut("pPr")
	}
	before, after := "", ""
	if b.kind == heading {
		h := Heading{Style: style, InList: w.marker.list > 0, Text: textOf(b.text, " ")}
		if style == "" {
			h.Outline = b.level
		}
		before, after = w.host.Heading(h)
	}
	w.dst = append(w.dst, before...)
	w.inlines(b.text, runs)
	w.dst = append(w.dst, after...)
	w.shut("p")
	w.marker, w.first, w.afterTable = marker{}, false, false
}

// Properties of the tag's paragraph that its replacements do not all keep: once are kept only by the first paragraph, indented are replaced
// with another indentation, cellAlien are not kept in the cells of a table, and styled are not kept by paragraphs with
// a style. spoken are the properties of the run that are kept even then.
var (
	never     = setOf("framePr sectPr pPrChange rPrChange")
	once      = setOf("numPr pageBreakBefore")
	indented  = setOf("numPr ind tabs contextualSpacing")
	cellAlien = setOf("numPr ind tabs keepNext keepLines pageBreakBefore pBdr shd outlineLvl spacing")
	spoken    = setOf("noProof rtl lang")
	styled    = setOf("pStyle numPr ind tabs spacing outlineLvl pBdr shd contextualSpacing rPr keepNext keepLines jc")
)

// paragraphProps returns the content of a paragraph's w:pPr. It sets the looks of its runs where they are other than those
// of the tag. style is the id of a style that brings its look, or "".
func (w *writer) paragraphProps(b *block, f frame, runs *looks) (xml, style string) {
	base := without(w.par, never)
	baseIndent := 0
	if xml, ok := find(base, "ind"); ok && !f.inCell {
		baseIndent = max(numberIn(xml, w.Prefix+"left"), numberIn(xml, w.Prefix+"start"))
	}
	var own []property
	if !w.first {
		base = without(base, once)
	}
	if f.inCell {
		base = without(base, cellAlien)
		own = append(own, w.prop("spacing", "before", "0", "after", "0"))
	}
	own, style = w.kindProps(b, f, runs, own)
	if style != "" {
		base = without(base, styled)
	}
	if w.marker.list > 0 {
		base = without(base, indented)
		own = append(own, w.numbering())
	}
	if indent := f.indent + baseIndent; f.indent > 0 && (w.marker.list == 0 || indent != listIndent*(w.marker.level+1)) {
		base = without(base, indented)
		own = append(own, w.indentation(indent))
	} else if w.marker.list > 0 {
		own = append(own, w.prop("ind", "firstLineChars", "0")) // a style that says otherwise would count for more
	}
	own = append(own, w.shapeProps(b.shape)...)
	return wml.ParagraphOrder.Merge(base, own), style
}

func (w *writer) numbering() property {
	id, level := w.prop("numId", "val", strconv.Itoa(w.marker.list)), w.prop("ilvl", "val", strconv.Itoa(w.marker.level))
	return property{Name: "numPr", XML: "<" + w.Prefix + "numPr>" + level.XML + id.XML + "</" + w.Prefix + "numPr>"}
}

func (w *writer) indentation(indent int) property {
	indent = min(indent, max(w.width-leastWidth, listIndent))
	attrs := []string{w.start(), strconv.Itoa(indent), "firstLineChars", "0"}
	if w.marker.list > 0 {
		attrs = append(attrs, "hanging", strconv.Itoa(hanging))
	} else {
		attrs = append(attrs, "firstLine", "0")
	}
	return w.prop("ind", attrs...)
}

// start is how the side is called where lines begin.
func (w *writer) start() string {
	if w.Strict {
		return "start"
	}
	return "left"
}

// shapeProps are alignment and direction. Left and right are sides of the page in HTML, but begin and end of the line in Word.
func (w *writer) shapeProps(s shape) []property {
	var own []property
	if s.rightToLeft {
		own = append(own, w.prop("bidi"))
	}
	align := s.align
	if align == "left" || align == "right" {
		atStart := (align == "left") != s.rightToLeft
		switch {
		case atStart:
			align = w.start()
		case w.Strict:
			align = "end"
		default:
			align = "right"
		}
	}
	if align != "" {
		own = append(own, w.prop("jc", "val", align))
	}
	return own
}

// headingSizes are the font sizes of the levels, in percent of that of the text.
var headingSizes = []int{160, 135, 118, 108, 100, 92}

// kindProps adds what headings, quotes and rules have. style is the id of a style that brings their look, or "".
func (w *writer) kindProps(b *block, f frame, runs *looks, own []property) (_ []property, style string) {
	switch {
	case b.kind == rule:
		line := w.prop("bottom", "val", "single", "sz", "6", "space", "1", "color", "auto")
		return append(own, property{Name: "pBdr", XML: "<" + w.Prefix + "pBdr>" + line.XML + "</" + w.Prefix + "pBdr>"}), ""
	case b.kind == heading:
		if id, ok := w.host.Style("paragraph", "heading "+strconv.Itoa(b.level)); ok {
			*runs = looks{base: only(runs.base, spoken), size: usualSize, known: map[format]string{}}
			return append(own, w.prop("pStyle", "val", escape(id))), id
		}
		*runs = looks{base: runs.base, size: runs.size * headingSizes[b.level-1] / 100, bold: true, known: map[format]string{}}
		own = append(own, w.prop("keepNext"), w.prop("outlineLvl", "val", strconv.Itoa(b.level-1)))
		if !f.inCell {
			own = append(own, w.prop("spacing", "before", "240", "after", "80"))
		}
	case f.quoted && !f.listed:
		if id, ok := w.host.Style("paragraph", "Quote"); ok {
			own = append(own, w.prop("pStyle", "val", escape(id)))
		}
	case f.listed:
		if _, ok := find(w.par, "pStyle"); ok {
			break
		}
		if id, ok := w.host.Style("paragraph", "List Paragraph"); ok {
			own = append(own, w.prop("pStyle", "val", escape(id)))
		}
	}
	return own, ""
}
