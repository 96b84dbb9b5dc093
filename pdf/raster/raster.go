// Package raster draws the pages of PDFs as PNG images, with pdftoppm of poppler.
//
// Every call of [Rasterizer.Draw] starts a process for each range of pages. Before it executes pdftoppm, it takes
// everything from itself that drawing does not need: the network, other processes, files other than fonts and system
// libraries, more memory and processor time than its limits. It reads the PDF from a pipe and writes the images to
// another, one after another, so that only one image is in memory.
package raster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"time"

	"platen/pdf"
	"platen/pdf/finish"
	"platen/pdf/internal/confine"
	"platen/pdf/pages"
)

// Install explains how to install pdftoppm.
const Install = "Install poppler (Debian and Ubuntu: apt-get install poppler-utils)."

// Resolutions, in dots per inch.
const (
	MinDPI     = 10
	MaxDPI     = 600
	DefaultDPI = 96
)

// Config configures a Rasterizer. Zero values mean the defaults.
type Config struct {
	// Worker is the path of a program whose main first calls [Worker]: usually this one.
	Worker string
	// Program is the path of pdftoppm. The default is the one on the PATH.
	Program string

	MaxPages  int           // of one call; 100 if 0
	MaxPixels int           // of one page; 36,000,000 if 0: A4 at 600 dots per inch
	MaxBytes  int           // of all images of one call; 256 MiB if 0
	Memory    uint64        // of the process, in bytes, in addition to the PDF; 512 MiB if 0
	Deadline  time.Duration // for one call, including the time that the caller takes for the images; 60 s if 0

	// RequireSandbox makes calls fail if a part of the sandbox is missing.
	RequireSandbox bool
}

// Defaults of Config.
const (
	DefaultMaxPages  = 100
	DefaultMaxPixels = 36_000_000
	DefaultMaxBytes  = 256 << 20
	DefaultMemory    = 512 << 20
	DefaultDeadline  = 60 * time.Second
)

// Rasterizer draws pages. It is safe for concurrent use. It does not limit the number of calls at once: that is up to
// the caller.
type Rasterizer struct {
	cfg     Config
	program string // absolute path, without symbolic links; "" if it is not installed
	absent  error
}

// Options choose pages and their resolution.
type Options struct {
	Pages pages.Selection // all if empty
	DPI   int             // 96 if 0
}

// Page is the image of a page.
type Page struct {
	Number        int // from 1
	Width, Height int // in pixels
	PNG           []byte
}

// LimitError reports a document or a selection that exceeds a limit.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return e.Reason }

// New returns a Rasterizer. If pdftoppm is not installed, New succeeds, and all calls fail with a
// *[pdf.UnavailableError].
func New(cfg Config) *Rasterizer {
	cfg.MaxPages, cfg.MaxPixels = cmp.Or(cfg.MaxPages, DefaultMaxPages), cmp.Or(cfg.MaxPixels, DefaultMaxPixels)
	cfg.MaxBytes, cfg.Memory = cmp.Or(cfg.MaxBytes, DefaultMaxBytes), cmp.Or(cfg.Memory, DefaultMemory)
	cfg.Deadline = cmp.Or(cfg.Deadline, DefaultDeadline)
	r := &Rasterizer{cfg: cfg}
	r.program, r.absent = Find(cfg.Program)
	return r
}

// Find returns the path of pdftoppm: the given one, or the one on the PATH if program is empty. If there is none, the
// error is a *[pdf.UnavailableError].
func Find(program string) (string, error) {
	path, err := exec.LookPath(cmp.Or(program, "pdftoppm"))
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err == nil { // the sandbox must allow the target of a symbolic link
		path, err = filepath.EvalSymlinks(path)
	}
	switch {
	case err == nil:
		return path, nil
	case program != "":
		return "", &pdf.UnavailableError{Reason: fmt.Sprintf("Cannot draw pages: no pdftoppm in %s. %s", program, Install)}
	}
	return "", &pdf.UnavailableError{Reason: "Cannot draw pages: pdftoppm is not installed. " + Install}
}

// Available returns nil if pages can be drawn, and a *[pdf.UnavailableError] otherwise. It draws nothing.
func (r *Rasterizer) Available() error { return r.absent }

