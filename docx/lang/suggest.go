package lang

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// habits holds our filters and functions by what other tools call them.
var habits = func() map[string]string {
	all := map[string]string{}
	for name, fn := range filterTable {
		for _, other := range fn.also {
			all[other] = name
		}
	}
	for name, fn := range functionTable {
		for _, other := range fn.also {
			all[other] = name
		}
	}
	return all
}()

// suggest returns a hint for a name that is not in table: the most similar name or, if none is similar, all names.
func suggest[T any](name, what string, table map[string]T) string {
	if meant := habits[strings.ToLower(name)]; meant != "" {
		if _, ok := table[meant]; ok {
			return "did you mean " + meant + "?"
		}
	}
	known := slices.Sorted(maps.Keys(table))
	left := maxSearch
	if best := nearest(name, slices.Values(known), &left); best != "" {
		return "did you mean " + best + "?"
	}
	return fmt.Sprintf("the %s are %s", what, strings.Join(known, ", "))
}

// maxSpelled is the largest length of a name that is compared by letters.
const maxSpelled = 100

// shortName is the length of names that differ from many others in one letter only.
const shortName = 4

// nearest returns the candidate of which name is probably a misspelling, or "". It differs only in case, underscores,
// hyphens, and blanks, or in up to a third of the letters. A name of up to shortName letters has its first letter right, and a
// single letter is not a misspelling. Every comparison takes its cost from left, and there are no more comparisons after that is used up.
func nearest(name string, candidates iter.Seq[string], left *int) string {
	plain := bare(name)
	best, least := "", max(len(plain)/3, 1)+1
	if len(plain) == 1 {
		least = 1
	}
	for c := range candidates {
		if *left -= len(name) * len(c); *left < 0 {
			break
		}
		other := bare(c)
		if other == plain && c != "" {
			return c
		}
		if len(plain) > maxSpelled || max(len(plain), len(other))-min(len(plain), len(other)) >= least {
			continue
		}
		if len(plain) <= shortName && other != "" && plain != "" && plain[0] != other[0] {
			continue
		}
		if d := distance(plain, other); d < least {
			best, least = c, d
		}
	}
	return best
}

// bare returns a name without what people get wrong most.
func bare(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || isBlank(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// distance returns the number of bytes that must be changed, removed, inserted, or swapped with their neighbor to turn a into b.
func distance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) { // row has the distances of a[:i] to every b[:j], and before has those of a[:i-1]
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
