package finish

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// link returns a link annotation.
func link(rect, address string) string {
	return fmt.Sprintf(`<</Type/Annot/Subtype/Link/Rect[%s]/A<</S/URI/URI(%s)>>>>`, rect, address)
}

// withLinks returns a PDF with two pages. The second one has the given annotations, as objects from 5 on, and entries.
func withLinks(entries, annots string, objects ...string) []byte {
	return written(append([]string{
		`<</Type/Catalog/Pages 2 0 R>>`,
		`<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/MediaBox[0 0 100 200]>>`,
		`<</Type/Page/Parent 2 0 R>>`,
		`<</Type/Page/Parent 2 0 R/Annots ` + annots + entries + `>>`,
	}, objects...)...)
}

func TestMarks(t *testing.T) {
	for name, c := range map[string]struct {
		pdf   []byte
		want  []Mark
		links int // that stay
	}{
		"none": {written(small...), nil, 0},
		"one": {
			withLinks("", "[5 0 R]", link("10 150 30 160", "mark:7")),
			[]Mark{{7, 2, []Rect{{10, 40, 20, 10}}}}, 0,
		},
		"in order of their ids": {
			withLinks("", "[5 0 R 6 0 R]", link("10 150 30 160", "mark:7"), link("10 50 30 60", "mark:0")),
			[]Mark{{0, 2, []Rect{{10, 140, 20, 10}}}, {7, 2, []Rect{{10, 40, 20, 10}}}}, 0,
		},
		"lines, and parts of a line": {
			withLinks("", "[5 0 R 6 0 R 7 0 R]", link("50 150 60 160", "mark:7"), link("60.5 150 80 160", "mark:7"),
				link("10 138 30 148", "mark:7")),
			[]Mark{{7, 2, []Rect{{50, 40, 30, 10}, {10, 52, 20, 10}}}}, 0,
		},
		"direct annotations in an indirect array": {
			withLinks("", "5 0 R", "["+link("10 150 30 160", "mark:7")+" "+link("0 0 9 9", "https://example.com")+"]"),
			[]Mark{{7, 2, []Rect{{10, 40, 20, 10}}}}, 1,
		},
		"other links and annotations": {
			withLinks("", "[5 0 R 6 0 R 7 0 R 8 0 R]", link("0 0 9 9", "https://example.com"), link("0 0 9 9", "mark:-1"),
				link("0 0 9 9", "mark:99999999999"), `<</Type/Annot/Subtype/Text/Rect[0 0 9 9]>>`),
			nil, 3,
		},
		"turned by 90 degrees": {
			withLinks("/Rotate 90", "[5 0 R]", link("10 150 30 160", "mark:7")),
			[]Mark{{7, 2, []Rect{{150, 10, 10, 20}}}}, 0,
		},
		"turned by 180 degrees": {
			withLinks("/Rotate 180", "[5 0 R]", link("10 150 30 160", "mark:7")),
			[]Mark{{7, 2, []Rect{{70, 150, 20, 10}}}}, 0,
		},
		"turned by 270 degrees": {
			withLinks("/Rotate 270", "[5 0 R]", link("10 150 30 160", "mark:7")),
			[]Mark{{7, 2, []Rect{{40, 70, 10, 20}}}}, 0,
		},
		"cropped": {
			withLinks("/CropBox[5 20 90 180]", "[5 0 R]", link("10 150 30 160", "mark:7")),
			[]Mark{{7, 2, []Rect{{5, 20, 20, 10}}}}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			marked, err := Marks(c.pdf, "mark:")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, marked.Marks); diff != "" {
				t.Errorf("the marks (-want +got):\n%s", diff)
			}
			before, err := Sizes(c.pdf)
			if err != nil {
				t.Fatal(err)
			}
			after, err := Sizes(marked.PDF)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([][]Size{before, before}, [][]Size{marked.Pages, after}); diff != "" {
				t.Errorf("the sizes (-want +got):\n%s", diff)
			}
			again, err := Marks(marked.PDF, "mark:")
			if err != nil || len(again.Marks) > 0 {
				t.Errorf("the copy has marks: %v, %v", again.Marks, err)
			}
			if n := bytes.Count(marked.PDF, []byte("/Subtype /Link")); n != c.links {
				t.Errorf("the copy has %d links, want %d", n, c.links)
			}
		})
	}
}

func TestMarksOfBrokenPDFs(t *testing.T) {
	for name, pdf := range map[string][]byte{
		"no rectangle":  withLinks("", "[5 0 R]", `<</Subtype/Link/A<</URI(mark:1)>>>>`),
		"no array":      withLinks("", "<</A 1>>"),
		"bad rectangle": withLinks("", "[5 0 R]", link("1 2 3", "mark:1")),
		"nothing":       nil,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Marks(pdf, "mark:")
			if _, ok := errors.AsType[*BrokenError](err); !ok {
				t.Errorf("%v, want a BrokenError", err)
			}
		})
	}
}

// No byte of a PDF with marks can be changed so that reading it fails otherwise than with a BrokenError.
func TestMarksOfDamagedPDFs(t *testing.T) {
	pdf := withLinks("/Rotate 90/CropBox[5 20 90 180]", "[5 0 R 6 0 R]",
		link("10 150 30 160", "mark:7"), link("0 0 9 9", "https://example.com"))
	for i := range pdf {
		for _, c := range []byte{0, ' ', '0', '9', '/', '<', '>', '[', 'R'} {
			damaged := bytes.Clone(pdf)
			damaged[i] = c
			marked, err := Marks(damaged, "mark:")
			if _, ok := errors.AsType[*BrokenError](err); !ok && err != nil {
				t.Fatalf("byte %d is %q: %v", i, c, err)
			}
			if err != nil {
				continue
			}
			if _, err := Marks(marked.PDF, "mark:"); err != nil {
				t.Fatalf("byte %d is %q: the copy: %v", i, c, err)
			}
		}
	}
}
