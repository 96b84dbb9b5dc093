package font

import (
	"html"
	"slices"
)

// maxChartFormats is how many formats of one chart are told apart.
const maxChartFormats = 64

// readDrawing reads a chart or a diagram. Which of its texts has which of its formats is left open: each font that it names
// counts for all its text, and where it names none the theme's does.
func (d *document) readDrawing(name string) error {
	part, err := d.part(name, maxDefinitionBytes)
	if err != nil {
		return err
	}
	base := d.themeFormat()
	formats := []runProperties{base}
	var text []byte
	x := newReader(part)
	for range x.starts {
		switch {
		case isText(x.name):
			text = append(text, x.content()...)
		case string(x.name) == "a:defRPr", string(x.name) == "a:rPr":
			p := d.readDrawingProperties(x, base)
			if !slices.Contains(formats, p) && len(formats) < maxChartFormats {
				formats = append(formats, p)
			}
		}
	}
	for _, p := range formats[min(1, len(formats)-1):] {
		d.note(&p, text)
	}
	return x.err
}

// isText tells the elements whose text is seen: of paragraphs, and what the cells of a chart's data say.
func isText(name []byte) bool { return string(name) == "a:t" || string(name) == "c:v" }

func (d *document) themeFormat() (p runProperties) {
	for i, name := range [slots]string{ascii: "minorAscii", hAnsi: "minorHAnsi", eastAsia: "minorEastAsia", complexScript: "minorBidi"} {
		p.fonts[i] = d.font(d.theme.font(name))
	}
	return p
}

// readDrawingProperties reads the fonts that the element which has just started names.
func (d *document) readDrawingProperties(x *reader, base runProperties) runProperties {
	for range x.children {
		f := d.drawingFont(x.attr("typeface"))
		switch string(x.name) {
		case "a:latin":
			base.fonts[ascii], base.fonts[hAnsi] = f, f
		case "a:ea":
			base.fonts[eastAsia] = f
		case "a:cs":
			base.fonts[complexScript] = f
		}
		x.skip()
	}
	return base
}

// drawingFont is the font of a name, or of the theme's by the names that drawings have for them (ISO 29500-1 §20.1.10.81).
func (d *document) drawingFont(name string) *asked {
	themes := map[string]string{
		"+mn-lt": "minorHAnsi", "+mn-ea": "minorEastAsia", "+mn-cs": "minorBidi",
		"+mj-lt": "majorHAnsi", "+mj-ea": "majorEastAsia", "+mj-cs": "majorBidi",
	}
	if theme := themes[name]; theme != "" {
		name = d.theme.font(theme)
	}
	return d.font(name)
}

// content is the text in the element that has just started.
func (x *reader) content() []byte {
	var text []byte
	for x.next() && x.kind != endTag {
		switch {
		case x.kind == startTag:
			x.skip()
		case x.literal:
			text = append(text, x.text...)
		default:
			text = append(text, html.UnescapeString(string(x.text))...)
		}
	}
	return text
}
