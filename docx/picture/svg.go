package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"io"
	"strconv"
	"strings"

	"github.com/srwiley/oksvg"
	"github.com/srwiley/rasterx"
)

const (
	// maxSVG is how many bytes a drawing may have.
	maxSVG = 4 << 20
	// maxRaster is how many pixels the fallback of a drawing has.
	maxRaster = 4_000_000
	// rasterScale is how many pixels of the fallback are one of the drawing.
	rasterScale = 2
	// maxSVGDepth is how deep the elements of a drawing may lie in each other.
	maxSVGDepth = 200
	// maxSVGSide is how long a side of a drawing may be, in its pixels.
	maxSVGSide = 100_000
)

// isSVG tells whether a file is a drawing, by its first element.
func isSVG(data []byte) bool {
	head := bytes.TrimLeft(bytes.TrimPrefix(data[:min(len(data), 1024)], []byte("\uFEFF")), " \t\r\n")
	if bytes.HasPrefix(head, []byte("<svg")) {
		return true
	}
	return (bytes.HasPrefix(head, []byte("<?xml")) || bytes.HasPrefix(head, []byte("<!"))) && bytes.Contains(data[:min(len(data), 4096)], []byte("<svg"))
}

// drawing is what is known of an SVG file.
type drawing struct {
	width, height float64 // in pixels of 96 to the inch
	safe          bool    // it neither runs nor fetches anything
}

// prepareSVG draws a PNG of an SVG file. The file itself comes along if it is safe: without scripts and references
// to elsewhere.
func prepareSVG(data []byte) (*Picture, error) {
	if len(data) > maxSVG {
		return nil, fmt.Errorf("the drawing has %d bytes, more than the limit of %d", len(data), maxSVG)
	}
	d, err := readSVG(data)
	if err != nil {
		return nil, err
	}
	raster, err := d.raster(data)
	if err != nil {
		return nil, err
	}
	p := &Picture{
		Data: raster, Extension: "png", ContentType: "image/png",
		Width: max(EMU(d.width*inch/screenDPI), 1), Height: max(EMU(d.height*inch/screenDPI), 1),
	}
	if d.safe {
		p.SVG = data
	}
	return p, nil
}

// readSVG reads a drawing through, for its size and whether it is safe.
func readSVG(data []byte) (drawing, error) {
	d := drawing{safe: true}
	decoder := xml.NewDecoder(bytes.NewReader(data))
	for depth := 0; ; {
		tok, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return d, fmt.Errorf("the drawing is not well formed: %w", err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if depth++; depth > maxSVGDepth {
				return d, fmt.Errorf("the drawing is nested deeper than %d", maxSVGDepth)
			}
			if depth == 1 {
				d.size(tok)
			}
			d.judge(tok)
		case xml.EndElement:
			depth--
		case xml.Directive:
			d.safe = d.safe && !bytes.Contains(tok, []byte("ENTITY"))
		case xml.CharData:
			d.safe = d.safe && !bytes.Contains(tok, []byte("@import")) && !refersElsewhere(string(tok))
		case xml.ProcInst:
			d.safe = d.safe && tok.Target == "xml"
		}
	}
	if d.width <= 0 || d.height <= 0 || d.width > maxSVGSide || d.height > maxSVGSide {
		return d, errors.New("the drawing has no size that can be shown")
	}
	return d, nil
}

// size takes the size of the drawing from its root element: width and height, or else the viewBox.
func (d *drawing) size(root xml.StartElement) {
	var box [4]float64
	for _, a := range root.Attr {
		switch a.Name.Local {
		case "width":
			d.width = svgLength(a.Value)
		case "height":
			d.height = svgLength(a.Value)
		case "viewBox":
			for i, field := range strings.FieldsFunc(a.Value, func(r rune) bool { return r == ' ' || r == ',' }) {
				if n, err := strconv.ParseFloat(field, 64); err == nil && i < len(box) {
					box[i] = n
				}
			}
		}
	}
	switch {
	case box[2] <= 0 || box[3] <= 0:
	case d.width <= 0 && d.height <= 0:
		d.width, d.height = box[2], box[3]
	case d.width <= 0:
		d.width = d.height * box[2] / box[3]
	case d.height <= 0:
		d.height = d.width * box[3] / box[2]
	}
}

// svgUnits are the units of lengths, in pixels.
var svgUnits = map[string]float64{
	"": 1, "px": 1, "pt": 96.0 / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4,
}

// svgLength reads a length; one in percent is none.
func svgLength(s string) float64 {
	s = strings.TrimSpace(s)
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz%")
	n, err := strconv.ParseFloat(digits, 64)
	unit, ok := svgUnits[s[len(digits):]]
	if err != nil || !ok {
		return 0
	}
	return n * unit
}

// judge finds what a drawing should not do.
func (d *drawing) judge(e xml.StartElement) {
	switch e.Name.Local {
	case "script", "foreignObject", "iframe", "object", "embed":
		d.safe = false
	}
	for _, a := range e.Attr {
		name, value := strings.ToLower(a.Name.Local), strings.TrimSpace(a.Value)
		switch {
		case strings.HasPrefix(name, "on"), name == "href" && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "data:image/"), refersElsewhere(value):
			d.safe = d.safe && a.Name.Space == "xmlns"
		}
	}
}

// refersElsewhere tells whether CSS refers to something outside of the drawing.
func refersElsewhere(css string) bool {
	for rest := css; ; {
		i := strings.Index(rest, "url(")
		if i < 0 {
			return false
		}
		rest = rest[i+len("url("):]
		target := strings.TrimLeft(rest, " '\"")
		if !strings.HasPrefix(target, "#") && !strings.HasPrefix(target, "data:image/") {
			return true
		}
	}
}

// raster draws the drawing. The library panics on some input.
func (d *drawing) raster(data []byte) (out []byte, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			out, err = nil, fmt.Errorf("the drawing cannot be drawn: %v", fault)
		}
	}()
	icon, err := oksvg.ReadIconStream(bytes.NewReader(data), oksvg.IgnoreErrorMode)
	if err != nil {
		return nil, fmt.Errorf("the drawing cannot be drawn: %w", err)
	}
	scale := float64(rasterScale)
	for d.width*d.height*scale*scale > maxRaster {
		scale /= 2
	}
	width, height := max(int(d.width*scale), 1), max(int(d.height*scale), 1)
	icon.SetTarget(0, 0, float64(width), float64(height))
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	icon.Draw(rasterx.NewDasher(width, height, rasterx.NewScannerGV(width, height, img, img.Bounds())), 1)
	return encodePNG(img)
}
