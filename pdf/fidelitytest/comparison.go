package fidelitytest

import (
	"cmp"
	"context"
	"math"
)

// A comparison is what is found in the words of two documents.
type comparison struct {
	pagesA, pagesB       int
	words, lines, breaks tally // breaks of pages
	within1, within3     int
	moved                []int // the pages of words that are not matched with one within 3 points
	differences          []difference
}

// compareWords compares the words of two documents in the order in which they are drawn, which is that of the text in what
// word processors write. When that does not match all of them, it tries the order of reading, which pdftotext takes from
// where they are: it is the same for engines that draw in different orders, but guessed, above all in tables.
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

// compareOrder compares the words of two documents in the order that the options of pdftotext ask for.
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

// comparePages compares two documents that are given as the words of each page.
func comparePages(a, b [][]word) *comparison {
	c := &comparison{pagesA: len(a), pagesB: len(b)}
	bodyA, runningA := split(a)
	bodyB, runningB := split(b)
	c.compareTexts(text{words: bodyA, paged: true}, text{words: bodyB, paged: true})
	c.compareTexts(text{words: runningA}, text{words: runningB})
	return c
}

// compareTexts counts what two texts have, and notes their differences.
func (c *comparison) compareTexts(a, b text) {
	for i, j := range steps(align(a.strings(), b.strings()), len(a.words), len(b.words)) {
		c.words.add(i >= 0, j >= 0)
		c.lines.add(a.breaksLine(i), b.breaksLine(j))
		c.breaks.add(a.breaksPage(i), b.breaksPage(j))
		c.place(a.at(i), b.at(j))
	}
}

// place compares where two matched words are; one of them is nil when there is none to match the other.
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

// A tally is how many of something each document has, and how many both have.
type tally struct{ a, b, both int }

// add counts something that A has, or B, or both.
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

// share is what both have, of what each has.
func (t tally) share() float64 {
	if t.a+t.b == 0 {
		return 1
	}
	return float64(2*t.both) / float64(t.a+t.b)
}

// A text is some words of a document in their order.
type text struct {
	words []word
	paged bool // its page breaks count
}

func (t text) strings() []string {
	words := make([]string, len(t.words))
	for i := range t.words {
		words[i] = t.words[i].text
	}
	return words
}

// at returns the i-th word, and nil for -1.
func (t text) at(i int) *word {
	if i < 0 {
		return nil
	}
	return &t.words[i]
}

// breaksLine reports whether the i-th word begins a line other than the first; for -1 it does not.
func (t text) breaksLine(i int) bool { return i > 0 && !t.words[i].follows(&t.words[i-1]) }

// breaksPage reports whether the i-th word begins a page other than the first; for -1 it does not.
func (t text) breaksPage(i int) bool { return t.paged && i > 0 && t.words[i].page != t.words[i-1].page }

// within reports whether two words are on pages of the same number with their top left corners not further apart than
// this. A word that is not there is not.
func (w *word) within(points float64, o *word) bool {
	return w != nil && o != nil && w.page == o.page && math.Hypot(w.xMin-o.xMin, w.yMin-o.yMin) <= points
}
