package fonts

import (
	"slices"

	"platen/docx/style"
	"platen/ooxml"
	"platen/ooxml/scan"
)

// maxChartFormats is the maximum number of different formats in a chart.
const maxChartFormats = 64

// readDrawing reads a chart or a diagram. It does not determine which text has which format: each font that the part names, or else the
// font of the theme, is counted for all of its text.
func (d *reader) readDrawing(part *ooxml.Part) error {
	src, err := d.part(part, maxDrawing)
	if err != nil {
		return err
	}
	base := d.themeFormat()
	formats := []format{base}
	var text []byte
	r := scan.New(src)
	for range r.All {
		switch name := r.Name(); name {
		case "a:t", "c:v": // the text of paragraphs, and the cells of a chart's data
			r.Next()
			text = append(text, r.Text()...)
		case "a:defRPr", "a:rPr":
			f := d.drawingFormat(r, base)
			if !slices.Contains(formats, f) && len(formats) < maxChartFormats {
				formats = append(formats, f)
			}
		}
	}
	for _, f := range formats[min(1, len(formats)-1):] {
		d.note(&f, text)
	}
	return r.LimitErr()
}

func (d *reader) themeFormat() (f format) {
	for slot, name := range [style.Slots]string{
		style.ASCII: "minorAscii", style.HighANSI: "minorHAnsi", style.EastAsia: "minorEastAsia", style.ComplexScript: "minorBidi",
	} {
		f.fonts[slot] = d.font(d.sheet.Theme.Font(name))
	}
	return f
}

// drawingFormat returns the format with the fonts that the element of the last start tag names.
func (d *reader) drawingFormat(r *scan.Reader, base format) format {
	for range r.Children {
		f := d.drawingFont(r.Attr("typeface"))
		switch r.Name() {
		case "a:latin":
			base.fonts[style.ASCII], base.fonts[style.HighANSI] = f, f
		case "a:ea":
			base.fonts[style.EastAsia] = f
		case "a:cs":
			base.fonts[style.ComplexScript] = f
		}
	}
	return base
}

// drawingFont returns the font with a name, which may be a drawing's name for a theme font (ISO 29500-1 §20.1.10.81).
func (d *reader) drawingFont(name string) *Asked {
	themes := map[string]string{
		"+mn-lt": "minorHAnsi", "+mn-ea": "minorEastAsia", "+mn-cs": "minorBidi",
		"+mj-lt": "majorHAnsi", "+mj-ea": "majorEastAsia", "+mj-cs": "majorBidi",
	}
	if theme := themes[name]; theme != "" {
		name = d.sheet.Theme.Font(theme)
	}
	return d.font(name)
}
