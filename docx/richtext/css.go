package richtext

import (
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/image/colornames"
	"golang.org/x/net/html"
)

// The properties of CSS that are known, in the attribute style:
//
//	of text       color, background-color, background, font-weight, font-style, font-size, font-family, text-decoration,
//	              text-decoration-line, vertical-align (sub, super), direction, white-space (pre, pre-wrap)
//	of blocks     text-align, direction
//	of lists      list-style-type, list-style
//	of tables     width, border (none), and of cells width, background-color, vertical-align
//	of pictures   width, height
//	of all        display (none)

const (
	// maxFontSize is Word's, in half-points.
	maxFontSize = 3276
	// maxFontName is the largest number of characters in the name of a font in Word.
	maxFontName = 31
)

func (s *style) hidden(n *html.Node) bool { return declared(n, "display") == "none" }

// apply adds the formatting from an element's name, attributes, and style.
func (s *style) apply(n *html.Node) {
	if outer := s.shape; !paragraphs[n.Data] && !containers[n.Data] {
		defer func() { s.shape = outer }()
	}
	s.applyName(n)
	switch strings.ToLower(attr(n, "dir")) {
	case "rtl":
		s.format.rightToLeft, s.shape.rightToLeft = true, true
	case "ltr":
		s.format.rightToLeft, s.shape.rightToLeft = false, false
	}
	if n.Data != "table" && n.Data != "img" {
		s.applyAlign(attr(n, "align"))
	}
	for _, d := range declarations(n) {
		s.declare(n, d)
	}
}

// containers are the elements besides paragraphs that begin on a new line.
var containers = setOf("ul ol menu li blockquote table")

func (s *style) applyName(n *html.Node) {
	switch n.Data {
	case "b", "strong":
		s.bold = on
	case "th":
		s.bold, s.align = on, "center"
	case "i", "em", "cite", "dfn", "var":
		s.italic = on
	case "u", "ins":
		s.underline = on
	case "s", "strike", "del":
		s.strike = on
	case "sub":
		s.raised = -1
	case "sup":
		s.raised = 1
	case "code", "kbd", "samp", "tt":
		s.code = true
	case "mark":
		s.marked = true
	case "small":
		s.resize(80)
	case "big":
		s.resize(120)
	case "font":
		s.applyFont(n)
	case "a":
		if href := strings.TrimSpace(attr(n, "href")); href != "" && href[0] != '#' {
			s.link = href
		}
	case "center":
		s.align = "center"
	case "h1", "h2", "h3", "h4", "h5", "h6":
		s.kind, s.level = heading, int(n.Data[1]-'0')
	case "pre", "listing", "xmp", "plaintext":
		s.kind, s.keepSpace, s.code = preformatted, true, true
	case "textarea":
		s.keepSpace = true
	}
}

// applyFont reads the element font, whose sizes are 1 to 7.
func (s *style) applyFont(n *html.Node) {
	s.setColor(&s.color, attr(n, "color"))
	face, _, _ := strings.Cut(attr(n, "face"), ",")
	s.family(strings.Trim(strings.TrimSpace(face), `"'`))
	if i, err := strconv.Atoi(attr(n, "size")); err == nil && i >= 1 && i <= len(fontSizes) {
		s.size, s.scale = 0, fontSizes[i-1]
	}
}

// fontSizes are the sizes of the element font and of the keywords of CSS, in percent.
var fontSizes = []int{63, 81, 100, 113, 150, 200, 300}

var sizeWords = map[string]int{"xx-small": 56, "x-small": 63, "small": 81, "medium": 100, "large": 113, "x-large": 150, "xx-large": 200}

