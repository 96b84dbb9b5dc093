package docx

import (
	"fmt"
	"strconv"
)

// The box of a content control that is a check box ([MS-DOCX] §2.6.1.6): each of its two states has a character in a font.

// boxState is how a check box looks ticked, or not.
type boxState struct {
	glyph rune
	font  string // "": that of the run
}

// read takes in a w14:checkedState or w14:uncheckedState.
func (b *boxState) read(c *compiler, n *node) {
	if glyph, err := strconv.ParseUint(attrValue(c.src, n, "w14:val"), 16, 16); err == nil && glyph >= ' ' && glyph < 0xFFFE && (glyph < 0xD800 || glyph > 0xDFFF) {
		b.glyph = rune(glyph)
	}
	b.font = entities([]byte(attrValue(c.src, n, "w14:font")))
}

// symbolFonts have signs of their own in the places of letters; their characters are written as w:sym (ISO 29500-1 §17.3.3.30).
var symbolFonts = map[string]bool{"Wingdings": true, "Wingdings 2": true, "Wingdings 3": true, "Webdings": true, "Symbol": true}

// firstSymbol is where the characters of a symbol font are in Unicode.
const firstSymbol = 0xF000

// appendBox appends the character.
func (b boxState) appendBox(dst []byte, prefix string) []byte {
	if !symbolFonts[b.font] {
		return fmt.Appendf(dst, "<%[1]st>%[2]s</%[1]st>", prefix, appendEscaped(nil, string(b.glyph)))
	}
	return fmt.Appendf(dst, `<%[1]ssym %[1]sfont="%[2]s" %[1]schar="%04[3]X"/>`, prefix, b.font, b.glyph|firstSymbol)
}

// appendFont appends the font of the box's run, in place of what that says so far.
func (k *control) appendFont(dst []byte, font string, sofar []byte) []byte {
	if font == "" {
		return append(dst, sofar...)
	}
	if k.bare {
		dst = fmt.Appendf(dst, "<%srPr>", k.prefix)
	}
	dst = fmt.Appendf(dst, `<%[1]srFonts %[1]sascii="%[2]s" %[1]seastAsia="%[2]s" %[1]shAnsi="%[2]s"/>`, k.prefix, appendAttribute(nil, font))
	if k.bare {
		dst = fmt.Appendf(dst, "</%srPr>", k.prefix)
	}
	return dst
}

// state is how a check box looks.
func (k *control) state(ticked bool) boxState {
	if ticked {
		return k.ticked
	}
	return k.blank
}

// fontOf finds where the run of a box says its font, or would.
func (k *control) fontOf(run *node) (pos, end int) {
	props := run.child("w:rPr")
	switch k.bare = props == nil || props.void(); {
	case props == nil:
		return run.openEnd, run.openEnd
	case k.bare:
		return props.start, props.end
	}
	if fonts := props.child("w:rFonts"); fonts != nil {
		return fonts.start, fonts.end
	}
	if style := props.child("w:rStyle"); style != nil { // which alone comes before it
		return style.end, style.end
	}
	return props.openEnd, props.openEnd
}

// shownIn returns the elements that show the text of a content control.
func shownIn(content *node) []*node {
	var found []*node
	for _, child := range content.children {
		if child.name == "w:t" || child.name == "w:sym" {
			found = append(found, child)
		}
		found = append(found, shownIn(child)...)
	}
	return found
}
