package fidelitytest

import (
	"cmp"
	"context"
	"math"
)

// A comparison is the result of comparing the words of two documents.
type comparison struct {
	pagesA, pagesB       int
	words, lines, breaks tally // breaks are page breaks
	within1, within3     int
	moved                []int // the page numbers of words without a match within 3 points
	differences          []difference
}

// compareWords compares the words of two documents in drawing order, which is text order in PDFs from word
// processors. If that does not match all words, it also tries the reading order, which pdftotext derives from
// positions. Reading order does not depend on the drawing order of an engine, but it is guessed, especially in
// tables. The order with more matches wins.
func compareWords(ctx context.Context, a, b string) (*comparison, error) {
	drawn, err := compareOrder(ctx, a, b, "-raw")
	if err != nil || drawn.words.share() == 1 {
		return drawn, err
	}
	read, err := compareOrder(ctx, a, b)
	if err != nil || read.words.share() > drawn.words.share() {
		return read, err
	}
	return drawn, nil
}

// compareOrder compares the words of two documents in the order set by the options of pdftotext.
func compareOrder(ctx context.Context, a, b string, options ...string) (*comparison, error) {
	pagesA, err := readWords(ctx, a, options...)
	if err != nil {
		return nil, err
	}
	pagesB, err := readWords(ctx, b, options...)
	if err != nil {
		return nil, err
	}
	return comparePages(pagesA, pagesB), nil
}

// comparePages compares two documents, given as the words of each page.
func comparePages(a, b [][]word) *comparison {
	c := &comparison{pagesA: len(a), pagesB: len(b)}
	bodyA, runningA := split(a)
	bodyB, runningB := split(b)
	c.compareTexts(text{words: bodyA, paged: true}, text{words: bodyB, paged: true})
	c.compareTexts(text{words: runningA}, text{words: runningB})
	return c
}

// compareTexts compares two texts and records their differences.
func (c *comparison) compareTexts(a, b text) {
	for i, j := range steps(align(a.strings(), b.strings()), len(a.words), len(b.words)) {
		c.words.add(i >= 0, j >= 0)
		c.lines.add(a.breaksLine(i), b.breaksLine(j))
		c.breaks.add(a.breaksPage(i), b.breaksPage(j))
		c.place(a.at(i), b.at(j))
	}
}

// place compares the positions of two matched words. One of them is nil if the other has no match.
func (c *comparison) place(a, b *word) {
	if a.within(1, b) {
		c.within1++
	}
	if a.within(3, b) {
		c.within3++
	} else {
		for _, w := range []*word{a, b} {
			if w != nil {
				c.moved = append(c.moved, w.page)
			}
		}
	}
	if !a.same(b) {
		c.differences = append(c.differences, difference{page: cmp.Or(a, b).page, a: a, b: b})
	}
}

// A tally counts something in each document and in both.
type tally struct{ a, b, both int }

// add counts one thing that is in A, in B, or in both.
func (t *tally) add(a, b bool) {
	if a {
		t.a++
	}
	if b {
		t.b++
	}
	if a && b {
		t.both++
	}
}

// share returns twice what both have, divided by the sum of what each has; 1 if neither has any.
func (t tally) share() float64 {
	if t.a+t.b == 0 {
		return 1
	}
	return float64(2*t.both) / float64(t.a+t.b)
}

// A text is a sequence of words of a document.
type text struct {
	words []word
	paged bool // whether its page breaks count
}

func (t text) strings() []string {
	words := make([]string, len(t.words))
	for i := range t.words {
		words[i] = t.words[i].text
	}
	return words
}

// at returns the i-th word, or nil for -1.
func (t text) at(i int) *word {
	if i < 0 {
		return nil
	}
	return &t.words[i]
}

// breaksLine reports whether the i-th word starts a line other than the first. It returns false for -1.
func (t text) breaksLine(i int) bool { return i > 0 && !t.words[i].follows(&t.words[i-1]) }

// breaksPage reports whether the i-th word starts a page other than the first. It returns false for -1.
func (t text) breaksPage(i int) bool { return t.paged && i > 0 && t.words[i].page != t.words[i-1].page }

// within reports whether the top left corners of two words are at most this many points from each other, on pages
// with the same number. It returns false if either word is nil.
func (w *word) within(points float64, o *word) bool {
	return w != nil && o != nil && w.page == o.page && math.Hypot(w.xMin-o.xMin, w.yMin-o.yMin) <= points
}
