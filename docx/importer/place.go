package importer

import (
	"strings"

	"platen/docx/wml"
)

// maxShown is the number of characters of a text that a report shows.
const maxShown = 80

// shorten returns a text on one line, cut if it is long.
func shorten(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, string(wml.Object), "")), " ")
	if r := []rune(text); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return text
}
