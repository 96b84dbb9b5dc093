package fidelitytest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseWords(t *testing.T) {
	const head = "<!DOCTYPE html>\n<html>\n<head>\n<title>\x01 &lt;doc&gt; &bad; <</title>\n</head>\n<body>\n"
	box := func(text string) string { return `<word xMin="1.5" yMin="2" xMax="3" yMax="4">` + text + "</word>\n" }
	at := func(page int, text string) word {
		return word{text: text, page: page, xMin: 1.5, yMin: 2, xMax: 3, yMax: 4}
	}
	tests := []struct {
		name, text string
		want       [][]word
	}{
		{"no pages", head + "<doc>\n</doc>", [][]word{}},
		{"pages without words", head + `<doc><page width="1" height="2"></page><page/></doc></body></html>`, [][]word{nil, nil}},
		{"words", "<doc><page>" + box("Hello") + box("World") + "</page><page>" + box("again") + "</page></doc>",
			[][]word{{at(1, "Hello"), at(1, "World")}, {at(2, "again")}}},
		{"entities", "<doc><page>" + box("&lt;b&gt; &amp;amp; &quot;&apos;&#39;") + "</page></doc>", [][]word{{at(1, `<b> &amp; "''`)}}},
		{"characters not allowed in XML", "<doc><page>" + box("a\x01\x00\x1fb\ufffe\uffff\x7f") + "</page></doc>",
			[][]word{{at(1, "a\ufffd\ufffd\ufffdb\ufffd\ufffd\x7f")}}},
		{"invalid UTF-8", "<doc><page>" + box("caf\xe9\xed\xa0\x80") + "</page></doc>", [][]word{{at(1, "caf\ufffd\ufffd\ufffd\ufffd")}}},
		{"other scripts", "<doc><page>" + box("שלום 漢字 𝒳 é") + "</page></doc>", [][]word{{at(1, "שלום 漢字 𝒳 é")}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseWords([]byte(tt.text), 3)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(word{})); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseWordsRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":           "",
		"no document":       "<html><body></body></html>",
		"half a document":   `<doc><page><word xMin="1" yMin="1" xMax="2" yMax="2">a</wo`,
		"an unknown entity": "<doc><page><word>&nbsp;</word></page></doc>",
		"not a number":      `<doc><page><word xMin="x">a</word></page></doc>`,
		"NaN":               `<doc><page><word xMin="nan">a</word></page></doc>`,
		"infinity":          `<doc><page><word yMax="-inf">a</word></page></doc>`,
		"unmatched quotes":  `<doc><page><word xMin="1>a</word></page></doc>`,
	} {
		t.Run(name, func(t *testing.T) {
			if pages, err := parseWords([]byte(text), 3); err == nil {
				t.Errorf("reads %v", pages)
			}
		})
	}
	four := "<doc><page><word>a</word><word>b</word></page><page><word>c</word><word>d</word></page></doc>"
	if _, err := parseWords([]byte(four), 3); !errors.Is(err, errTooLong) {
		t.Errorf("four words with a limit of three: %v", err)
	}
}

func TestLines(t *testing.T) {
	const height = 10
	tests := []struct {
		name    string
		tops    []float64
		heights []float64
		want    int
	}{
		{"no words", nil, nil, 0},
		{"one line", []float64{0, 0, 0}, []float64{height, height, height}, 1},
		{"one below another", []float64{0, 10, 20}, []float64{height, height, height}, 3},
		{"overlapping by 40 %", []float64{0, 6}, []float64{height, height}, 1},
		{"overlapping by 39 %", []float64{0, 6.1}, []float64{height, height}, 2},
		{"upwards", []float64{6.1, 0}, []float64{height, height}, 2},
		{"a footnote number", []float64{10, 8}, []float64{height, 4}, 1},
		{"a drop cap over three lines", []float64{0, 24}, []float64{30, height}, 1},
		{"without height", []float64{5, 5}, []float64{0, 0}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var words []word
			for i, top := range tt.tops {
				words = append(words, word{page: 1, yMin: top, yMax: top + tt.heights[i]})
			}
			if got := len(lines(words)); got != tt.want {
				t.Errorf("%d lines, want %d", got, tt.want)
			}
		})
	}
}

