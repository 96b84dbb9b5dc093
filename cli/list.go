package cli

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	"platen/docgen"
)

// eachEntry calls fn with the entries of all pages of a list, with one page in memory at a time.
func eachEntry[T any](pages func(docgen.PageRequest) (docgen.Page[T], error), fn func(T) error) error {
	request := docgen.PageRequest{Limit: docgen.MaxPageLimit}
	for {
		page, err := pages(request)
		if err != nil {
			return err
		}
		for _, entry := range page.Entries {
			if err := fn(entry); err != nil {
				return err
			}
		}
		if request.Marker = page.Next; request.Marker == "" {
			return nil
		}
	}
}

// printLine prints a value as one line of JSON.
func printLine(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// dash replaces an empty string in a table.
func dash(text string) string { return cmp.Or(text, "-") }

// shortTime formats a time for a table, in minutes and UTC.
func shortTime(t time.Time, zero string) string {
	if t.IsZero() {
		return zero
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}
