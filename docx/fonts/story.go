package fonts

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"platen/docx/style"
	"platen/ooxml/scan"
)

// story reads a part with text.
type story struct {
	*reader
	r          *scan.Reader
	paragraphs map[statedKey]*format // of paragraphs, by the properties that they state
	runs       map[statedKey]*format // of runs, by the properties that they state
}

// statedKey identifies the format of text that states properties: the format around it, and the XML of the properties in a scope of
// namespaces.
type statedKey struct {
	base  *format
	scope int
	text  string
}

// maxStated is the maximum length, in bytes, of properties whose format is cached.
const maxStated = 4 << 10

// scope is the formatting around an element of a story.
type scope struct {
	table     *table // nil outside tables
	cell      style.Cell
	paragraph *format
	run       *format // nil outside runs
}

// The kinds of elements in a story.
const (
	other scan.Class = iota
	ignored
	paragraph
	tableElement
	row
	cell
	textBox
	run
	text
	symbolElement
	hyphen
	digit
	watermark
	alternate
	section
)

var kinds = map[string]scan.Class{
	"w:p": paragraph, "w:tbl": tableElement, "w:tr": row, "w:tc": cell, "w:txbxContent": textBox, "w:r": run, "m:r": run, "w:t": text,
	"m:t": text, "w:sym": symbolElement, "w:noBreakHyphen": hyphen, "w:footnoteReference": digit, "w:endnoteReference": digit,
	"w:footnoteRef": digit, "w:endnoteRef": digit, "w:pgNum": digit, "v:textpath": watermark, "mc:AlternateContent": alternate,
	"w:sectPr": section, "w:del": ignored, "w:moveFrom": ignored, "w:sdtPr": ignored, "w:sdtEndPr": ignored, "w:tblPr": ignored,
	"w:trPr": ignored, "w:tcPr": ignored, "w:tblGrid": ignored, "w:rPr": ignored, "w:pPr": ignored, "w:instrText": ignored,
	"m:rPr": ignored,
}

func classify(name string) scan.Class { return kinds[name] }

// element reads the element of the last start tag.
func (s *story) element(at scope) {
	switch s.r.Class() {
	case paragraph:
		s.paragraph(at)
	case tableElement:
		s.table(at)
	case row:
		s.row(at)
	case cell:
		s.cell(at)
	case textBox:
		at.table, at.cell = nil, style.Cell{}
		s.content(at)
	case run:
		s.run(at)
	case text:
		s.text(at)
	case symbolElement:
		s.symbol(at)
	case hyphen:
		s.characters(at, "-")
	case digit:
		s.characters(at, "1")
	case watermark:
		s.watermark()
	case alternate:
		s.alternate(at)
	case section:
		s.section()
	case ignored:
		s.r.Skip()
	default:
		s.content(at)
	}
}

// content reads the children of the element of the last start tag.
func (s *story) content(at scope) {
	for range s.r.Children {
		s.element(at)
	}
}

func (s *story) paragraph(at scope) {
	at.run, at.paragraph = nil, s.format(at.cell, "")
	for range s.r.Children {
		if s.r.Name() == "w:pPr" {
			at.paragraph = s.paragraphFormat(at)
			continue
		}
		s.element(at)
	}
}

// paragraphFormat reads w:pPr, and adds the characters of the paragraph's number.
func (s *story) paragraphFormat(at scope) *format {
	scope, written := s.r.Scope(), s.r.Element()
	if known := s.paragraphs[statedKey{at.paragraph, scope, string(written)}]; known != nil {
		s.r.Skip()
		return known
	}
	var mark style.Properties
	hasSection := false
	s.r.Ahead(func() {
		for range s.r.Children {
			switch s.r.Name() {
			case "w:rPr":
				mark = s.sheet.Stated(s.r)
			case "w:sectPr":
				hasSection = true
				s.section()
			}
		}
	})
	direct := s.sheet.Stated(s.r)
	f := s.format(at.cell, s.sheet.ParagraphStyle(direct))
	if l := s.sheet.Level(direct); l != nil {
		s.number(f, l, mark)
	}
	if !hasSection && len(s.paragraphs) < maxFormats && len(written) <= maxStated {
		s.paragraphs[statedKey{at.paragraph, scope, string(written)}] = f
	}
	return f
}

func (s *story) run(at scope) {
	at.run = at.paragraph
	for range s.r.Children {
		if s.r.Name() == "w:rPr" {
			at.run = s.runFormat(at.paragraph)
			continue
		}
		s.element(at)
	}
}

