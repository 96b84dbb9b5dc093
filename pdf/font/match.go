package font

import (
	"slices"
	"sync"
)

// Status says how a font that a document asks for is provided.
type Status string

// The statuses of a font that a document asks for.
const (
	Installed        Status = "installed"
	Embedded         Status = "embedded"          // from the document
	MetricCompatible Status = "metric_compatible" // a family with the same widths is used
	Substituted      Status = "substituted"       // a family with other widths is used
)

// Match is the family that is used for text in a font.
type Match struct {
	Status Status
	Used   string // the main name of the family
	faces  []*Face
}

var knownStandIns = sync.OnceValue(standIns)

// Match returns the family that is used for a font: the font itself if it is installed, or else a family with the same widths, or else one
// that is similar or at least of the same kind.
func (l *Library) Match(name string) Match {
	if m, ok := l.first(Installed, name); ok {
		return m
	}
	s := knownStandIns()[fold(name)]
	if s == nil {
		return l.fallback()
	}
	if m, ok := l.first(MetricCompatible, s.compatible...); ok {
		return m
	}
	if m, ok := l.first(Substituted, s.others...); ok {
		return m
	}
	return l.fallback()
}

// fallback returns the family for fonts that Platen does not know.
func (l *Library) fallback() Match {
	m, ok := l.first(Substituted, slices.Concat(sansFallback, serifFallback, monoFallback)...)
	if !ok {
		m, _ = l.first(Substituted, l.faces[0].Families[0])
	}
	return m
}

// first returns the first of the families that is installed.
func (l *Library) first(status Status, names ...string) (Match, bool) {
	for _, name := range names {
		if faces := l.Family(name); len(faces) > 0 {
			return Match{Status: status, Used: nameOf(faces, name), faces: faces}, true
		}
	}
	return Match{}, false
}

// nameOf returns the name of a family as its font spells it.
func nameOf(faces []*Face, asked string) string {
	for _, name := range faces[0].Families {
		if fold(name) == fold(asked) {
			return name
		}
	}
	return asked
}

// regular returns the face of a family that is neither bold nor italic, or the nearest one.
func regular(faces []*Face) *Face {
	distance := func(f *Face) int {
		d := max(f.Weight-400, 400-f.Weight) + 100*max(f.Width-5, 5-f.Width)
		if f.Italic {
			d += 1000
		}
		return d
	}
	return slices.MinFunc(faces, func(a, b *Face) int { return distance(a) - distance(b) })
}
