package fidelitytest

import (
	"fmt"
	"math"
	"strings"
)

const (
	// samePlace is the tolerance, in points, for two words to be at the same position: a few units of the last digit
	// that PDFs contain.
	samePlace = 0.01

	maxDifferences = 10 // in a report
)

// A difference is a word that is only in one document, or at another position in the other one. Without words, it is
// a difference between two pages, or between the documents.
type difference struct {
	page    int // 0 for the whole document
	a, b    *word
	message string // if there is no word
}

// Same reports whether the pages of both documents are the same: the same number of pages, of the same size in
// points, with the same words at the same positions to a hundredth of a point, and the same pixels in the same shades
// of gray.
func (s Score) Same() bool { return len(s.differences) == 0 }

// Difference describes how the pages of both documents differ, in up to ten lines sorted by page. It returns "" if
// they are the same.
func (s Score) Difference() string {
	var lines []string
	for _, d := range s.differences[:min(len(s.differences), maxDifferences)] {
		lines = append(lines, d.String())
	}
	if more := len(s.differences) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more differences", more))
	}
	return strings.Join(lines, "\n")
}

func (d difference) String() string {
	if d.page == 0 {
		return d.message
	}
	return fmt.Sprintf("page %d: %s", d.page, d.what())
}

func (d difference) what() string {
	switch {
	case d.a == nil && d.b == nil:
		return d.message
	case d.b == nil:
		return fmt.Sprintf("%q at %s is only in A", d.a.text, d.a.place())
	case d.a == nil:
		return fmt.Sprintf("%q at %s is only in B", d.b.text, d.b.place())
	case d.a.page != d.b.page:
		return fmt.Sprintf("%q at %s is on page %d in B, at %s", d.a.text, d.a.place(), d.b.page, d.b.place())
	default:
		return fmt.Sprintf("%q at %s is at %s in B", d.a.text, d.a.place(), d.b.place())
	}
}

// place returns the position of a word: its top left corner, and its size.
func (w *word) place() string {
	return fmt.Sprintf("(%.2f, %.2f) %.2f×%.2f", w.xMin, w.yMin, w.xMax-w.xMin, w.yMax-w.yMin)
}

// same reports whether two words are at the same position on pages with the same number. It returns false if either
// word is nil.
func (w *word) same(o *word) bool {
	if w == nil || o == nil || w.page != o.page {
		return false
	}
	for _, d := range []float64{w.xMin - o.xMin, w.yMin - o.yMin, w.xMax - o.xMax, w.yMax - o.yMax} {
		if math.Abs(d) > samePlace {
			return false
		}
	}
	return true
}

// differPages returns the differences between pages.
func (s *Score) differPages() []difference {
	var found []difference
	if s.PagesA != s.PagesB {
		found = append(found, difference{message: fmt.Sprintf("A has %d pages, B %d", s.PagesA, s.PagesB)})
	}
	for _, p := range s.Pages[:min(s.PagesA, s.PagesB)] {
		switch {
		case p.sizeA != p.sizeB:
			found = append(found, difference{page: p.Number, message: fmt.Sprintf("is %d×%d points, and %d×%d in B", p.sizeA[0], p.sizeA[1],
				p.sizeB[0], p.sizeB[1])})
		case p.Pixels > 0:
			found = append(found, difference{page: p.Number, message: fmt.Sprintf("%d pixels differ, SSIM %.4f", p.Pixels, p.SSIM)})
		}
	}
	return found
}