// runFormat reads w:rPr. Most runs state the same as earlier ones.
func (s *story) runFormat(base *format) *format {
	scope, written := s.r.Scope(), s.r.Element()
	if known := s.runs[statedKey{base, scope, string(written)}]; known != nil {
		s.r.Skip()
		return known
	}
	f := s.formatOf(s.sheet.Run(base.cell, base.paragraph, s.sheet.Stated(s.r)))
	if len(s.runs) < maxFormats && len(written) <= maxStated {
		s.runs[statedKey{base, scope, string(written)}] = f
	}
	return f
}

// text reads w:t.
func (s *story) text(at scope) {
	if s.r.Kind == scan.Void {
		return
	}
	for range s.r.Children {
		s.bytes(at, s.r.Text())
		s.r.Skip()
	}
	s.bytes(at, s.r.Text())
}

func (s *story) characters(at scope, text string) { s.bytes(at, []byte(text)) }

// bytes adds text in the format of its run.
func (s *story) bytes(at scope, text []byte) {
	if at.run != nil && !at.run.hidden {
		s.note(at.run, text)
	}
}

// note adds the characters of a text to the fonts that they are set in. It collects ASCII characters, which are most of the text, and adds
// them together.
func (d *reader) note(f *format, text []byte) {
	if !norm.NFC.IsNormal(text) {
		text = norm.NFC.Bytes(text)
	}
	var plain [2]uint64
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf && !f.capital {
			plain[c>>6] |= 1 << (c & 63)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		i += n
		if f.capital {
			r = unicode.ToUpper(r)
		}
		if visible(r) {
			d.setIn(f, r).Characters.Add(r)
		}
	}
	if plain != [2]uint64{} {
		d.setIn(f, 'a').Characters.addASCII(plain)
	}
}

// setIn returns the font that a character is set in. It is Word's default font if nothing names one.
func (d *reader) setIn(f *format, r rune) *Asked {
	if font := f.fontOf(r); font != nil {
		return font
	}
	return d.fallback
}

// visible reports whether a character needs a glyph. Spaces, control characters, and variation selectors do not.
func visible(r rune) bool {
	if r < 0x80 {
		return r > ' ' && r != 0x7F
	}
	switch r {
	case utf8.RuneError, '\u034F', '\u115F', '\u1160', '\u3164', '\uFFA0':
		return false
	}
	return !unicode.In(r, unicode.Z, unicode.Cc, unicode.Cf, unicode.Variation_Selector)
}

// symbol reads w:sym, a character with its font.
func (s *story) symbol(at scope) {
	code, err := strconv.ParseUint(s.r.Attr("w:char"), 16, 16)
	f := s.font(s.r.Attr("w:font"))
	if err == nil && f != nil && at.run != nil && !at.run.hidden && visible(rune(code)) {
		f.Characters.Add(rune(code))
	}
}

// watermark reads WordArt text, whose font is in CSS.
func (s *story) watermark() {
	text, css := s.r.Attr("string"), s.r.Attr("style")
	for declaration := range strings.SplitSeq(css, ";") {
		property, value, _ := strings.Cut(declaration, ":")
		if strings.TrimSpace(property) == "font-family" {
			f := s.font(strings.Trim(strings.TrimSpace(value), `"'`))
			s.note(&format{fonts: [style.Slots]*Asked{f, f, f, f}}, []byte(text))
		}
	}
}

// alternate reads the branch that LibreOffice reads: the first choice that requires only features it supports, or else the fallback. Text
// boxes, for example, are in both.
func (s *story) alternate(at scope) {
	chosen := false
	for range s.r.Children {
		name := s.r.Name()
		if !chosen && (name == "mc:Choice" && known(s.r.Attr("Requires")) || name == "mc:Fallback") {
			chosen = true
			s.content(at)
		}
	}
}

func known(requires string) bool {
	for name := range strings.FieldsSeq(requires) {
		if !slices.Contains([]string{"wps", "wpg", "wpc", "w14", "a14"}, name) {
			return false
		}
	}
	return true
}

// maxSections is the maximum number of headers and footers that are recorded.
const maxSections = 20_000

// section records the headers and footers of a section, and the pages that show them.
func (s *story) section() {
	for range s.r.Children {
		switch s.r.Name() {
		case "w:headerReference", "w:footerReference":
			if len(s.sections) < maxSections {
				s.sections[s.r.Attr("r:id")] = s.r.Attr("w:type")
			}
		case "w:titlePg":
			s.first = s.first || scan.IsOn(s.r.RawAttr("w:val"))
		}
	}
}
