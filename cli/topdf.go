package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/sync/errgroup"

	"platen/docx"
	"platen/pdf"
	"platen/pdf/finish"
)

// pdfFlags are the options of PDFs, for commands that generate them.
type pdfFlags struct {
	Standard  string `name:"pdf-standard" default:"" enum:",PDF/A-2b,PDF/A-3b" placeholder:"NAME" group:"PDF" help:"Archiving standard of the PDFs: PDF/A-2b or PDF/A-3b (default: ordinary PDF)."`
	Tagged    bool   `default:"true" negatable:"" group:"PDF" help:"Include the structure of the document in PDFs, for screen readers (default true). PDF/A always includes it."`
	Bookmarks bool   `default:"true" negatable:"" group:"PDF" help:"Include an outline of the headings in PDFs (default true)."`
	Watermark string `placeholder:"TEXT" group:"PDF" help:"Text across each page, such as Draft."`
	Quality   int    `name:"picture-quality" placeholder:"N" group:"PDF" help:"JPEG quality of images in PDFs, from 1 to 100 (default 90)."`
	DPI       int    `name:"picture-dpi" placeholder:"N" group:"PDF" help:"Maximum resolution of images in PDFs, from 36 to 2400 dots per inch (default 300). Larger images are scaled down."`
	Lossless  bool   `group:"PDF" help:"Store images in PDFs without loss, in larger files, instead of as JPEG."`
	Password  string `name:"pdf-password-file" placeholder:"FILE" group:"PDF" help:"File whose first line is the password that opens the PDFs."`
	Merged    string `placeholder:"FILE.pdf" group:"PDF" help:"Also merge all documents into one PDF, in their order, with a bookmark for each."`
}

// defaultPDFFlags are the values without any flags.
var defaultPDFFlags = pdfFlags{Tagged: true, Bookmarks: true}

// pdfOptions returns the options, or a usage error.
func (f *pdfFlags) pdfOptions() (pdf.Options, error) {
	options := pdf.Options{
		Archive: pdf.Archive(f.Standard), Tagged: f.Tagged, Bookmarks: f.Bookmarks, Watermark: f.Watermark,
		Pictures: pdf.PictureOptions{Lossless: f.Lossless, Quality: f.Quality, MaxDPI: f.DPI},
	}
	if err := errors.Join(options.Validate(), f.checkMerged()); err != nil {
		return options, &usageError{err}
	}
	return options, nil
}

// protection returns the encryption of PDFs, or nil for none.
func (f *pdfFlags) protection() (*finish.Protection, error) {
	if f.Password == "" {
		return nil, nil //nolint:nilnil // without a password there is no protection
	}
	text, err := os.ReadFile(f.Password)
	if err != nil {
		return nil, fmt.Errorf("password of PDFs: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	protection := &finish.Protection{UserPassword: strings.TrimSuffix(line, "\r"), Permissions: finish.AllPermissions()}
	switch {
	case protection.UserPassword == "":
		return nil, usagef("the first line of %s is empty, but must be the password of the PDFs", f.Password)
	case f.Standard != "":
		return nil, usagef("--pdf-password-file cannot be combined with --pdf-standard: PDF/A forbids encryption")
	}
	return protection, nil
}

// converter generates the PDFs of a command.
type converter struct {
	engine     pdf.Engine
	workers    int // concurrent conversions
	options    pdf.Options
	protection *finish.Protection // nil for none
	kind       string             // kind of its documents, if they are alike
	contents   docx.Contents      // tables of contents to update in documents that are not generated
}

// newConverter returns a converter for a number of documents, or an error that says what to install. The caller closes it.
func newConverter(settings *pdfConfig, flags *pdfFlags, kind string, documents int) (*converter, error) {
	options, err := flags.pdfOptions()
	if err != nil {
		return nil, err
	}
	protection, err := flags.protection()
	if err != nil {
		return nil, err
	}
	few := *settings
	few.PDFWorkers = min(few.workers(), documents)
	engine, err := few.engine(slog.New(slog.DiscardHandler), nil, 0)
	if err != nil {
		return nil, err
	}
	if err := engine.Available(); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return &converter{engine: engine, workers: few.workers(), options: options, protection: protection, kind: kind}, nil
}

// atOnce returns the number of documents in progress: while one is converted, the next one is prepared.
func (c *converter) atOnce() int { return 2 * c.workers }

// converted describes a PDF in a report.
type converted struct {
	Pages             int     `json:"pages,omitempty"`
	ConversionSeconds float64 `json:"conversion_seconds,omitempty"` // without waiting time
}

// convert generates a PDF. It returns its description for a report, and warnings about missing fonts. Before a second try of a document,
// it calls release.
func (c *converter) convert(ctx context.Context, document []byte,
	release func()) (content []byte, about converted, warnings []string, err error) {
	result, err := pdf.Convert(ctx, releasing{c.engine, release}, pdf.Request{Document: document, Options: c.options, Kind: c.kind})
	if err != nil {
		return nil, converted{}, nil, err
	}
	if result.Fonts != nil {
		warnings = result.Fonts.Warnings()
	}
	pages, err := finish.Pages(result.PDF)
	if err == nil && c.protection != nil {
		result.PDF, err = finish.Encrypt(result.PDF, *c.protection)
	}
	return result.PDF, converted{pages, result.Took.Seconds()}, warnings, err
}

// releasing is an engine that calls release before a second try, which may wait for long, so that another document can start.
type releasing struct {
	pdf.Engine
	release func()
}

func (r releasing) Convert(ctx context.Context, request pdf.Request) (*pdf.Result, error) {
	if request.Again {
		r.release()
	}
	return r.Engine.Convert(ctx, request)
}

// several calls work for each of a number of documents, some concurrently, and shows progress on a bar. When work calls its last
// argument, the next document can start before work returns.
func several(ctx context.Context, documents, atOnce int, bar *progressbar.ProgressBar,
	work func(ctx context.Context, i int, release func())) error {
	places := make(chan struct{}, atOnce)
	group, ctx := errgroup.WithContext(ctx)
	for i := range documents {
		places <- struct{}{}
		release := sync.OnceFunc(func() { <-places })
		group.Go(func() error {
			defer release()
			if ctx.Err() == nil {
				work(ctx, i, release)
			}
			return errors.Join(ctx.Err(), bar.Add(1))
		})
	}
	return errors.Join(group.Wait(), bar.Exit())
}

// whyNot returns why a document was not converted, and where a copy of it is kept, if there is one.
func whyNot(err error) (reason, kept string) {
	if poison, ok := errors.AsType[*pdf.DocumentError](err); ok {
		return poison.Reason, poison.Kept
	}
	return plainPaths(err), ""
}

// Extensions of documents.
const (
	wordExtension  = ".docx"
	macroExtension = ".docm"
	pdfExtension   = ".pdf"
)

func isWord(path string) bool { return hasExtension(path, wordExtension) }

// isWordTemplate reports whether a path names a Word template.
func isWordTemplate(path string) bool {
	return hasExtension(path, ".dotx") || hasExtension(path, ".dotm")
}

func hasExtension(path, extension string) bool {
	return strings.EqualFold(filepath.Ext(path), extension)
}

func isPDF(path string) bool { return strings.EqualFold(filepath.Ext(path), pdfExtension) }
