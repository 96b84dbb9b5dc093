// Package pdf defines the interface of engines that convert Word documents to PDF. Package pdf/office is the only
// engine so far and drives LibreOffice. Every engine must pass the test suite in pdf/pdftest.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"time"

	"platen/pdf/font"
)

// Engine converts Word documents to PDF. It is safe for concurrent use. It limits the number of documents that it
// converts at once; other calls wait.
type Engine interface {
	// Convert returns the PDF of a document. The error is a *[DocumentError] if the document cannot be converted, a
	// *[SuspectError] if it must be tried again with [Request].Again, a *[UnavailableError] if no converter is
	// installed, the cause of ctx, or an internal error.
	Convert(ctx context.Context, request Request) (*Result, error)
	// Fonts reports which fonts a document asks for and which fonts it gets. It converts nothing.
	Fonts(document []byte) (*font.Report, error)
	// Available returns nil if the engine can convert documents, and a *[UnavailableError] otherwise. It converts
	// nothing.
	Available() error
	// Close stops running conversions, which fail with [ErrClosed], and removes the engine's processes and files.
	Close() error
}

// Request is a document to convert.
type Request struct {
	Document []byte // .docx
	Options  Options
	// Kind names a group of similar documents, such as the ID of their template. The engine predicts the time of a
	// conversion from earlier ones of the same kind. It may be empty.
	Kind string
	// Again is set if the document was a suspect. It is then converted in isolation, by a new process with more time,
	// and the result is final.
	Again bool
	// OthersWait reports whether documents outside the engine wait for it. While documents wait, the engine stops a
	// conversion that takes much longer than expected. nil means that none wait outside.
	OthersWait func() bool
}

// Result is a finished PDF.
type Result struct {
	PDF   []byte
	Fonts *font.Report  // fonts that the document asks for and gets; nil if they cannot be read
	Took  time.Duration // excludes the time spent waiting for a turn
	Maker Maker
}

// Maker describes the program that converted a document.
type Maker struct {
	Version string   // such as "7.4.7.2"
	Missing []string // missing parts of the sandbox: one sentence each, with the cause
	Advice  string   // how to make conversions faster; empty if there is nothing to do
}

// Options control how a PDF is written. The zero value is what Word would save.
type Options struct {
	Archive   Archive // PDF/A
	Tagged    bool    // contains the structure of the document, for screen readers; always set for PDF/A
	Bookmarks bool    // an outline of the headings
	Watermark string  // text across each page
	Pictures  PictureOptions
}

// Archive is a part of ISO 19005, the standard for archiving (PDF/A).
type Archive string

// The supported parts, each at conformance level B. PDF/A-3 allows attached files.
const (
	NoArchive Archive = ""
	PDFA2b    Archive = "PDF/A-2b" // ISO 19005-2
	PDFA3b    Archive = "PDF/A-3b" // ISO 19005-3
)

// PictureOptions control how images are stored.
type PictureOptions struct {
	Lossless bool // lossless compression instead of JPEG
	Quality  int  // of JPEG, 1 to 100; 0 means 90
	MaxDPI   int  // images with a higher resolution are downsampled; 0 means 300
}

// DocumentError reports a document that cannot be converted because of its content.
type DocumentError struct {
	Reason string // a sentence for users
	// Poison is set if the document crashed or delayed the engine twice.
	Poison bool
	// Kept is the path of a copy of a poison document, for a bug report; empty if there is none.
	Kept string
}

func (e *DocumentError) Error() string { return e.Reason }

// SuspectError reports a document whose conversion was stopped, because it crashed its process or took much longer
// than others of its size while others waited. Try it again, with [Request].Again.
type SuspectError struct {
	Reason string // a sentence for users
}

func (e *SuspectError) Error() string { return e.Reason }

// UnavailableError says why the engine cannot convert documents, and what to install.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return e.Reason }

// ErrClosed is the error of a closed engine.
var ErrClosed = errors.New("the PDF engine is closed")

// Convert converts a document with an engine. It tries suspects a second time.
func Convert(ctx context.Context, engine Engine, request Request) (*Result, error) {
	result, err := engine.Convert(ctx, request)
	if _, ok := errors.AsType[*SuspectError](err); ok {
		request.Again = true
		return engine.Convert(ctx, request)
	}
	return result, err
}

// Validate returns an error that names the first invalid option, or nil.
func (o Options) Validate() error {
	switch {
	case o.Archive != NoArchive && o.Archive != PDFA2b && o.Archive != PDFA3b:
		return fmt.Errorf("archive must be %q or %q", PDFA2b, PDFA3b)
	case o.Pictures.Quality < 0 || o.Pictures.Quality > 100:
		return errors.New("the quality of pictures must be from 1 to 100")
	case o.Pictures.Lossless && o.Pictures.Quality != 0:
		return errors.New("lossless pictures have no quality")
	case o.Pictures.MaxDPI != 0 && (o.Pictures.MaxDPI < 36 || o.Pictures.MaxDPI > 2400):
		return errors.New("the resolution of pictures must be from 36 to 2400 dots per inch")
	}
	return nil
}
