package lang

import (
	"strings"
	"unicode/utf8"
)

// Span is the piece s[Start:End] of a text, in bytes.
type Span struct{ Start, End int }

// Find returns the tags of a text in order, each with its braces, and the pairs {{ and }} that are not part of a tag and so
// are ordinary text. A }} in a quoted string does not end a tag; {{ ends the search for the end, even in a string, since
// it is far more often a new tag after a stray apostrophe than part of one. Of {{{a}}} the tag is {{a}}. A condition or a loop with tags
// in it, such as {{if {{a}}}}, is one tag, which cannot be parsed.
func Find(s string) (tags, orphans []Span) {
	for i := nextBraces(s, 0); i >= 0; {
		next := i + 2
		if s[i] == '}' {
			orphans = append(orphans, Span{i, next})
		} else {
			for next < len(s) && s[next] == '{' {
				i, next = i+1, next+1
			}
			if end := max(tagEnd(s, next), nestedEnd(s, i)); end >= 0 {
				tags = append(tags, Span{i, end})
				next = end
			} else {
				orphans = append(orphans, Span{i, next})
			}
		}
		i = nextBraces(s, next)
	}
	return tags, orphans
}

// nextBraces returns the offset of the first {{ or }} at i or after it, or -1.
func nextBraces(s string, i int) int {
	for ; i+1 < len(s); i++ {
		if c := s[i]; (c == '{' || c == '}') && s[i+1] == c {
			return i
		}
	}
	return -1
}

// tagEnd returns the offset after the }} of the tag whose content starts at i, or -1.
func tagEnd(s string, i int) int {
	if isComment(s[i:]) {
		return plainEnd(s, i)
	}
	for j := i; j < len(s); {
		r, n := utf8.DecodeRuneInString(s[j:])
		switch {
		case r == '{' || r == '}':
			if strings.HasPrefix(s[j:], "}}") {
				return j + 2
			}
			if strings.HasPrefix(s[j:], "{{") {
				return -1
			}
		case quoteFamily(r) != notQuote:
			end := stringEnd(s, j)
			if end < 0 || strings.Contains(s[j:end], "{{") {
				return plainEnd(s, j)
			}
			n = end - j
		}
		j += n
	}
	return -1
}

// maxNested is the largest number of tags in a tag that [Find] recognizes.
const maxNested = 3

// nestedEnd returns the offset after a condition or a loop that starts at i and has tags in it, or -1.
func nestedEnd(s string, i int) int {
	inner := nextBraces(s, i+2)
	if inner < 0 || s[inner] == '}' {
		return -1
	}
	if kind, _ := Meant(s[i:inner]); !kind.IsLoop() && !kind.tests() {
		return -1
	}
	for range maxNested {
		end := tagEnd(s, inner+2)
		if end < 0 {
			return -1
		}
		if inner = nextBraces(s, end); inner < 0 {
			return -1
		}
		if s[inner] == '}' {
			return inner + 2
		}
	}
	return -1
}

// plainEnd is tagEnd for text in which quotes mean nothing.
func plainEnd(s string, i int) int {
	if j := nextBraces(s, i); j >= 0 && s[j] == '}' {
		return j + 2
	}
	return -1
}

// isComment reports whether the content of a tag is a comment.
func isComment(content string) bool {
	return strings.HasPrefix(strings.TrimLeftFunc(content, isBlank), "!")
}
