package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// habits holds what other tools call our filters and functions.
var habits = map[string]string{
	"upper": "uppercase", "upcase": "uppercase", "lower": "lowercase", "downcase": "lowercase", "title": "titlecase",
	"money": "currency", "number": "format", "formatdate": "date", "dateformat": "date", "tz": "timezone",
	"plus": "add", "filter": "where", "sortby": "sort", "orderby": "sort", "groupby": "group", "distinct": "unique",
	"size": "count", "strip": "trim", "substring": "slice", "picture": "image", "img": "image", "url": "link", "safe": "html",
	"spell": "words", "shorten": "truncate", "ifempty": "default", "$avg": "$average", "$mean": "$average", "$len": "$length",
	"$ceiling": "$ceil", "$concat": "$string", "$text": "$string", "$vlookup": "$lookup", "$xlookup": "$lookup", "$datedif": "$days",
}

// suggest returns a hint for a name that is not in table: the one that is meant or, if none comes near, all there are.
func suggest[T any](name, what string, table map[string]T) string {
	if meant := habits[strings.ToLower(name)]; meant != "" {
		if _, ok := table[meant]; ok {
			return "did you mean " + meant + "?"
		}
	}
	known := slices.Sorted(maps.Keys(table))
	if best := nearest(name, known); best != "" {
		return "did you mean " + best + "?"
	}
	return fmt.Sprintf("the %s are %s", what, strings.Join(known, ", "))
}

// nearest returns the candidate that is fewest edits away from name, if those are at most a third of it, or "".
func nearest(name string, candidates []string) string {
	if len(name) > MaxNodes { // nobody meant that
		return ""
	}
	best, least := "", max(len(name)/3, 1)+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two texts, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a[:i] to every b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
