package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"strings"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/aztec"
	"github.com/boombuler/barcode/codabar"
	"github.com/boombuler/barcode/code128"
	"github.com/boombuler/barcode/code39"
	"github.com/boombuler/barcode/code93"
	"github.com/boombuler/barcode/datamatrix"
	"github.com/boombuler/barcode/ean"
	"github.com/boombuler/barcode/pdf417"
	"github.com/boombuler/barcode/twooffive"
	"github.com/boombuler/barcode/utils"

	"platen/budget"
)

const (
	// maxCodeText is the largest size of the text of a code, in bytes, which exceeds the capacity of the largest code.
	maxCodeText = 8000
	// maxLinear is the largest number of characters in a linear barcode, which is what fits on a page.
	maxLinear = 80

	// modulePixels is the number of pixels of the narrowest bar or dot of a code, so that scaling does not blur it. The method draw
	// requires that a module is one byte of a row: 8 pixels of 1 bit.
	modulePixels = 8
	// linearHeight is how high bars are, in modules.
	linearHeight = 50
	// pdf417Row is how high a row of PDF417 is (ISO/IEC 15438: at least 3 modules).
	pdf417Row = 3
	// errorWords is the share of Aztec symbols that may be damaged, in percent (ISO/IEC 24778 recommends 23).
	errorWords = 23
	// pdf417Security is the level of correction for up to 160 words (ISO/IEC 15438, annex E).
	pdf417Security = 3

	// How large a module is by itself: with these, a scanner and a telephone read a printed code.
	dotSize EMU = 36_000 * 50 / 100 // 0.5 mm
	barSize EMU = 36_000 * 33 / 100 // 0.33 mm, the nominal size of EAN
)

// symbology is a kind of code.
type symbology struct {
	encode    func(text string) (image.Image, error)
	quiet     int // modules that must stay white on each side
	quietTop  int // and above and below
	row       int // how high a row is, in modules
	lines     int // number of pixel lines that the encoder writes for a row; 0 means one
	module    EMU
	maxLength int
	slow      bool // to encode
}

var symbologies = map[string]symbology{
	"ean13":      {encode: eanCode(13), quiet: 11, row: linearHeight, module: barSize, maxLength: 13},
	"ean8":       {encode: eanCode(8), quiet: 7, row: linearHeight, module: barSize, maxLength: 8},
	"code128":    {encode: code128Code, quiet: 10, row: linearHeight, module: barSize, maxLength: maxLinear},
	"code39":     {encode: code39Code, quiet: 10, row: linearHeight, module: barSize, maxLength: maxLinear},
	"code93":     {encode: code93Code, quiet: 10, row: linearHeight, module: barSize, maxLength: maxLinear},
	"codabar":    {encode: codabarCode, quiet: 10, row: linearHeight, module: barSize, maxLength: maxLinear},
	"2of5":       {encode: industrial, quiet: 10, row: linearHeight, module: barSize, maxLength: maxLinear},
	"itf":        {encode: interleaved, quiet: 10, row: linearHeight, module: barSize, maxLength: maxLinear},
	"datamatrix": {encode: datamatrixCode, quiet: 2, quietTop: 2, row: 1, module: dotSize, maxLength: 1555, slow: true},
	"aztec":      {encode: aztecCode, quiet: 2, quietTop: 2, row: 1, module: dotSize, maxLength: 1900, slow: true},
	"pdf417":     {encode: pdf417Code, quiet: 2, quietTop: 2, row: pdf417Row, lines: 2, module: barSize, maxLength: 1500},
	"qr":         {encode: qrCode, quiet: 4, quietTop: 4, row: 1, module: dotSize, maxLength: 2331},
}

