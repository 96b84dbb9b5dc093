// Package picture turns what data brings as pictures into what a Word document can hold: it decodes and inspects picture
// files, brings those that Word cannot show into a form it can, computes sizes, and draws codes such as QR.
//
// Every file is hostile: sizes are bounded before anything is unpacked, and nothing in a picture is followed.
package picture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/url"
	"strings"

	_ "golang.org/x/image/bmp"  // for their sizes
	_ "golang.org/x/image/tiff" //
	"golang.org/x/image/webp"
)

const (
	// MaxBytes is how many bytes a picture file may have.
	MaxBytes = 32 << 20
	// MaxPixels is how many pixels a picture may have: above all that cameras make.
	MaxPixels = 200_000_000
	// maxDecoded is how many pixels a picture may have that has to be unpacked, as to turn it upright.
	maxDecoded = 60_000_000
	// jpegQuality is that of a photo that had to be turned upright.
	jpegQuality = 92
)

// EMU is a length in English metric units, 914,400 to the inch.
type EMU = int64

const (
	inch = 914_400
	// screenDPI is how many pixels are an inch in a file that does not say.
	screenDPI = 96
)

// Picture is a file that a Word document can hold.
type Picture struct {
	Data          []byte
	Extension     string // of its part, such as "png"
	ContentType   string
	Width, Height EMU // its natural size

	// SVG is the drawing that Data is the fallback of, for consumers that show drawings; nil for all else.
	SVG []byte
}

// types gives the extension and the content type by the name that package image has for a format.
var types = map[string][2]string{
	"png": {"png", "image/png"}, "jpeg": {"jpeg", "image/jpeg"}, "gif": {"gif", "image/gif"},
	"bmp": {"bmp", "image/bmp"}, "tiff": {"tiff", "image/tiff"},
}

// Types of the parts that pictures need besides.
const (
	SVGExtension   = "svg"
	SVGContentType = "image/svg+xml"
)

// IsAddress tells whether a value is the address of a picture rather than the picture itself.
func IsAddress(value string) bool {
	return strings.HasPrefix(value, "https://") || strings.HasPrefix(value, "http://")
}

// Decode returns the file that a value of the data spells: a data URI (RFC 2397), base64 in the standard or the URL
// alphabet, with or without padding and line breaks, or the text of an SVG drawing.
func Decode(value string) ([]byte, error) {
	value = strings.TrimSpace(value)
	if len(value) > MaxBytes/3*4+1024 {
		return nil, fmt.Errorf("the picture has more than %d bytes", MaxBytes)
	}
	if rest, ok := strings.CutPrefix(value, "data:"); ok {
		kind, data, found := strings.Cut(rest, ",")
		if !found {
			return nil, errors.New("the data URI has no comma before its data")
		}
		if !strings.HasSuffix(strings.ToLower(kind), ";base64") {
			text, err := url.PathUnescape(data)
			if err != nil {
				return nil, fmt.Errorf("the data URI is not well formed: %w", err)
			}
			return []byte(text), nil
		}
		value = data
	}
	if isSVG([]byte(value)) {
		return []byte(value), nil
	}
	text := strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\n', '\r', '\t', '=':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, value)
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(data) == 0 {
		return nil, errors.New("the value is no picture: it must be base64, a data URI or an address")
	}
	return data, nil
}

// Prepare returns a picture as a Word document can hold it. PNG, JPEG, GIF, BMP and TIFF stay as they are, byte for byte;
// a photo whose EXIF data says that it lies on its side is turned upright, as consumers differ in whether they look there;
// WebP becomes PNG; an SVG drawing gets a PNG for consumers that cannot show it.
func Prepare(data []byte) (*Picture, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("the picture has %d bytes, more than the limit of %d", len(data), MaxBytes)
	}
	if isSVG(data) {
		return prepareSVG(data)
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("the file is no picture of a kind that Word shows: PNG, JPEG, GIF, BMP, TIFF, WebP or SVG")
	}
	if config.Width <= 0 || config.Height <= 0 || int64(config.Width)*int64(config.Height) > MaxPixels {
		return nil, fmt.Errorf("the picture has %d × %d pixels, which is not allowed", config.Width, config.Height)
	}
	switch format {
	case "webp":
		return decoded(config, func() ([]byte, error) { return webpAsPNG(data) })
	case "jpeg":
		if turn := orientation(data); turn > 1 {
			return upright(data, config, turn)
		}
	}
	kind, ok := types[format]
	if !ok {
		return nil, fmt.Errorf("Word does not show pictures of type %s", format)
	}
	x, y := density(data, format)
	return &Picture{Data: data, Extension: kind[0], ContentType: kind[1], Width: emu(config.Width, x), Height: emu(config.Height, y)}, nil
}

func emu(pixels int, dpi float64) EMU { return max(EMU(float64(pixels)*inch/dpi), 1) }

// decoded makes a PNG of a picture that has to be unpacked for it.
func decoded(config image.Config, as func() ([]byte, error)) (*Picture, error) {
	if config.Width*config.Height > maxDecoded {
		return nil, fmt.Errorf("the picture has %d × %d pixels, more than can be converted", config.Width, config.Height)
	}
	data, err := as()
	if err != nil {
		return nil, fmt.Errorf("the picture is damaged: %w", err)
	}
	return &Picture{
		Data: data, Extension: "png", ContentType: "image/png", Width: emu(config.Width, screenDPI), Height: emu(config.Height, screenDPI),
	}, nil
}

func webpAsPNG(data []byte) ([]byte, error) {
	img, err := webp.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return encodePNG(img)
}

func encodePNG(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}

// upright turns a photo as its EXIF orientation says.
func upright(data []byte, config image.Config, turn int) (*Picture, error) {
	if config.Width*config.Height > maxDecoded {
		return nil, fmt.Errorf("the photo has %d × %d pixels, more than can be turned upright", config.Width, config.Height)
	}
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the photo is damaged: %w", err)
	}
	var b bytes.Buffer
	turned := turned{img, turn}
	if err := jpeg.Encode(&b, turned, &jpeg.Options{Quality: jpegQuality}); err != nil {
		return nil, fmt.Errorf("the photo cannot be turned upright: %w", err)
	}
	x, y := density(data, "jpeg")
	if turn >= 5 {
		x, y = y, x
	}
	size := turned.Bounds()
	return &Picture{Data: b.Bytes(), Extension: "jpeg", ContentType: "image/jpeg", Width: emu(size.Dx(), x), Height: emu(size.Dy(), y)}, nil
}

var _ = gif.Decode // whose format is registered
