package expect

import (
	"strings"
	"unicode"

	"platen/docx/style"
)

// script is a group of characters that has formatting of its own in a run (ISO 29500-1 §17.3.2.26).
type script uint8

const (
	ascii script = iota
	highAnsi
	eastAsian
	complexScript
	scripts // their number
)

// fontOf is the property with the font of each group. For a font of the theme, its name continues.
var fontOf = [scripts]string{"w:rFonts/@w:ascii", "w:rFonts/@w:hAnsi", "w:rFonts/@w:eastAsia", "w:rFonts/@w:cs"}

// complexTwins are the properties that complex scripts have in place of others.
var complexTwins = map[string]string{"w:bCs": "w:b", "w:iCs": "w:i", "w:szCs": "w:sz"}

// simpleTwins are those others.
var simpleTwins = map[string]bool{"w:b": true, "w:i": true, "w:sz": true}

var (
	complexRanges = []*unicode.RangeTable{
		unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
		unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Thai,
		unicode.Lao, unicode.Tibetan, unicode.Myanmar, unicode.Khmer, unicode.Mongolian,
	}
	eastAsianRanges = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi}
)

// scripter groups the characters of a run.
type scripter struct {
	isComplex bool // all are of a complex script
	isHinted  bool // those that several groups have are East Asian
}

func scripterOf(run style.Properties) scripter {
	hint, _ := run.Get("w:rFonts/@w:hint")
	return scripter{isComplex: run.On("w:rtl") || run.On("w:cs"), isHinted: hint == "eastAsia"}
}

// scriptOf returns the group of a character.
func (s scripter) scriptOf(r rune) script {
	const cjkPunctuation, cjkPunctuationEnd, fullWidth, fullWidthEnd = 0x3000, 0x303F, 0xFF00, 0xFFEF
	switch {
	case s.isComplex:
		return complexScript
	case r <= unicode.MaxASCII:
		return ascii
	case unicode.In(r, complexRanges...):
		return complexScript
	case unicode.In(r, eastAsianRanges...), cjkPunctuation <= r && r <= cjkPunctuationEnd, fullWidth <= r && r <= fullWidthEnd, s.isHinted:
		return eastAsian
	}
	return highAnsi
}

// each calls read with the stretches of a text that are of one group. Marks that combine with a character belong to it.
func (s scripter) each(text string, read func(text string, of script)) {
	from, now := 0, ascii
	for i, r := range text {
		of := s.scriptOf(r)
		if i > 0 && (of == now || unicode.Is(unicode.Mn, r)) {
			continue
		}
		if i > 0 {
			read(text[from:i], now)
		}
		from, now = i, of
	}
	if text != "" {
		read(text[from:], now)
	}
}

// textFormat returns the properties of a run that a reader sees in characters of one group, as formatOf.
func textFormat(run style.Properties, of script, theme *style.Theme) []string {
	visible, stated := properties{}, valuesOf(run)
	for name, value := range run.All() {
		if isVoid(stated, name) {
			continue
		}
		font := strings.TrimSuffix(strings.TrimSuffix(name, "Theme"), "theme")
		switch twin := complexTwins[name]; {
		case strings.HasPrefix(name, "w:rFonts/"):
			if font != fontOf[of] {
				continue
			}
			if value.Text != "" && font != name {
				value.Text = theme.Font(value.Text)
			}
			name = fontOf[ascii]
		case twin != "" && of != complexScript, simpleTwins[name] && of == complexScript:
			continue
		case twin != "":
			name = twin
		}
		if value.Origin.Level == style.Defaults && value.Text == wordDefaults[name] {
			continue
		}
		if text := propertyText(name, value.Text); text != "" {
			visible[name] = text
		}
	}
	format := visible.list()
	if isKerned(run, of) {
		format = append(format, "kerned")
	}
	return format
}

// wordDefaults are the defaults of documents that state none. When Word saves such a document, it states them.
var wordDefaults = map[string]string{fontOf[ascii]: "Times New Roman", "w:sz": standardSize}

// standardSize is the size of text in half points where nothing states one.
const standardSize = "20"

// isKerned reports whether pairs of characters have their own distances, which is so from a size on (§17.3.2.19).
func isKerned(run style.Properties, of script) bool {
	from, _ := run.Get("w:kern")
	name := "w:sz"
	if of == complexScript {
		name = "w:szCs"
	}
	size, origin := run.Get(name)
	if origin.Level == style.Unset {
		size = standardSize
	}
	return number(from) > 0 && number(size) >= number(from)
}
