// Package finish is what is done to finished PDFs, whichever engine made them: to encrypt one, to attach files to one,
// to make one of many.
//
// It reads PDFs strictly (ISO 32000), by a reader of its own, because whoever made them may have been deceived: nothing is
// repaired or guessed, memory is bounded by the size of what is read, and what is not sound is a *[BrokenError]. Objects are
// carried over as they stand in the file; nothing is decoded that need not be. Nothing is read from or written to the disk.
package finish

// MaxSize is how large a PDF may be, in bytes.
const MaxSize = 512 << 20

// BrokenError is a PDF that cannot be read, or has what is not supported.
type BrokenError struct {
	Reason string // what is wrong, for a log
}

func (e *BrokenError) Error() string { return "the PDF cannot be read: " + e.Reason }

func broken(reason string) error { return &BrokenError{Reason: reason} }

// Pages returns how many pages a PDF says it has. It reads little of it.
func Pages(pdf []byte) (int, error) {
	f, err := open(pdf)
	if err != nil {
		return 0, err
	}
	catalog, err := f.catalog()
	if err != nil {
		return 0, err
	}
	pages, err := f.dict(catalog.get("Pages"))
	if err != nil {
		return 0, err
	}
	count, ok := integer(pages.get("Count"))
	if !ok || count < 0 {
		return 0, broken("the page tree has no count")
	}
	return count, nil
}
