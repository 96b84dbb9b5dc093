package font

import (
	"strings"

	"golang.org/x/text/language"
)

// theme is the fonts of a document's theme, by what w:rFonts calls them without what it calls their slot: "major" and
// "minor" are the two collections.
type theme struct {
	collections map[string]*collection
	eastAsia    string // the language of East Asian text (w:themeFontLang)
	bidi        string
}

// collection is a:majorFont or a:minorFont.
type collection struct {
	latin, eastAsia, complex string
	scripts                  map[string]string // by ISO 15924
}

// readTheme reads the part of a theme.
func readTheme(part []byte) (map[string]*collection, error) {
	collections := map[string]*collection{}
	x := newReader(part)
	var c *collection
	for range x.starts {
		switch string(x.name) {
		case "a:majorFont":
			c = &collection{scripts: map[string]string{}}
			collections["major"] = c
		case "a:minorFont":
			c = &collection{scripts: map[string]string{}}
			collections["minor"] = c
		case "a:latin", "a:ea", "a:cs", "a:font":
			if c != nil {
				c.read(x)
			}
		case "a:fmtScheme": // behind the fonts
			return collections, x.err
		}
	}
	return collections, x.err
}

func (c *collection) read(x *reader) {
	typeface := x.attr("typeface")
	switch string(x.name) {
	case "a:latin":
		c.latin = typeface
	case "a:ea":
		c.eastAsia = typeface
	case "a:cs":
		c.complex = typeface
	case "a:font":
		c.scripts[x.attr("script")] = typeface
	}
}

// font is the name of a font such as "minorHAnsi" (ISO 29500-1 §17.18.96), or "" if the theme has none.
func (t *theme) font(name string) string {
	c := t.collections[name[:min(5, len(name))]]
	if c == nil {
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

// of is a font that is named, or else the one for the script of a language (§20.1.4.1.16).
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
