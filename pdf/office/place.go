package office

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"platen/pdf"
)

// worker is a place for a process, which is started when a document comes and there is none. It is used by one goroutine
// at a time.
type worker struct {
	office  *Office
	folder  string
	nice    int
	process *process // nil when there is none

	isSpare bool
	idle    *time.Timer // ends the process of a spare worker that is free; nil before its first document
}

// stopIdling keeps the process of a spare worker that has a document, or that somebody else ends.
func (w *worker) stopIdling() {
	if w.idle != nil {
		w.idle.Stop()
	}
}

// stoppedError is a conversion that did not come to its end because the process ended, or was ended.
type stoppedError struct {
	reason string
	said   string // the last words of the process
}

func (e *stoppedError) Error() string { return e.reason }

// lookAgain is how often it is looked whether others wait for a conversion that takes long.
const lookAgain = 50 * time.Millisecond

// overdueError is why a conversion was stopped that took too long.
type overdueError struct{ after time.Duration }

func (e *overdueError) Error() string {
	return fmt.Sprintf("LibreOffice was still busy with the document after %v.", e.after.Round(time.Millisecond))
}

// limits are how long a conversion may take.
type limits struct {
	deadline   time.Duration
	patience   time.Duration // while others wait
	othersWait func() bool   // nil where nobody does
}

// convert converts a document. A *stoppedError says that it was stopped, or has ended the process.
func (w *worker) convert(ctx context.Context, request pdf.Request, within limits) (*pdf.Result, error) {
	if err := w.ensure(ctx); err != nil {
		return nil, err
	}
	options, err := filter(request.Options)
	if err != nil {
		return nil, err
	}
	document, err := withoutComments(request.Document)
	if err != nil {
		return nil, &pdf.DocumentError{Reason: "The document is damaged: " + err.Error() + "."}
	}
	inspecting := w.office.inspect(request.Document)
	var watching sync.WaitGroup
	running, stop := context.WithCancelCause(ctx)
	watching.Go(func() { within.watch(running, stop) })
	begun := time.Now()
	content, err := w.process.convert(running, document, options)
	took := time.Since(begun)
	stop(nil)
	watching.Wait()
	inspected, maker := <-inspecting, w.process.maker
	if err != nil {
		return nil, w.failed(err, inspected.embeds)
	}
	if err := errors.Join(w.office.complete(inspected.report, content), w.recycle(inspected.embeds)); err != nil {
		return nil, err
	}
	return &pdf.Result{PDF: content, Fonts: inspected.report, Took: took, Maker: maker}, nil
}

// watch stops a conversion that takes longer than deadline, or longer than patience while others wait.
func (l limits) watch(ctx context.Context, stop context.CancelCauseFunc) {
	last, look := time.NewTimer(l.deadline), time.NewTimer(l.patience)
	defer last.Stop()
	defer look.Stop()
	if l.othersWait == nil {
		look.Stop()
	}
	begun := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-last.C:
			stop(&overdueError{time.Since(begun)})
			return
		case <-look.C:
			if l.othersWait() {
				stop(&overdueError{time.Since(begun)})
				return
			}
			look.Reset(lookAgain)
		}
	}
}

// ensure starts a process if there is none.
func (w *worker) ensure(ctx context.Context) (err error) {
	if w.process == nil {
		w.office.metrics.starts.Inc()
		if w.process, err = w.start(ctx); err != nil && ctx.Err() == nil {
			err = errors.Join(err, w.full(leastRoom))
		}
	}
	return err
}

// leastRoom is the room, in bytes, without which LibreOffice may fail for any reason that it gives: it also writes temporary files.
const leastRoom = 16 << 20

// full returns an error that wraps ENOSPC if the disk of the worker has less room than needed, in bytes; nil if it has enough.
// LibreOffice itself does not say that a disk is full.
func (w *worker) full(needed int64) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(w.office.folder.path, &disk); err != nil {
		return fmt.Errorf("measure the disk of LibreOffice: %w", err)
	}
	if free := int64(disk.Bavail) * disk.Bsize; free < needed { //nolint:gosec // a disk has fewer bytes
		return fmt.Errorf("the disk of LibreOffice has only %d bytes free: %w", free, unix.ENOSPC)
	}
	return nil
}

// failed is what became of a conversion: unless LibreOffice has refused the document, there is no process any more. A full disk is no
// fault of the document.
func (w *worker) failed(err error, embeds bool) error {
	if refused, ok := errors.AsType[*refusedError](err); ok {
		if full := w.full(refused.room()); full != nil {
			return errors.Join(fmt.Errorf("%s: %w", refused.words, full), w.recycle(embeds))
		}
		return errors.Join(&pdf.DocumentError{Reason: refused.words}, w.recycle(embeds))
	}
	said := w.process.said.String()
	ended, crashed := errors.AsType[*endedError](err)
	overdue, late := errors.AsType[*overdueError](err)
	w.end()
	switch {
	case crashed:
		if full := w.full(leastRoom); full != nil {
			return fmt.Errorf("%w: %w", ended, full)
		}
		return &stoppedError{"LibreOffice ended while it worked on the document (" + ended.how() + ").", said}
	case late:
		return &stoppedError{overdue.Error(), said}
	default:
		return err
	}
}

// recycle ends a process that has done its share, or must do no more: LibreOffice uses the fonts that a document embeds for those
// after it. The next document finds a new process, with the profile of the old.
func (w *worker) recycle(must bool) error {
	resident, err := w.process.resident()
	if err != nil {
		return fmt.Errorf("measure a LibreOffice worker: %w", err)
	}
	if !must && w.process.documents < w.office.cfg.Recycle && resident <= w.office.cfg.MaxMemory {
		return nil
	}
	defer func() { w.process = nil }()
	return w.process.close()
}

// end ends the process, and removes its folder: what a document may have left there does nobody else harm.
func (w *worker) end() {
	if w.process == nil {
		return
	}
	if err := errors.Join(w.process.close(), os.RemoveAll(w.folder)); err != nil {
		w.office.cfg.Log.Error("the folder of a LibreOffice worker was not removed", "folder", w.folder, "error", err)
	}
	w.process = nil
}
