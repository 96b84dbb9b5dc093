package expect

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// tolerances are how much lengths may differ that count as equal, by the names of their properties. LibreOffice and Word keep lengths in
// units of their own, and round them when they save. No reader sees a tenth of a point.
var tolerances = map[string]float64{
	"page width ": twips, "page height ": twips, "top margin ": twips, "bottom margin ": twips, "left margin ": twips,
	"right margin ": twips, headerAt: twips, footerAt: twips, "left indent ": twips, "right indent ": twips, "first line indent ": twips,
	"hanging indent ": twips, "space before ": twips, "space after ": twips, "column widths ": twips, "width ": twips, "tblW w ": twips,
	"tblInd w ": twips, "tblCellMar ": twips, "tcMar ": twips, "height ": twips, "default tab stops ": twips,
	"size ": points, "at ": points, "vertically ": points, "horizontally ": points,
}

// The tolerances in the units of the properties.
const twips, points = 2, 0.1

// toleranceOf returns how much the lengths of a property may differ; 0 if it is not a length.
func toleranceOf(property string) float64 {
	at := strings.IndexAny(property, "-0123456789")
	for name := property[:max(at, 0)]; name != ""; name = name[:strings.LastIndexByte(strings.TrimSuffix(name, " "), ' ')+1] {
		if tolerance := tolerances[name]; tolerance > 0 {
			return tolerance
		}
	}
	return 0
}

// isNear reports whether two properties are equal, apart from lengths that hardly differ.
func isNear(a, b string) bool {
	if a == b {
		return true
	}
	tolerance := toleranceOf(a)
	if tolerance == 0 || tolerance != toleranceOf(b) {
		return false
	}
	return slices.EqualFunc(strings.Fields(a), strings.Fields(b), func(x, y string) bool {
		const rounding = 1e-6
		m, wrongM := strconv.ParseFloat(x, 64)
		n, wrongN := strconv.ParseFloat(y, 64)
		return x == y || wrongM == nil && wrongN == nil && math.Abs(m-n) <= tolerance+rounding
	})
}
