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

// worker is a slot for a LibreOffice process, which starts with the first document. Only one goroutine may use it at
// a time.
type worker struct {
	office  *Office
	folder  string
	nice    int
	process *process // nil if none is running

	isSpare bool
	idle    *time.Timer // ends the process of a free spare worker; nil before its first document
}

// stopIdling cancels the idle timer of a spare worker.
func (w *worker) stopIdling() {
	if w.idle != nil {
		w.idle.Stop()
	}
}

// stoppedError reports a conversion that did not finish because its process exited or was killed.
type stoppedError struct {
	reason string
	said   string // last output of the process
}

func (e *stoppedError) Error() string { return e.reason }

// lookAgain is the interval at which a slow conversion checks whether others wait.
const lookAgain = 50 * time.Millisecond

// overdueError reports a conversion that was stopped because it took too long.
type overdueError struct{ after time.Duration }

func (e *overdueError) Error() string {
	return fmt.Sprintf("LibreOffice was still busy with the document after %v.", e.after.Round(time.Millisecond))
}

// limits are the time limits of a conversion.
type limits struct {
	deadline   time.Duration
	patience   time.Duration // while others wait
	othersWait func() bool   // nil if none can wait
}

// convert converts a document. The error is a *stoppedError if the process exited or was killed.
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

// watch stops a conversion that exceeds the deadline, or the patience while others wait.
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

// ensure starts a process if none is running.
func (w *worker) ensure(ctx context.Context) (err error) {
	if w.process == nil {
		w.office.metrics.starts.Add(1)
		if w.process, err = w.start(ctx); err != nil && ctx.Err() == nil {
			err = errors.Join(err, w.full(leastRoom))
		}
	}
	return err
}

// leastRoom is the free disk space, in bytes, below which LibreOffice can fail with any error. It also writes
// temporary files.
const leastRoom = 16 << 20

// full returns an error that wraps ENOSPC if the disk of the worker has less free space than needed, in bytes, and
// nil otherwise. LibreOffice itself does not report a full disk.
func (w *worker) full(needed int64) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(w.office.folder.path, &disk); err != nil {
		return fmt.Errorf("get the free space on the disk of LibreOffice: %w", err)
	}
	if free := int64(disk.Bavail) * disk.Bsize; free < needed { //nolint:gosec // no disk is that large
		return fmt.Errorf("the disk of LibreOffice has only %d bytes free: %w", free, unix.ENOSPC)
	}
	return nil
}

// failed returns the error of a failed conversion. Unless LibreOffice rejected the document, the process is gone
// afterward. A full disk is not the document's fault.
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
		return &stoppedError{"LibreOffice exited while converting the document (" + ended.how() + ").", said}
	case late:
		return &stoppedError{overdue.Error(), said}
	default:
		return err
	}
}

// recycle ends the process if it has converted enough documents, uses too much memory, or must is set: LibreOffice
// uses the fonts embedded in a document for later ones, too. The next document starts a new process with the same
// profile.
func (w *worker) recycle(must bool) error {
	resident, err := w.process.resident()
	if err != nil {
		return fmt.Errorf("get the memory of a LibreOffice worker: %w", err)
	}
	if !must && w.process.documents < w.office.cfg.Recycle && resident <= w.office.cfg.MaxMemory {
		return nil
	}
	defer func() { w.process = nil }()
	return w.process.close()
}

// end ends the process and removes its folder, so that nothing a document left there affects another one.
func (w *worker) end() {
	if w.process == nil {
		return
	}
	if err := errors.Join(w.process.close(), os.RemoveAll(w.folder)); err != nil {
		w.office.cfg.Log.Error("cannot remove the folder of a LibreOffice worker", "folder", w.folder, "error", err)
	}
	w.process = nil
}