// pages returns pages of lines that are separated by "/". Words measure 40 by 10 points, start at multiples of 50
// points, and lines at multiples of 20.
func pages(texts ...string) [][]word {
	result := make([][]word, len(texts))
	for i, page := range texts {
		for n, line := range strings.Split(page, "/") {
			for m, text := range strings.Fields(line) {
				x, y := float64(50*m), float64(20*n)
				result[i] = append(result[i], word{text: text, page: i + 1, xMin: x, yMin: y, xMax: x + 40, yMax: y + 10})
			}
		}
	}
	return result
}

func TestSplit(t *testing.T) {
	tests := []struct {
		name          string
		pages         [][]word
		body, running string
	}{
		{"no pages", nil, "", ""},
		{"one page", pages("head/a b/1"), "head a b 1", ""},
		{"header and footer", pages("head/a b/page 1", "head/c d/page 2", "head/e/page 3"), "a b c d e", "head page 1 head page 2 head page 3"},
		{"a footer of two lines", pages("a/9/of 10", "b/10/of 10"), "a b", "9 of 10 10 of 10"},
		{"within a word", pages("a/(9-10)", "b/(10-10)"), "a b", "(9-10) (10-10)"},
		{"from another page number", pages("a/p41", "b/p42", "c/p43"), "a b c", "p41 p42 p43"},
		{"on every other page", pages("left/a", "right/b", "left/c", "right/d"), "a b c d", "left right left right"},
		{"not on the first page", pages("title/a", "at head/b", "at head/c"), "title a b c", "at head at head"},
		{"no page numbers", pages("1/a", "4/b", "9/c"), "1 a 4 b 9 c", ""},
		{"a longer line", pages("head/a", "head more/b"), "head a head more b", ""},
		{"identical pages", pages("a/b/c", "a/b/c"), "c c", "a b a b"},
		{"a page with only a header", pages("at head", "at head"), "at head at head", ""},
		{"an empty page in between", pages("at head/a", "", "at head/b"), "a b", "at head at head"},
		{"far away", pages("head/a", "b", "c", "head/d"), "head a b c head d", ""},
		{"numbers too long for page numbers", pages("9999999/a", "10000000/b"), "9999999 a 10000000 b", ""},
		{"ten of eleven lines", pages("1/2/3/4/5/6/7/8/9/0/x/a", "1/2/3/4/5/6/7/8/9/0/x/b"), "x a x b",
			"1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body, running := split(tt.pages)
			if got := strings.Join(text{words: body}.strings(), " "); got != tt.body {
				t.Errorf("body: %q, want %q", got, tt.body)
			}
			if got := strings.Join(text{words: running}.strings(), " "); got != tt.running {
				t.Errorf("headers and footers: %q, want %q", got, tt.running)
			}
		})
	}
}

func TestNumbered(t *testing.T) {
	tests := []struct {
		a, b   string
		offset int
		want   bool
	}{
		{"9", "10", 1, true},
		{"10", "9", -1, true},
		{"9", "10", 2, false},
		{"9/20", "10/20", 1, true},
		{"-9-", "-10-", 1, true},
		{"p9", "q10", 1, false},
		{"p9", "p10a", 1, false},
		{"9", "", 1, false},
		{"", "10", 1, false},
		{"", "", 1, false},
		{"a", "a", 0, false},
		{"999999", "1000000", 1, false}, // no document has so many pages
	}
	for _, tt := range tests {
		if got := numbered(tt.a, tt.b, tt.offset); got != tt.want {
			t.Errorf("%q and %q, offset %d: %v, want %v", tt.a, tt.b, tt.offset, got, tt.want)
		}
	}
}
