package lang

import (
	"strings"
	"unicode/utf8"
)

// family is a family of quotes that can close each other. Word changes quotes while users type, depending on the
// language, and not always in pairs.
type family int

const (
	notQuote family = iota
	doubleQuote
	singleQuote
	backQuote
)

func quoteFamily(r rune) family {
	switch r {
	case '"', '“', '”', '„', '‟', '«', '»', '″', '〝', '〞', '〟', '＂':
		return doubleQuote
	case '\'', '‘', '’', '‚', '‛', '‹', '›', '′', '´', '＇':
		return singleQuote
	case '`':
		return backQuote
	}
	return notQuote
}

// stringEnd returns the offset after the quoted text that starts at s[i], or -1 if it is not closed.
func stringEnd(s string, i int) int {
	first, n := utf8.DecodeRuneInString(s[i:])
	quote := quoteFamily(first)
	for j := i + n; j < len(s); j += n {
		var r rune
		r, n = utf8.DecodeRuneInString(s[j:])
		if r == '\\' && quote != backQuote {
			_, escaped := utf8.DecodeRuneInString(s[j+n:])
			n += escaped
		} else if quoteFamily(r) == quote {
			return j + n
		}
	}
	return -1
}

// unquote returns the value of a string literal with its quotes.
func unquote(literal string) string {
	open, n := utf8.DecodeRuneInString(literal)
	_, m := utf8.DecodeLastRuneInString(literal)
	s := literal[n : len(literal)-m]
	if open == '«' || open == '»' || open == '‹' || open == '›' {
		s = trimGuillemetBlanks(s)
	}
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		n := writeEscape(&b, s[i+1:])
		i += n
	}
	return b.String()
}

// writeEscape writes the value of the escape sequence of \ and the start of rest, and returns the number of bytes of rest in it.
func writeEscape(b *strings.Builder, rest string) int {
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case r == 'n':
		b.WriteByte('\n')
	case r == 't':
		b.WriteByte('\t')
	case r == '\\' || quoteFamily(r) != notQuote:
		b.WriteString(rest[:n])
	default: // not an escape: the backslash is a character
		b.WriteByte('\\')
		return 0
	}
	return n
}

// trimGuillemetBlanks drops the non-breaking blanks that Word sets inside French quotes.
func trimGuillemetBlanks(s string) string {
	return strings.TrimSuffix(strings.TrimSuffix(
		strings.TrimPrefix(strings.TrimPrefix(s, "\u00A0"), "\u202F"), "\u00A0"), "\u202F")
}

// quote returns a literal with the value s.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == '\\' || quoteFamily(r) == doubleQuote {
			b.WriteByte('\\')
		}
		b.WriteString(s[i : i+n])
		i += n
	}
	b.WriteByte('"')
	return b.String()
}
