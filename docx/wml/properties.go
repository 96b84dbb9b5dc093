package wml

import (
	"cmp"
	"slices"
	"strings"
)

// Property is a child of w:rPr or w:pPr: its canonical name and its XML.
type Property struct {
	Name string
	XML  []byte
}

// Properties are the children of a w:rPr, in their order.
type Properties []Property

// runPropertyOrder is the order of the children of w:rPr (ISO 29500-1 Annex A, EG_RPrBase). Those of other namespaces
// come behind.
var runPropertyOrder = func() map[string]int {
	order := map[string]int{}
	for i, name := range strings.Fields("rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline shadow emboss imprint noProof " +
		"snapToGrid vanish webHidden color spacing w kern position sz szCs highlight u effect bdr shd fitText vertAlign rtl cs em lang " +
		"eastAsianLayout specVanish oMath") {
		order["w:"+name] = i + 1
	}
	return order
}()

// place in the order; what is not of WordprocessingML comes last.
func propertyRank(name string) int {
	return cmp.Or(runPropertyOrder[name], len(runPropertyOrder)+1)
}

// With returns the properties as XML, with some more in their places; these come instead of those of the same name.
func (p Properties) With(more Properties) string {
	slices.SortStableFunc(more, func(a, b Property) int { return cmp.Compare(propertyRank(a.Name), propertyRank(b.Name)) })
	var b strings.Builder
	for _, own := range p {
		for len(more) > 0 && propertyRank(more[0].Name) < propertyRank(own.Name) {
			b.Write(more[0].XML)
			more = more[1:]
		}
		if !slices.ContainsFunc(more, func(m Property) bool { return m.Name == own.Name }) {
			b.Write(own.XML)
		}
	}
	for _, m := range more {
		b.Write(m.XML)
	}
	return b.String()
}
