// Package fidelitytest measures how alike the pages of two PDFs are that were made of one document: to prove that two ways
// of one engine give the same pages, and to judge what another engine, or other fonts, change.
//
//	score, err := fidelitytest.Compare(ctx, "cold.pdf", "warm.pdf")
//	…
//	if d := score.Difference(); d != "" {
//		t.Errorf("the pages are not the same:\n%s", d)
//	}
//
// It reads words and pictures of pages by pdftotext and pdftoppm of poppler. It does not see colours of the same grey, lines
// and pictures that changed by so little that no pixel at 72 dpi did, links, bookmarks, tags and the document's properties.
//
// The command in tools/fidelity does the same from a shell.
package fidelitytest

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
)

// A Score says how alike two documents are, A and B. All of it is symmetric: the score of B and A is the same, with A and B
// exchanged.
//
// The words are those of pdftotext, in the order in which they are drawn or, when that matches more of them, in its reading
// order. Running heads and feet, which are the same from page to page but for page numbers, are taken apart from the rest
// of the text, and compared with those of the other document. Two words are matched when they have the same characters
// and are in a longest common subsequence of the two texts. What is called a share below is from 0 to 1, and of both documents:
// twice what they have in common, through the sum of what each has (F1, the harmonic mean of precision and recall).
// Where neither has any, it is 1; where only one has, 0.
type Score struct {
	PagesA, PagesB int // how many each has
	WordsA, WordsB int

	// WordMatch is the share of words that are matched. It is 1 when both documents have the same words in the same order.
	WordMatch float64

	// LineBreaks is the share of line breaks that both have. A line breaks before a word that is on another page than the
	// word before it, or overlaps it vertically by less than 40 % of the height of the smaller of the two. Both have a
	// break when it is before words that are matched. In text that runs up or down the page, it breaks before every word.
	LineBreaks float64

	// PageBreaks is the share of page breaks that both have. A page breaks before the first word of a page other than the first
	// with words, heads and feet aside. Both have a break when it is before words that are matched, also when the numbers of the
	// pages differ. Pages without words break nothing.
	PageBreaks float64

	// Within1 and Within3 are the shares of words that are matched and whose top left corners are, on pages of the
	// same number, at most 1 and 3 points from each other. They are never more than WordMatch.
	Within1, Within3 float64

	// SSIM is the structural similarity (Wang et al. 2004) of the pages in shades of grey at 72 dpi, over windows of 8 by 8
	// pixels, of which each counts by the ink in that document that has more of it there; all windows of all pages together. It
	// is 1 when all pixels are the same or nothing has ink, about 0 when nothing is alike, and never below -1. Pages of
	// different size are compared on a white canvas that has room for both, and a page that is missing is white.
	// It is a tripwire for what is no text: text that moved by some points is as unlike as text that is gone.
	SSIM float64

	// Pages has what is known of each page, as many as the longer document has.
	Pages []Page

	differences []difference
}

// A Page says how alike the two pages of one number are.
type Page struct {
	Number int // 1 for the first
	SSIM   float64
	Pixels int // that are not of the same grey, at 72 dpi
	Moved  int // words of A and of B here that are not matched with one within 3 points

	sizeA, sizeB [2]int // in points
}

// Compare compares two PDF files. It fails when one cannot be read, or has over 250,000 words.
func Compare(ctx context.Context, a, b string) (Score, error) {
	a, errA := filepath.Abs(a) // so that none is taken for an option
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

// drawn is how many pages of A and B there are pictures of.
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

// take completes a score by what the comparison of words has found.
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

// String is the score in one line.
func (s Score) String() string {
	return fmt.Sprintf("pages %d/%d, words %d/%d: match %.4f, line breaks %.4f, page breaks %.4f, within 1 pt %.4f, within 3 pt %.4f, SSIM %.4f",
		s.PagesA, s.PagesB, s.WordsA, s.WordsB, s.WordMatch, s.LineBreaks, s.PageBreaks, s.Within1, s.Within3, s.SSIM)
}
