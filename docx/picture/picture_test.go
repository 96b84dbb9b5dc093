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
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"platen/docx/picture"
)

// sample is a picture of w by h: red at the top left, blue elsewhere.
func sample(w, h int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, color.RGBA{B: 255, A: 255})
			if x < w/2 && y < h/2 {
				m.Set(x, y, color.RGBA{R: 255, A: 255})
			}
		}
	}
	return m
}

func encoded(t testing.TB, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngFile(t testing.TB, w, h int) []byte {
	return encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, sample(w, h)) })
}

func jpegFile(t testing.TB, w, h int) []byte {
	return encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, sample(w, h), nil) })
}

// withPHYs gives a PNG file a resolution in pixels a metre.
func withPHYs(file []byte, x, y uint32) []byte {
	chunk := append([]byte{0, 0, 0, 9}, "pHYs"...)
	chunk = binary.BigEndian.AppendUint32(chunk, x)
	chunk = append(binary.BigEndian.AppendUint32(chunk, y), 1, 0, 0, 0, 0)
	const header = 8 + 25
	return slices.Concat(file[:header], chunk, file[header:])
}

// withSegment puts a segment after the start of a JPEG file.
func withSegment(file []byte, marker byte, body string) []byte {
	size := binary.BigEndian.AppendUint16(nil, uint16(len(body)+2))
	return slices.Concat(file[:2], []byte{0xff, marker}, size, []byte(body), file[2:])
}

func withOrientation(file []byte, orientation byte) []byte {
	return withSegment(file, 0xe1, "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"+string(orientation)+
		"\x00\x00\x00\x00\x00\x00")
}

// webpFile is a lossless file of one pixel.
var webpFile = []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00/\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00")

const svgFile = `<svg xmlns="http://www.w3.org/2000/svg" width="2cm" height="1cm" viewBox="0 0 20 10"><rect width="20" ` +
	`height="10" fill="#00ff00"/></svg>`

func TestPrepare(t *testing.T) {
	const inch = 914_400
	px := func(n int) picture.EMU { return picture.EMU(n) * 9525 }
	for name, c := range map[string]struct {
		file          []byte
		kind          picture.Kind // of the file
		width, height picture.EMU
		same          bool // the bytes stay
	}{
		"png":                 {pngFile(t, 30, 20), picture.PNG, px(30), px(20), true},
		"png with resolution": {withPHYs(pngFile(t, 300, 150), 11811, 5906), picture.PNG, 914_402, 914_324, true},
		"png of no dpi":       {withPHYs(pngFile(t, 30, 20), 1, 1), picture.PNG, px(30), px(20), true},
		"jpeg":                {jpegFile(t, 30, 20), picture.JPEG, px(30), px(20), true},
		"jpeg with density": {withSegment(jpegFile(t, 300, 150), 0xe0, "JFIF\x00\x01\x01\x01\x01\x2c\x00\x96\x00\x00"), picture.JPEG,
			inch, inch, true},
		"jpeg by centimetres": {withSegment(jpegFile(t, 100, 100), 0xe0, "JFIF\x00\x01\x01\x02\x00\x64\x00\x64\x00\x00"), picture.JPEG,
			360_000, 360_000, true},
		"jpeg upright": {withOrientation(jpegFile(t, 30, 20), 1), picture.JPEG, px(30), px(20), true},
		"jpeg turned":  {withOrientation(jpegFile(t, 30, 20), 6), picture.JPEG, px(20), px(30), false},
		"gif": {encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, sample(30, 20), nil) }), picture.GIF, px(30),
			px(20), true},
		"bmp": {encoded(t, func(b *bytes.Buffer) error { return bmp.Encode(b, sample(30, 20)) }), picture.BMP, px(30), px(20), true},
		"tiff": {encoded(t, func(b *bytes.Buffer) error { return tiff.Encode(b, sample(144, 72), nil) }), picture.TIFF, 2 * inch,
			inch, true},
		"webp":           {webpFile, picture.WebP, px(1), px(1), false},
		"svg":            {[]byte(svgFile), picture.SVG, 76 * 9525, 38 * 9525, false},
		"svg by viewBox": {[]byte(`<?xml version="1.0"?><!-- x --><svg viewBox="0,0 40 30"/>`), picture.SVG, px(40), px(30), false},
		"svg of percents": {[]byte(`<svg width="100%" height="50%" viewBox="0 0 40 30" xmlns="http://www.w3.org/2000/svg"/>`), picture.SVG,
			px(40), px(30), false},
		"svg of no size": {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), picture.SVG, px(300), px(150), false},
	} {
		t.Run(name, func(t *testing.T) {
			info, err := picture.Inspect(c.file)
			if err != nil || info.Kind != c.kind {
				t.Fatalf("Inspect says %v (%v), want %v", info, err, c.kind)
			}
			p, err := picture.Prepare(nil, c.file)
			if err != nil {
				t.Fatal(err)
			}
			if p.Width != c.width || p.Height != c.height {
				t.Errorf("size %d by %d, want %d by %d", p.Width, p.Height, c.width, c.height)
			}
			if got := bytes.Equal(p.Data, c.file); got != c.same {
				t.Errorf("the bytes stay as they are: %t, want %t", got, c.same)
			}
			got, err := picture.Inspect(p.Data)
			if err != nil || got.Kind != p.Kind || p.Kind == picture.WebP || p.Kind == picture.SVG {
				t.Errorf("the picture is said to be %v and is %v (%v)", p.Kind, got.Kind, err)
			}
			if (p.SVG != nil) != (c.kind == picture.SVG) {
				t.Errorf("SVG beside it: %q", p.SVG)
			}
		})
	}
}

