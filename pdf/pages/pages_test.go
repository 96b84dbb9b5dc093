package pages_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"platen/pdf/pages"
)

func TestSelections(t *testing.T) {
	for _, c := range []struct {
		text  string
		count int
		want  string // ranges, or a part of the error
	}{
		{"", 3, "[{1 3}]"},
		{" ", 3, "[{1 3}]"},
		{"1", 3, "[{1 1}]"},
		{"1-3,5", 5, "[{1 3} {5 5}]"},
		{" 1 - 2 , 4- ", 6, "[{1 2} {4 6}]"},
		{"2-", 2, "[{2 2}]"},
		{"001", 1, "[{1 1}]"},
		{"1,2,3", 3, "[{1 1} {2 2} {3 3}]"},

		{"1-3,5", 4, "the document has only 4 pages: there is no page 5"},
		{"2-", 1, "the document has only 1 page: there is no page 2"},
		{"2-9", 4, "the document has only 4 pages: there is no page 5"},
		{"7-9", 4, "the document has only 4 pages: there is no page 7"},

		{"0", 3, `pages "0": pages are counted from 1`},
		{"-2", 3, `pages "-2": write numbers and ranges, such as "1-3,5" or "2-"`},
		{"1,,2", 3, `pages "": write numbers`},
		{"1,", 3, `pages "": write numbers`},
		{"3-1", 3, `pages "3-1": the last page is before the first; write "1-3"`},
		{"1--3", 3, "write numbers"},
		{"1-2-3", 3, "write numbers"},
		{"last", 3, "write numbers"},
		{"+1", 3, "write numbers"},
		{"1.5", 3, "write numbers"},
		{"٣", 3, "write numbers"},
		{"3,1", 3, `pages "1": pages must be in ascending order, each only once`},
		{"1-3,3", 3, "ascending order"},
		{"1-,3", 3, "ascending order"},
		{"1000001", 3, "the largest number of a page is 1000000"},
		{strings.Repeat("9", 100), 3, "the largest number of a page is 1000000"},
		{strings.Repeat("1", pages.MaxText+1), 3, "at most 1000 characters, not 1001"},
	} {
		t.Run(c.text, func(t *testing.T) {
			selection, err := pages.Parse(c.text)
			var got string
			if err == nil {
				var ranges []pages.Range
				ranges, err = selection.In(c.count)
				got = fmt.Sprint(ranges)
			}
			if err != nil {
				got = err.Error()
			}
			if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
				t.Errorf("%q of %d pages: %s, want %s", c.text, c.count, got, c.want)
			}
		})
	}
}

func FuzzSelection(f *testing.F) {
	for _, text := range []string{"", "1", "1-3,5", "2-", "1-,2", "3-1", " 4 - 6 ,9"} {
		f.Add(text, 10)
	}
	f.Fuzz(func(t *testing.T, text string, count int) {
		selection, err := pages.Parse(text)
		if err != nil {
			return
		}
		again, err := pages.Parse(selection.String())
		if err != nil || !slices.Equal(again, selection) {
			t.Fatalf("%q is %v, but %q is %v, %v", text, selection, selection.String(), again, err)
		}
		ranges, err := selection.In(count)
		if missing, ok := errors.AsType[*pages.MissingError](err); ok != (err != nil) || ok && missing.Page <= count {
			t.Fatalf("%q of %d pages: %v", text, count, err)
		}
		last := 0
		for _, r := range ranges {
			if r.First <= last || r.Last < r.First || r.Last > count {
				t.Fatalf("%q of %d pages is %v", text, count, ranges)
			}
			last = r.Last
		}
		if pages.Count(ranges) > max(count, 0) {
			t.Fatalf("%q of %d pages has %d", text, count, pages.Count(ranges))
		}
	})
}
