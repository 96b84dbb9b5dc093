// Package pdf makes PDFs of Word documents. An [Engine] lays a document out: office drives LibreOffice; one of our own
// may stand beside it. Both must pass the suite in pdftest.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"time"

	"platen/pdf/font"
)

// Engine makes PDFs. It is safe for use by many goroutines; it bounds by itself how many documents it converts at once,
// and lets the others wait.
type Engine interface {
	// Convert makes a PDF of a document. What is wrong with the document is a *[DocumentError]; *[SuspectError] asks for a
	// second try; *[UnavailableError] says that there is nothing to convert with. Other errors are of the server or of ctx.
	Convert(ctx context.Context, request Request) (*Result, error)
	// Fonts says what becomes of the fonts that a document asks for. It converts nothing.
	Fonts(document []byte) (*font.Report, error)
	// Available returns nil where documents can be converted, or a *[UnavailableError]. It converts nothing.
	Available() error
	// Close ends the engine, with all processes and files it has made. Conversions that run are ended.
	Close() error
}

// Request is one document to be converted.
type Request struct {
	Document []byte // .docx
	Options  Options
	// Kind is a name for documents that are much alike, such as the id of their template: what is known of the time that some
	// of them took is expected of the next. It may be empty.
	Kind string
	// Again says that the document was a suspect. It is then converted apart from the others, by a process of its own and
	// with more time, and what comes of it is final.
	Again bool
	// OthersWait reports whether documents wait until the engine is free for them, outside of the engine. A document that takes much
	// longer than was to be expected is stopped while others wait. nil where nobody waits outside.
	OthersWait func() bool
}

// Result is a finished PDF.
type Result struct {
	PDF   []byte
	Fonts *font.Report  // what became of the fonts; nil where they cannot be read in the document
	Took  time.Duration // without the time that it waited for its turn
	Maker Maker
}

// Maker describes the program that converted a document.
type Maker struct {
	Version string   // such as "7.4.7.2"
	Missing []string // the parts of the sandbox that it ran without: a sentence each, with the cause
	Advice  string   // how conversions become faster; empty where there is nothing to do
}

// Options are how a PDF is to be. The zero value is what Word would save.
type Options struct {
	Archive   Archive // PDF/A
	Tagged    bool    // with the structure of the document, for screen readers; PDF/A always is
	Bookmarks bool    // an outline of the headings
	Watermark string  // a text across each page
	Pictures  PictureOptions
}

// Archive is a part of the standard for archiving, ISO 19005.
type Archive string

// The parts that can be asked for, each at conformance level B. The third allows attached files.
const (
	NoArchive Archive = ""
	PDFA2b    Archive = "PDF/A-2b" // ISO 19005-2
	PDFA3b    Archive = "PDF/A-3b" // ISO 19005-3
)

// PictureOptions are how pictures are kept.
type PictureOptions struct {
	Lossless bool // as they are; otherwise as JPEG
	Quality  int  // of JPEG, 1 to 100; 0 is 90
	MaxDPI   int  // pictures with more pixels are made smaller; 0 is 300
}

// DocumentError is a document that cannot be converted, for a reason of its own.
type DocumentError struct {
	Reason string // a sentence for a person
	// Poison says that the document ended or held up those who were to convert it, twice.
	Poison bool
	// Kept is where a copy of a poisonous document lies, for a report; empty when there is none.
	Kept string
}

func (e *DocumentError) Error() string { return e.Reason }

// SuspectError is a document whose conversion was stopped: it ended its process, or took much longer than others of its
// size while others waited. It deserves one more try, with [Request].Again.
type SuspectError struct {
	Reason string // a sentence for a person
}

func (e *SuspectError) Error() string { return e.Reason }

// UnavailableError says why there is nothing to convert with, and what to install.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return e.Reason }

// ErrClosed is returned by an engine that was closed.
var ErrClosed = errors.New("the PDF engine is closed")

// Convert converts a document by an engine, and gives it its second try.
func Convert(ctx context.Context, engine Engine, request Request) (*Result, error) {
	result, err := engine.Convert(ctx, request)
	if _, ok := errors.AsType[*SuspectError](err); ok {
		request.Again = true
		return engine.Convert(ctx, request)
	}
	return result, err
}

// Validate returns what is wrong with the options, with the name of the option.
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
