package fidelitytest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// scoreOf returns the score of two texts as fractions: twice what both have, over the sum of what each has.
func scoreOf(a, b [][]word) string {
	c := comparePages(a, b)
	part := func(t tally) string { return fmt.Sprintf("%d/%d", 2*t.both, t.a+t.b) }
	return fmt.Sprintf("words %s, lines %s, pages %s, within %d %d", part(c.words), part(c.lines), part(c.breaks), c.within1, c.within3)
}

func TestComparePages(t *testing.T) {
	moved := func(pages [][]word, x, y float64) [][]word {
		for _, page := range pages {
			for i := range page {
				page[i].xMin, page[i].xMax, page[i].yMin, page[i].yMax = page[i].xMin+x, page[i].xMax+x, page[i].yMin+y, page[i].yMax+y
			}
		}
		return pages
	}
	tests := []struct {
		name string
		a, b [][]word
		want string
	}{
		{"nothing", nil, nil, "words 0/0, lines 0/0, pages 0/0, within 0 0"},
		{"no words", pages("", ""), pages(""), "words 0/0, lines 0/0, pages 0/0, within 0 0"},
		{"words on one side", pages("a b/c", "d"), pages(""), "words 0/4, lines 0/2, pages 0/1, within 0 0"},
		{"the same", pages("a b/c", "d"), pages("a b/c", "d"), "words 8/8, lines 4/4, pages 2/2, within 4 4"},
		{"nothing in common", pages("a b/c", "d"), pages("e f/g", "h"), "words 0/8, lines 0/4, pages 0/2, within 0 0"},
		{"another word", pages("a b/c", "d"), pages("a x/c", "d"), "words 6/8, lines 4/4, pages 2/2, within 3 3"},
		{"another word after a break", pages("a b/c", "d"), pages("a b/x", "d"), "words 6/8, lines 2/4, pages 2/2, within 3 3"},
		{"a break one word later", pages("a b/c d/e f"), pages("a b c/d/e f"), "words 12/12, lines 2/4, pages 0/0, within 4 4"},
		{"one break less", pages("a b/c d"), pages("a b c d"), "words 8/8, lines 0/1, pages 0/0, within 2 2"},
		{"a page break one word later", pages("a b", "c d"), pages("a b c", "d"), "words 8/8, lines 0/2, pages 0/2, within 2 2"},
		{"a page break that was a line's", pages("a b/c d"), pages("a b", "c d"), "words 8/8, lines 2/2, pages 0/1, within 2 2"},
		{"a page inserted", pages("a b", "c d"), pages("a b", "x y", "c d"), "words 8/10, lines 2/3, pages 2/3, within 2 2"},
		{"an empty page inserted", pages("a b", "c d"), pages("a b", "", "c d"), "words 8/8, lines 2/2, pages 2/2, within 2 2"},
		{"a page missing", pages("a", "b", "c"), pages("a", "c"), "words 4/5, lines 2/3, pages 2/3, within 1 1"},
		{"a line inserted at the beginning", pages("a b/c d"), pages("x y/a b/c d"), "words 8/10, lines 2/3, pages 0/0, within 0 0"},
		{"words that change places", pages("a b c"), pages("c a b"), "words 4/6, lines 0/0, pages 0/0, within 0 0"},
		// A word moves to the next page, across the footer of one and the header of the other.
		{"a word across headers and footers", pages("head/a b/1", "head/c d/2", "head/e/3"), pages("head/a/1", "head/b c d/2", "head/e/3"),
			"words 22/22, lines 12/14, pages 2/4, within 8 8"},
		{"an additional page with header and footer", pages("head/a b/1", "head/c d/2"), pages("head/a b/1", "head/c d/2", "head/e/3"),
			"words 16/19, lines 8/11, pages 2/3, within 8 8"},
		{"within one point", pages("a b"), moved(pages("a b"), 0.6, -0.79), "words 4/4, lines 0/0, pages 0/0, within 2 2"},
		{"within three points", pages("a b"), moved(pages("a b"), -1, 0.1), "words 4/4, lines 0/0, pages 0/0, within 0 2"},
		{"further than three", pages("a b"), moved(pages("a b"), 3, 0.1), "words 4/4, lines 0/0, pages 0/0, within 0 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := scoreOf(tt.a, tt.b); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if got := scoreOf(tt.b, tt.a); got != tt.want {
				t.Errorf("swapped %s, want %s", got, tt.want)
			}
		})
	}
}

