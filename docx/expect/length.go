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

// isNear reports whether two properties are equal, apart from lengths that hardly differ.
func isNear(a, b string) bool {
	if a == b {
		return true
	}
	for name, tolerance := range tolerances {
		if strings.HasPrefix(a, name) && strings.HasPrefix(b, name) {
			return slices.EqualFunc(strings.Fields(a[len(name):]), strings.Fields(b[len(name):]), func(x, y string) bool {
				const rounding = 1e-6
				m, wrongM := strconv.ParseFloat(x, 64)
				n, wrongN := strconv.ParseFloat(y, 64)
				return x == y || wrongM == nil && wrongN == nil && math.Abs(m-n) <= tolerance+rounding
			})
		}
	}
	return false
}
