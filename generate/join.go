package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"platen/docgen"
	"platen/fair"
	"platen/generate/internal/isolate"
	"platen/pdf/finish"
)

const (
	// joinTime is the maximum time to merge PDFs for a caller who waits.
	joinTime = 20 * time.Second
	// joinMemory is the maximum memory of the process that merges them, in bytes.
	joinMemory = 1 << 30
)

// errJoinTime ends a merge that takes too long.
var errJoinTime = errors.New("merging takes too long")

// MergeFiles merges PDFs that anyone can have uploaded, for a caller who waits, and writes the result to w. A process of its own merges
// them, with limited memory and time. Users take turns. The error is a [docgen.Error], which has CodeConflict if the PDFs cannot be
// merged, ErrBusy, the cause of ctx, an error of w, or an error of the server.
func (g *Generator) MergeFiles(ctx context.Context, c *docgen.Caller, parts []*docgen.BundleFile, w io.Writer) error {
	weight, err := g.service.Weight(ctx, c.User.ID)
	if err != nil {
		return err
	}
	waiting, stop := context.WithTimeoutCause(ctx, requestWait, ErrBusy)
	defer stop()
	place, err := g.joins.Acquire(waiting, fair.Claimant{User: c.User.ID, Weight: weight})
	if err != nil {
		return err
	}
	defer place.Release()
	limited, cancel := context.WithTimeoutCause(ctx, joinTime, errJoinTime)
	defer cancel()
	documents := make([]finish.Document, len(parts))
	for i, part := range parts {
		documents[i] = finish.Document{Name: part.Title(), Open: func() (io.ReadCloser, error) {
			if err := context.Cause(limited); err != nil {
				return nil, err
			}
			return part.Open(limited)
		}}
	}
	return g.joinError(ctx, g.join(limited, documents, w))
}

func (g *Generator) join(ctx context.Context, documents []finish.Document, w io.Writer) error {
	if g.program == "" {
		return guarded(func(w io.Writer) error { return finish.Merge(w, documents, nil) }, w)
	}
	memory := uint64(joinMemory)
	if g.isolated > 0 {
		memory = min(memory, g.isolated)
	}
	return isolate.Merge(ctx, g.program, memory, documents, nil, w)
}

// joinError returns the public form of an error of join.
func (g *Generator) joinError(ctx context.Context, err error) error {
	unable := func(why string) error {
		return &docgen.Error{Code: docgen.CodeConflict, Message: "The PDFs cannot be merged: " + why}
	}
	broken, isBroken := errors.AsType[*finish.BrokenError](err)
	failed, isFailed := errors.AsType[*isolate.FailedError](err)
	died, hasDied := errors.AsType[*isolate.DiedError](err)
	crash, hasCrashed := errors.AsType[*panicError](err)
	switch {
	case isBroken:
		g.log.InfoContext(ctx, "PDFs cannot be merged", "reason", broken.Reason)
		return unable(err.Error() + ".")
	case isFailed:
		return unable(failed.Message + ".")
	case hasDied:
		g.log.WarnContext(ctx, "merging PDFs of a caller ended the process that did it", "how", died.How, "said", died.Said)
		return unable("the process that merged them ended (" + died.How + "). Select fewer files, or download a ZIP file.")
	case hasCrashed:
		g.log.ErrorContext(ctx, "merging PDFs of a caller crashed", "panic", crash.value, "stack", string(crash.stack))
		return unable("one of them causes an error in the server. Download a ZIP file.")
	case errors.Is(err, errJoinTime):
		return unable(fmt.Sprintf("that takes more than %s. Select fewer files, or download a ZIP file.", joinTime))
	}
	return err
}
