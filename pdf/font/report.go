package font

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"unicode"

	"platen/docx/fonts"
)

// Report lists the fonts that a document asks for, and how they are provided. Its JSON is part of a job's details.
type Report struct {
	Fonts    []Font   `json:"fonts"`                     // sorted by name
	Used     []string `json:"used,omitempty"`            // families in the PDF, if there is one (see Library.UsedIn)
	Fallback []Glyphs `json:"fallback_glyphs,omitempty"` // characters that are drawn in another font than that of their text
	Missing  []Glyphs `json:"missing_glyphs,omitempty"`  // characters that no font can draw
}

// Font describes how one font of a document is provided.
type Font struct {
	Name          string         `json:"name"`
	Status        Status         `json:"status"`
	Used          string         `json:"used"`                     // the family that is used
	Version       string         `json:"version,omitempty"`        // of the file that is used
	Characters    int            `json:"characters"`               // number of different characters
	WidthMismatch *WidthMismatch `json:"width_mismatch,omitempty"` // of the substitute
	Restricted    bool           `json:"restricted,omitempty"`     // the document embeds it, but its license forbids use

	drawn int // number of characters that the used family has
}

// Glyphs are characters that the fonts of their text cannot draw.
type Glyphs struct {
	Fonts   []string `json:"fonts"`              // the fonts of their text
	DrawnIn string   `json:"drawn_in,omitempty"` // the family that draws them; empty if no font does
	Script  string   `json:"script,omitempty"`   // if no font draws them: a Unicode script, or one of the constants below
	Text    string   `json:"text"`               // the first few characters
	Codes   []string `json:"codes"`              // of these characters, such as "U+4E2D"
	Count   int      `json:"count"`              // number of all characters
}

// Names for characters of several scripts, or of none.
const (
	cjk     = "CJK"
	emoji   = "Emoji"
	sign    = "Symbols"
	private = "Private use"
)

// maxShown is the maximum number of characters of a group that are shown.
const maxShown = 12

func (g *Glyphs) add(r rune) {
	if g.Count++; g.Count <= maxShown {
		g.Text += string(r)
		g.Codes = append(g.Codes, fmt.Sprintf("U+%04X", r))
	}
}

// Report returns the fonts that are used for a document, and the characters that they cannot draw.
func (l *Library) Report(d *fonts.Document) *Report {
	b := &reporter{library: l, language: eastAsianIndex(d.Language()), fallback: map[[2]string]*Glyphs{}, missing: map[string]*missing{}}
	report := &Report{Fonts: []Font{}}
	for _, asked := range d.Fonts() {
		report.Fonts = append(report.Fonts, b.font(d, asked))
	}
	for _, key := range slices.SortedFunc(maps.Keys(b.fallback), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		report.Fallback = append(report.Fallback, *b.fallback[key])
	}
	for _, script := range slices.Sorted(maps.Keys(b.missing)) {
		report.Missing = append(report.Missing, b.missing[script].glyphs())
	}
	return report
}

// reporter builds a Report.
type reporter struct {
	library  *Library
	language int                   // index of the document's East Asian language
	fallback map[[2]string]*Glyphs // by the font of the text and the family that has them
	missing  map[string]*missing   // by script
}

// missing are the characters of a script that no font has. They are reported once, whatever the fonts of their text.
type missing struct {
	script     string
	fonts      []string
	characters fonts.Set
}

func (m *missing) glyphs() Glyphs {
	g := Glyphs{Fonts: m.fonts, Script: m.script}
	for r := range m.characters.All() {
		g.add(r)
	}
	return g
}

func (b *reporter) font(d *fonts.Document, a fonts.Asked) Font {
	m := b.library.Match(a.Name)
	f := Font{Name: a.Name, Characters: a.Characters.Len()}
	if m.Status != Installed {
		faces, may := embedded(d.Embedded(a.Name))
		if f.Restricted = len(faces) > 0 && !may; may {
			m = Match{Status: Embedded, Used: a.Name, faces: faces}
		}
	}
	signs := m.Used == openSymbol && m.Status == Substituted
	if m.Status == Substituted && !signs {
		m = b.drawingMost(m, a.Characters)
	}
	face := regular(m.faces)
	f.Status, f.Used, f.Version = m.Status, m.Used, face.Version
	if m.Status == MetricCompatible || m.Status == Substituted {
		f.WidthMismatch = compareWidths(a.Name, face)
	}
	for r := range a.Characters.All() {
		drawn := face.Has(r)
		if signs {
			if ofFont, known := signDrawn(a.Name, r); known {
				drawn = ofFont
			}
		}
		if drawn {
			f.drawn++
		} else {
			b.lacking(a.Name, r, signs)
		}
	}
	return f
}

