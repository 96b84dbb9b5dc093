// Package fidelitytest measures how similar the pages of two PDFs of one document are. Tests use it to prove that two
// configurations of an engine generate the same pages, and to judge what another engine or other fonts change.
//
//	score, err := fidelitytest.Compare(ctx, "cold.pdf", "warm.pdf")
//	…
//	if d := score.Difference(); d != "" {
//		t.Errorf("the pages differ:\n%s", d)
//	}
//
// It reads words and pixels with pdftotext and pdftoppm of poppler. It does not detect different colors of the same
// gray, changes too small to affect a pixel at 72 dpi, links, bookmarks, tags, or document properties.
//
// The command tools/fidelity does the same from a shell.
package fidelitytest

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
)

// A Score describes how similar two documents A and B are. It is symmetric: the score of B and A is the same, with A
// and B exchanged.
//
// The words are those of pdftotext, in drawing order or, if that matches more of them, in reading order. Headers and
// footers, which repeat from page to page except for page numbers, are separated from the body and compared with those
// of the other document. Two words match if they have the same characters and belong to a longest common subsequence
// of the two texts.
//
// A share is a number from 0 to 1: twice what both documents have in common, divided by the sum of what each has (F1,
// the harmonic mean of precision and recall). If neither has any, it is 1; if only one has, it is 0.
type Score struct {
	PagesA, PagesB int // number of pages
	WordsA, WordsB int

	// WordMatch is the share of matched words. It is 1 if both documents have the same words in the same order.
	WordMatch float64

	// LineBreaks is the share of line breaks that both documents have. A line breaks before a word that is on another
	// page than the previous word, or that overlaps it vertically by less than 40 % of the height of the smaller one.
	// Both documents have a break if it is before matched words. In vertical text, a line breaks before every word.
	LineBreaks float64

	// PageBreaks is the share of page breaks that both documents have. A page breaks before the first body word of
	// each page with words, except the first such page. Both documents have a break if it is before matched words,
	// even if the page numbers differ. Pages without words add no breaks.
	PageBreaks float64

	// Within1 and Within3 are the shares of matched words whose top left corners are at most 1 and 3 points from each
	// other, on pages with the same number. They never exceed WordMatch.
	Within1, Within3 float64

	// SSIM is the structural similarity (Wang et al. 2004) of the pages in grayscale at 72 dpi, over all windows of 8
	// by 8 pixels of all pages. Each window is weighted by its ink in the document that has more of it there. SSIM is
	// 1 if all pixels are the same or nothing has ink, about 0 if nothing is similar, and at least -1. Pages of
	// different sizes are compared on a white canvas that fits both, and a missing page is white. SSIM detects
	// changes outside the text. Text that moved by a few points scores as low as missing text.
	SSIM float64

	// Pages describes each page. It has as many elements as the longer document has pages.
	Pages []Page

	differences []difference
}

// A Page describes how similar the two pages with one number are.
type Page struct {
	Number int // 1 for the first
	SSIM   float64
	Pixels int // number of pixels with different shades of gray, at 72 dpi
	Moved  int // number of words of A and B on this page without a match within 3 points

	sizeA, sizeB [2]int // in points
}

// Compare compares two PDF files. It fails if either is unreadable or has more than 250,000 words.
func Compare(ctx context.Context, a, b string) (Score, error) {
	a, errA := filepath.Abs(a) // so that paths are not parsed as options
	b, errB := filepath.Abs(b)
	if err := cmp.Or(errA, errB); err != nil {
		return Score{}, err
	}
	var s Score
	var c *comparison
	var rasters [2]chan raster
	group, ctx := errgroup.WithContext(ctx)
	for i, path := range []string{a, b} {
		rasters[i] = make(chan raster)
		group.Go(func() error { return draw(ctx, path, rasters[i]) })
	}
	group.Go(func() error {
		s.Pages, s.SSIM = compareRasters(rasters[0], rasters[1])
		return nil
	})
	group.Go(func() (err error) {
		c, err = compareWords(ctx, a, b)
		return err
	})
	if err := group.Wait(); err != nil {
		return Score{}, err
	}
	if drawnA, drawnB := s.drawn(); drawnA != c.pagesA || drawnB != c.pagesB {
		return Score{}, fmt.Errorf("%s and %s: pdftotext read %d and %d pages, pdftoppm drew %d and %d", a, b, c.pagesA, c.pagesB, drawnA, drawnB)
	}
	s.take(c)
	return s, nil
}

// drawn returns the number of pages of A and B that were rendered.
func (s *Score) drawn() (a, b int) {
	for _, p := range s.Pages {
		if p.sizeA != missing {
			a++
		}
		if p.sizeB != missing {
			b++
		}
	}
	return a, b
}

// take adds the comparison of words to a score.
func (s *Score) take(c *comparison) {
	s.PagesA, s.PagesB = c.pagesA, c.pagesB
	s.WordsA, s.WordsB = c.words.a, c.words.b
	s.WordMatch = c.words.share()
	s.LineBreaks = c.lines.share()
	s.PageBreaks = c.breaks.share()
	s.Within1 = tally{c.words.a, c.words.b, c.within1}.share()
	s.Within3 = tally{c.words.a, c.words.b, c.within3}.share()
	for _, page := range c.moved {
		s.Pages[page-1].Moved++
	}
	s.differences = append(s.differPages(), c.differences...)
	slices.SortStableFunc(s.differences, func(d, e difference) int { return cmp.Compare(d.page, e.page) })
}

// String returns the score in one line.
func (s Score) String() string {
	return fmt.Sprintf("pages %d/%d, words %d/%d: match %.4f, line breaks %.4f, page breaks %.4f, within 1 pt %.4f, within 3 pt "+
		"%.4f, SSIM %.4f",
		s.PagesA, s.PagesB, s.WordsA, s.WordsB, s.WordMatch, s.LineBreaks, s.PageBreaks, s.Within1, s.Within3, s.SSIM)
}