// The red corner of a stored picture goes where its orientation says.
func TestOrientation(t *testing.T) {
	const w, h = 32, 16
	corners := map[byte]image.Point{2: {1, 0}, 3: {1, 1}, 4: {0, 1}, 5: {0, 0}, 6: {1, 0}, 7: {1, 1}, 8: {0, 1}}
	for orientation, corner := range corners {
		p, err := picture.Prepare(nil, withOrientation(jpegFile(t, w, h), orientation))
		if err != nil {
			t.Fatal(err)
		}
		m, err := jpeg.Decode(bytes.NewReader(p.Data))
		if err != nil {
			t.Fatal(err)
		}
		want := image.Pt(w, h)
		if orientation >= 5 {
			want = image.Pt(h, w)
		}
		if m.Bounds().Size() != want {
			t.Errorf("orientation %d: size %v, want %v", orientation, m.Bounds().Size(), want)
		}
		at := image.Pt(2+corner.X*(want.X-5), 2+corner.Y*(want.Y-5))
		if r, _, b, _ := m.At(at.X, at.Y).RGBA(); r < b {
			t.Errorf("orientation %d: the red corner is not at %v", orientation, at)
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	huge := bytes.Clone(pngFile(t, 3, 3))
	binary.BigEndian.PutUint32(huge[16:], 1<<30)
	wide := []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00")
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":       {nil, "is not an image"},
		"text":          {[]byte("hello"), "is not an image"},
		"html":          {[]byte("<html><svg/></html>"), "is not an image"},
		"pdf":           {[]byte("%PDF-1.7"), "is not an image"},
		"cut png":       {pngFile(t, 30, 20)[:20], "is a truncated or damaged"},
		"cut jpeg":      {jpegFile(t, 30, 20)[:20], "is a truncated or damaged"},
		"cut gif":       {[]byte("GIF89a\x01"), "is a truncated or damaged"},
		"cut bmp":       {[]byte("BM\x01"), "is a truncated or damaged"},
		"cut tiff":      {[]byte("II*\x00\xff\xff\xff\xff"), "is a truncated or damaged"},
		"bad webp":      {[]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00"), "WebP file that cannot be read"},
		"bomb":          {huge, "1073741824 by 3 pixels"},
		"too wide":      {wide, "the limit is 30000 on each side"},
		"no pixels":     {[]byte("GIF89a\x00\x00\x01\x00\x00\x00\x00"), "without pixels"},
		"too many":      {make([]byte, picture.MaxBytes+1), "is larger than 32 MB"},
		"broken svg":    {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><g></svg>`), "cannot be read"},
		"svg entity":    {[]byte(`<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>`), "cannot be read"},
		"deep svg":      {[]byte("<svg>" + strings.Repeat("<g>", 300) + strings.Repeat("</g>", 300) + "</svg>"), "nested"},
		"webp too much": {webpOf(t, 16000, 16000), "the limit is 30000 on each side and 150 million"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := picture.Prepare(nil, c.file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// webpOf is a file that says it is so large.
func webpOf(t testing.TB, w, h uint32) []byte {
	t.Helper()
	file := bytes.Clone(webpFile)
	binary.LittleEndian.PutUint32(file[21:], (w-1)|(h-1)<<14|1<<28)
	return file
}

func TestDecode(t *testing.T) {
	file := pngFile(t, 5, 5)
	std, url := base64.StdEncoding.EncodeToString(file), base64.RawURLEncoding.EncodeToString(file)
	var lines strings.Builder
	for chunk := range slices.Chunk([]byte(std), 20) {
		lines.Write(chunk)
		lines.WriteString("\r\n ")
	}
	for name, value := range map[string]string{
		"standard": std, "url alphabet": url, "in lines": lines.String(), "data uri": "data:image/png;base64," + std,
		"data uri with parameters": " DATA:image/png;charset=x;BASE64," + std, "percent": "data:image/png;base64," +
			strings.ReplaceAll(std, "+", "%2B"),
	} {
		if got, err := picture.Decode(value); err != nil || !bytes.Equal(got, file) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for _, value := range []string{svgFile, "data:image/svg+xml," + strings.ReplaceAll(strings.ReplaceAll(svgFile, "#", "%23"), " ", "%20")} {
		if got, err := picture.Decode(value); err != nil || string(got) != svgFile {
			t.Errorf("%q: %q, %v", value, got, err)
		}
	}
	for value, want := range map[string]string{
		"": "is empty", "data:image/png;base64": "the comma is missing", "data:,%zz": "%", "no base64!": "character 9 is invalid",
	} {
		if _, err := picture.Decode(value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", value, err, want)
		}
	}
}

func TestPlace(t *testing.T) {
	const w, h = 2_000_000, 1_000_000
	for name, c := range map[string]struct {
		width, height picture.EMU
		fit           picture.Fit
		want          picture.Placed
	}{
		"by itself":          {0, 0, "", picture.Placed{Width: w, Height: h}},
		"width":              {500_000, 0, "", picture.Placed{Width: 500_000, Height: 250_000}},
		"height":             {0, 2_000_000, "fill", picture.Placed{Width: 4_000_000, Height: 2_000_000}},
		"fit, touches top":   {9_000_000, 2_000_000, "", picture.Placed{Width: 4_000_000, Height: 2_000_000}},
		"fit, touches sides": {1_000_000, 1_000_000, picture.FitInside, picture.Placed{Width: 1_000_000, Height: 500_000}},
		"stretch":            {700_000, 900_000, picture.FitStretch, picture.Placed{Width: 700_000, Height: 900_000}},
		"fill, sides cut": {1_000_000, 1_000_000, picture.FitFill, picture.Placed{Width: 1_000_000, Height: 1_000_000, Left: 25_000,
			Right: 25_000}},
		"fill, top cut": {4_000_000, 1_000_000, picture.FitFill, picture.Placed{Width: 4_000_000, Height: 1_000_000, Top: 25_000,
			Bottom: 25_000}},
		"original": {700_000, 900_000, picture.FitOriginal, picture.Placed{Width: w, Height: h}},
		"huge":     {0, 900_000_000, "", picture.Placed{Width: picture.MaxExtent, Height: picture.MaxExtent / 2}},
	} {
		if got := picture.Place(w, h, c.width, c.height, c.fit); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := picture.Place(1<<62, 1, 5, 5, picture.FitInside); got.Width != 5 || got.Height != 1 {
		t.Errorf("of an absurd size: %+v", got)
	}
}
