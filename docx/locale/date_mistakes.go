package locale

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// dateParts names what the letters of a date pattern show, but for time zones.
var dateParts = func() map[byte]string {
	parts := map[byte]string{}
	for letters, part := range map[string]string{
		"yYu": "year", "Qq": "quarter", "ML": "month", "w": "week", "d": "day", "D": "day of the year", "Eec": "weekday", "hHkK": "hour",
		"m": "minute", "s": "second", "S": "fraction of a second", "aB": "half of the day",
	} {
		for i := range len(letters) {
			parts[letters[i]] = part
		}
	}
	return parts
}()

// wordMistake returns what is wrong with a pattern of a date that has letters that spell a word, or "".
func wordMistake(text string) string {
	for run := range letterRuns(text) {
		if run.isWord && !run.repeatsHour() {
			return fmt.Sprintf("%q is text; put it between apostrophes: %s", text[run.from:run.to], quoteWords(text))
		}
	}
	return ""
}

// repetition returns what is wrong with a pattern that has a part of a date twice, or "". A month or weekday may occur in different forms
// (see differs), and a time zone in any.
func (p pattern) repetition(text string) string {
	for i := range p {
		for j := range i {
			first, again := &p[j], &p[i]
			if first.letter == 0 || dateParts[first.letter] == "" || dateParts[first.letter] != dateParts[again.letter] {
				continue
			}
			if part := dateParts[first.letter]; (part == "month" || part == "weekday") && first.differs(again) {
				continue
			}
			return fmt.Sprintf("%s and %s both show the %s; remove one of them, or put text between apostrophes, such as %s", first, again,
				dateParts[first.letter], exampleOfText(text))
		}
	}
	return ""
}

// differs reports whether two fields show a month or weekday in different ways: as a number and a name, or as a name in a date and on its
// own (LLLL and MMMM).
func (f *field) differs(other *field) bool {
	if (f.width < 3) != (other.width < 3) {
		return true
	}
	return f.width >= 3 && f.letter != other.letter
}

// String returns a field as it is written.
func (f *field) String() string { return strings.Repeat(string(f.letter), f.width) }

// exampleOfText returns a pattern with its texts between apostrophes, or an example if it has none that can be recognized.
func exampleOfText(text string) string {
	if quoted := quoteWords(text); quoted != text {
		return quoted
	}
	return "d 'de' MMMM"
}

// letterRun is a sequence of letters outside apostrophes, in bytes.
type letterRun struct {
	from, to int
	isWord   bool   // no pattern has such a sequence
	letters  string // one of each field, in order
	narrow   bool   // has a field of one letter
}

// letterRuns yields the sequences of Latin letters in a pattern that are outside apostrophes.
func letterRuns(text string) func(yield func(letterRun) bool) {
	return func(yield func(letterRun) bool) {
		quoted := false
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == '\'' {
				quoted = !quoted
			}
			if quoted || !unicode.Is(unicode.Latin, r) {
				i += size
				continue
			}
			run := readRun(text, i)
			if !yield(run) {
				return
			}
			i = run.to
		}
	}
}

// readRun returns the sequence of letters that begins at an offset.
func readRun(text string, from int) letterRun {
	run := letterRun{from: from, to: from}
	var letters []byte
	for run.to < len(text) {
		r, size := utf8.DecodeRuneInString(text[run.to:])
		if !unicode.Is(unicode.Latin, r) {
			break
		}
		width := 1
		for size == 1 && run.to+width < len(text) && text[run.to+width] == text[run.to] {
			width++
		}
		run.isWord = run.isWord || size == 1 && dateFields[text[run.to]] == 0
		if size == 1 {
			letters = append(letters, text[run.to])
			run.narrow = run.narrow || width == 1
		}
		run.to += max(size, width)
	}
	run.isWord = run.isWord || len(letters) > 0 && !isASCII(text[from:run.to])
	run.letters = string(letters)
	for i := 1; i < len(letters); i++ {
		run.isWord = run.isWord || !run.mayFollow(letters[i-1], letters[i])
	}
	return run
}

const (
	calendarLetters = "yYQqMLwdDE"
	hourLetters     = "hHkK"
	clockLetters    = "hHkKmsS"
	zoneLetters     = "zZOXx"
)

// mayFollow reports whether patterns have one field directly after another one, as in yyyyMMddHHmmss, h:mma, and ah:mm.
func (r *letterRun) mayFollow(before, after byte) bool {
	isIn := func(letters string, c byte) bool { return strings.IndexByte(letters, c) >= 0 }
	switch {
	case isIn(calendarLetters, before):
		return isIn(calendarLetters, after) || isIn(hourLetters, after)
	case isIn("aB", before):
		return isIn(hourLetters+zoneLetters, after)
	case isIn(clockLetters, before) && isIn(calendarLetters, after):
		return !r.narrow
	case isIn(clockLetters, before):
		next := map[byte]string{'m': "s", 's': "S"}[before]
		if isIn(hourLetters, before) {
			next = "m"
		}
		return isIn(next+"aB"+zoneLetters, after)
	}
	return false
}

// repeatsHour reports whether a sequence is like HHhmm, where h is text.
func (r *letterRun) repeatsHour() bool { return r.letters == "Hh" || r.letters == "Hhm" }

// quoteWords puts the texts of a pattern between apostrophes.
func quoteWords(text string) string {
	var out strings.Builder
	done, hours := 0, false
	for run := range letterRuns(text) {
		out.WriteString(text[done:run.from])
		letters := text[run.from:run.to]
		switch {
		case run.repeatsHour():
			out.WriteString(strings.Replace(letters, "h", "'h'", 1))
		case run.isWord, hours && letters == "h":
			out.WriteString(quote(letters))
		default:
			out.WriteString(letters)
		}
		hours = hours || strings.Contains(run.letters, "H")
		done = run.to
	}
	return out.String() + text[done:]
}