// layout splits words into random lines and pages.
func layout(t *rapid.T, label string, words []string) [][]word {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(rapid.SampledFrom([]string{" ", " ", " ", "/", "|"}).Draw(t, label) + w)
	}
	return pages(strings.Split(b.String(), "|")...)
}

// If no word occurs twice, the shares of two texts can be computed without an alignment. No word is a number, because
// numbers may be page numbers.
func TestSharesOfUniqueWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var kept [2][]string
		for i := range rapid.IntRange(0, 60).Draw(t, "words") {
			for side := range kept {
				if rapid.IntRange(0, 4).Draw(t, "kept") > 0 {
					kept[side] = append(kept[side], string(rune('あ'+i)))
				}
			}
		}
		a, b := layout(t, "a", kept[0]), layout(t, "b", kept[1])
		got := comparePages(a, b)
		linesA, pagesA := breaks(a)
		linesB, pagesB := breaks(b)
		for _, check := range []struct {
			what string
			got  tally
			a, b []string
		}{
			{"words", got.words, kept[0], kept[1]},
			{"line breaks", got.lines, linesA, linesB},
			{"page breaks", got.breaks, pagesA, pagesB},
		} {
			both := 0
			for _, w := range check.a {
				if slices.Contains(check.b, w) {
					both++
				}
			}
			if want := (tally{len(check.a), len(check.b), both}); check.got != want {
				t.Fatalf("%s: %v, want %v", check.what, check.got, want)
			}
		}
	})
}

// breaks returns the words after line breaks and page breaks, in the layout of func pages.
func breaks(pages [][]word) (lines, starts []string) {
	for i, page := range slices.DeleteFunc(slices.Clone(pages), func(p []word) bool { return len(p) == 0 }) {
		for j, w := range page {
			if j == 0 && i > 0 {
				starts = append(starts, w.text)
			}
			if j == 0 && i > 0 || j > 0 && page[j-1].yMin != w.yMin {
				lines = append(lines, w.text)
			}
		}
	}
	return lines, starts
}

// For any two documents, the score is symmetric and within its bounds. A document compared with itself scores 1.
func TestScoreOfAnyWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "c", "1", "2", "3"}))
		a, b := layout(t, "layout of a", words.Draw(t, "a")), layout(t, "layout of b", words.Draw(t, "b"))
		s, turned, same := scoreWithoutPictures(a, b), scoreWithoutPictures(b, a), scoreWithoutPictures(a, a)
		turned.PagesA, turned.PagesB, turned.WordsA, turned.WordsB = turned.PagesB, turned.PagesA, turned.WordsB, turned.WordsA
		if s.String() != turned.String() || !reflect.DeepEqual(s.Pages, turned.Pages) {
			t.Fatalf("%s\nswapped\n%s", s, turned)
		}
		if s.Same() != turned.Same() || s.Same() != reflect.DeepEqual(a, b) {
			t.Fatalf("%v and %v: Same() = %v, swapped %v", a, b, s.Same(), turned.Same())
		}
		if !(0 <= s.Within1 && s.Within1 <= s.Within3 && s.Within3 <= s.WordMatch && s.WordMatch <= 1 &&
			0 <= s.LineBreaks && s.LineBreaks <= 1 && 0 <= s.PageBreaks && s.PageBreaks <= 1) {
			t.Fatalf("out of bounds: %s", s)
		}
		if !same.Same() || same.Within1 != 1 || same.LineBreaks != 1 || same.PageBreaks != 1 {
			t.Fatalf("a document and itself: %s\n%s", same, same.Difference())
		}
	})
}

