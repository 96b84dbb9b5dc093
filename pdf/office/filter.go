package office

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"platen/pdf"
)

// Defaults of options that are not set.
const (
	defaultQuality = 90
	defaultDPI     = 300
)

// filter returns the options in the form that LibreOffice's PDF export expects
// (https://help.libreoffice.org/latest/en-US/text/shared/guide/pdf_params.html).
func filter(o pdf.Options) (string, error) {
	set := properties{}
	switch o.Archive {
	case pdf.PDFA2b:
		set.number("SelectPdfVersion", 2)
	case pdf.PDFA3b:
		set.number("SelectPdfVersion", 3)
	case pdf.NoArchive:
		set.number("SelectPdfVersion", 0)
	}
	set.flag("UseTaggedPDF", o.Tagged || o.Archive != pdf.NoArchive)
	set.flag("ExportBookmarks", o.Bookmarks)
	set.flag("ExportNotes", false)
	set.flag("UseLosslessCompression", o.Pictures.Lossless)
	set.number("Quality", cmp.Or(o.Pictures.Quality, defaultQuality))
	set.flag("ReduceImageResolution", true)
	set.number("MaxImageResolution", cmp.Or(o.Pictures.MaxDPI, defaultDPI))
	if o.Watermark != "" {
		set["Watermark"] = property{"string", o.Watermark}
		set.number("WatermarkColor", 0xD0D0D0)
		set.number("WatermarkRotateAngle", 450) // tenths of a degree, counterclockwise
		set.number("WatermarkFontHeight", watermarkHeight(o.Watermark))
	}
	encoded, err := json.Marshal(set)
	return string(encoded), err
}

// watermarkHeight returns the font size, in points, at which a text fills the diagonal of an A4 or Letter page.
func watermarkHeight(text string) int {
	const diagonal, widthOfLetter, largest, smallest = 640, 0.62, 110, 14
	height := diagonal / (widthOfLetter * float64(utf8.RuneCountInString(text)))
	return int(math.Max(smallest, math.Min(largest, height)))
}

// properties is a sequence of PropertyValue structs in LibreOffice's JSON form.
type properties map[string]property

type property struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

func (p properties) flag(name string, value bool) {
	p[name] = property{"boolean", strconv.FormatBool(value)}
}

func (p properties) number(name string, value int) {
	p[name] = property{"long", strconv.Itoa(value)}
}
