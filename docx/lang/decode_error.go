package lang

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxWord is the number of bytes of a word that an error repeats.
const maxWord = 40

const endsEarly = "the text ends too early"

// DataError reports where the input is not a JSON object.
type DataError struct {
	Line, Column int // from 1; the column counts characters
	Message      string
}

// Error returns the error in one line.
func (e *DataError) Error() string {
	return fmt.Sprintf("input data, line %d, column %d: %s", e.Line, e.Column, e.Message)
}

func (d *decoder) fault(at int, message string) *DataError {
	before := d.text[:at]
	return &DataError{
		Line:    strings.Count(before, "\n") + 1,
		Column:  utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1,
		Message: message,
	}
}

// unexpected returns the error for a character in place of what is needed.
func (d *decoder) unexpected(needed string) error {
	if d.at == len(d.text) {
		return d.fault(d.at, endsEarly+"; "+needed)
	}
	return d.fault(d.at, needed+", not "+d.sight(d.at))
}

// sight names the character at an offset.
func (d *decoder) sight(at int) string {
	r, n := utf8.DecodeRuneInString(d.text[at:])
	if r == utf8.RuneError && n == 1 {
		return fmt.Sprintf("the byte %#x, which is not UTF-8", d.text[at])
	}
	if r == '\'' {
		return `"'"` // not escaped
	}
	return fmt.Sprintf("%q", r)
}

// noObject returns the error for another value than an object at the top.
func (d *decoder) noObject() error {
	if d.at == len(d.text) {
		return d.fault(d.at, "the input is empty; it must be an object, in { }")
	}
	if c := d.ahead(); c != 0 && strings.IndexByte(`[tfn"-0123456789`, c) >= 0 {
		return d.fault(d.at, "the input must be an object, in { }")
	}
	return d.noValue()
}

// noValue says why no value begins here.
func (d *decoder) noValue() error {
	if d.at == len(d.text) {
		return d.fault(d.at, endsEarly)
	}
	r, _ := utf8.DecodeRuneInString(d.text[d.at:])
	switch {
	case strings.ContainsRune("]},:", r):
		return d.fault(d.at, fmt.Sprintf("a value is missing before %q", r))
	case quoteFamily(r) != notQuote:
		return d.fault(d.at, "strings are enclosed in straight double quotes (\"), not in "+d.sight(d.at))
	case r == '/' || r == '#':
		return d.fault(d.at, "JSON has no comments")
	case r == '+' || r == '.':
		return d.fault(d.at, fmt.Sprintf("a number begins with a digit or a minus sign, not with %q", r))
	case unicode.IsLetter(r):
		return d.fault(d.at, fmt.Sprintf("%q is not a value; put text in double quotes, which only true, false, and null do not need",
			d.letters()))
	}
	return d.fault(d.at, "a value cannot begin with "+d.sight(d.at))
}

// letters returns the word that begins here.
func (d *decoder) letters() string {
	rest := d.text[d.at:min(d.at+maxWord, len(d.text))]
	end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	if end < 0 {
		return rest
	}
	return rest[:end]
}

// noKey says why no key begins here.
func (d *decoder) noKey(first bool) error {
	if d.ahead() == '}' && !first {
		return d.fault(d.at, "remove the comma before the } that ends the object")
	}
	return d.unexpected("a key in straight double quotes is needed")
}

// surrogate matches an escape of half a surrogate pair.
var surrogate = regexp.MustCompile(`^\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)

// badString returns the error in the string whose quote is at start, or nil if there is none.
func (d *decoder) badString(start int) error {
	_, err := jsontext.NewDecoder(strings.NewReader(d.text[start:])).ReadToken()
	wrong, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return d.fault(len(d.text), endsEarly)
	}
	at := start + int(wrong.ByteOffset)
	switch c := d.text[at]; {
	case surrogate.MatchString(d.text[at:]):
		return d.fault(at, "this is half of a surrogate pair, which is not a character")
	case strings.HasPrefix(d.text[at:], `\u`):
		return d.fault(at, `\u must be followed by four hexadecimal digits`)
	case c == '\\':
		return d.fault(at, `write a backslash in a string as \\; a single one may only precede " \ / b f n r t u`)
	case c == '\n' || c == '\r':
		return d.fault(at, `the string contains a line break; write it as \n, or close the string with a quote`)
	case c >= utf8.RuneSelf:
		return d.fault(at, fmt.Sprintf("the byte %#x is not UTF-8; save the data as UTF-8", c))
	default:
		return d.fault(at, fmt.Sprintf(`the string contains a control character; write it as \u%04x`, c))
	}
}