func (s *style) declare(n *html.Node, d declaration) {
	word := strings.ToLower(d.value)
	switch d.name {
	case "color":
		s.setColor(&s.color, word)
	case "background-color", "background":
		if !isCell[n.Data] {
			s.setColor(&s.fill, word)
		}
	case "font-weight":
		s.weight(word)
	case "font-style":
		s.italic = toggleOf(word, "italic oblique", "normal", s.italic)
	case "font-size":
		s.fontSize(word)
	case "font-family":
		s.family(d.first)
	case "text-decoration", "text-decoration-line":
		s.decorate(n, word)
	case "vertical-align":
		if i := slices.Index([]string{"sub", "baseline", "super"}, word); i >= 0 && !isCell[n.Data] {
			s.raised = int8(i - 1)
		}
	case "direction":
		s.format.rightToLeft, s.shape.rightToLeft = word == "rtl", word == "rtl"
	case "white-space":
		s.keepSpace = word == "pre" || word == "pre-wrap" || word == "break-spaces"
	case "text-align":
		s.applyAlign(word)
	}
}

// isCell are the elements whose background and vertical alignment is a cell's.
var isCell = setOf("table thead tbody tfoot tr td th")

func (s *style) applyAlign(word string) {
	switch strings.ToLower(word) {
	case "left", "right", "center":
		s.align = strings.ToLower(word)
	case "justify":
		s.align = "both"
	case "start":
		s.align = side(s.shape.rightToLeft)
	case "end":
		s.align = side(!s.shape.rightToLeft)
	}
}

func side(right bool) string {
	if right {
		return "right"
	}
	return "left"
}

func toggleOf(word, yes, no string, otherwise toggle) toggle {
	switch {
	case slices.Contains(strings.Fields(yes), word):
		return on
	case slices.Contains(strings.Fields(no), word):
		return off
	}
	return otherwise
}

// boldFrom is the least weight that is bold.
const boldFrom = 600

func (s *style) weight(word string) {
	s.bold = toggleOf(word, "bold bolder", "normal lighter", s.bold)
	if n, err := strconv.Atoi(word); err == nil {
		if s.bold = off; n >= boldFrom {
			s.bold = on
		}
	}
}

// decorate sets lines. The value none removes the line of the element itself, not those around it.
func (s *style) decorate(n *html.Node, word string) {
	for w := range strings.FieldsSeq(word) {
		switch w {
		case "underline":
			s.underline = on
		case "line-through":
			s.strike = on
		case "none":
			switch n.Data {
			case "a", "u", "ins":
				s.underline = off
			case "s", "strike", "del":
				s.strike = off
			}
		}
	}
}

func (s *style) fontSize(word string) {
	if percent := sizeWords[word]; percent > 0 {
		s.size, s.scale = 0, percent
		return
	}
	switch word {
	case "smaller":
		s.resize(83)
		return
	case "larger":
		s.resize(120)
		return
	}
	value, unit, ok := measure(word)
	switch {
	case !ok || value <= 0:
	case unit == "em":
		s.resize(value * 100)
	case unit == "rem":
		s.size, s.scale = 0, percentOf(value*100)
	case unit == "%":
		s.resize(value)
	case twips[unit] > 0:
		s.size, s.scale = min(max(int(math.Round(value*twips[unit]/10)), 1), maxFontSize), 0
	}
}

// resize makes the text larger or smaller by a percentage.
func (s *style) resize(percent float64) {
	switch {
	case s.size > 0:
		s.size = min(max(int(math.Round(float64(s.size)*percent/100)), 1), maxFontSize)
	case s.scale > 0:
		s.scale = percentOf(float64(s.scale) * percent / 100)
	default:
		s.scale = percentOf(percent)
	}
}

func percentOf(x float64) int { return min(max(int(math.Round(x)), 1), maxFontSize) }

// twips are the units of lengths in twentieths of a point; a pixel is one of 96 to the inch.
var twips = map[string]float64{"pt": 20, "px": 15, "in": 1440, "cm": 1440 / 2.54, "mm": 144 / 2.54, "pc": 240}

// measure reads a number with its unit.
func measure(s string) (value float64, unit string, ok bool) {
	s = strings.TrimSpace(s)
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	value, err := strconv.ParseFloat(s[:i], 64)
	const most = 1e6
	return min(value, most), strings.TrimSpace(s[i:]), err == nil
}

