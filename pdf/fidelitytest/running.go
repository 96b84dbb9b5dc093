package fidelitytest

import "strings"

const maxRunning = 10 // lines in a header, and in a footer

// lines splits words into lines.
func lines(words []word) [][]word {
	var lines [][]word
	start := 0
	for i := range words {
		if i > 0 && !words[i].follows(&words[i-1]) {
			lines = append(lines, words[start:i])
			start = i
		}
	}
	if len(words) > 0 {
		lines = append(lines, words[start:])
	}
	return lines
}

// split separates the body of a document from its headers and footers. They are between the last word of a page and
// the first of the next one, so every word that moves to another page would change its order without this.
//
// A line at the top or bottom of a page belongs to the header or footer if it is the same on one of the two pages
// before or after it, except for numbers that count the pages. A page has up to maxRunning such lines at each end,
// and at least one other line.
func split(pages [][]word) (body, running []word) {
	byLine := make([][][]word, len(pages))
	for i, page := range pages {
		byLine[i] = lines(page)
	}
	for i, page := range byLine {
		head := common(byLine, i, page, fromHead)
		foot := common(byLine, i, page[head:], fromFoot)
		for n, line := range page {
			if n < head || n >= len(page)-foot {
				running = append(running, line...)
			} else {
				body = append(body, line...)
			}
		}
	}
	return body, running
}

// An end returns the n-th line from one end of a page.
type end func(page [][]word, n int) []word

func fromHead(page [][]word, n int) []word { return page[n] }
func fromFoot(page [][]word, n int) []word { return page[len(page)-1-n] }

// common returns the number of header or footer lines at one end of page i. page contains its remaining lines.
func common(pages [][][]word, i int, page [][]word, line end) int {
	most := 0
	for _, offset := range []int{-2, -1, 1, 2} {
		j := i + offset
		if j < 0 || j >= len(pages) {
			continue
		}
		n, limit := 0, min(maxRunning, len(page)-1, len(pages[j]))
		for n < limit && sameRunning(line(page, n), line(pages[j], n), offset) {
			n++
		}
		most = max(most, n)
	}
	return most
}

// sameRunning reports whether two lines are the same except for page numbers. The second line is offset pages later.
func sameRunning(line, other []word, offset int) bool {
	if len(line) != len(other) {
		return false
	}
	for i := range line {
		if line[i].text != other[i].text && !numbered(line[i].text, other[i].text, offset) {
			return false
		}
	}
	return true
}

// numbered reports whether two words are the same except for a number that is larger by offset, such as 9/20 and
// 10/20.
func numbered(a, b string, offset int) bool {
	const digits = "0123456789"
	i, j := strings.IndexAny(a, digits), strings.IndexAny(b, digits)
	if i < 0 || i != j || a[:i] != b[:j] {
		return false
	}
	restA, restB := strings.TrimLeft(a[i:], digits), strings.TrimLeft(b[j:], digits)
	n, okA := small(a[i : len(a)-len(restA)])
	m, okB := small(b[j : len(b)-len(restB)])
	return okA && okB && m-n == offset && restA == restB
}

// small parses a number that may be a page number.
func small(digits string) (n int, ok bool) {
	if len(digits) > 6 {
		return 0, false
	}
	for _, d := range digits {
		n = 10*n + int(d-'0')
	}
	return n, true
}
