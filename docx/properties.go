package docx

import (
	"cmp"
	"slices"
	"strings"
)

// property is a child of w:rPr or w:pPr: its canonical name and its XML.
type property struct {
	name string
	xml  []byte
}

// properties are the children of a w:rPr, in their order.
type properties []property

// propertiesOf returns the children of an element, which may be nil, but for the record of a tracked change.
func (c *compiler) propertiesOf(n *node) properties {
	if n == nil {
		return nil
	}
	var all properties
	for _, child := range n.children {
		if child.name != "w:rPrChange" && child.name != "w:pPrChange" {
			all = append(all, property{child.name, c.src[child.start:child.end]})
		}
	}
	return all
}

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

// with returns the properties as XML, with some more in their places; these come instead of those of the same name.
func (p properties) with(more properties) string {
	slices.SortStableFunc(more, func(a, b property) int { return cmp.Compare(propertyRank(a.name), propertyRank(b.name)) })
	var b strings.Builder
	for _, own := range p {
		for len(more) > 0 && propertyRank(more[0].name) < propertyRank(own.name) {
			b.Write(more[0].xml)
			more = more[1:]
		}
		if !slices.ContainsFunc(more, func(m property) bool { return m.name == own.name }) {
			b.Write(own.xml)
		}
	}
	for _, m := range more {
		b.Write(m.xml)
	}
	return b.String()
}
