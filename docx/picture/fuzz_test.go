package picture_test

import (
	"bytes"
	"image/gif"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"platen/docx/picture"
)

// Whatever the bytes: no panic, and what Prepare gives is a picture of a kind that Word shows.
func FuzzPrepare(f *testing.F) {
	f.Add(pngFile(f, 4, 4))
	f.Add(withOrientation(jpegFile(f, 8, 4), 5))
	f.Add(encoded(f, func(b *bytes.Buffer) error { return gif.Encode(b, sample(4, 4), nil) }))
	f.Add(encoded(f, func(b *bytes.Buffer) error { return bmp.Encode(b, sample(4, 4)) }))
	f.Add(encoded(f, func(b *bytes.Buffer) error { return tiff.Encode(b, sample(4, 4), nil) }))
	f.Add(webpFile)
	f.Add([]byte(svgFile))
	f.Fuzz(func(t *testing.T, data []byte) {
		const large = 1 << 20 // pixels, which would only take time
		if info, err := picture.Inspect(data); err != nil || info.Width*info.Height > large {
			return
		}
		p, err := picture.Prepare(nil, data)
		if err != nil {
			return
		}
		info, err := picture.Inspect(p.Data)
		if err != nil || info.Kind != p.Kind || p.Width <= 0 || p.Height <= 0 {
			t.Errorf("%d by %d: %v (%v), said to be %v", p.Width, p.Height, info, err, p.Kind)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "iVBORw0KGgo=", "data:image/png;base64,iVBO", "data:,%20", "<svg/>", "data:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if data, err := picture.Decode(s); err == nil && len(data) > len(s) {
			t.Errorf("%d bytes became %d", len(s), len(data))
		}
	})
}

func FuzzBarcode(f *testing.F) {
	for _, c := range codes {
		f.Add(c.kind, c.text)
	}
	f.Fuzz(func(t *testing.T, kind, text string) {
		p, err := picture.Code(nil, kind, text)
		if err != nil {
			return
		}
		if info, err := picture.Inspect(p.Data); err != nil || info.Kind != picture.PNG {
			t.Errorf("%s of %q: %v (%v)", kind, text, info, err)
		}
	})
}
