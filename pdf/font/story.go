package font

import (
	"bytes"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// story is a part with text that is being read.
type story struct {
	*document
	x *reader
}

// scope is what holds at a place of a story.
type scope struct {
	table     string // its style
	paragraph *paragraphFormat
	run       *runProperties // nil outside runs
}

// element reads the element that has just started, with all in it.
func (s *story) element(at scope) {
	switch string(s.x.name) {
	case "w:p":
		s.paragraph(at)
	case "w:tbl":
		s.tableElement(at)
	case "w:txbxContent":
		at.table = ""
		s.content(at)
	case "w:r", "m:r":
		s.run(at)
	case "w:t", "m:t":
		s.text(at)
	case "w:sym":
		s.sign(at)
	case "w:noBreakHyphen":
		s.characters(at, "-")
		s.x.skip()
	case "w:footnoteReference", "w:endnoteReference", "w:footnoteRef", "w:endnoteRef", "w:pgNum":
		s.characters(at, "1")
		s.x.skip()
	case "v:textpath":
		s.watermark()
	case "mc:AlternateContent":
		s.alternate(at)
	case "w:sectPr":
		s.section()
	case "w:del", "w:moveFrom", "w:sdtPr", "w:sdtEndPr", "w:tblPr", "w:trPr", "w:tcPr", "w:tblGrid", "w:rPr", "w:pPr", "w:instrText", "m:rPr":
		s.x.skip()
	default:
		s.content(at)
	}
}

// content reads the elements in the one that has just started.
func (s *story) content(at scope) {
	for range s.x.children {
		s.element(at)
	}
}

func (s *story) tableElement(at scope) {
	at.table = ""
	for range s.x.children {
		if string(s.x.name) == "w:tblPr" {
			at.table = s.tableStyle()
		} else {
			s.element(at)
		}
	}
}

func (s *story) tableStyle() (id string) {
	for range s.x.children {
		if string(s.x.name) == "w:tblStyle" {
			id = s.x.attr("w:val")
		}
		s.x.skip()
	}
	return id
}

func (s *story) paragraph(at scope) {
	at.run = nil
	at.paragraph = s.paragraphFormat(at.table, "")
	for range s.x.children {
		if string(s.x.name) != "w:pPr" {
			s.element(at)
			continue
		}
		p := s.readParagraphProperties(s.x)
		at.paragraph = s.paragraphFormat(at.table, p.style)
		s.number(at.paragraph, &p)
	}
}

func (s *story) run(at scope) {
	at.run = &at.paragraph.run
	for range s.x.children {
		if string(s.x.name) != "w:rPr" {
			s.element(at)
			continue
		}
		p := s.readRunProperties(s.x)
		at.run = s.format(at.paragraph, &p)
	}
}

// text reads w:t.
func (s *story) text(at scope) {
	for s.x.next() && s.x.kind != endTag {
		switch {
		case s.x.kind == startTag:
			s.x.skip()
		case !s.x.literal && bytes.IndexByte(s.x.text, '&') >= 0:
			s.characters(at, html.UnescapeString(string(s.x.text)))
		default:
			s.bytes(at, s.x.text)
		}
	}
}

func (s *story) characters(at scope, text string) { s.bytes(at, []byte(text)) }

// bytes takes note of text in the format of the run that it is in.
func (s *story) bytes(at scope, text []byte) {
	if at.run != nil && at.run.on&hidden == 0 {
		s.note(at.run, text)
	}
}

// note adds the characters of a text to the fonts they are set in. Most text is ASCII, and is gathered before it is added.
func (d *document) note(p *runProperties, text []byte) {
	if !norm.NFC.IsNormal(text) {
		text = norm.NFC.Bytes(text)
	}
	capital := p.on&(caps|smallCaps) != 0
	var plain [2]uint64
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf && !capital {
			plain[c>>6] |= 1 << (c & 63)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		i += n
		if capital {
			r = unicode.ToUpper(r)
		}
		if visible(r) {
			d.setIn(p, r).characters.Add(r)
		}
	}
	if plain != [2]uint64{} {
		d.setIn(p, 'a').characters.addASCII(plain)
	}
}

// setIn is the font of a run that a character is set in, or what Word has for want of one.
func (d *document) setIn(p *runProperties, r rune) *asked {
	if f := p.fontOf(r); f != nil {
		return f
	}
	return d.fallback
}

// visible reports whether a character needs a glyph: blanks, controls and selectors of variants need none.
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

// sign reads w:sym: a character with the font it is of.
func (s *story) sign(at scope) {
	code, err := strconv.ParseUint(s.x.attr("w:char"), 16, 16)
	f := s.fontAttr(s.x, "w:font")
	s.x.skip()
	if err == nil && f != nil && at.run != nil && at.run.on&hidden == 0 && visible(rune(code)) {
		f.characters.Add(rune(code))
	}
}

// watermark reads the text of WordArt, which has its font in a style of CSS.
func (s *story) watermark() {
	text, css := s.x.attr("string"), s.x.attr("style")
	s.x.skip()
	for declaration := range strings.SplitSeq(css, ";") {
		property, value, _ := strings.Cut(declaration, ":")
		if strings.TrimSpace(property) == "font-family" {
			f := s.font(strings.Trim(strings.TrimSpace(value), `"'`))
			s.note(&runProperties{fonts: [slots]*asked{f, f, f, f}}, []byte(text))
		}
	}
}

// alternate reads what LibreOffice reads of a choice: the first that asks for nothing but what it knows, or else the
// fallback. Text boxes, for instance, stand in both.
func (s *story) alternate(at scope) {
	chosen := false
	for range s.x.children {
		name := string(s.x.name)
		if !chosen && (name == "mc:Choice" && known(s.x.attr("Requires")) || name == "mc:Fallback") {
			chosen = true
			s.content(at)
			continue
		}
		s.x.skip()
	}
}

func known(requires string) bool {
	for name := range strings.FieldsSeq(requires) {
		switch name {
		case "wps", "wpg", "wpc", "w14", "a14":
		default:
			return false
		}
	}
	return true
}

// section reads which headers and footers a section has.
func (s *story) section() {
	for range s.x.children {
		switch string(s.x.name) {
		case "w:headerReference", "w:footerReference":
			if len(s.sections) < maxSections {
				s.sections[s.x.attr("r:id")] = s.x.attr("w:type")
			}
		case "w:titlePg":
			s.first = s.first || s.x.on()
		}
		s.x.skip()
	}
}
