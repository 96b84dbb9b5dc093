package font

import "strings"

// slot is one of the four fonts that a run has (ISO 29500-1 §17.3.2.26).
type slot int

const (
	ascii slot = iota
	hAnsi
	eastAsia
	complexScript
	slots
)

// toggles are properties that styles switch to and fro (§17.7.3).
type toggles uint8

const (
	hidden toggles = 1 << iota
	caps
	smallCaps
)

// asked is a font that a document names, with the characters set in it.
type asked struct {
	name       string
	characters Set
}

// runProperties are what a style or a run says; what it does not say is nil or not in the masks.
type runProperties struct {
	style     string
	fonts     [slots]*asked
	toggled   toggles // of these it says something: whether they are on
	on        toggles
	hint      string // which slot is meant where a character could be of two
	lang      string // of East Asian text
	complex   bool   // the run is of a complex script, or from right to left
	complexed bool   // it says whether it is
}

// over puts what is said here over what is said there.
func (p *runProperties) over(base *runProperties) runProperties {
	merged := *base
	for i, font := range p.fonts {
		if font != nil {
			merged.fonts[i] = font
		}
	}
	merged.toggled |= p.toggled
	merged.on = base.on&^p.toggled | p.on
	if p.hint != "" {
		merged.hint = p.hint
	}
	if p.lang != "" {
		merged.lang = p.lang
	}
	if p.complexed {
		merged.complex, merged.complexed = p.complex, true
	}
	return merged
}

// overStyle is over for a style on another: what both switch on is off.
func (p *runProperties) overStyle(base *runProperties) runProperties {
	merged := p.over(base)
	merged.on = base.on ^ p.on
	return merged
}

// readRunProperties reads the element w:rPr that has just started.
func (d *document) readRunProperties(x *reader) runProperties {
	var p runProperties
	for range x.children {
		switch string(x.name) {
		case "w:rStyle":
			p.style = x.attr("w:val")
		case "w:rFonts":
			d.readFonts(x, &p)
		case "w:vanish":
			p.toggle(hidden, x.on())
		case "w:caps":
			p.toggle(caps, x.on())
		case "w:smallCaps":
			p.toggle(smallCaps, x.on())
		case "w:cs", "w:rtl":
			p.complex, p.complexed = p.complex || x.on(), true
		case "w:lang":
			p.lang = x.attr("w:eastAsia")
		}
		x.skip()
	}
	return p
}

func (p *runProperties) toggle(t toggles, on bool) {
	p.toggled |= t
	p.on &^= t
	if on {
		p.on |= t
	}
}

// fontAttributes name the fonts of the slots, and those of the theme.
var fontAttributes = [slots][2]string{
	ascii:         {"w:ascii", "w:asciiTheme"},
	hAnsi:         {"w:hAnsi", "w:hAnsiTheme"},
	eastAsia:      {"w:eastAsia", "w:eastAsiaTheme"},
	complexScript: {"w:cs", "w:cstheme"},
}

// readFonts reads w:rFonts: a font of the theme goes before one that is named.
func (d *document) readFonts(x *reader, p *runProperties) {
	for i, names := range fontAttributes {
		if theme := x.rawAttr(names[1]); theme != nil {
			p.fonts[i] = d.font(d.theme.font(string(theme)))
		}
		if p.fonts[i] == nil {
			p.fonts[i] = d.fontAttr(x, names[0])
		}
	}
	p.hint = x.attr("w:hint")
}

// fontAttr is the font that an attribute names, or nil.
func (d *document) fontAttr(x *reader, name string) *asked {
	raw := x.rawAttr(name)
	if len(raw) == 0 {
		return nil
	}
	f, known := d.spelled[string(raw)]
	if !known {
		f = d.font(x.attr(name))
		if len(d.spelled) < maxFonts {
			d.spelled[string(raw)] = f
		}
	}
	return f
}

const (
	maxFonts    = 500 // that a document may name
	maxFontName = 200 // bytes; Word takes names of 31 characters
)

// font is the one font of the document with a name, or nil. A leading @ asks for the font turned, for vertical text.
func (d *document) font(name string) *asked {
	name = strings.TrimSpace(strings.TrimPrefix(name, "@"))
	key := fold(name)
	f := d.fonts[key]
	if f == nil && key != "" && len(name) <= maxFontName && len(d.fonts) < maxFonts {
		f = &asked{name: name}
		d.fonts[key] = f
	}
	return f
}
