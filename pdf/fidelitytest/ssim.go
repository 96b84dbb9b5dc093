package fidelitytest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// The structural similarity of Z. Wang, A. C. Bovik, H. R. Sheikh and E. P. Simoncelli, "Image Quality Assessment: From
// Error Visibility to Structural Similarity", IEEE Transactions on Image Processing 13 (4), 2004, with its constants, over
// square windows whose points count alike.
const (
	window = 8          // points wide and high
	step   = window / 2 // from one window to the next

	white = 255
	c1    = (0.01 * white) * (0.01 * white)
	c2    = (0.03 * white) * (0.03 * white)

	maxPixels = 64 << 20 // of a page at 72 dpi
)

// A raster is a page at 72 dpi in shades of grey, 0 for black.
type raster struct {
	width, height int
	points        []byte // nil of a page that is missing
}

// missing is the size of a page that is not there.
var missing = [2]int{}

func (r raster) size() [2]int { return [2]int{r.width, r.height} }

// A likeness is how alike the windows of some pages are, each counting as much as there is ink in it.
type likeness struct {
	sum, ink float64
	pixels   int // that are not the same
}

func (l *likeness) add(o likeness) {
	l.sum += o.sum
	l.ink += o.ink
	l.pixels += o.pixels
}

// ssim is 1 when there is no ink.
func (l *likeness) ssim() float64 {
	if l.ink == 0 {
		return 1
	}
	return l.sum / l.ink
}

// draw sends the pages of a document, one after the other.
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

// readRaster reads the next picture of a stream of them in the format PGM, as pdftoppm writes it. At the end there is a page
// that is missing.
func readRaster(in *bufio.Reader) (raster, error) {
	if _, err := in.Peek(1); errors.Is(err, io.EOF) {
		return raster{}, nil
	}
	var head []byte
	for range 3 {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return raster{}, fmt.Errorf("head of a picture: %w", err)
		}
		head = append(head, line...)
	}
	var p raster
	if _, err := fmt.Sscanf(string(head), "P5\n%d %d\n255\n", &p.width, &p.height); err != nil {
		return raster{}, fmt.Errorf("head of a picture: %q", head)
	}
	if p.width < 1 || p.height < 1 || p.height > maxPixels/p.width {
		return raster{}, fmt.Errorf("a page of %d by %d points", p.width, p.height)
	}
	p.points = make([]byte, p.width*p.height)
	if _, err := io.ReadFull(in, p.points); err != nil {
		return raster{}, fmt.Errorf("a picture: %w", err)
	}
	return p, nil
}

// compareRasters compares the pages of two documents. What is missing at the end of the shorter one is white.
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

// compare compares two pages on a canvas on which both have room, at its top left corner.
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

// cells is how many cells of step points cover a length, and one more: a window is two wide and two high, and one begins with
// each cell of the page.
func cells(length int) int { return (length+step-1)/step + 1 }

// on returns a page on a white canvas that has room for it.
func (r raster) on(width, height int) raster {
	c := raster{width: width, height: height, points: bytes.Repeat([]byte{white}, width*height)}
	for y := range r.height {
		copy(c.points[y*width:], r.points[y*r.width:(y+1)*r.width])
	}
	return c
}

// sums are those of the points of two pages in some part of the canvas, of their squares and of their products.
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
