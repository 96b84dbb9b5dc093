package docgen

import (
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// MaxNameLength is the most characters a file's or folder's name has.
const MaxNameLength = 255

// checkName tells whether a file or folder may bear a name.
func checkName(name string) error {
	if err := nameError(name, MaxNameLength); err != nil {
		return err
	}
	return nil
}

// nameError returns the Error of a name that is no name, or has more characters than it may have; nil when nothing is wrong.
func nameError(name string, most int) *Error {
	problem := nameProblem(name, most)
	if problem == "" {
		return nil
	}
	code, message := CodeNameInvalid, "Item name invalid"
	if utf8.RuneCountInString(name) > most {
		code, message = CodeNameTooLong, "Item name too long"
	}
	return &Error{Code: code, Message: message + ": " + problem, Problems: []Problem{invalidField("name", "%s", problem)}}
}

// nameProblem says what is wrong with a name of at most so many characters and what to do; empty when nothing is.
func nameProblem(name string, most int) string {
	switch {
	case name == "":
		return "a name must not be empty"
	case !utf8.ValidString(name):
		return "a name must be valid UTF-8"
	case utf8.RuneCountInString(name) > most:
		return fmt.Sprintf("a name has at most %d characters, this one has %d", most, utf8.RuneCountInString(name))
	case name == "." || name == "..":
		return "a name must not be '.' or '..'"
	case strings.ContainsAny(name, `/\`):
		return `a name must not hold '/' or '\'`
	case strings.TrimSpace(name) != name:
		return "a name must not begin or end with a space"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "a name must not hold control characters"
	}
	return ""
}

// keepable tells whether every database can keep a text: PostgreSQL refuses what is no UTF-8, and NUL.
func keepable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// kept is a text as it can be kept, with a mark in the place of what cannot.
func kept(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// foldKey returns what two names that differ only in case or composition have in common, in hexadecimal: the digits
// sort by the bytes of the folded name under every collation.
func foldKey(name string) string {
	folded := cases.Fold().String(norm.NFC.String(name))
	return hex.EncodeToString([]byte(norm.NFC.String(folded))) // folding may have taken characters apart
}

// maxExtension is the most characters after the last dot of a name, with the dot, that are taken for its extension.
const maxExtension = 32

// numberedName returns the name with a number before its extension: "Letter (2).docx". What has to give way for the
// number is the end of what stands before it.
func numberedName(name string, n int) string {
	ext := path.Ext(name)
	if utf8.RuneCountInString(ext) > maxExtension {
		ext = ""
	}
	stem := strings.TrimSuffix(name, ext)
	suffix := fmt.Sprintf(" (%d)", n)
	room := MaxNameLength - utf8.RuneCountInString(suffix) - utf8.RuneCountInString(ext)
	if runes := []rune(stem); len(runes) > room {
		stem = strings.TrimRight(string(runes[:room]), " ")
	}
	return strings.TrimLeft(stem+suffix, " ") + ext
}
