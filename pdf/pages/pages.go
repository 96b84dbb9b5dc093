// Package pages reads selections of pages, such as "1-3,5".
package pages

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Limits of a selection.
const (
	MaxText   = 1000      // bytes of the text
	MaxNumber = 1_000_000 // the largest number of a page
)

// Range is a range of consecutive pages, counted from 1.
type Range struct {
	First int
	Last  int // included; 0 for the last page of the document
}

// Selection is a list of ranges in ascending order that do not overlap. The zero value selects all pages.
type Selection []Range

// Parse reads a selection: numbers and ranges such as 1, 2-5, and 7- (up to the last page), separated by commas, in
// ascending order. Blanks around them are ignored. An empty text selects all pages. The error names the part that is
// wrong.
func Parse(text string) (Selection, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("a selection of pages has at most %d characters, not %d", MaxText, len(text))
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var all Selection
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		r, err := parseRange(part)
		if err != nil {
			return nil, fmt.Errorf("pages %q: %w", part, err)
		}
		if n := len(all); n > 0 && (all[n-1].Last == 0 || r.First <= all[n-1].Last) {
			return nil, fmt.Errorf("pages %q: pages must be in ascending order, each only once", part)
		}
		all = append(all, r)
	}
	return all, nil
}

func parseRange(part string) (Range, error) {
	first, last, isRange := strings.Cut(part, "-")
	from, err := parseNumber(first)
	if err != nil || !isRange {
		return Range{from, from}, err
	}
	if strings.TrimSpace(last) == "" {
		return Range{First: from}, nil
	}
	to, err := parseNumber(last)
	if err == nil && to < from {
		err = fmt.Errorf("the last page is before the first; write \"%d-%d\"", to, from)
	}
	return Range{from, to}, err
}

var errNumber = errors.New(`write numbers and ranges, such as "1-3,5" or "2-"`)

func parseNumber(text string) (int, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, errNumber
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || n > MaxNumber:
		return 0, fmt.Errorf("the largest number of a page is %d", MaxNumber)
	case n == 0:
		return 0, errors.New("pages are counted from 1")
	}
	return n, nil
}

// String returns the selection in the form that Parse reads.
func (s Selection) String() string {
	parts := make([]string, len(s))
	for i, r := range s {
		switch parts[i] = strconv.Itoa(r.First); r.Last {
		case r.First:
		case 0:
			parts[i] += "-"
		default:
			parts[i] += "-" + strconv.Itoa(r.Last)
		}
	}
	return strings.Join(parts, ",")
}

// MissingError reports a selected page that a document does not have.
type MissingError struct{ Page, Count int }

func (e *MissingError) Error() string {
	if e.Count == 1 {
		return fmt.Sprintf("the document has only 1 page: there is no page %d", e.Page)
	}
	return fmt.Sprintf("the document has only %d pages: there is no page %d", e.Count, e.Page)
}

// In returns the selected ranges of a document with count pages, none of them open. The error is a
// *[MissingError] if the document does not have one of the pages.
func (s Selection) In(count int) ([]Range, error) {
	if len(s) == 0 && count > 0 {
		return []Range{{1, count}}, nil
	}
	all := make([]Range, len(s))
	for i, r := range s {
		if missing := max(r.First, r.Last); missing > count {
			return nil, &MissingError{max(r.First, min(missing, count+1)), count}
		}
		if r.Last == 0 {
			r.Last = count
		}
		all[i] = r
	}
	return all, nil
}

// Count returns the number of pages in ranges that are not open.
func Count(ranges []Range) int {
	n := 0
	for _, r := range ranges {
		n += r.Last - r.First + 1
	}
	return n
}
