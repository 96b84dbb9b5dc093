package picture_test

import (
	"fmt"
	"strings"
	"testing"

	"platen/docx/picture"
)

// BenchmarkCode draws codes of short and of long texts, each another.
func BenchmarkCode(b *testing.B) {
	for _, c := range []struct {
		kind   string
		length int
	}{{"qr", 20}, {"qr", 300}, {"qr", 2300}, {"datamatrix", 1400}, {"aztec", 1500}, {"pdf417", 900}, {"code128", 60}} {
		b.Run(fmt.Sprintf("%s-%d", c.kind, c.length), func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				if _, err := picture.Code(nil, c.kind, fmt.Sprintf("%s%05d", strings.Repeat("x", c.length), n)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
