package wml

import (
	"cmp"
	"slices"
	"strings"
)

// Property is a child of w:rPr or w:pPr: its canonical name, without the prefix w, and its XML.
type Property struct{ Name, XML string }

// Order has the rank of each property among the others, from 1.
type Order map[string]int

func orderOf(names string) Order {
	o := Order{}
	for i, name := range strings.Fields(names) {
		o[name] = i + 1
	}
	return o
}

// The orders of ISO 29500-1 Annex A, CT_RPr, CT_PPr, and CT_TcPr.
var (
	RunOrder = orderOf("rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline shadow emboss imprint noProof snapToGrid " +
		"vanish webHidden color spacing w kern position sz szCs highlight u effect bdr shd fitText vertAlign rtl cs em lang " +
		"eastAsianLayout specVanish oMath")
	ParagraphOrder = orderOf("pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr suppressLineNumbers pBdr shd tabs " +
		"suppressAutoHyphens kinsoku wordWrap overflowPunct topLinePunct autoSpaceDE autoSpaceDN bidi adjustRightInd snapToGrid " +
		"spacing ind contextualSpacing mirrorIndents suppressOverlap jc textDirection textAlignment textboxTightWrap outlineLvl " +
		"divId cnfStyle rPr sectPr pPrChange")
	CellOrder = orderOf("cnfStyle tcW gridSpan hMerge vMerge tcBorders shd noWrap tcMar textDirection tcFitText vAlign hideMark " +
		"headers cellIns cellDel cellMerge tcPrChange")
)

// rank returns the rank of a property. Those of other namespaces come last.
func (o Order) rank(name string) int { return cmp.Or(o[name], len(o)+1) }

// Precedes reports whether a property of that name must be in front of another.
func (o Order) Precedes(name, other string) bool { return o.rank(name) < o.rank(other) }

// Merge returns the XML of properties in order. Those in more replace those in base of the same name.
func (o Order) Merge(base, more []Property) string {
	slices.SortStableFunc(more, func(a, b Property) int { return cmp.Compare(o.rank(a.Name), o.rank(b.Name)) })
	var b strings.Builder
	for _, own := range base {
		for len(more) > 0 && o.rank(more[0].Name) < o.rank(own.Name) {
			b.WriteString(more[0].XML)
			more = more[1:]
		}
		if !slices.ContainsFunc(more, func(m Property) bool { return m.Name == own.Name }) {
			b.WriteString(own.XML)
		}
	}
	for _, m := range more {
		b.WriteString(m.XML)
	}
	return b.String()
}
