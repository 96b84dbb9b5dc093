package richtext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxEmphasisCost is the largest number of steps that the parser of Markdown may take to match the marks of emphasis in a text: about a
// fifth of a second.
const maxEmphasisCost = 10_000_000

// emphasisCost estimates the number of steps that the parser of Markdown takes to match the marks of emphasis, such as * and _. For each
// mark that may close emphasis, it looks through all marks of the paragraph that are still open, until one fits (CommonMark 0.31.2, "An
// algorithm for parsing nested emphasis and links"). Marks that find no partner stay open, so a text of them takes time in proportion to
// the square of its length.
func emphasisCost(s string) int {
	var p emphasisParser
	for i := 0; i < len(s); {
		c := s[i]
		if c == '\n' && isBlankLine(s[i+1:]) {
			p = emphasisParser{cost: p.cost, open: p.open[:0]}
		}
		if strings.IndexByte("*_~", c) < 0 {
			i++
			continue
		}
		from := i
		for i < len(s) && s[i] == c {
			i++
		}
		p.mark(s[:from], c, i-from, s[i:])
	}
	return p.cost
}

// emphasisParser matches the marks of one paragraph.
type emphasisParser struct {
	cost  int
	open  []emphasisMark // that have no partner yet
	count [128]int       // of these, by character
}

// emphasisMark is a mark of emphasis: one character, once or several times.
type emphasisMark struct {
	char byte
	size int
}

// mark reads a mark between two texts.
func (p *emphasisParser) mark(before string, char byte, size int, after string) {
	last, next := flankOf(utf8.DecodeLastRuneInString(before)), flankOf(utf8.DecodeRuneInString(after))
	left := next == inWord || next == atMark && last != inWord // "left-flanking" and "right-flanking" in the specification
	right := last == inWord || last == atMark && next != inWord
	opens, closes := left, right
	if char == '_' { // which is not a mark in snake_case
		opens, closes = left && (!right || last == atMark), right && (!left || next == atMark)
	}
	switch {
	case closes && opens: // its size decides whether it closes one; at worst, none
		p.cost += len(p.open)
	case closes:
		p.close(char, size)
	}
	if opens {
		p.open = append(p.open, emphasisMark{char, size})
		p.count[char]++
	}
}

// flank is what a mark has on one side.
type flank int

const (
	atBlank flank = iota // or at the end of the text
	atMark               // punctuation
	inWord
)

func flankOf(r rune, size int) flank {
	switch {
	case size == 0 || unicode.IsSpace(r):
		return atBlank
	case unicode.IsPunct(r) || unicode.IsSymbol(r):
		return atMark
	}
	return inWord
}

// close ends emphasis at a mark. The marks that are open within it are forgotten.
func (p *emphasisParser) close(char byte, size int) {
	for size > 0 && p.count[char] > 0 {
		top := &p.open[len(p.open)-1]
		p.cost++
		if top.char == char && top.size > size {
			top.size -= size
			return
		}
		if top.char == char {
			size -= top.size
		}
		p.count[top.char]--
		p.open = p.open[:len(p.open)-1]
	}
	if size > 0 {
		p.cost += len(p.open)
	}
}

// isBlankLine reports whether a text begins with a line of blanks.
func isBlankLine(s string) bool {
	for i := range len(s) {
		if s[i] == '\n' {
			return true
		}
		if !isSpace(s[i]) {
			return false
		}
	}
	return true
}