// Code draws a text as a code: a black-and-white PNG with its quiet zone. The kinds are ean13, ean8, code128, code39, code93, codabar, 2of5
// (industrial), itf (interleaved 2 of 5), datamatrix, aztec, pdf417, and qr. A check digit of EAN or ITF-14 is
// computed if it is missing, and otherwise verified. Codabar gets start and stop characters if it has none. QR codes
// contain UTF-8, and are readable with up to 15 % damage (level M). The others contain Latin-1 or a subset.
//
// Code takes the modules from the meter as steps, and returns an error of the meter unchanged.
func Code(m *budget.Meter, name, text string) (*Picture, error) {
	s, ok := symbologies[name]
	if !ok {
		return nil, fmt.Errorf("%q is not a type of code", name)
	}
	if text == "" {
		return nil, errors.New("is empty; a code needs a value")
	}
	if len(text) > maxCodeText || len(text) > s.maxLength {
		return nil, fmt.Errorf("has %d characters; codes of type %s have at most %d", len(text), name, s.maxLength)
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	code, err := guarded(func() (image.Image, error) { return s.encode(text) })
	if err != nil {
		return nil, err
	}
	if err := m.Spend(code.Bounds().Dx() * code.Bounds().Dy() * s.cost()); err != nil {
		return nil, err
	}
	return s.draw(code)
}

// cost returns the number of steps for a module. Bars are drawn once for all rows, and matrices other than QR take long to encode.
func (s symbology) cost() int {
	switch {
	case s.row == linearHeight:
		return 20
	case s.slow:
		return 10
	}
	return 1
}

// draw writes a code at a whole number of pixels for each module.
func (s symbology) draw(code image.Image) (*Picture, error) {
	b, lines := code.Bounds(), max(s.lines, 1)
	rows := b.Dy() / lines
	width, height := b.Dx()+2*s.quiet, rows*s.row+2*s.quietTop
	image := newBitmap(width*modulePixels, height*modulePixels)
	white := bytes.Repeat([]byte{0xff}, width)
	image.rows(white, s.quietTop*modulePixels)
	for y := range rows {
		line := bytes.Clone(white)
		for x := range b.Dx() {
			if isDark(code.At(b.Min.X+x, b.Min.Y+y*lines)) {
				line[s.quiet+x] = 0
			}
		}
		image.rows(line, s.row*modulePixels)
	}
	image.rows(white, s.quietTop*modulePixels)
	return &Picture{Kind: PNG, Data: image.png(), Width: EMU(width) * s.module, Height: EMU(height) * s.module,
		Elastic: s.row == linearHeight}, nil
}

func isDark(c color.Color) bool {
	r, _, _, _ := c.RGBA()
	return r < 0x8000
}

// digits fails if a text is not digits only.
func digits(text, kind string) error {
	if strings.Trim(text, "0123456789") != "" {
		return fmt.Errorf("is not digits only, which codes of type %s need", kind)
	}
	return nil
}

// checkDigit returns the GS1 check digit: with weights 3 and 1 from the right, the difference to the next multiple of ten.
func checkDigit(text string) byte {
	sum := 0
	for i := range len(text) {
		n := int(text[len(text)-1-i] - '0')
		if i%2 == 0 {
			n *= 3
		}
		sum += n
	}
	return byte('0' + (10-sum%10)%10)
}

// checked returns text with its check digit, which it adds if it is missing and else verifies.
func checked(text string, length int, kind string) (string, error) {
	if err := digits(text, kind); err != nil {
		return "", err
	}
	switch len(text) {
	case length - 1:
		return text + string(checkDigit(text)), nil
	case length:
		if want := checkDigit(text[:length-1]); text[length-1] != want {
			return "", fmt.Errorf("has the check digit %c, which should be %c: one of the digits is wrong", text[length-1], want)
		}
		return text, nil
	}
	return "", fmt.Errorf("has %d digits; codes of type %s have %d, or %d without the check digit", len(text), kind, length, length-1)
}

func eanCode(length int) func(string) (image.Image, error) {
	return func(text string) (image.Image, error) {
		number, err := checked(text, length, fmt.Sprintf("ean%d", length))
		if err != nil {
			return nil, err
		}
		return ean.Encode(number)
	}
}

// ascii fails if a text holds characters that the kind of code has not.
func ascii(text, kind string) error {
	for _, r := range text {
		if r > 0x7e || r < ' ' && kind != "code128" && kind != "code39" && kind != "code93" {
			return fmt.Errorf("contains %q, which codes of type %s cannot encode; a QR code can", r, kind)
		}
	}
	return nil
}

func code128Code(text string) (image.Image, error) {
	if err := ascii(text, "code128"); err != nil {
		return nil, err
	}
	return code128.Encode(text)
}

// code39Code writes the characters of Code 39 (ISO/IEC 16388) unchanged, and other ASCII characters as pairs of those.
func code39Code(text string) (image.Image, error) {
	const own = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-. $/+%"
	if err := ascii(text, "code39"); err != nil {
		return nil, err
	}
	return code39.Encode(text, false, strings.Trim(text, own) != "")
}

func code93Code(text string) (image.Image, error) {
	if err := ascii(text, "code93"); err != nil {
		return nil, err
	}
	return code93.Encode(text, true, true)
}

func codabarCode(text string) (image.Image, error) {
	text = strings.ToUpper(text)
	body := text
	if len(text) >= 2 && strings.Trim(text[:1]+text[len(text)-1:], "ABCD") == "" {
		body = text[1 : len(text)-1]
	} else {
		text = "A" + text + "A"
	}
	if strings.Trim(body, "0123456789-$:/.+") != "" {
		return nil, errors.New("contains characters that codes of type codabar cannot encode: use digits and - $ : / . +, between two " +
			"letters from A to D")
	}
	return codabar.Encode(text)
}

// industrial writes digits, start, and stop as bars, two of five of which are wide: three modules instead of one.
func industrial(text string) (image.Image, error) {
	if err := digits(text, "2of5"); err != nil {
		return nil, err
	}
	patterns := [...]string{"nnwwn", "wnnnw", "nwnnw", "wwnnn", "nnwnw", "wnwnn", "nwwnn", "nnnww", "wnnwn", "nwnwn"}
	var bars strings.Builder
	bars.WriteString("wwn")
	for _, digit := range []byte(text) {
		bars.WriteString(patterns[digit-'0'])
	}
	bars.WriteString("wnw")
	code := new(utils.BitList)
	for _, bar := range bars.String() {
		if bar == 'w' {
			code.AddBit(true, true)
		}
		code.AddBit(true, false)
	}
	return utils.New1DCode(barcode.Type2of5, text, code), nil
}

// interleaved writes digits in pairs: to an odd number of them a check digit is added, and that of the 14 of a trade unit
// (ITF-14) is checked.
func interleaved(text string) (image.Image, error) {
	const kind, tradeUnit = "itf", 14
	err := digits(text, kind)
	if err == nil && len(text) == tradeUnit {
		_, err = checked(text, tradeUnit, kind)
	}
	if err != nil {
		return nil, err
	}
	if len(text)%2 == 1 {
		text += string(checkDigit(text))
	}
	return twooffive.Encode(text, true)
}

func datamatrixCode(text string) (image.Image, error) {
	const function1 = '\xe8' // has a meaning for GS1 at the start
	latin, err := latin1(text, "datamatrix")
	if err == nil && latin[0] == function1 {
		err = errors.New("begins with è, which codes of type datamatrix cannot encode there; a QR code can")
	}
	if err != nil {
		return nil, err
	}
	return datamatrix.Encode(latin)
}

func aztecCode(text string) (image.Image, error) {
	latin, err := latin1(text, "aztec")
	if err != nil {
		return nil, err
	}
	return aztec.Encode([]byte(latin), errorWords, aztec.DEFAULT_LAYERS)
}

// latin1 returns a text in ISO 8859-1, which readers take codes to be in that do not say otherwise.
func latin1(text, kind string) (string, error) {
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return "", fmt.Errorf("contains %q, which codes of type %s cannot encode; a QR code can", r, kind)
		}
		out = append(out, byte(r))
	}
	return string(out), nil
}

func pdf417Code(text string) (image.Image, error) {
	if err := ascii(text, "pdf417"); err != nil {
		return nil, err
	}
	return pdf417.Encode(text, pdf417Security)
}
