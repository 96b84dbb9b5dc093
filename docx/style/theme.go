package style

import (
	"strings"

	"golang.org/x/text/language"

	"platen/ooxml/scan"
)

// Theme has the fonts of a document's theme (§20.1.4.1.18).
type Theme struct {
	major, minor   collection
	eastAsia, bidi string // languages (w:themeFontLang)
}

// collection is a:majorFont or a:minorFont.
type collection struct {
	latin, eastAsia, complex string
	scripts                  map[string]string // by ISO 15924
}

// read reads the part of a theme.
func (t *Theme) read(part []byte) error {
	r := scan.New(part)
	var c *collection
	for range r.All {
		switch r.Name() {
		case "a:majorFont":
			c = &t.major
		case "a:minorFont":
			c = &t.minor
		case "a:latin", "a:ea", "a:cs", "a:font":
			if c != nil {
				c.read(r)
			}
		case "a:fmtScheme": // comes after the fonts
			return nil
		}
	}
	return r.LimitErr()
}

func (c *collection) read(r *scan.Reader) {
	typeface := r.Attr("typeface")
	switch r.Name() {
	case "a:latin":
		c.latin = typeface
	case "a:ea":
		c.eastAsia = typeface
	case "a:cs":
		c.complex = typeface
	case "a:font":
		if c.scripts == nil {
			c.scripts = map[string]string{}
		}
		c.scripts[r.Attr("script")] = typeface
	}
}

// Font returns the name of a theme font such as "minorHAnsi" (§17.18.96); "" if the theme does not have it.
func (t *Theme) Font(name string) string {
	var c *collection
	switch {
	case strings.HasPrefix(name, "major"):
		c = &t.major
	case strings.HasPrefix(name, "minor"):
		c = &t.minor
	default:
		return ""
	}
	switch {
	case strings.HasSuffix(name, "EastAsia"):
		return c.of(c.eastAsia, t.eastAsia)
	case strings.HasSuffix(name, "Bidi"):
		return c.of(c.complex, t.bidi)
	}
	return c.latin
}

// of returns a font that is named, or else the font for the script of a language (§20.1.4.1.16).
func (c *collection) of(named, lang string) string {
	if named != "" || lang == "" {
		return named
	}
	tag, err := language.Parse(lang)
	if err != nil {
		return ""
	}
	script, _ := tag.Script()
	if name := script.String(); name != "Kore" {
		return c.scripts[name]
	}
	return c.scripts["Hang"]
}

// EastAsia returns the language of East Asian text that the theme chooses fonts for; "" if the document does not name it.
func (t *Theme) EastAsia() string { return t.eastAsia }

// Slot is one of the four fonts of a run (§17.3.2.26).
type Slot uint8

// The slots.
const (
	ASCII Slot = iota
	HighANSI
	EastAsia
	ComplexScript
	Slots // their number
)

// fontNames are the attributes of w:rFonts for the slots: a name, or a theme font.
var fontNames = [Slots][2]string{
	ASCII:         {"w:rFonts/@w:ascii", "w:rFonts/@w:asciiTheme"},
	HighANSI:      {"w:rFonts/@w:hAnsi", "w:rFonts/@w:hAnsiTheme"},
	EastAsia:      {"w:rFonts/@w:eastAsia", "w:rFonts/@w:eastAsiaTheme"},
	ComplexScript: {"w:rFonts/@w:cs", "w:rFonts/@w:cstheme"},
}

// Font returns the name of the font in a slot of run properties, which may be a theme font; "" if nothing states it.
func (s *Sheet) Font(p Properties, slot Slot) (string, Origin) {
	if theme, origin := p.Get(fontNames[slot][1]); origin.Level != Unset {
		return s.Theme.Font(theme), origin
	}
	return p.Get(fontNames[slot][0])
}
