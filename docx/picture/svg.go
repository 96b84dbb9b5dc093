package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"platen/budget"
)

const (
	// maxSVGBytes, maxSVGElements and maxSVGDepth bound vector pictures, which are read as trees wherever they are shown.
	maxSVGBytes, maxSVGElements, maxSVGDepth = 8 << 20, 100_000, 200
	// svgPerStep is the number of bytes that are read for one step.
	svgPerStep = 10
	// maxSVGProlog is the maximum number of bytes before the root element.
	maxSVGProlog = 64 << 10

	svgNamespace   = "http://www.w3.org/2000/svg"
	xlinkNamespace = "http://www.w3.org/1999/xlink"
	xmlNamespace   = "http://www.w3.org/XML/1998/namespace"

	// The size of a picture that says nothing (CSS 2.1, 10.3.2), in pixels.
	defaultSVGWidth, defaultSVGHeight = 300, 150
)

// svgElements are the elements that draw, and cannot do more: no scripts, no foreign content, no animation (which can set
// addresses), no fonts from elsewhere.
var svgElements = set("svg g defs symbol use switch title desc a style path rect circle ellipse line polyline polygon text " +
	"tspan textPath image marker pattern clipPath mask linearGradient radialGradient stop filter feBlend feColorMatrix " +
	"feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood " +
	"feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight " +
	"feSpecularLighting feSpotLight feTile feTurbulence")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		m[word] = true
	}
	return m
}

// looksLikeSVG reports whether the first element of data is called svg.
func looksLikeSVG(data []byte) bool {
	head := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(head) == 0 || head[0] != '<' {
		return false
	}
	root, err := svgRoot(xml.NewDecoder(bytes.NewReader(head[:min(len(head), maxSVGProlog)])))
	return err == nil && root.Name.Local == "svg"
}

// svgRoot reads up to the root element.
func svgRoot(d *xml.Decoder) (xml.StartElement, error) {
	for {
		token, err := d.Token()
		if err != nil {
			return xml.StartElement{}, err
		}
		if e, ok := token.(xml.StartElement); ok {
			return e, nil
		}
	}
}

func inspectSVG(data []byte) (Info, error) {
	if len(data) > maxSVGBytes {
		return Info{}, fmt.Errorf("is an SVG file larger than %d MB", maxSVGBytes>>20)
	}
	root, err := svgRoot(xml.NewDecoder(bytes.NewReader(data)))
	if err != nil {
		return Info{}, cutOff(SVG)
	}
	width, height := svgSize(root)
	return Info{Kind: SVG, Width: whole(width), Height: whole(height)}, nil
}

// whole rounds a length to a whole number, of at least 1.
func whole(x float64) int { return int(min(max(math.Round(x), 1), math.MaxInt32)) }

// svgSize returns the size of a picture in pixels: its width and height, or else those of its viewBox.
func svgSize(root xml.StartElement) (width, height float64) {
	var box []float64
	for _, a := range root.Attr {
		switch {
		case a.Name.Space != "":
		case a.Name.Local == "width":
			width = svgLength(a.Value)
		case a.Name.Local == "height":
			height = svgLength(a.Value)
		case a.Name.Local == "viewBox":
			box = svgNumbers(a.Value)
		}
	}
	boxed := len(box) == 4 && box[2] > 0 && box[3] > 0
	switch {
	case width > 0 && height > 0:
	case boxed && width > 0:
		height = width * box[3] / box[2]
	case boxed && height > 0:
		width = height * box[2] / box[3]
	case boxed:
		width, height = box[2], box[3]
	case width > 0:
		height = defaultSVGHeight
	case height > 0:
		width = defaultSVGWidth
	default:
		width, height = defaultSVGWidth, defaultSVGHeight
	}
	return width, height
}

// svgUnits are the absolute units of CSS in pixels; an em is taken for that of 16 pixels.
var svgUnits = map[string]float64{
	"": 1, "px": 1, "pt": 96.0 / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6, "em": 16, "rem": 16, "ex": 8,
}