// families are the generic names of fonts, "" where it says nothing.
var families = map[string]string{
	"serif": "Times New Roman", "sans-serif": "Arial", "monospace": "Courier New", "ui-monospace": "Courier New",
	"cursive": "", "fantasy": "", "system-ui": "", "inherit": "", "initial": "", "unset": "",
}

// family sets the font.
func (s *style) family(name string) {
	if generic, ok := families[strings.ToLower(name)]; ok {
		name = generic
	}
	if name == "" || len(name) > maxFontName || strings.ContainsFunc(name, notInFontName) {
		return
	}
	s.font = name
}

func notInFontName(r rune) bool {
	return r < ' ' || strings.ContainsRune(`<>&"'`, r) || r == '\uFFFD' || r == '\uFFFE' || r == '\uFFFF'
}

// setColor sets a color if the word is one. transparent does not change it.
func (s *style) setColor(of *string, word string) {
	if found, ok := parseColor(strings.ToLower(strings.TrimSpace(word))); ok {
		*of = found
	}
}

// parseColor reads #rgb, #rrggbb, both with a degree of transparency, rgb(…), rgba(…) or a name (CSS Color §5 and §6).
func parseColor(word string) (string, bool) {
	if c, ok := colornames.Map[word]; ok {
		return hex(c), true
	}
	if digits, ok := strings.CutPrefix(word, "#"); ok && strings.Trim(digits, "0123456789abcdef") == "" {
		switch len(digits) {
		case 3, 4:
			digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
		case 6, 8:
		default:
			return "", false
		}
		return strings.ToUpper(digits[:6]), true
	}
	_, arguments, ok := strings.Cut(word, "(")
	if !ok || !strings.HasPrefix(word, "rgb") {
		return "", false
	}
	parts := strings.FieldsFunc(arguments, func(r rune) bool { return strings.ContainsRune(" ,/)", r) })
	if len(parts) < 3 || len(parts) > 3 && strings.Trim(parts[3], "0.%") == "" {
		return "", false
	}
	var rgb [3]uint8
	for i := range rgb {
		value, unit, ok := measure(parts[i])
		if !ok {
			return "", false
		}
		if unit == "%" {
			value *= 2.55
		}
		rgb[i] = uint8(min(math.Round(value), 255))
	}
	return hex(color.RGBA{R: rgb[0], G: rgb[1], B: rgb[2]}), true
}

func hex(c color.RGBA) string {
	const digits = "0123456789ABCDEF"
	b := make([]byte, 0, 6)
	for _, v := range []uint8{c.R, c.G, c.B} {
		b = append(b, digits[v>>4], digits[v&15])
	}
	return string(b)
}

// lengthOf reads a width in the style or the attribute of an element: of tables, cells and columns.
func lengthOf(n *html.Node) length {
	for _, word := range []string{declared(n, "width"), attr(n, "width")} {
		value, unit, ok := measure(strings.ToLower(word))
		if unit == "" {
			unit = "px"
		}
		switch {
		case !ok || value <= 0:
		case unit == "%":
			return length{percent: min(int(math.Ceil(value)), 100)}
		case twips[unit] > 0:
			return length{twips: min(int(math.Ceil(value*twips[unit])), maxWidth)}
		}
	}
	return length{}
}

// maxWidth is Word's widest page in twentieths of a point.
const maxWidth = 31_680

// pictureSize returns the size of a picture element in absolute units. Other sizes are 0.
func pictureSize(n *html.Node) (width, height EMU) {
	for i, name := range []string{"width", "height"} {
		for _, word := range []string{declared(n, name), attr(n, name)} {
			value, unit, ok := measure(strings.ToLower(word))
			if unit == "" {
				unit = "px"
			}
			if !ok || value <= 0 || twips[unit] == 0 {
				continue
			}
			size := EMU(min(value*twips[unit], maxWidth) * 635)
			if i == 0 {
				width = size
			} else {
				height = size
			}
			break
		}
	}
	return width, height
}
