package fidelitytest

import (
	"bufio"
	"bytes"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawn returns a page with a square in one shade of gray.
func drawn(width, height, x, y, side int, grey byte) raster {
	r := raster{width: width, height: height, points: bytes.Repeat([]byte{white}, width*height)}
	for i := range side * side {
		r.points[(y+i/side)*width+x+i%side] = grey
	}
	return r
}

func TestSSIM(t *testing.T) {
	blank := drawn(100, 80, 0, 0, 0, 0)
	square := drawn(100, 80, 20, 20, 16, 0)
	tests := []struct {
		name      string
		a, b      raster
		low, high float64
		pixels    int
	}{
		{"missing and missing", raster{}, raster{}, 1, 1, 0},
		{"white and white", blank, blank, 1, 1, 0},
		{"white pages of different sizes", blank, drawn(60, 200, 0, 0, 0, 0), 1, 1, 0},
		{"white and missing", blank, raster{}, 1, 1, 0},
		{"the same", square, square, 1, 1, 0},
		{"the same on a larger page", square, drawn(300, 90, 20, 20, 16, 0), 1, 1, 0},
		{"a square and white", square, blank, 0, 0.01, 256},
		{"a square and missing", square, raster{}, 0, 0.01, 256},
		{"a large margin", drawn(1000, 1000, 20, 20, 16, 0), drawn(1000, 1000, 0, 0, 0, 0), 0, 0.01, 256},
		{"moved by a point", square, drawn(100, 80, 21, 20, 16, 0), 0.5, 0.99, 32},
		{"moved away", square, drawn(100, 80, 60, 20, 16, 0), 0, 0.01, 512},
		{"a little lighter", square, drawn(100, 80, 20, 20, 16, 20), 0.1, 0.999, 256},
		{"the last pixel", drawn(97, 79, 96, 78, 1, 254), drawn(97, 79, 0, 0, 0, 0), 0.9, 0.99999, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, l := range []likeness{compare(tt.a, tt.b), compare(tt.b, tt.a)} {
				if got := l.ssim(); got < tt.low || got > tt.high {
					t.Errorf("SSIM is %v, want %v to %v", got, tt.low, tt.high)
				}
				if l.pixels != tt.pixels {
					t.Errorf("%d pixels differ, want %d", l.pixels, tt.pixels)
				}
			}
		})
	}
}

// The score matches the formula of the paper, over the documented windows.
func TestSSIMIsTheFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grey := rapid.SampledFrom([]byte{0, 1, 128, 254, 255, 255})
		page := func(label string) raster {
			r := raster{width: rapid.IntRange(1, 20).Draw(t, label), height: rapid.IntRange(1, 20).Draw(t, label)}
			r.points = rapid.SliceOfN(grey, r.width*r.height, r.width*r.height).Draw(t, label)
			return r
		}
		a, b := page("a"), page("b")
		l := compare(a, b)
		if got, want := l.ssim(), formula(a, b); math.Abs(got-want) > 1e-9 {
			t.Fatalf("SSIM is %v, want %v", got, want)
		}
	})
}

func formula(a, b raster) float64 {
	at := func(r raster, x, y int) float64 {
		if x >= r.width || y >= r.height {
			return 255
		}
		return float64(r.points[y*r.width+x])
	}
	sum, inkOfAll := 0.0, 0.0
	for y0 := 0; y0 < max(a.height, b.height); y0 += 4 {
		for x0 := 0; x0 < max(a.width, b.width); x0 += 4 {
			var p, q [64]float64
			for i := range 64 {
				p[i], q[i] = at(a, x0+i%8, y0+i/8), at(b, x0+i%8, y0+i/8)
			}
			meanP, meanQ := mean(p), mean(q)
			luminance := (2*meanP*meanQ + 6.5025) / (meanP*meanP + meanQ*meanQ + 6.5025)
			rest := (2*covariance(p, q) + 58.5225) / (covariance(p, p) + covariance(q, q) + 58.5225)
			ink := 255 - min(meanP, meanQ)
			sum, inkOfAll = sum+ink*luminance*rest, inkOfAll+ink
		}
	}
	if inkOfAll == 0 {
		return 1
	}
	return sum / inkOfAll
}

func mean(p [64]float64) (m float64) {
	for _, x := range p {
		m += x / 64
	}
	return m
}

func covariance(p, q [64]float64) (c float64) {
	meanP, meanQ := mean(p), mean(q)
	for i := range p {
		c += (p[i] - meanP) * (q[i] - meanQ) / 64
	}
	return c
}

func TestReadRaster(t *testing.T) {
	in := bufio.NewReader(strings.NewReader("P5\n2 1\n255\n\n P5\n1 2\n255\n\x00\xff"))
	for _, want := range []raster{{2, 1, []byte("\n ")}, {1, 2, []byte("\x00\xff")}, {}} {
		got, err := readRaster(in)
		if err != nil || got.size() != want.size() || !bytes.Equal(got.points, want.points) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	}
}

func TestReadRasterRefuses(t *testing.T) {
	for name, stream := range map[string]string{
		"in color":      "P6\n1 1\n255\n\x00\x00\x00",
		"half a header": "P5\n1 1\n",
		"no size":       "P5\n0 5\n255\n",
		"negative size": "P5\n-1 -1\n255\n\x00",
		"16 bits":       "P5\n1 1\n65535\n\x00\x00",
		"too large":     "P5\n100000 100000\n255\n",
		"overflow":      "P5\n4294967296 4294967296\n255\n",
		"half a page":   "P5\n2 2\n255\n\x00\x00",
		"a long line":   "P5\n" + strings.Repeat("1", 1<<20) + " 1\n255\n",
		"anything else": "Syntax error",
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := readRaster(bufio.NewReader(strings.NewReader(stream))); err == nil {
				t.Errorf("reads a page of %v", r.size())
			}
		})
	}
}

func BenchmarkSSIM(b *testing.B) {
	x, y := drawn(595, 842, 50, 50, 500, 120), drawn(595, 842, 51, 50, 500, 120)
	b.SetBytes(int64(len(x.points)))
	for b.Loop() {
		compare(x, y)
	}
}
