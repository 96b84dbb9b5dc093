package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"

	"github.com/srwiley/oksvg"
	"github.com/srwiley/rasterx"
	"golang.org/x/image/math/fixed"

	"platen/budget"
)

const (
	// rasterScale is the number of pixels in the PNG for a pixel of a vector picture, and maxRasterSide the largest number on a side.
	rasterScale, maxRasterSide = 2, 1600
	// minRasterSide is the smallest that is tried.
	minRasterSide = 32

	// maxRasterWork bounds the drawing of one vector picture: in pixels, a line counting as many as lineWork; about a second.
	maxRasterWork, lineWork = 100_000_000, 50
	// shadedWork is the work of a gradient, as a multiple of that of a plain color.
	shadedWork = 20
	// workPerStep is the amount of work that counts as a step of the document.
	workPerStep = 50
)

var errComplicated = errors.New("is an SVG file too complicated to draw: save it as PNG")

// rasterize draws a vector picture that sanitize has cleaned, for people who cannot show it. It is drawn smaller if it is much
// work.
func rasterize(m *budget.Meter, svg []byte, width, height EMU) ([]byte, error) {
	icon, err := guarded(func() (*oksvg.SvgIcon, error) {
		return oksvg.ReadIconStream(bytes.NewReader(svg), oksvg.IgnoreErrorMode)
	})
	if err != nil || !(icon.ViewBox.W > 0 && icon.ViewBox.H > 0) {
		return nil, errComplicated
	}
	pixels := func(n EMU) float64 { return float64(n) / float64(inch) * defaultDPI * rasterScale }
	w, h := pixels(width), pixels(height)
	paths := 2 * max(len(icon.SVGPaths), 1) // each may be filled and have a line
	shrink := max(1, max(w, h)/maxRasterSide, math.Sqrt(w*h*float64(paths)/maxRasterWork))
	for w, h = w/shrink, h/shrink; ; w, h = w/4, h/4 {
		if err := m.Draw(whole(math.Ceil(w)), whole(math.Ceil(h))); err != nil {
			return nil, err
		}
		drawn := &meter{budget: m}
		image, err := guarded(func() (image.Image, error) {
			return drawSVG(icon, drawn, whole(math.Ceil(w)), whole(math.Ceil(h))), nil
		})
		if drawn.ended != nil {
			return nil, drawn.ended
		}
		if err == nil {
			var out bytes.Buffer
			if err := png.Encode(&out, image); err != nil {
				return nil, fmt.Errorf("is an SVG file that cannot be converted: %w", err)
			}
			return out.Bytes(), nil
		}
		if max(w, h) < minRasterSide {
			return nil, errComplicated
		}
	}
}

func drawSVG(icon *oksvg.SvgIcon, s *meter, w, h int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	box := icon.ViewBox
	scale := min(float64(w)/box.W, float64(h)/box.H) // preserveAspectRatio, xMidYMid meet
	icon.Transform = rasterx.Matrix2D{
		A: scale, D: scale, E: (float64(w)-box.W*scale)/2 - box.X*scale, F: (float64(h)-box.H*scale)/2 - box.Y*scale,
	}
	s.Scanner, s.pixels = rasterx.NewScannerGV(w, h, m, m.Bounds()), w*h
	icon.Draw(rasterx.NewDasher(w, h, s), 1)
	return m
}

// meter is a scanner that panics when a picture is too much work.
type meter struct {
	rasterx.Scanner
	pixels int
	shaded bool
	work   int
	budget *budget.Meter
	ended  error // of the budget
}

func (m *meter) spend(n int) {
	if m.work += n; m.work > maxRasterWork {
		panic(errComplicated)
	}
	if m.ended = m.budget.Spend(n / workPerStep); m.ended != nil {
		panic(m.ended)
	}
}

// Line counts the lines. Curves and dashes may become very many.
func (m *meter) Line(b fixed.Point26_6) {
	m.spend(lineWork)
	m.Scanner.Line(b)
}

// SetColor notes whether the next path has one color.
func (m *meter) SetColor(color any) {
	_, m.shaded = color.(rasterx.ColorFunc)
	m.Scanner.SetColor(color)
}

// Draw draws a path, which looks at all pixels of the picture.
func (m *meter) Draw() {
	n := m.pixels
	if m.shaded {
		n *= shadedWork
	}
	m.spend(n)
	m.Scanner.Draw()
}
