package fidelitytest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// Parameters of structural similarity from Z. Wang, A. C. Bovik, H. R. Sheikh, and E. P. Simoncelli, "Image Quality
// Assessment: From Error Visibility to Structural Similarity", IEEE Transactions on Image Processing 13 (4), 2004.
// The windows are square and unweighted.
const (
	window = 8          // width and height, in pixels
	step   = window / 2 // distance of adjacent windows

	white = 255
	c1    = (0.01 * white) * (0.01 * white)
	c2    = (0.03 * white) * (0.03 * white)

	maxPixels = 64 << 20 // of a page at 72 dpi
)

// A raster is a page at 72 dpi in grayscale. 0 is black.
type raster struct {
	width, height int
	points        []byte // nil for a missing page
}

// missing is the size of a missing page.
var missing = [2]int{}

func (r raster) size() [2]int { return [2]int{r.width, r.height} }

// A likeness is the similarity of the windows of some pages, weighted by their ink.
type likeness struct {
	sum, ink float64
	pixels   int // number of different pixels
}

func (l *likeness) add(o likeness) {
	l.sum += o.sum
	l.ink += o.ink
	l.pixels += o.pixels
}

// ssim returns the weighted mean, or 1 if there is no ink.
func (l *likeness) ssim() float64 {
	if l.ink == 0 {
		return 1
	}
	return l.sum / l.ink
}

// draw renders the pages of a document and sends them in order. It closes pages.
func draw(ctx context.Context, path string, pages chan<- raster) error {
	defer close(pages)
	return run(ctx, func(r io.Reader) error {
		in := bufio.NewReader(r)
		for {
			page, err := readRaster(in)
			if err != nil {
				return err
			}
			if page.points == nil {
				return nil
			}
			select {
			case pages <- page:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}, "pdftoppm", "-r", "72", "-gray", path)
}

// readRaster reads the next image from a stream of PGM images, as pdftoppm writes them. At the end, it returns a
// missing page.
func readRaster(in *bufio.Reader) (raster, error) {
	if _, err := in.Peek(1); errors.Is(err, io.EOF) {
		return raster{}, nil
	}
	var head []byte
	for range 3 {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return raster{}, fmt.Errorf("read the header of an image: %w", err)
		}
		head = append(head, line...)
	}
	var p raster
	if _, err := fmt.Sscanf(string(head), "P5\n%d %d\n255\n", &p.width, &p.height); err != nil {
		return raster{}, fmt.Errorf("invalid header of an image: %q", head)
	}
	if p.width < 1 || p.height < 1 || p.height > maxPixels/p.width {
		return raster{}, fmt.Errorf("unsupported page size of %d by %d points", p.width, p.height)
	}
	p.points = make([]byte, p.width*p.height)
	if _, err := io.ReadFull(in, p.points); err != nil {
		return raster{}, fmt.Errorf("read an image: %w", err)
	}
	return p, nil
}

// compareRasters compares the pages of two documents. Missing pages at the end of the shorter one are white.
func compareRasters(a, b <-chan raster) (pages []Page, ssim float64) {
	var all likeness
	for {
		pageA, pageB := <-a, <-b
		if pageA.points == nil && pageB.points == nil {
			return pages, all.ssim()
		}
		l := compare(pageA, pageB)
		all.add(l)
		pages = append(pages, Page{Number: len(pages) + 1, SSIM: l.ssim(), Pixels: l.pixels, sizeA: pageA.size(), sizeB: pageB.size()})
	}
}

// compare compares two pages, aligned at the top left corner of a canvas that fits both.
func compare(a, b raster) likeness {
	columns, rows := cells(max(a.width, b.width)), cells(max(a.height, b.height))
	a, b = a.on(columns*step, rows*step), b.on(columns*step, rows*step)
	grid := make([]sums, 0, columns*rows)
	for row := range rows {
		for column := range columns {
			grid = append(grid, sumsOf(a, b, column*step, row*step))
		}
	}
	var l likeness
	for row := range rows - 1 {
		for column := range columns - 1 {
			i := row*columns + column
			l.look(grid[i].plus(grid[i+1]).plus(grid[i+columns]).plus(grid[i+columns+1]))
		}
	}
	for i, p := range a.points {
		if p != b.points[i] {
			l.pixels++
		}
	}
	return l
}

// cells returns the number of cells of step pixels that cover a length, plus one: a window is two cells wide and two
// high, and a window starts at each cell of the page.
func cells(length int) int { return (length+step-1)/step + 1 }

// on returns the page on a white canvas, which must be large enough.
func (r raster) on(width, height int) raster {
	c := raster{width: width, height: height, points: bytes.Repeat([]byte{white}, width*height)}
	for y := range r.height {
		copy(c.points[y*width:], r.points[y*r.width:(y+1)*r.width])
	}
	return c
}

// sums are sums over the pixels of two pages in a part of the canvas: of the values, their squares, and their
// products.
type sums struct{ a, b, squaresA, squaresB, products int }

func sumsOf(a, b raster, x, y int) (s sums) {
	for row := y; row < y+step; row++ {
		start := row*a.width + x
		rowB := b.points[start : start+step]
		for i, p := range a.points[start : start+step] {
			p, q := int(p), int(rowB[i])
			s.a += p
			s.b += q
			s.squaresA += p * p
			s.squaresB += q * q
			s.products += p * q
		}
	}
	return s
}

func (s sums) plus(o sums) sums {
	return sums{s.a + o.a, s.b + o.b, s.squaresA + o.squaresA, s.squaresB + o.squaresB, s.products + o.products}
}

// look adds a window.
func (l *likeness) look(s sums) {
	const n = window * window
	ink := float64(n*white - min(s.a, s.b))
	meanA, meanB := float64(s.a)/n, float64(s.b)/n
	varA, varB := float64(s.squaresA)/n-meanA*meanA, float64(s.squaresB)/n-meanB*meanB
	covariance := float64(s.products)/n - meanA*meanB
	ssim := (2*meanA*meanB + c1) * (2*covariance + c2) / ((meanA*meanA + meanB*meanB + c1) * (varA + varB + c2))
	l.sum += ssim * ink
	l.ink += ink
}
