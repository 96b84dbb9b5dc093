package docgen

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"platen/store"
)

// MaxNameLength is the maximum length of the name of a file or folder, in characters.
const MaxNameLength = 255

// checkName checks the name of a file or folder.
func (s *Service) checkName(name string) error {
	checked := name
	if s.leadingSpaces {
		checked = strings.TrimLeft(name, " ")
	}
	if err := nameError(checked, MaxNameLength-(len(name)-len(checked))); err != nil {
		return err
	}
	return nil
}

// nameError returns the Error of an invalid name, or nil. most is the largest number of characters.
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

// nameProblem describes the mistake in a name, and what to do, or returns "" if the name is valid. most is the largest
// number of characters.
func nameProblem(name string, most int) string {
	switch {
	case name == "":
		return "a name must not be empty"
	case !utf8.ValidString(name):
		return "a name must be valid UTF-8"
	case utf8.RuneCountInString(name) > most:
		return fmt.Sprintf("a name can have at most %d characters, this one has %d", most, utf8.RuneCountInString(name))
	case name == "." || name == "..":
		return "a name must not be '.' or '..'"
	case strings.ContainsAny(name, `/\`):
		return `a name must not contain '/' or '\'`
	case strings.TrimSpace(name) != name:
		return "a name must not start or end with a space"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "a name must not contain control characters"
	}
	return ""
}

// keepable reports whether every database can store a text: PostgreSQL rejects invalid UTF-8 and NUL.
func keepable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// kept returns a text in a form that every database can store, with marks in place of other bytes.
func kept(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// foldKey returns a hexadecimal key that is equal for names that differ only in case or composition. The hexadecimal
// digits sort like the bytes of the folded name under every collation.
func foldKey(name string) string {
	folded := cases.Fold().String(norm.NFC.String(name))
	return hex.EncodeToString([]byte(norm.NFC.String(folded))) // folding may decompose characters
}

// maxExtension is the maximum length of an extension with its dot, in characters. A longer text after the last dot is
// not an extension.
const maxExtension = 32

// numberedName returns the name with a number before the extension of a file: "Letter (2).docx". If necessary, it
// truncates the name before the number.
func numberedName(kind Kind, name string, n int) string {
	ext := path.Ext(name)
	if kind == Folder || utf8.RuneCountInString(ext) > maxExtension {
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

// freeName returns a name or, if it is taken in a folder, the name with a number that is free.
func freeName(ctx context.Context, tx *store.Tx, folder sql.NullInt64, kind Kind, name string) (string, error) {
	taken, err := tx.CountNames(ctx, folder, foldKey(name))
	if err != nil || taken == 0 {
		return name, err
	}
	n, err := freeNumber(ctx, tx, folder, kind, name, 0)
	return numberedName(kind, name, n), err
}

// freeNumber returns a number above low with which a name is free in a folder. It doubles the number, then bisects, so
// the steps grow with the logarithm of the difference. If there are gaps, it may not be the smallest.
func freeNumber(ctx context.Context, tx *store.Tx, folder sql.NullInt64, kind Kind, name string, low int) (int, error) {
	taken := func(n int) (bool, error) {
		count, err := tx.CountNames(ctx, folder, foldKey(numberedName(kind, name, n)))
		return count > 0, err
	}
	high := low + 1 // low is taken, and high should become free
	for step := 1; ; step *= 2 {
		used, err := taken(high)
		if err != nil {
			return 0, err
		}
		if !used {
			break
		}
		low, high = high, high+step
	}
	for high-low > 1 {
		middle := (low + high) / 2
		used, err := taken(middle)
		if err != nil {
			return 0, err
		}
		if used {
			low = middle
		} else {
			high = middle
		}
	}
	return high, nil
}
