package raster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"platen/pdf"
	"platen/pdf/finish"
	"platen/pdf/office"
	"platen/pdf/pages"
	"platen/pdf/raster"
)

func TestMain(m *testing.M) {
	office.Worker(os.Args)
	raster.Worker(os.Args)
	if len(os.Args) > 1 && os.Args[1] == "-q" { // the worker has become this program instead of pdftoppm
		misbehave()
	}
	os.Exit(m.Run())
}

// newRasterizer returns a Rasterizer that uses this binary as its workers.
func newRasterizer(tb testing.TB, cfg raster.Config) *raster.Rasterizer {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cfg.Worker = self
	r := raster.New(cfg)
	if err := r.Available(); err != nil {
		tb.Skip(err)
	}
	return r
}

func selection(tb testing.TB, text string) pages.Selection {
	tb.Helper()
	s, err := pages.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// draw returns the drawn pages.
func draw(tb testing.TB, r *raster.Rasterizer, document []byte, o raster.Options) (drawn []raster.Page, err error) {
	tb.Helper()
	err = r.Draw(tb.Context(), document, o, func(p raster.Page) error {
		drawn = append(drawn, p)
		return nil
	})
	return drawn, err
}

func TestPages(t *testing.T) {
	r := newRasterizer(t, raster.Config{})
	five := letters(100, 200, 5)
	for _, c := range []struct {
		pages string
		dpi   int
		want  string
	}{
		{"", 0, "1 134x267, 2 134x267, 3 134x267, 4 134x267, 5 134x267"},
		{"2", 72, "2 100x200"},
		{"1-2,5", 72, "1 100x200, 2 100x200, 5 100x200"},
		{"4-", 144, "4 200x400, 5 200x400"},
	} {
		t.Run(fmt.Sprintf("%q at %d dpi", c.pages, c.dpi), func(t *testing.T) {
			drawn, err := draw(t, r, five, raster.Options{Pages: selection(t, c.pages), DPI: c.dpi})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range drawn {
				got = append(got, fmt.Sprintf("%d %dx%d", p.Number, p.Width, p.Height))
				drawing, err := png.Decode(bytes.NewReader(p.PNG))
				if err != nil {
					t.Fatal(err)
				}
				if size := drawing.Bounds().Size(); size.X != p.Width || size.Y != p.Height {
					t.Errorf("page %d is %v", p.Number, size)
				}
				// The bar of page n begins at n/10 of the height from the top.
				if red, _, _, _ := drawing.At(p.Width/2, p.Height*(2*p.Number+1)/20).RGBA(); red != 0 {
					t.Errorf("the bar of page %d is missing: this is another page", p.Number)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %s, want %s", strings.Join(got, ", "), c.want)
			}
		})
	}
}

// Sizes before drawing and those of images agree for pages that are cropped and rotated.
func TestCroppedAndRotated(t *testing.T) {
	r := newRasterizer(t, raster.Config{MaxPixels: 100 * 50})
	document := document("/MediaBox [0 0 1000 1000] /CropBox [10 10 60 110] /Rotate 90", []string{bar(1, 1000)})
	drawn, err := draw(t, r, document, raster.Options{DPI: 72})
	if err != nil || len(drawn) != 1 || drawn[0].Width != 100 || drawn[0].Height != 50 {
		t.Errorf("%v, %v; want a page of 100 x 50 pixels", drawn, err)
	}
}

func TestErrors(t *testing.T) {
	r := newRasterizer(t, raster.Config{MaxPages: 3, MaxPixels: 1_000_000, MaxBytes: 100_000})
	five := letters(100, 200, 5)
	encrypted, err := finish.Encrypt(five, finish.Protection{UserPassword: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		document []byte
		options  raster.Options
		want     string
	}{
		"too many pages": {five, raster.Options{}, "*raster.LimitError: The document has 5 selected pages, more than the 3"},
		"a missing page": {
			five, raster.Options{Pages: selection(t, "2,6-7")},
			"*pages.MissingError: the document has only 5 pages: there is no page 6",
		},
		"a wrong resolution": {five, raster.Options{DPI: 601}, "*errors.errorString: the resolution of page images must be from 10 to 600"},
		"a high resolution": {
			letters(842, 1190, 1), raster.Options{DPI: 72}, "*raster.LimitError: Page 1 would have 842 x 1190 pixels, more than the 1000000",
		},
		"a huge page":       {letters(1e6, 1e6, 1), raster.Options{DPI: 10}, "*raster.LimitError: Page 1 would have 138889 x 138889 pixels"},
		"a page of no size": {letters(0, 100, 1), raster.Options{}, "*finish.BrokenError: the PDF cannot be read: a page has no size"},
		"a password":        {encrypted, raster.Options{}, "*finish.BrokenError: the PDF cannot be read: it is encrypted"},
		"not a PDF":         {[]byte("hello"), raster.Options{}, "*finish.BrokenError: the PDF cannot be read: it does not start"},
		"nothing":           {nil, raster.Options{}, "*finish.BrokenError: the PDF cannot be read: it does not start"},
		"an image of noise": {noise(), raster.Options{DPI: 72}, "*raster.LimitError: The image of page 1 is too large"},
	} {
		t.Run(name, func(t *testing.T) {
			drawn, err := draw(t, r, c.document, c.options)
			if got := fmt.Sprintf("%T: %v", err, err); !strings.HasPrefix(got, c.want) || len(drawn) > 0 {
				t.Errorf("%d pages, %s; want %s", len(drawn), got, c.want)
			}
		})
	}
}

func TestUnavailable(t *testing.T) {
	r := raster.New(raster.Config{Program: filepath.Join(t.TempDir(), "pdftoppm")})
	err := r.Draw(t.Context(), letters(100, 100, 1), raster.Options{}, nil)
	unavailable, ok := errors.AsType[*pdf.UnavailableError](err)
	if !ok || !strings.Contains(unavailable.Reason, "apt-get install poppler-utils") || r.Available() == nil {
		t.Errorf("%v, want how to install it", err)
	}
}

// The error of the caller ends the drawing.
func TestCallerStops(t *testing.T) {
	r := newRasterizer(t, raster.Config{})
	enough, n := errors.New("enough"), 0
	err := r.Draw(t.Context(), letters(100, 100, 50), raster.Options{}, func(p raster.Page) error {
		if n++; n == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || n != 2 {
		t.Errorf("%v after %d pages, want the error of the caller after 2", err, n)
	}
}

func TestCanceled(t *testing.T) {
	r := newRasterizer(t, raster.Config{})
	why := errors.New("the client has left")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := r.Draw(ctx, letters(100, 100, 50), raster.Options{}, func(raster.Page) error {
		cancel(why)
		return nil
	})
	if !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
}

// Pages that would take forever, or more memory than there is, end with an error for their author.
func TestEndless(t *testing.T) {
	curves := document("/MediaBox [0 0 2000 2000]", []string{strings.Repeat("0 0 m 2000 0 2000 2000 0 0 c 9 w S\n", 300_000)})
	for name, c := range map[string]struct {
		document []byte
		cfg      raster.Config
		want     string
	}{
		"time":   {curves, raster.Config{Deadline: time.Second}, "Drawing the pages took longer than 1s."},
		"memory": {letters(1400, 1400, 1), raster.Config{Memory: 32 << 20}, "Page 1 of the PDF cannot be drawn, or needs too much memory"},
		"bombs":  {bombs(), raster.Config{Deadline: time.Second}, ""}, // a limit of the time or of the memory, whichever comes first
	} {
		t.Run(name, func(t *testing.T) {
			drawn, err := draw(t, newRasterizer(t, c.cfg), c.document, raster.Options{DPI: 200})
			if _, ok := errors.AsType[*pdf.DocumentError](err); !ok || len(drawn) > 0 || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d pages, %T: %v; want %s", len(drawn), err, err, c.want)
			}
		})
	}
}

// An image of a size that it does not have is left out of the page, or ends the drawing.
func TestDamagedImage(t *testing.T) {
	drawn, err := draw(t, newRasterizer(t, raster.Config{Deadline: 2 * time.Second}), hugeJBIG2(), raster.Options{})
	if _, ok := errors.AsType[*pdf.DocumentError](err); !ok && (err != nil || len(drawn) != 1) {
		t.Errorf("%d pages, %v; want a page, or a DocumentError", len(drawn), err)
	}
}
