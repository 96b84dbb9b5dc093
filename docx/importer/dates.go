package importer

import (
	"regexp"
	"slices"
	"strings"
)

var (
	timeOnly     = regexp.MustCompile(`^\s*\d{1,2}:\d{2}(?::|\D|$)`)
	quotedText   = regexp.MustCompile(`'[^']*'`)
	monthInClock = regexp.MustCompile(`[hH][^A-Za-z]*M{1,2}(?:[^M]|$)`)
)

// dated returns a date in a pattern of Platen's letters, with the filter that reads each letter as it is meant here: h is an hour from 1
// to 12, and m are minutes, also without other letters of a time.
func dated(w *writer, o operand, pattern string) (operand, error) {
	letters := quotedText.ReplaceAllString(pattern, "")
	has := func(some string) bool { return strings.ContainsAny(letters, some) }
	switch {
	case slices.ContainsFunc(w.textsOf(o.from), timeOnly.MatchString):
		return operand{}, &cannot{"the value is a time without a date", "send a date with the time, such as 2026-03-05T14:30:00"}
	case monthInClock.MatchString(letters) && !has("m"):
		return operand{}, &cannot{"Platen reads M after an hour as minutes", "write two tags, one for the time and one for the date"}
	case has("M") || !has("hm") || has("H") && !has("h") || has("h") && has("a"):
		return o.with("date(" + quote(pattern) + ")"), nil
	}
	return o.with("time(" + quote(pattern) + ")"), nil
}

var wordCodes = regexp.MustCompile(`'[^']*'|(?i:am/pm)|[dD]+|[yY]+|M+|h+|H+|m+|s+|[A-Za-z]+|[^A-Za-z']+`)

// wordDate is a date with a format of Word, such as dddd, d MMMM yyyy.
func wordDate(w *writer, o operand, args []*expr) (operand, error) {
	format, _ := args[0].val.(string)
	var b strings.Builder
	for _, code := range wordCodes.FindAllString(format, -1) {
		switch lower := strings.ToLower(code); {
		case lower == "am/pm":
			b.WriteByte('a')
		case lower == "ddd" || lower == "dddd":
			b.WriteString(strings.Repeat("E", len(code)))
		case strings.Trim(lower, "d") == "" || strings.Trim(lower, "y") == "":
			b.WriteString(lower)
		case strings.Trim(code, "MhHms") == "" || code[0] == '\'' || !isWord(code[:1]):
			b.WriteString(code)
		default:
			return operand{}, &cannot{"the date format has the letters " + code, "put text into single quotes: {{x :: date(\"d 'de' MMMM\")}}"}
		}
	}
	return dated(w, o, b.String())
}