// scoreWithoutPictures returns the score of two documents based on their words only.
func scoreWithoutPictures(a, b [][]word) Score {
	s := Score{Pages: make([]Page, max(len(a), len(b)))}
	s.take(comparePages(a, b))
	return s
}

func TestDifference(t *testing.T) {
	tests := []struct {
		name string
		a, b [][]word
		want string
	}{
		{"none", pages("a b"), pages("a b"), ""},
		{"moved", pages("a b"), pages("a/b"), `page 1: "b" at (50.00, 0.00) 40.00×10.00 is at (0.00, 20.00) 40.00×10.00 in B`},
		{"to another page", pages("a b", "c"), pages("a", "b/c"),
			`page 1: "b" at (50.00, 0.00) 40.00×10.00 is on page 2 in B, at (0.00, 0.00) 40.00×10.00` + "\n" +
				`page 2: "c" at (0.00, 0.00) 40.00×10.00 is at (0.00, 20.00) 40.00×10.00 in B`},
		{"other words, by page", pages("a", "c d", "e"), pages("a", "c x", "y"),
			`page 2: "d" at (50.00, 0.00) 40.00×10.00 is only in A` + "\n" + `page 2: "x" at (50.00, 0.00) 40.00×10.00 is only in B` + "\n" +
				`page 3: "e" at (0.00, 0.00) 40.00×10.00 is only in A` + "\n" + `page 3: "y" at (0.00, 0.00) 40.00×10.00 is only in B`},
		{"pages", pages("a", "b"), pages("a"), "A has 2 pages, B 1\n" + `page 2: "b" at (0.00, 0.00) 40.00×10.00 is only in A`},
		{"to the same place of another page", pages("a", ""), pages("", "a"),
			`page 1: "a" at (0.00, 0.00) 40.00×10.00 is on page 2 in B, at (0.00, 0.00) 40.00×10.00`},
		{"many", pages("a b c d e f g h i j k l m n o p q r s t u v w x y z"), pages(""), alone("abcdefghij") + "… and 16 more differences"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := scoreWithoutPictures(tt.a, tt.b)
			if got := s.Difference(); got != tt.want {
				t.Errorf("tells\n%s\nwant\n%s", got, tt.want)
			}
			if s.Same() != (tt.want == "") {
				t.Errorf("Same() = %v", s.Same())
			}
		})
	}
}

// alone returns the difference for words of one letter each that are only in A, on one line.
func alone(letters string) string {
	var b strings.Builder
	for i, r := range letters {
		fmt.Fprintf(&b, "page 1: %q at (%.2f, 0.00) 40.00×10.00 is only in A\n", string(r), 50*float64(i))
	}
	return b.String()
}

// Two words are at the same position if all four sides are, within the precision of numbers in PDFs.
func TestSamePlace(t *testing.T) {
	for side, move := range map[string]func(w *word, by float64){
		"left":   func(w *word, by float64) { w.xMin += by },
		"top":    func(w *word, by float64) { w.yMin += by },
		"right":  func(w *word, by float64) { w.xMax += by },
		"bottom": func(w *word, by float64) { w.yMax += by },
	} {
		for by, want := range map[float64]bool{0.009: true, -0.009: true, 0.011: false, -0.011: false} {
			a, b := pages("a"), pages("a")
			move(&b[0][0], by)
			if s := scoreWithoutPictures(a, b); s.Same() != want {
				t.Errorf("%s moved by %v: Same() = %v", side, by, s.Same())
			}
		}
	}
}

// Moved words count on the pages of both documents.
func TestMovedWords(t *testing.T) {
	s := scoreWithoutPictures(pages("a b c", "d", "e f"), pages("a b", "c/d", "e f x y"))
	var got []int
	for _, p := range s.Pages {
		got = append(got, p.Moved)
	}
	if want := []int{1, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("%v words moved, want %v", got, want)
	}
}
