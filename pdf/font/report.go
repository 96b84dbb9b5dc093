package font

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"unicode"

	"platen/docx/fonts"
)

// Report says what became of the fonts that a document asks for. Its JSON is part of a job's details.
type Report struct {
	Fonts    []Font   `json:"fonts"`                     // asked for, in the order of their names
	Used     []string `json:"used,omitempty"`            // families in the PDF, where one was made (see Library.UsedIn)
	Fallback []Glyphs `json:"fallback_glyphs,omitempty"` // characters that are drawn in a font other than that of their text
	Missing  []Glyphs `json:"missing_glyphs,omitempty"`  // characters that no font can draw
}

// Font is what became of one font that is asked for.
type Font struct {
	Name          string         `json:"name"`
	Status        Status         `json:"status"`
	Used          string         `json:"used"`                     // the family that is used
	Version       string         `json:"version,omitempty"`        // of its file
	Characters    int            `json:"characters"`               // different ones
	WidthMismatch *WidthMismatch `json:"width_mismatch,omitempty"` // of the substitute
	Restricted    bool           `json:"restricted,omitempty"`     // it is embedded in the document, but may not be used

	drawn int // how many of the characters the family that is used has
}

// Glyphs are characters that the fonts of their text cannot draw.
type Glyphs struct {
	Fonts   []string `json:"fonts"`              // that were asked for
	DrawnIn string   `json:"drawn_in,omitempty"` // the family that has them; none for those that none has
	Script  string   `json:"script,omitempty"`   // of those that none has: one of Unicode's, or one of the words below
	Text    string   `json:"text"`               // the first few characters
	Codes   []string `json:"codes"`              // the same, such as "U+4E2D"
	Count   int      `json:"count"`              // all of them
}

// Words for characters that are of several scripts, or of none.
const (
	cjk     = "CJK"
	emoji   = "Emoji"
	sign    = "Symbols"
	private = "Private use"
)

// maxShown is how many characters of a group are shown.
const maxShown = 12

func (g *Glyphs) add(r rune) {
	if g.Count++; g.Count <= maxShown {
		g.Text += string(r)
		g.Codes = append(g.Codes, fmt.Sprintf("U+%04X", r))
	}
}

// Report says which fonts are used for a document, and what they cannot draw.
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

// reporter is a Report that is being made.
type reporter struct {
	library  *Library
	language int                   // of East Asia
	fallback map[[2]string]*Glyphs // by the font asked for and the one that has them
	missing  map[string]*missing   // by script
}

// missing has the characters of a script that no font has. They are reported once, whatever fonts they are set in.
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

// drawingMost gives for a stand-in that has none of a text's characters the family that has the most: it is the one that
// the text is seen in.
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

// lacking takes note of a character that the font of its text has not. A sign looks like nothing in another font.
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

// drawing is the family that a character is drawn in which the font of its text has not, or "".
func (l *Library) drawing(r textRune) string {
	// No font but its own has a sign that is private, and none has what is no character.
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

// textRune is a character in a text of one of the languages of East Asia.
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

// scriptOf is what kind of font has a character.
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

// UsedIn is which families a PDF has, by the names that Used found in it.
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

// embedded reads the faces of font files that are embedded in a document. Files that cannot be read are ignored. may reports whether the
// license lets a reader of the document use them.
func embedded(files [][]byte) (faces []*Face, may bool) {
	for _, file := range files {
		if found, err := readFaces(inMemory(file)); err == nil {
			faces = append(faces, found...)
		}
	}
	return faces, len(faces) > 0 && !slices.ContainsFunc(faces, func(f *Face) bool { return !f.editable() })
}
