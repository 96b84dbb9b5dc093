package compile

import (
	"strings"
	"unicode"
)

// Pictures of dates and times (ISO 29500-1 §17.16.4.1).

// wordDate returns the filter for a picture of Word, or why there is none. A picture with a time needs a value with one.
func wordDate(picture string) (filter, problem string) {
	pattern, letters, problem := datePattern(picture)
	switch {
	case problem != "":
		return "", problem
	case letters == "":
		return "", `its switch \@ has no picture of a date`
	case strings.ContainsAny(letters, "hHms"):
		return "time(" + quoted(pattern) + ")", ""
	}
	return "date(" + quoted(pattern) + ")", ""
}

// dateItems are the letters of pictures with their largest numbers, and the letters of Platen for them by their number.
var dateItems = map[rune]map[int]string{
	'M': {1: "M", 2: "MM", 3: "MMM", 4: "MMMM"},
	'd': {1: "d", 2: "dd", 3: "EEE", 4: "EEEE"},
	'D': {1: "d", 2: "dd", 3: "EEE", 4: "EEEE"},
	'y': {2: "yy", 4: "yyyy"},
	'Y': {2: "yy", 4: "yyyy"},
	'h': {1: "h", 2: "hh"},
	'H': {1: "H", 2: "HH"},
	'm': {1: "m", 2: "mm"},
	's': {1: "s", 2: "ss"},
	'S': {1: "s", 2: "ss"},
}

// datePattern returns the pattern of Platen for a picture, and the letters in it that have a meaning.
func datePattern(picture string) (pattern, letters, problem string) {
	var out, used strings.Builder
	runes := []rune(picture)
	for i := 0; i < len(runes); {
		r := runes[i]
		switch {
		case r == '\'':
			end := i + 1
			for end < len(runes) && runes[end] != '\'' {
				end++
			}
			if end == len(runes) {
				return "", "", "a text in its picture of a date is not closed by an apostrophe"
			}
			out.WriteString(string(runes[i : end+1]))
			i = end + 1
		case r == '`':
			return "", "", "its picture of a date has the number of a caption"
		case strings.HasPrefix(strings.ToLower(string(runes[i:min(i+5, len(runes))])), "am/pm"):
			out.WriteByte('a')
			i += 5
		case dateItems[r] != nil:
			n := repeated(runes[i:])
			item := dateItems[r][n]
			if item == "" {
				return "", "", "its picture of a date has " + string(runes[i:i+n]) + ", which has no meaning"
			}
			out.WriteString(item)
			used.WriteString(item)
			i += n
		case unicode.IsLetter(r):
			return "", "", "the letter " + string(r) + " in its picture of a date has no meaning; put text between apostrophes"
		default:
			out.WriteRune(r)
			i++
		}
	}
	return out.String(), used.String(), minutesProblem(used.String())
}

// minutesProblem reports minutes that were probably meant as a month.
func minutesProblem(letters string) string {
	if strings.Contains(letters, "m") && !strings.ContainsAny(letters, "hHs") {
		return "m are minutes in its picture of a date; write M for the month"
	}
	return ""
}

// repeated returns the number of equal characters at the beginning.
func repeated(runes []rune) int {
	n := 1
	for n < len(runes) && runes[n] == runes[0] {
		n++
	}
	return n
}
