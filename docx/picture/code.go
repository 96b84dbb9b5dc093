package picture

import (
	"fmt"
	"image"
	"image/color"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/aztec"
	"github.com/boombuler/barcode/codabar"
	"github.com/boombuler/barcode/code128"
	"github.com/boombuler/barcode/code39"
	"github.com/boombuler/barcode/code93"
	"github.com/boombuler/barcode/datamatrix"
	"github.com/boombuler/barcode/ean"
	"github.com/boombuler/barcode/pdf417"
	"github.com/boombuler/barcode/qr"
	"github.com/boombuler/barcode/twooffive"
)

const (
	// maxCode is how many bytes a code may say; the symbologies have limits of their own below it.
	maxCode = 4000
	// module is how many pixels the narrowest bar or square of a code is wide.
	module = 4
	// moduleWidth is how wide that is in a document: 0.33 mm, as GS1 recommends for shops.
	moduleWidth = 330 * 36
	// squareWidth is how wide the square of a two-dimensional code is: 0.5 mm.
	squareWidth = 500 * 36
	// barHeight is how high bars are: 15 mm.
	barHeight = 15_000 * 36
)

// symbology is a kind of code.
type symbology struct {
	encode func(text string) (barcode.Barcode, error)
	quiet  int  // how many modules must be white around it
	bars   bool // of one dimension
}

var symbologies = map[string]symbology{
	"qr": {func(s string) (barcode.Barcode, error) { return qr.Encode(s, qr.M, qr.Auto) }, 4, false},
	"aztec": {func(s string) (barcode.Barcode, error) {
		return aztec.Encode([]byte(s), aztec.DEFAULT_EC_PERCENT, aztec.DEFAULT_LAYERS)
	}, 1, false},
	"datamatrix": {datamatrix.Encode, 1, false},
	"pdf417":     {func(s string) (barcode.Barcode, error) { return pdf417.Encode(s, 2) }, 2, false},
	"ean13":      {eanOf(13), 11, true},
	"ean8":       {eanOf(8), 7, true},
	"code128":    {func(s string) (barcode.Barcode, error) { return code128.Encode(s) }, 10, true},
	"code39":     {func(s string) (barcode.Barcode, error) { return code39.Encode(s, false, true) }, 10, true},
	"code93":     {func(s string) (barcode.Barcode, error) { return code93.Encode(s, true, true) }, 10, true},
	"codabar":    {codabar.Encode, 10, true},
	"2of5":       {func(s string) (barcode.Barcode, error) { return twooffive.Encode(s, false) }, 10, true},
	"itf":        {func(s string) (barcode.Barcode, error) { return twooffive.Encode(s, true) }, 10, true},
}

// eanOf encodes a number of n digits, or of one fewer, to which the check digit is added.
func eanOf(n int) func(string) (barcode.Barcode, error) {
	return func(s string) (barcode.Barcode, error) {
		if len(s) != n && len(s) != n-1 {
			return nil, fmt.Errorf("it has %d characters, an EAN has %d digits, or %d without the check digit", len(s), n, n-1)
		}
		return ean.Encode(s)
	}
}

// Code draws what a text is as a code of a symbology: "qr", "aztec", "datamatrix", "pdf417", "ean13", "ean8", "code128",
// "code39", "code93", "codabar", "2of5" or "itf". Check digits are added or, where the text has them, verified. The margin that
// readers need is part of the picture.
func Code(kind, text string) (*Picture, error) {
	s, ok := symbologies[kind]
	if !ok {
		return nil, fmt.Errorf("there is no code called %q", kind)
	}
	if len(text) > maxCode {
		return nil, fmt.Errorf("a code can say at most %d bytes, not %d", maxCode, len(text))
	}
	code, err := s.safely(text)
	if err != nil {
		return nil, fmt.Errorf("this cannot be a %s code: %w", kind, err)
	}
	width, height := code.Bounds().Dx()+2*s.quiet, code.Bounds().Dy()+2*s.quiet
	rows, natural := height*module, EMU(height)*squareWidth
	unit := EMU(squareWidth)
	if s.bars {
		unit, natural = moduleWidth, barHeight
		rows = int(natural * module / unit)
	}
	data, err := encodePNG(s.draw(code, width*module, rows))
	if err != nil {
		return nil, err
	}
	return &Picture{Data: data, Extension: "png", ContentType: "image/png", Width: EMU(width) * unit, Height: natural}, nil
}

// safely encodes a text; the library panics on some.
func (s symbology) safely(text string) (code barcode.Barcode, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%v", fault)
		}
	}()
	return s.encode(text)
}

// draw draws the modules of a code in black and white.
func (s symbology) draw(code barcode.Barcode, width, height int) image.Image {
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})
	bounds := code.Bounds()
	for y := range height {
		my := y/module - s.quiet
		if s.bars {
			my = 0
		}
		if my < 0 || my >= bounds.Dy() {
			continue
		}
		for x := range width {
			mx := x/module - s.quiet
			if mx < 0 || mx >= bounds.Dx() {
				continue
			}
			if r, _, _, _ := code.At(bounds.Min.X+mx, bounds.Min.Y+my).RGBA(); r < 0x8000 {
				img.SetColorIndex(x, y, 1)
			}
		}
	}
	return img
}
