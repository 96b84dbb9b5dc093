package lang

import (
	"strings"
)

// Authors know the letters of date patterns from several tools, which spell some of them differently. Where the letter of Unicode
// Technical Standard 35 is hardly ever meant, date and time read it as the filter format does:
//
//	YYYY   the year, unless the pattern has a week (w): then the year of the week
//	DD     the day of the month
//	dddd   the weekday, as ddd
//	MM     minutes after an hour or before :ss, unless the pattern has minutes (m)
//	SS     seconds, unless the pattern has seconds (s): then hundredths

// meantLetters returns a date pattern with the letters that its author meant.
func meantLetters(pattern string) string {
	clock := strings.ContainsAny(pattern, hourLetters)
	if !strings.ContainsAny(pattern, "YDS") && !(clock && strings.ContainsRune(pattern, 'M')) && !strings.Contains(pattern, "ddd") &&
		!strings.Contains(pattern, "M:s") {
		return pattern
	}
	letters := unquoted(pattern)
	has := func(letter byte) bool { return strings.IndexByte(letters, letter) >= 0 }
	meant := []byte(pattern)
	previous := byte(0)
	for i := 0; i < len(letters); {
		letter, width := letters[i], 1
		for i+width < len(letters) && letters[i+width] == letter {
			width++
		}
		small := false
		switch letter {
		case 'Y':
			small = !has('w')
		case 'D':
			small = width <= 2
		case 'M':
			small = width <= 2 && !has('m') && (strings.IndexByte(hourLetters, previous) >= 0 || isBeforeSeconds(letters[i+width:]))
		case 'S':
			small = width <= 2 && !has('s')
		}
		for j := i; small && j < i+width; j++ {
			meant[j] |= 0x20
		}
		if letter == 'd' && width > 2 {
			copy(meant[i:], strings.Repeat("E", width))
		}
		if isASCIILetter(letter) {
			previous = letter
		}
		i += width
	}
	return string(meant)
}

// isBeforeSeconds reports whether the rest of a pattern begins with the seconds of a time.
func isBeforeSeconds(rest string) bool {
	return strings.HasPrefix(rest, ":s") || strings.HasPrefix(rest, ":S")
}

// hourLetters are the letters of hours in a date pattern.
const hourLetters = "hHkK"

// unquoted returns a pattern with blanks instead of its text in quotes. It has the same length.
func unquoted(pattern string) string {
	letters, quoted := []byte(pattern), false
	for i, c := range letters {
		if c == '\'' {
			quoted = !quoted
		}
		if quoted || c == '\'' {
			letters[i] = ' '
		}
	}
	return string(letters)
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
