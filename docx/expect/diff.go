package expect

import "slices"

// gapRange is a stretch of two lists, want[a:aEnd] and got[b:bEnd], between elements that are equal.
type gapRange struct{ a, aEnd, b, bEnd int }

// gaps returns the stretches in which two lists of elements differ (Myers, "An O(ND) difference algorithm and its variations", 1986).
func gaps(want, got []*node) []gapRange {
	start, a, b := 0, len(want), len(got)
	for start < min(a, b) && want[start].all == got[start].all {
		start++
	}
	for a > start && b > start && want[a-1].all == got[b-1].all {
		a, b = a-1, b-1
	}
	var found []gapRange
	at := gapRange{a: start, b: start}
	for _, m := range matches(want[start:a], got[start:b]) {
		at.aEnd, at.bEnd = start+m[0], start+m[1]
		if at.aEnd > at.a || at.bEnd > at.b {
			found = append(found, at)
		}
		at.a, at.b = at.aEnd+1, at.bEnd+1
	}
	if at.aEnd, at.bEnd = a, b; at.aEnd > at.a || at.bEnd > at.b {
		found = append(found, at)
	}
	return found
}

// matches returns the positions of equal elements in both lists, in a longest common subsequence. After maxEdits, it looks no further.
func matches(a, b []*node) [][2]int {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	limit := min(len(a)+len(b), maxEdits)
	offset := limit + 1
	reach := make([]int, 2*offset+1) // the farthest position in a, on each diagonal
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(reach[offset-d:offset+d+1]))
		farthest, diagonal := -1, 0
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				x = stepTo(reach, offset, k, d)
			}
			for y := x - k; x < len(a) && y >= 0 && y < len(b) && a[x].all == b[y].all; y++ {
				x++
			}
			reach[offset+k] = x
			if x >= len(a) && x-k >= len(b) {
				return walkBack(trace, d, x, x-k)
			}
			if 2*x-k > farthest && x <= len(a) && x-k <= len(b) {
				farthest, diagonal = 2*x-k, k
			}
		}
		if d == limit && farthest >= 0 {
			x := reach[offset+diagonal]
			return walkBack(trace, d, x, x-diagonal)
		}
	}
	return nil
}

// stepTo returns the position in a after an edit that leads to a diagonal.
func stepTo(reach []int, offset, k, d int) int {
	if k == -d || k != d && reach[offset+k-1] < reach[offset+k+1] {
		return reach[offset+k+1]
	}
	return reach[offset+k-1] + 1
}

// walkBack returns the equal elements on the way to a position. trace has, for each number of edits, the state of reach before it.
func walkBack(trace [][]int, d, x, y int) [][2]int {
	var found [][2]int
	for ; d >= 0; d-- {
		k := x - y
		fromX, fromY := 0, 0
		if d > 0 {
			before := trace[d]
			previous := k - 1
			if k == -d || k != d && before[d+k-1] < before[d+k+1] {
				previous = k + 1
			}
			fromX = before[d+previous]
			fromY = fromX - previous
		}
		for x > fromX && y > fromY {
			x, y = x-1, y-1
			found = append(found, [2]int{x, y})
		}
		x, y = fromX, fromY
	}
	slices.Reverse(found)
	return found
}
