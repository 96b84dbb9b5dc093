// Package finish post-processes PDFs from any engine: it encrypts, attaches files, merges, and finds marked values.
//
// It has its own strict PDF reader (ISO 32000), because a malicious document may have influenced the PDF. It repairs
// and guesses nothing, limits memory by the size of the input, and returns a *[BrokenError] for anything invalid. It
// copies objects as they are and decodes only what it must. It does not use the disk.
package finish

// MaxSize is the maximum size of a PDF, in bytes.
const MaxSize = 512 << 20

// BrokenError reports a PDF that is invalid or uses an unsupported feature.
type BrokenError struct {
	Reason string // for a log
}

func (e *BrokenError) Error() string { return "the PDF cannot be read: " + e.Reason }

func broken(reason string) error { return &BrokenError{Reason: reason} }
