package expect

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"platen/docx/wml"
)

// normalize returns a text in the form in which texts are compared: with one space in place of each stretch of blanks, of any kind, without
// characters that are invisible, with an ordinary hyphen for others, and with composed characters (Unicode form NFC).
func normalize(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	blank := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			blank = true
			continue
		case isInvisible(r):
			continue
		case r == '\u2010' || r == '\u2011':
			r = '-'
		}
		if blank && b.Len() > 0 {
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(r)
	}
	return norm.NFC.String(b.String())
}

// isInvisible reports whether a reader does not see a character: a soft hyphen, an object, a control or format character, and others that
// Unicode says to ignore where they have no effect. The format characters of Arabic and Kaithi numbers are visible.
func isInvisible(r rune) bool {
	return r == wml.Object || unicode.IsControl(r) ||
		unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
			!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// maxShown is the number of characters of a text that a message shows.
const maxShown = 160

// shorten returns a text on one line, cut if it is long.
func shorten(text string) string {
	text = normalize(text)
	if r := []rune(text); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return text
}

const (
	gram       = 3    // characters that are compared at a time
	maxGrams   = 2000 // of a text that is compared
	maxWords   = 100  // of a text that is compared with another by its words
	maxAlike   = 2000 // bytes of such a text
	isSimilar  = 0.4  // the least similarity of two paragraphs of which one was changed into the other
	noResemble = 0.2  // the least share of a text in the paragraph that resembles it
)

// grams are the stretches of characters of a text, by which it is sought in others.
type grams map[string]bool

func gramsOf(text string) grams {
	found := grams{}
	eachGram(strings.ToLower(text), func(g string) bool {
		found[g] = true
		return len(found) < maxGrams
	})
	return found
}

// eachGram calls found for each stretch of gram characters. A shorter text is one stretch.
func eachGram(text string, found func(g string) bool) {
	starts := make([]int, 0, gram)
	for i := range text {
		if len(starts) == gram {
			if !found(text[starts[0]:i]) {
				return
			}
			starts = append(starts[:0], starts[1:]...)
		}
		starts = append(starts, i)
	}
	if len(starts) > 0 {
		found(text[starts[0]:])
	}
}

// share returns the share of the grams that a text has, from 0 to 1.
func (g grams) share(text string) float64 {
	if len(g) == 0 {
		return 0
	}
	met := map[string]bool{}
	eachGram(strings.ToLower(text), func(s string) bool {
		if g[s] {
			met[s] = true
		}
		return len(met) < len(g)
	})
	return float64(len(met)) / float64(len(g))
}

// words returns how often each word occurs in the beginning of a text, and their number.
func words(text string) (counts map[string]int, total int) {
	counts = map[string]int{}
	for word := range strings.FieldsSeq(text) {
		counts[word]++
		if total++; total == maxWords {
			break
		}
	}
	return counts, total
}

// similarity compares two texts by their words, or short ones by their characters: from 0, for nothing in common, to 1.
func similarity(a, b string) float64 {
	if a, b = a[:min(len(a), maxAlike)], b[:min(len(b), maxAlike)]; a == b {
		return 1
	}
	x, m := words(a)
	y, n := words(b)
	common := 0
	for word, count := range x {
		common += min(count, y[word])
	}
	byWords := 2 * float64(common) / float64(max(m+n, 1))
	if m > maxShort || n > maxShort {
		return byWords
	}
	return max(byWords, min(gramsOf(a).share(b), gramsOf(b).share(a)))
}

// maxShort is the largest number of words of a text that is also compared by its characters.
const maxShort = 12
