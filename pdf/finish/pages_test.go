package finish

import (
	"errors"
	"fmt"
	"testing"
)

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		tree, page string // entries
		want       string // or "" if the PDF is broken
	}{
		{"/MediaBox[0 0 612 792]", "", "[{612 792}]"},
		{"/MediaBox[0 0 9 9]", "/MediaBox[0 0 595.5 841.89]", "[{595.5 841.89}]"},
		{"/MediaBox[10 792 622 0]", "", "[{612 792}]"},
		{"/MediaBox[0 0 612 792]/Rotate 90", "", "[{792 612}]"},
		{"/MediaBox[0 0 612 792]/Rotate 90", "/Rotate -180", "[{612 792}]"},
		{"/MediaBox[0 0 612 792]", "/CropBox[12 12 112 62]", "[{100 50}]"},
		{"/MediaBox[0 0 612 792]", "/CropBox[-99 -99 112 62]", "[{112 62}]"},
		{"/MediaBox[0 0 612 792]", "/CropBox[700 700 800 800]", "[{612 792}]"},
		{"", "", ""},
		{"/MediaBox[0 0 0 792]", "", ""},
		{"/MediaBox[0 0 792]", "", ""},
		{"/MediaBox[0 0 1e999 792]", "", ""},
		{"/MediaBox[0 0 /A 792]", "", ""},
		{"/MediaBox 7", "", ""},
		{"/MediaBox[0 0 612 792]/Rotate 45", "", ""},
		{"/MediaBox[0 0 612 792]/Rotate/A", "", ""},
	} {
		t.Run(c.tree+c.page, func(t *testing.T) {
			sizes, err := Sizes(written(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1`+c.tree+`>>`,
				`<</Type/Page/Parent 2 0 R`+c.page+`>>`))
			if _, ok := errors.AsType[*BrokenError](err); ok != (c.want == "") || !ok && err != nil {
				t.Fatal(err)
			}
			if err == nil && fmt.Sprint(sizes) != c.want {
				t.Errorf("%v, want %s", sizes, c.want)
			}
		})
	}
}
