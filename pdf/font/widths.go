package font

import (
	"cmp"
	"math"
)

// trueWidths are the widths of the characters of Word's fonts in PDF files, in thousandths of an em: of the letters a to z and A to Z, of a
// digit, and of the space. Those of Arial, Times New Roman, and Courier New are from Adobe's metrics of the standard fonts (AFM of
// Helvetica, Times-Roman, and Courier). Those of Calibri and Cambria are what Word writes to the /Widths of PDF files.
var trueWidths = map[string]widths{
	"arial": {
		lower: [26]uint16{556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500,
			722, 500, 500, 500},
		upper: [26]uint16{667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667,
			944, 667, 667, 611},
		digit: 556, blank: 278,
	},
	"timesnewroman": {
		lower: [26]uint16{444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500,
			722, 500, 500, 444},
		upper: [26]uint16{722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722,
			944, 722, 722, 611},
		digit: 500, blank: 250,
	},
	"couriernew": {
		lower: [26]uint16{600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600,
			600, 600, 600, 600},
		upper: [26]uint16{600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600,
			600, 600, 600, 600},
		digit: 600, blank: 600,
	},
	"calibri": {
		lower: [26]uint16{479, 525, 423, 525, 498, 305, 471, 525, 229, 239, 455, 229, 799, 525, 527, 525, 525, 349, 391, 335, 525, 452,
			715, 433, 453, 395},
		upper: [26]uint16{579, 544, 533, 615, 488, 459, 631, 623, 252, 319, 520, 420, 855, 646, 662, 517, 673, 543, 459, 487, 642, 567,
			890, 519, 487, 468},
		digit: 507, blank: 226,
	},
	"cambria": {
		lower: [26]uint16{488, 547, 441, 555, 488, 303, 494, 552, 278, 266, 524, 271, 832, 558, 531, 556, 547, 414, 430, 338, 552, 504,
			774, 483, 504, 455},
		upper: [26]uint16{623, 611, 563, 662, 575, 537, 611, 687, 324, 307, 629, 537, 815, 681, 653, 568, 653, 621, 496, 593, 648, 604,
			921, 571, 570, 538},
		digit: 554, blank: 220,
	},
}

type widths struct {
	lower, upper [26]uint16
	digit, blank uint16
}

// all yields each character with its width.
func (w *widths) all(yield func(rune, float64) bool) {
	for i := range rune(26) {
		if !yield('a'+i, float64(w.lower[i])) || !yield('A'+i, float64(w.upper[i])) {
			return
		}
	}
	for r := '0'; r <= '9'; r++ {
		if !yield(r, float64(w.digit)) {
			return
		}
	}
	yield(' ', float64(w.blank))
}

// WidthMismatch describes how the widths of a substitute differ from those of the font that the document asks for.
type WidthMismatch struct {
	Character string  `json:"character"` // an example of a character whose width differs
	Width     float64 `json:"width"`     // in the font that is used, in ems
	Expected  float64 `json:"expected"`  // in the font that was asked for, in ems
	Percent   float64 `json:"percent"`   // how much wider lower-case text becomes; negative if narrower
}

// widthTolerance is the maximum difference between equal widths, in thousandths of an em, because fonts round to their own units.
const widthTolerance = 2

// compareWidths compares a face with the known widths of a font. It returns nil if they are equal or unknown.
func compareWidths(asked string, used *Face) *WidthMismatch {
	w, ok := trueWidths[fold(asked)]
	if !ok {
		return nil
	}
	var found *WidthMismatch
	for r, want := range w.all {
		got, ok := used.Advance(r)
		if ok && found == nil && math.Abs(got-want) > widthTolerance {
			found = &WidthMismatch{Character: string(r), Width: round(got / 1000), Expected: round(want / 1000)}
		}
	}
	if found != nil {
		found.Percent = w.drift(used)
	}
	return found
}

// drift returns by how many percent lower-case text becomes wider.
func (w *widths) drift(used *Face) float64 {
	sum, want := 0.0, 0.0
	for i, width := range w.lower {
		got, ok := used.Advance('a' + rune(i))
		if ok {
			sum, want = sum+got, want+float64(width)
		}
	}
	return math.Round((sum/cmp.Or(want, 1)-1)*1000) / 10
}

func round(ems float64) float64 { return math.Round(ems*1000) / 1000 }