// Validate returns an error that names the first invalid option, or nil.
func (o Options) Validate() error {
	if o.DPI != 0 && (o.DPI < MinDPI || o.DPI > MaxDPI) {
		return fmt.Errorf("the resolution of page images must be from %d to %d dots per inch, not %d", MinDPI, MaxDPI, o.DPI)
	}
	return nil
}

// Draw draws the selected pages of a PDF, and calls each for one image after another, in ascending order. It stops
// at the first error of each, and returns it. The PNG of a page is the caller's.
//
// The error is a *[pages.MissingError] if the PDF lacks a selected page, a *[LimitError] if the selection or a page
// exceeds a limit, a *[finish.BrokenError] if the PDF is damaged or encrypted, a *[pdf.DocumentError] if pdftoppm
// cannot draw a page, a *[pdf.UnavailableError] if it is not installed, the cause of ctx, or an internal error. Limits
// that the sizes of the pages exceed are reported before the first page.
func (r *Rasterizer) Draw(ctx context.Context, document []byte, o Options, each func(Page) error) error {
	if r.absent != nil {
		return r.absent
	}
	if err := o.Validate(); err != nil {
		return err
	}
	o.DPI = cmp.Or(o.DPI, DefaultDPI)
	d := &drawing{Rasterizer: r, document: document, dpi: o.DPI, room: r.cfg.MaxBytes, each: each}
	ranges, err := d.plan(o.Pages)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.cfg.Deadline, &pdf.DocumentError{
		Reason: fmt.Sprintf("Drawing the pages took longer than %v.", r.cfg.Deadline),
	})
	defer cancel()
	for _, drawn := range ranges {
		if err := d.draw(ctx, drawn); err != nil {
			return err
		}
	}
	return nil
}

// drawing is one call of Draw.
type drawing struct {
	*Rasterizer
	document []byte
	sizes    []finish.Size // of the pages
	dpi      int
	room     int // bytes that the remaining images may have
	each     func(Page) error
}

// plan returns the selected ranges, after checking the limits that can be checked without drawing.
func (d *drawing) plan(selected pages.Selection) (ranges []pages.Range, err error) {
	if d.sizes, err = finish.Sizes(d.document); err != nil {
		return nil, err
	}
	if ranges, err = selected.In(len(d.sizes)); err != nil {
		return nil, err
	}
	if n := pages.Count(ranges); n > d.cfg.MaxPages {
		return nil, &LimitError{fmt.Sprintf("The document has %d selected pages, more than the %d that can be drawn at once. Select fewer.",
			n, d.cfg.MaxPages)}
	}
	for _, drawn := range ranges {
		for number := drawn.First; number <= drawn.Last; number++ {
			if width, height := d.pixels(number); width*height > float64(d.cfg.MaxPixels) {
				return nil, &LimitError{fmt.Sprintf("Page %d would have %.0f x %.0f pixels, more than the %d that an image can have. "+
					"Choose a lower resolution than %d dots per inch.", number, width, height, d.cfg.MaxPixels, d.dpi)}
			}
		}
	}
	return ranges, nil
}

// pixels returns the expected size of the image of a page.
func (d *drawing) pixels(number int) (width, height float64) {
	const pointsPerInch = 72
	scaled := func(points float64) float64 { return math.Max(1, math.Ceil(points*float64(d.dpi)/pointsPerInch)) }
	size := d.sizes[number-1]
	return scaled(size.Width), scaled(size.Height)
}

// expect returns an error if the image of a page has another size than expected. When pdftoppm has too little memory,
// it writes an image of one pixel.
func (d *drawing) expect(number, width, height int) error {
	w, h := d.pixels(number)
	const rounding = 1
	if math.Abs(w-float64(width)) > rounding || math.Abs(h-float64(height)) > rounding {
		return fmt.Errorf("an image has %d x %d pixels, want %.0f x %.0f", width, height, w, h)
	}
	return nil
}

// MissingSandbox returns the parts of the sandbox that the kernel, systemd, or the container denies: one sentence
// each, with the cause.
func MissingSandbox() []string { return confine.Missing() }

var errTooLarge = errors.New("image too large")
