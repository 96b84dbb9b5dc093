// Package picture reads image files from data, converts them to formats that Word can show, and draws QR codes and barcodes.
//
// Errors complete a sentence whose subject is the picture, such as "is larger than 32 MB".
//
// All input is untrusted. Sizes are checked in the headers before anything is decoded. Functions return errors, and
// never panic, for any bytes. The same input results in the same bytes.
package picture

import (
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"platen/budget"
)

const (
	// MaxBytes is the maximum size of an image file, in bytes.
	MaxBytes = 32 << 20
	// MaxSide is the maximum width and height of an image, in pixels.
	MaxSide = 30_000
	// MaxPixels is the maximum number of pixels of an image.
	MaxPixels = 150_000_000

	// maxDecoded is the largest number of pixels of a picture that must be decoded, which takes up to 8 bytes for each.
	maxDecoded = 50_000_000
	// jpegQuality is the quality of rotated photographs, without a visible loss.
	jpegQuality = 95
)

// Kind is a kind of image file.
type Kind int

// The kinds that are read.
const (
	PNG Kind = iota + 1
	JPEG
	GIF
	BMP
	TIFF
	WebP
	SVG
)

var kinds = [...]struct{ name, extension, contentType string }{
	PNG: {"PNG", "png", "image/png"}, JPEG: {"JPEG", "jpeg", "image/jpeg"}, GIF: {"GIF", "gif", "image/gif"},
	BMP: {"BMP", "bmp", "image/bmp"}, TIFF: {"TIFF", "tiff", "image/tiff"}, WebP: {"WebP", "webp", "image/webp"},
	SVG: {"SVG", "svg", "image/svg+xml"},
}

// String returns the name of the kind.
func (k Kind) String() string { return kinds[k].name }

// Extension returns what file names of the kind end in, without a dot.
func (k Kind) Extension() string { return kinds[k].extension }

// ContentType returns the media type of the kind (RFC 6838).
func (k Kind) ContentType() string { return kinds[k].contentType }

// EMU is a length in English metric units, 914,400 to the inch.
type EMU = int64

const inch EMU = 914_400

const (
	defaultDPI = 96
	// Files say 1 dpi and 72,000 dpi; outside of these limits they mean nothing.
	minDPI, maxDPI = 20, 10_000
)

// Picture is a picture that a document can hold.
type Picture struct {
	Kind          Kind   // of Data: PNG, JPEG, GIF, BMP or TIFF
	Data          []byte // the file
	SVG           []byte // the same picture as SVG, which is preferred where possible; may be nil
	Width, Height EMU    // natural size
	Elastic       bool   // it says the same in another ratio, as bars do
}

// ErrKind reports that the bytes are not an image of a supported kind.
var ErrKind = errors.New("is not an image: use a PNG, JPEG, GIF, BMP, TIFF, WebP, or SVG file")

// Prepare converts an image file to a format that Word can show. PNG, JPEG, GIF, BMP, and TIFF files stay unchanged, byte for byte. WebP
// becomes PNG. SVG loses scripts and external references, and gets a PNG as an alternative.
//
// A JPEG file with an EXIF orientation is rotated: its pixels are encoded again, upright. A rotation of the drawing
// would keep the bytes, but viewers disagree on whether the orientation of the file also applies, and on the box of a
// rotated drawing. Upright pixels look the same everywhere.
//
// The pixels of files to decode or draw are taken from the meter first. Prepare returns an error of the meter unchanged.
func Prepare(m *budget.Meter, data []byte) (*Picture, error) {
	info, err := Inspect(data)
	if err != nil {
		return nil, err
	}
	p := &Picture{Kind: info.Kind, Data: data}
	p.Width, p.Height = info.Size()
	switch {
	case info.Kind == SVG:
		return prepareSVG(m, data, p)
	case info.Kind == WebP:
		p.Kind = PNG
		p.Data, err = recode(m, data, info, webp.Decode, png.Encode)
	case info.Kind == JPEG && info.Orientation > 1:
		p.Data, err = recode(m, data, info, jpeg.Decode, encodeJPEG)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func encodeJPEG(w io.Writer, m image.Image) error {
	return jpeg.Encode(w, m, &jpeg.Options{Quality: jpegQuality})
}
