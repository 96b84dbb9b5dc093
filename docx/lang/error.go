package lang

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"platen/budget"
)

// pictureWidth is the number of characters of the tag that [SyntaxError.Picture] shows on each side of the place.
const pictureWidth = 40

// SyntaxError says where and why the text of a tag cannot be read.
type SyntaxError struct {
	Text    string // the tag as typed, with braces
	Offset  int    // of the mistake in Text, in bytes; up to len(Text)
	Message string // the mistake
	Hint    string // what to do about it; may be empty
}

// Error returns the error in one line.
func (e *SyntaxError) Error() string {
	s := describe(e.Text, e.Offset, e.Message)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Picture returns the surroundings of the place on one line and a caret under it on the next, without a line break at
// the end. It counts characters, so it is for text in a fixed-width face.
func (e *SyntaxError) Picture() string { return picture(e.Text, e.Offset) }

// LimitError means that a tag exceeded a budget. The document cannot be finished.
type LimitError struct {
	Text   string // the tag as typed, with braces
	Offset int    // bytes into Text
	Err    *budget.Error
}

// Error returns the error in one line.
func (e *LimitError) Error() string { return describe(e.Text, e.Offset, e.Err.Error()) }

// Unwrap returns which budget it is.
func (e *LimitError) Unwrap() error { return e.Err }

// Picture is like [SyntaxError.Picture].
func (e *LimitError) Picture() string { return picture(e.Text, e.Offset) }

func describe(text string, offset int, message string) string {
	line, _ := window(text, offset)
	return fmt.Sprintf("%s at character %d: %s", line, utf8.RuneCountInString(text[:offset])+1, message)
}

func picture(text string, offset int) string {
	line, column := window(text, offset)
	return line + "\n" + strings.Repeat(" ", column) + "^"
}

// window returns the part of text around offset as one line, and the column of offset in it, in characters.
func window(text string, offset int) (line string, column int) {
	runes := []rune(strings.Map(oneLine, text))
	at := utf8.RuneCountInString(text[:offset])
	from, to := max(at-pictureWidth, 0), min(at+pictureWidth, len(runes))
	line, column = string(runes[from:to]), at-from
	if from > 0 {
		line, column = "…"+line, column+1
	}
	if to < len(runes) {
		line += "…"
	}
	return line, column
}

// oneLine replaces what would break a line or move the caret, one character for one.
func oneLine(r rune) rune {
	if unicode.IsSpace(r) || unicode.IsControl(r) {
		return ' '
	}
	return r
}