// drawingMost replaces a substitute that has none of the characters of a text by the family that draws most of them, because readers see
// the text in that family.
func (b *reporter) drawingMost(m Match, characters *fonts.Set) Match {
	counts := map[string]int{}
	most := ""
	for r := range characters.All() {
		if regular(m.faces).Has(r) {
			return m
		}
		if family := b.library.drawing(textRune{r, b.language}); family != "" {
			counts[family]++
			if counts[family] > counts[most] {
				most = family
			}
		}
	}
	if found, ok := b.library.first(Substituted, most); ok {
		return found
	}
	return m
}

// lacking records a character that the font of its text lacks. If sign is set, it is a symbol, which no other font can represent.
func (b *reporter) lacking(asked string, r rune, sign bool) {
	if other := b.library.drawing(textRune{r, b.language}); other != "" && !sign {
		key := [2]string{asked, other}
		if b.fallback[key] == nil {
			b.fallback[key] = &Glyphs{Fonts: []string{asked}, DrawnIn: other}
		}
		b.fallback[key].add(r)
		return
	}
	script := scriptOf(r)
	if sign {
		script = private
	}
	m := b.missing[script]
	if m == nil {
		m = &missing{script: script}
		b.missing[script] = m
	}
	m.characters.Add(r)
	if !slices.Contains(m.fonts, asked) {
		m.fonts = append(m.fonts, asked)
	}
}

// drawing returns the family that draws a character if the font of its text lacks it, or "".
func (l *Library) drawing(r textRune) string {
	// A private character has a meaning only in its own font, and no font has noncharacters.
	if !unicode.IsGraphic(r.rune) {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	family, known := l.fallbacks[r]
	if !known {
		family = l.findDrawing(r)
		l.fallbacks[r] = family
	}
	return family
}

// textRune is a character in a text of an East Asian language.
type textRune struct {
	rune
	language int
}

func (l *Library) findDrawing(r textRune) string {
	parts := partsOf(r.rune)
	for _, face := range l.order[r.language] {
		if face.draws(r.rune, parts) {
			return face.Families[0]
		}
	}
	return ""
}

// scriptOf returns the script or kind of a character.
func scriptOf(r rune) string {
	switch {
	case r >= 0x3000 && r < 0x3400, r >= 0xFE30 && r < 0xFE50, r >= 0xFF00 && r < 0xFFF0, unicode.In(r, unicode.Han, unicode.Hangul):
		return cjk
	case r >= 0x1F000 && r < 0x1FB00:
		return emoji
	case unicode.Is(unicode.Co, r):
		return private
	case unicode.In(r, unicode.Common, unicode.Inherited):
		return sign
	}
	for _, name := range scriptNames() {
		if unicode.Is(unicode.Scripts[name], r) {
			return name
		}
	}
	return sign
}

var scriptNames = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(unicode.Scripts)) })

// UsedIn returns the families in a PDF, from the names that Used found in it.
func (l *Library) UsedIn(postScript []string) []string {
	var families []string
	for _, name := range postScript {
		if family := l.FamilyOf(name); !slices.Contains(families, family) {
			families = append(families, family)
		}
	}
	slices.Sort(families)
	return families
}

// embedded reads the faces of font files that a document embeds. It ignores files that cannot be read. may reports whether the license lets
// recipients of the document use them.
func embedded(files [][]byte) (faces []*Face, may bool) {
	for _, file := range files {
		if found, err := readFaces(inMemory(file)); err == nil {
			faces = append(faces, found...)
		}
	}
	return faces, len(faces) > 0 && !slices.ContainsFunc(faces, func(f *Face) bool { return !f.editable() })
}