// svgLength returns a length in pixels; 0 if it is not one, or relative to something unknown.
func svgLength(s string) float64 {
	s = strings.ToLower(strings.TrimSpace(s))
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz%")
	unit, ok := svgUnits[s[len(digits):]]
	x, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !ok || err != nil || !(x > 0) || math.IsInf(x, 0) {
		return 0
	}
	return x * unit
}

func svgNumbers(s string) []float64 {
	var all []float64
	for _, field := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' }) {
		x, err := strconv.ParseFloat(field, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return nil
		}
		all = append(all, x)
	}
	return all
}

func prepareSVG(m *budget.Meter, data []byte, p *Picture) (*Picture, error) {
	if err := m.Spend(2 * len(data) / svgPerStep); err != nil {
		return nil, err
	}
	clean, err := sanitize(data, false)
	if err != nil {
		return nil, err
	}
	drawable, err := sanitize(data, true)
	if err != nil {
		return nil, err
	}
	p.Kind, p.SVG = PNG, clean
	if p.Data, err = rasterize(m, drawable, p.Width, p.Height); err != nil {
		return nil, err
	}
	return p, nil
}

// cleaner writes an SVG file again with only what draws.
type cleaner struct {
	out      bytes.Buffer
	depth    int
	skip     int  // the depth of an element that is left out, or 0
	defs     int  // that are open
	forPNG   bool // the result is for rasterize
	style    bool // inside a style element
	elements int
}

// sanitize returns an SVG file without scripts, external references, and elements of other languages. References
// within the file, and pictures in data URIs, stay.
func sanitize(data []byte, forPNG bool) ([]byte, error) {
	c := cleaner{forPNG: forPNG}
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return c.out.Bytes(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("is an SVG file that cannot be read: %w", err)
		}
		if err := c.token(token); err != nil {
			return nil, err
		}
	}
}

func (c *cleaner) token(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		if c.depth++; c.depth > maxSVGDepth {
			return fmt.Errorf("is an SVG file with elements nested more than %d deep", maxSVGDepth)
		}
		if c.elements++; c.elements > maxSVGElements {
			return fmt.Errorf("is an SVG file with more than %d elements", maxSVGElements)
		}
		if c.skip == 0 && !c.keeps(t) {
			c.skip = c.depth
		}
		if c.skip == 0 {
			c.start(t)
		}
	case xml.EndElement:
		if c.skip == 0 {
			c.end(t)
		}
		if c.skip == c.depth {
			c.skip = 0
		}
		c.depth--
	case xml.CharData:
		if c.skip == 0 && c.depth > 0 && !(c.style && !isHarmless(string(t))) {
			escapeXML(&c.out, c.value(string(t)))
		}
	}
	return nil
}

// keeps reports whether an element stays. rasterize follows uses without an end in definitions.
func (c *cleaner) keeps(e xml.StartElement) bool {
	if e.Name.Space != svgNamespace && e.Name.Space != "" || !svgElements[e.Name.Local] {
		return false
	}
	return !(c.forPNG && e.Name.Local == "use" && c.defs > 0)
}

func (c *cleaner) start(e xml.StartElement) {
	c.out.WriteString("<" + e.Name.Local)
	if c.depth == 1 {
		c.out.WriteString(` xmlns="` + svgNamespace + `" xmlns:xlink="` + xlinkNamespace + `"`)
	}
	if c.depth == 1 && c.forPNG {
		c.out.WriteString(` viewBox="` + viewBox(e) + `"`)
	}
	if e.Name.Local == "rect" && c.forPNG {
		e.Attr = rounded(e.Attr)
	}
	for _, a := range e.Attr {
		if name := c.attrName(e.Name.Local, a); name != "" {
			c.out.WriteString(" " + name + `="`)
			escapeXML(&c.out, c.value(a.Value))
			c.out.WriteByte('"')
		}
	}
	c.out.WriteByte('>')
	switch e.Name.Local {
	case "defs":
		c.defs++
	case "style":
		c.style = true
	}
}

