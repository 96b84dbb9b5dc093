package font

import (
	"slices"
	"sync"
)

// Status says what a font that a document asks for has become.
type Status string

// The statuses of a font that a document asks for.
const (
	Installed        Status = "installed"
	Embedded         Status = "embedded"          // in the document
	MetricCompatible Status = "metric_compatible" // a family with the same widths is used
	Substituted      Status = "substituted"       // a family with other widths is used
)

// Match is the family that a text is set in which asks for another.
type Match struct {
	Status Status
	Used   string // the name by which the family is known best
	faces  []*Face
}

var knownStandIns = sync.OnceValue(standIns)

// Match returns the family that is used for another: the same one if it is installed, or else one with the same widths, or else one that is
// similar or at least of its kind.
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

// fallback is the family for all that nothing is known of.
func (l *Library) fallback() Match {
	m, ok := l.first(Substituted, slices.Concat(sansFallback, serifFallback, monoFallback)...)
	if !ok {
		m, _ = l.first(Substituted, l.faces[0].Families[0])
	}
	return m
}

// first takes the first family that is installed.
func (l *Library) first(status Status, names ...string) (Match, bool) {
	for _, name := range names {
		if faces := l.Family(name); len(faces) > 0 {
			return Match{Status: status, Used: nameOf(faces, name), faces: faces}, true
		}
	}
	return Match{}, false
}

// nameOf is a family's name as its font writes it.
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
