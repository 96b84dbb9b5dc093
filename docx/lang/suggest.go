package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// suggest returns a hint for a name that is not in table: the nearest one that is, and all of them.
func suggest[T any](name, what string, table map[string]T) string {
	known := slices.Sorted(maps.Keys(table))
	hint := fmt.Sprintf("the %s are %s", what, strings.Join(known, ", "))
	if best := nearest(name, known); best != "" {
		hint = fmt.Sprintf("did you mean %s? %s", best, hint)
	}
	return hint
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