func (c *cleaner) end(e xml.EndElement) {
	c.out.WriteString("</" + e.Name.Local + ">")
	switch e.Name.Local {
	case "defs":
		c.defs--
	case "style":
		c.style = false
	}
}

// attrName returns the name with which to write an attribute, or "" to remove it.
func (c *cleaner) attrName(element string, a xml.Attr) string {
	name := a.Name.Local
	switch {
	case a.Name.Space == xmlNamespace && (name == "space" || name == "lang"):
		return "xml:" + name
	case name == "href" && (a.Name.Space == xlinkNamespace || a.Name.Space == ""):
		if !isInner(element, a.Value) {
			return ""
		}
		if a.Name.Space == "" {
			return name
		}
		return "xlink:href"
	case a.Name.Space != "" || name == "xmlns" || strings.HasPrefix(strings.ToLower(name), "on") || !isHarmless(a.Value):
		return ""
	case c.forPNG && (name == dashOffset || c.depth == 1 && (name == "width" || name == "height" || name == "viewBox")):
		return ""
	}
	return name
}

// rounded adds the second radius to a rectangle with one radius (SVG 1.1, 9.2), which rasterize does not infer.
func rounded(attrs []xml.Attr) []xml.Attr {
	find := func(name string) int {
		return slices.IndexFunc(attrs, func(a xml.Attr) bool { return a.Name.Space == "" && a.Name.Local == name })
	}
	x, y := find("rx"), find("ry")
	switch {
	case x >= 0 && y < 0:
		return append(slices.Clip(attrs), xml.Attr{Name: xml.Name{Local: "ry"}, Value: attrs[x].Value})
	case y >= 0 && x < 0:
		return append(slices.Clip(attrs), xml.Attr{Name: xml.Name{Local: "rx"}, Value: attrs[y].Value})
	}
	return attrs
}

// dashOffset is the property that rasterize follows step by step, however large it is.
const dashOffset = "stroke-dashoffset"

// value returns the value with which to write an attribute.
func (c *cleaner) value(s string) string {
	if c.forPNG {
		return strings.ReplaceAll(s, dashOffset, "x")
	}
	return s
}

// viewBox returns the part of its plane that a picture shows.
func viewBox(root xml.StartElement) string {
	for _, a := range root.Attr {
		if box := svgNumbers(a.Value); a.Name.Local == "viewBox" && len(box) == 4 && box[2] > 0 && box[3] > 0 {
			return fmt.Sprintf("%g %g %g %g", box[0], box[1], box[2], box[3])
		}
	}
	width, height := svgSize(root)
	return fmt.Sprintf("0 0 %g %g", width, height)
}

// isInner reports whether a reference leads to the same file, or is a picture itself.
func isInner(element, address string) bool {
	address = strings.ToLower(strings.TrimSpace(address))
	if strings.HasPrefix(address, "#") {
		return true
	}
	for _, kind := range []string{"png", "jpeg", "jpg", "gif"} {
		if element == "image" && strings.HasPrefix(address, "data:image/"+kind) {
			return true
		}
	}
	return false
}

// isHarmless reports whether a value or a style sheet refers to nothing outside of the file.
func isHarmless(s string) bool {
	s = strings.ToLower(s)
	if strings.ContainsAny(s, `\@`) || strings.Contains(s, "script:") || strings.Contains(s, "expression(") ||
		strings.Contains(s, "image(") || strings.Contains(s, "/*") {
		return false
	}
	for {
		_, rest, ok := strings.Cut(s, "url(")
		if !ok {
			return !strings.Contains(s, "src(") && !strings.Contains(s, "image-set(")
		}
		if !strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n\"'"), "#") {
			return false
		}
		s = rest
	}
}

func escapeXML(b *bytes.Buffer, s string) {
	if err := xml.EscapeText(b, []byte(s)); err != nil {
		panic(err) // a Buffer takes everything
	}
}
