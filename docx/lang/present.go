package lang

import (
	"strings"

	"github.com/shopspring/decimal"
)

// Present is the presentation of a value in the document, which the filters of its tag ask for.
type Present struct {
	As                              As
	Bold, Italic, Underline, Strike bool
	Merge                           bool    // equal cells below each other are merged
	Checked                         bool    // of check boxes; the text is a box, ticked or not, or the argument of the filter
	Color                           string  // "RRGGBB"
	Style                           string  // name of a character style or, for a tag alone in its paragraph, a paragraph style
	Link                            string  // the URL of the text
	Width, Height                   Length  // of pictures and codes; 0: not given
	Fit                             string  // of pictures that have both: "fit", "fill", "stretch" or "original"
	Symbology                       string  // of barcodes, one of [Symbologies]
	Span                            int     // the number of columns that the cell covers; 0: not given
	Shade                           string  // "RRGGBB" for what is around the tag; see [Tag.Shades]
	Rotation                        int     // of pictures and codes: degrees clockwise, from 0 to 359
	Entries                         []Entry // of list controls; nil: not given
}

// As is the kind of content that the text of a value is.
type As int

// The kinds of content.
const (
	AsText      As = iota
	AsLiteral      // literal text
	AsHTML         // HTML
	AsMarkdown     // Markdown
	AsWordML       // a fragment of WordprocessingML
	AsImage        // an image, as base64, data URI, or URL
	AsQRCode       // the content of a QR code
	AsBarcode      // the content of a barcode
	AsCheckbox     // a check box
	AsPageBreak    // a page break instead of text
	AsChart        // the data of a chart: see [Env.Chart]
)

// isSole reports whether a value with this presentation cannot consist of several values.
func isSole(as As) bool { return as == AsImage || as == AsQRCode || as == AsBarcode }

// Length is a length in English metric units, 914,400 to the inch.
type Length int64

// The units of lengths. An inch has 96 pixels.
const (
	Inch       Length = 914_400
	Centimeter Length = 360_000
	Millimeter Length = 36_000
	Point      Length = 12_700
	Pixel      Length = 9_525

	// MaxLength is the maximum width or height of an image: that of Word's largest page.
	MaxLength = 22 * Inch
	// MaxSpan is the maximum number of columns that a cell spans, which is that of Word's tables.
	MaxSpan = 63
)

// units has the spellings of units of length.
var units = map[string]Length{
	"in": Inch, `"`: Inch, "cm": Centimeter, "mm": Millimeter, "pt": Point, "px": Pixel, "": Pixel,
}

// parseLength reads "4cm", "1.5 in", or a plain number, which counts pixels. It is longer than 0 and no longer than MaxLength.
func parseLength(s string) (Length, bool) {
	s = strings.TrimSpace(s)
	digits := strings.TrimRight(s, `abcdefghijklmnopqrstuvwxyz"`)
	unit, ok := units[s[len(digits):]]
	x, isNumber := parseNumber(strings.TrimSpace(digits))
	if !ok || !isNumber || x.magnitude() > 9 {
		return 0, false
	}
	n := Length(x.Mul(decimal.NewFromInt(int64(unit))).IntPart())
	return n, n > 0 && n <= MaxLength
}

// colors has the names of colors.
var colors = map[string]string{
	"black": "000000", "white": "FFFFFF", "gray": "808080", "grey": "808080", "silver": "C0C0C0", "red": "FF0000",
	"darkred": "C00000", "maroon": "800000", "brown": "A52A2A", "orange": "FFA500", "gold": "FFC000", "yellow": "FFFF00",
	"olive": "808000", "lime": "00FF00", "green": "008000", "darkgreen": "006400", "teal": "008080", "cyan": "00FFFF",
	"aqua": "00FFFF", "blue": "0000FF", "darkblue": "00008B", "navy": "000080", "purple": "800080", "violet": "EE82EE",
	"magenta": "FF00FF", "fuchsia": "FF00FF", "pink": "FFC0CB",
}

// parseColor reads "#C00000", "#C00" or a name and returns it as "RRGGBB".
func parseColor(s string) (string, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if named, ok := colors[s]; ok {
		return named, true
	}
	hex := strings.ToUpper(strings.TrimPrefix(s, "#"))
	if strings.Trim(hex, "0123456789ABCDEF") != "" {
		return "", false
	}
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	return hex, len(hex) == 6
}

// Symbologies are the kinds of barcodes.
var Symbologies = []string{
	"ean13", "ean8", "code128", "code39", "code93", "codabar", "2of5", "itf", "datamatrix", "aztec", "pdf417", "qr",
}

// fits are the ways to bring a picture to a width and height.
var fits = []string{"fit", "fill", "stretch", "original"}
