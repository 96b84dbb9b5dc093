package lang

import (
	"strings"
	"unicode"
	"unicode/utf8"
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

// wordIn returns a word in a pattern whose letters all mean a part of a date, but hardly are meant so, such as de in "d de MMMM" or hs in
// "HH:mm hs". It returns "" if there is none.
func wordIn(pattern string) string {
	if isStyle(pattern) {
		return ""
	}
	pattern = halfDay.Replace(pattern)
	isLatin := func(r rune) bool { return unicode.Is(unicode.Latin, r) }
	for word := range strings.FieldsFuncSeq(unquoted(pattern), func(r rune) bool { return !isLatin(r) }) {
		if word == "hs" || isWord(word) {
			return word
		}
	}
	return ""
}

// halfDay replaces the forms of am and pm in other tools.
var halfDay = strings.NewReplacer("AM/PM", "a", "am/pm", "a", "A/P", "a", "a/p", "a")

// isWord reports whether letters without a gap are a word rather than parts of a date: they are not only English letters, or have e, c, or
// u (numbers of weekdays, and a year) next to others, or a (am or pm) in front of another one than an hour.
func isWord(letters string) bool {
	first, size := utf8.DecodeRuneInString(letters)
	if strings.Trim(letters, string(first)) == "" {
		return size > 1 // of one letter, which may be any of a date
	}
	if strings.ContainsAny(letters, "ecu") {
		return true
	}
	for i, r := range letters {
		if r >= utf8.RuneSelf || r == 'a' && i+1 < len(letters) && !strings.ContainsRune("ahHK", rune(letters[i+1])) {
			return true
		}
	}
	return false
}

// checkWords reports a word in the pattern of a filter. Patterns that are written out have been checked with the template.
func checkWords(f *Filter, pattern string) error {
	if len(f.Args) == 0 {
		return nil
	}
	if _, isChecked := f.Args[0].(*Literal); isChecked {
		return nil
	}
	if word := wordIn(pattern); word != "" {
		return &fault{node: f.Args[0], message: wordMessage(word)}
	}
	return nil
}

// wordMessage is the message about a word in a pattern, without its subject.
func wordMessage(word string) string {
	return "has the letters " + word + ", which are read as parts of the date; put text between apostrophes, such as d 'de' MMMM"
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
