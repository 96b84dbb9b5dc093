package picture_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"platen/docx/picture"
)

// sample is a picture whose upper left quarter is red.
func sample() image.Image {
	img := image.NewRGBA(image.Rect(0, 0, 40, 20))
	for y := range 20 {
		for x := range 40 {
			c := color.RGBA{0, 0, 255, 255}
			if x < 20 && y < 10 {
				c = color.RGBA{255, 0, 0, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

func encoded(t testing.TB, as func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := as(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webp1x1 is a picture of one pixel, since there is no encoder to make one with.
const webp1x1 = "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAgA0JaQAA3AA/vuUAAA="

func TestPrepare(t *testing.T) {
	webp, err := base64.StdEncoding.DecodeString(webp1x1)
	if err != nil {
		t.Fatal(err)
	}
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="2in" height="1in" viewBox="0 0 20 10"><rect width="10" height="10" fill="red"/></svg>`
	for name, c := range map[string]struct {
		data          []byte
		contentType   string
		width, height picture.EMU
		same, svg     bool
	}{
		"png":                {encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, sample()) }), "image/png", 40 * 9525, 20 * 9525, true, false},
		"jpeg":               {encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, sample(), nil) }), "image/jpeg", 40 * 9525, 20 * 9525, true, false},
		"gif":                {encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, sample(), nil) }), "image/gif", 40 * 9525, 20 * 9525, true, false},
		"bmp":                {encoded(t, func(b *bytes.Buffer) error { return bmp.Encode(b, sample()) }), "image/bmp", 40 * 9525, 20 * 9525, true, false},
		"tiff":               {encoded(t, func(b *bytes.Buffer) error { return tiff.Encode(b, sample(), nil) }), "image/tiff", 40 * 9525, 20 * 9525, true, false},
		"webp":               {webp, "image/png", 9525, 9525, false, false},
		"svg":                {[]byte(svg), "image/png", 2 * 914400, 914400, false, true},
		"svg by its box":     {[]byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"/>`), "image/png", 20 * 9525, 10 * 9525, false, true},
		"svg with a script":  {[]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><script>x()</script></svg>`), "image/png", 10 * 9525, 10 * 9525, false, false},
		"svg that fetches":   {[]byte(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="10" height="10"><image xlink:href="http://a/b.png"/></svg>`), "image/png", 10 * 9525, 10 * 9525, false, false},
		"svg with a handler": {[]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10" onload="x()"/>`), "image/png", 10 * 9525, 10 * 9525, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := picture.Prepare(c.data)
			if err != nil {
				t.Fatal(err)
			}
			if p.ContentType != c.contentType || p.Width != c.width || p.Height != c.height {
				t.Errorf("%s of %d × %d, want %s of %d × %d", p.ContentType, p.Width, p.Height, c.contentType, c.width, c.height)
			}
			if bytes.Equal(p.Data, c.data) != c.same || (p.SVG != nil) != c.svg {
				t.Errorf("the same bytes: %v, with a drawing: %v", bytes.Equal(p.Data, c.data), p.SVG != nil)
			}
			if _, _, err := image.DecodeConfig(bytes.NewReader(p.Data)); err != nil {
				t.Errorf("what came out is no picture: %v", err)
			}
		})
	}
}

// onSide gives a JPEG file an EXIF orientation.
func onSide(data []byte, turn uint16) []byte {
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	binary.BigEndian.PutUint16(exif[24:], turn)
	head := []byte{0xFF, 0xD8, 0xFF, 0xE1, 0, byte(len(exif) + 2)}
	return append(append(head, exif...), data[2:]...)
}

func TestPhotosAreUpright(t *testing.T) {
	data := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, sample(), &jpeg.Options{Quality: 100}) })
	corners := map[uint16][2]int{1: {2, 2}, 2: {37, 2}, 3: {37, 17}, 4: {2, 17}, 5: {2, 2}, 6: {17, 2}, 7: {17, 37}, 8: {2, 37}}
	for turn, red := range corners {
		p, err := picture.Prepare(onSide(data, turn))
		if err != nil {
			t.Fatal(err)
		}
		img, err := jpeg.Decode(bytes.NewReader(p.Data))
		if err != nil {
			t.Fatal(err)
		}
		size := img.Bounds().Size()
		if upright := size.X > size.Y; upright != (turn < 5) || (p.Width > p.Height) != upright {
			t.Errorf("orientation %d: %v pixels", turn, size)
		}
		if r, _, b, _ := img.At(red[0], red[1]).RGBA(); r < b {
			t.Errorf("orientation %d: the red corner is not at %v", turn, red)
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	huge := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, image.NewGray(image.Rect(0, 0, 1, 1))) })
	binary.BigEndian.PutUint32(huge[16:], 1<<20)
	binary.BigEndian.PutUint32(huge[20:], 1<<20)
	for name, data := range map[string][]byte{
		"nothing": nil, "text": []byte("hello"), "too many pixels": huge, "too many bytes": make([]byte, picture.MaxBytes+1),
		"a drawing without a size":  []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`),
		"a drawing that is cut off": []byte(`<svg width="1" height="1"><g>`),
	} {
		if _, err := picture.Prepare(data); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestDecode(t *testing.T) {
	for value, want := range map[string]string{
		"aGVsbG8/":                            "hello?",
		" aGVs\nbG8_ ":                        "hello?",
		"data:image/png;base64,aGVsbG8=":      "hello",
		"data:image/svg+xml,%3Csvg%2F%3E":     "<svg/>",
		"<svg/>":                              "<svg/>",
		"aGVsbG8":                             "hello",
		"data:image/svg+xml;utf8,<svg></svg>": "<svg></svg>",
	} {
		if got, err := picture.Decode(value); err != nil || string(got) != want {
			t.Errorf("Decode(%q) = %q, %v; want %q", value, got, err, want)
		}
	}
	for _, value := range []string{"", "not base64!", "data:image/png;base64", "data:image/png;base64,?"} {
		if got, err := picture.Decode(value); err == nil {
			t.Errorf("Decode(%q) = %q", value, got)
		}
	}
}

func TestPlace(t *testing.T) {
	for name, c := range map[string]struct {
		w, h, boxW, boxH picture.EMU
		fit              string
		want             picture.Placed
	}{
		"natural":      {400, 200, 0, 0, "", picture.Placed{Width: 400, Height: 200}},
		"by width":     {400, 200, 100, 0, "", picture.Placed{Width: 100, Height: 50}},
		"by height":    {400, 200, 0, 100, "", picture.Placed{Width: 200, Height: 100}},
		"fit wide":     {400, 200, 100, 100, "fit", picture.Placed{Width: 100, Height: 50}},
		"fit high":     {200, 400, 100, 100, "", picture.Placed{Width: 50, Height: 100}},
		"fill":         {400, 200, 100, 100, "fill", picture.Placed{Width: 100, Height: 100, Left: 25000, Right: 25000}},
		"stretch":      {400, 200, 100, 100, "stretch", picture.Placed{Width: 100, Height: 100}},
		"original":     {400, 200, 100, 100, "original", picture.Placed{Width: 400, Height: 200}},
		"much too big": {40 * 914400, 20 * 914400, 0, 0, "", picture.Placed{Width: 22 * 914400, Height: 11 * 914400}},
	} {
		if got := picture.Place(c.w, c.h, c.boxW, c.boxH, c.fit); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestCodesAreRead has another team's programs read the codes.
func TestCodesAreRead(t *testing.T) {
	for kind, c := range map[string]struct{ text, read, program string }{
		"qr":         {"https://example.com/?a=1", "QR-Code:https://example.com/?a=1", "zbarimg"},
		"ean13":      {"401234512345", "EAN-13:4012345123456", "zbarimg"},
		"ean8":       {"96385074", "EAN-8:96385074", "zbarimg"},
		"code128":    {"Platen-2026 b", "CODE-128:Platen-2026 b", "zbarimg"},
		"code39":     {"PLATEN 1", "CODE-39:PLATEN 1", "zbarimg"},
		"code93":     {"PLATEN-1", "CODE-93:PLATEN-1", "zbarimg"},
		"codabar":    {"A1234B", "Codabar:A1234B", "zbarimg"},
		"itf":        {"12345678", "I2/5:12345678", "zbarimg"},
		"datamatrix": {"Platen 1", "Platen 1", "dmtxread"},
	} {
		t.Run(kind, func(t *testing.T) {
			p, err := picture.Code(kind, c.text)
			if err != nil {
				t.Fatal(err)
			}
			program, err := exec.LookPath(c.program)
			if err != nil {
				t.Skipf("%s is not installed", c.program)
			}
			file := filepath.Join(t.TempDir(), "code.png")
			if err := os.WriteFile(file, p.Data, 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"--quiet", "-Senable", file}
			if c.program == "dmtxread" {
				args = []string{"-N1", "-m5000", file}
			}
			out, err := exec.Command(program, args...).Output()
			if got := strings.TrimSpace(string(out)); got != c.read {
				t.Errorf("it reads %q (%v), want %q", got, err, c.read)
			}
		})
	}
}

func TestCodesThatCannotBe(t *testing.T) {
	for _, c := range [][2]string{{"ean13", "4012345123450"}, {"ean13", "12"}, {"ean13", "abcdefghijkl"}, {"itf", "123"}, {"nope", "1"}, {"qr", strings.Repeat("x", 5000)}, {"code39", "ä"}, {"codabar", "x"}} {
		if _, err := picture.Code(c[0], c[1]); err == nil {
			t.Errorf("%s takes %.20q", c[0], c[1])
		}
	}
}

func FuzzPrepare(f *testing.F) {
	f.Add(encoded(f, func(b *bytes.Buffer) error { return png.Encode(b, sample()) }))
	f.Add(onSide(encoded(f, func(b *bytes.Buffer) error { return jpeg.Encode(b, sample(), nil) }), 6))
	f.Add([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><path d="M0 0L1 1z"/></svg>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if config, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil && config.Width*config.Height > 1<<20 {
			t.Skip("right, but slow")
		}
		p, err := picture.Prepare(data)
		if err == nil && (p.Width < 1 || p.Height < 1 || len(p.Data) == 0) {
			t.Errorf("a picture of %d × %d with %d bytes", p.Width, p.Height, len(p.Data))
		}
	})
}
