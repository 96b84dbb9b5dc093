// Package office makes PDFs with LibreOffice: a few worker processes, each with a LibreOffice in it that is started once
// and converts many documents. A document that ends a worker, or holds one up, costs nobody else a document.
//
//	Convert ──▶ a free worker ──▶ process: LibreOffice, confined ──▶ PDF
//	   │             │  it ends, or holds others up: killed, *pdf.SuspectError
//	   └─ Again ──▶ the isolated worker ──▶ a new process for this document alone ──▶ PDF, or *pdf.DocumentError
//
// Spare workers take documents only while all others are busy. Their processes end when they have been idle for a while.
package office

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/pdf"
	"platen/pdf/font"
	"platen/pdf/office/internal/confine"
)

//go:embed settings.xcu
var settings []byte

// Config is what an Office stands on. What is zero has a default.
type Config struct {
	// Worker is a program that calls Worker first in its main: usually this one.
	Worker string
	// Program is LibreOffice's program folder, such as /usr/lib/libreoffice/program; a usual one when empty.
	Program string
	// Folder is where the workers have their folders; the system's folder for temporary files when empty.
	Folder string
	// Quarantine is a folder for documents that could not be converted because they ended LibreOffice or held it up, with
	// what is known of it. None are kept when it is empty.
	Quarantine string
	// Fonts is a folder of fonts that are preferred to those of the system; none when empty.
	Fonts    string
	TimeZone string // name of the zone that fields with dates and times are shown in; the system's when empty

	Workers   int           // how many documents are converted at once; 1 when 0
	Spare     int           // more workers, which get documents only while all others are busy; none when 0
	SpareIdle time.Duration // a spare worker without a document ends its process after that time; 30 s when 0
	Deadline  time.Duration // for one conversion; 30 s when 0
	Recycle   int           // a worker starts anew after that many documents; 500 when 0
	MaxMemory int64         // … and when it holds more than that, in bytes; 1 GiB when 0. Half more is all it gets

	// RequireSandbox makes New fail, and every worker end, where a part of the sandbox is missing.
	RequireSandbox bool

	Log     *slog.Logger
	Metrics prometheus.Registerer // nowhere when nil
}

// Limits of a worker, when the configuration has none.
const (
	DefaultDeadline  = 30 * time.Second
	DefaultRecycle   = 500
	DefaultMaxMemory = 1 << 30
	DefaultSpareIdle = 30 * time.Second
)

const (
	isolatedNice   = 10 // the isolated worker leaves the processor to the others
	isolatedFactor = 3  // and has so much more time for it
)

// LongestConversion is how long one call to convert a document takes at most with a deadline, besides waiting for a worker.
func LongestConversion(deadline time.Duration) time.Duration { return isolatedFactor * deadline }

// Office is LibreOffice as a [pdf.Engine].
type Office struct {
	cfg     Config
	program string // "" when there is no LibreOffice
	absent  error  // then why
	fonts   *font.Library
	folder  *folder

	workers  chan *worker // those that are free
	spares   chan *worker // likewise, for when there are none in workers
	isolated chan *worker // the one for documents that are tried again
	waiting  atomic.Int64 // how many wait because no worker is free
	idling   sync.Mutex   // held while a spare worker is put back, and while one that is idle is ended
	ending   atomic.Bool  // whether a spare worker that is idle is being ended
	pace     pace
	keep     quarantine

	metrics *metrics

	stop    context.CancelCauseFunc
	stopped context.Context // done when the Office is closed
}

var _ pdf.Engine = (*Office)(nil)

// MissingSandbox returns what of the sandbox the kernel, systemd, or the container denies to the processes of LibreOffice: a sentence
// each, with the cause. Where it is empty they can neither open sockets nor start programs, and see no files but their own,
// fonts, and those of the system's programs.
func MissingSandbox() []string { return confine.Missing() }

// UnconfinedError is why LibreOffice is not started where the sandbox is required and incomplete.
type UnconfinedError struct{ Missing []string }

func (e *UnconfinedError) Error() string {
	return "the sandbox of LibreOffice is required and incomplete: " + strings.Join(e.Missing, "; ")
}

// New returns an Office. It starts no process before the first document comes. Where LibreOffice is not installed, it is
// one that converts nothing and says why.
func New(cfg Config) (*Office, error) {
	cfg.Workers, cfg.Deadline = cmp.Or(cfg.Workers, 1), cmp.Or(cfg.Deadline, DefaultDeadline)
	cfg.Recycle, cfg.MaxMemory = cmp.Or(cfg.Recycle, DefaultRecycle), cmp.Or(cfg.MaxMemory, DefaultMaxMemory)
	cfg.Folder, cfg.Log = cmp.Or(cfg.Folder, os.TempDir()), cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.SpareIdle = cmp.Or(cfg.SpareIdle, DefaultSpareIdle)
	o := &Office{
		cfg: cfg, workers: make(chan *worker, cfg.Workers), spares: make(chan *worker, cfg.Spare), isolated: make(chan *worker, 1),
		keep: quarantine{cfg.Quarantine},
	}
	o.metrics = newMetrics(cfg.Metrics)
	o.stopped, o.stop = context.WithCancelCause(context.Background())
	if o.program, o.absent = Find(cfg.Program); o.absent != nil {
		return o, nil //nolint:nilerr // whoever wants a PDF is told
	}
	if missing := MissingSandbox(); cfg.RequireSandbox && len(missing) > 0 {
		return nil, &UnconfinedError{missing}
	}
	var err error
	if o.fonts, err = openFonts(cfg.Fonts, o.program); err != nil {
		return nil, err
	}
	if o.folder, err = newFolder(cfg.Folder); err != nil {
		return nil, err
	}
	for i := range cfg.Workers {
		o.workers <- o.worker(strconv.Itoa(i+1), 0)
	}
	for i := range cfg.Spare {
		spare := o.worker("spare"+strconv.Itoa(i+1), 0)
		spare.isSpare = true
		o.spares <- spare
	}
	o.isolated <- o.worker("isolated", isolatedNice)
	return o, nil
}

func (o *Office) worker(name string, nice int) *worker {
	return &worker{office: o, folder: filepath.Join(o.folder.path, name), nice: nice}
}

// Available returns nil where LibreOffice is installed.
func (o *Office) Available() error { return o.absent }

// versionOf takes the version out of what LibreOffice says of itself.
func versionOf(said string) string {
	var version struct {
		Version   string `json:"ProductVersion"`
		Extension string `json:"ProductExtension"`
	}
	if err := json.Unmarshal([]byte(said), &version); err != nil {
		return said
	}
	return version.Version + version.Extension
}

// Convert converts a document, as soon as a worker is free for it.
func (o *Office) Convert(ctx context.Context, request pdf.Request) (*pdf.Result, error) {
	if o.absent != nil {
		return nil, o.absent
	}
	if err := request.Options.Validate(); err != nil {
		return nil, err
	}
	size, err := weigh(request.Document)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(o.stopped, func() { cancel(pdf.ErrClosed) })()
	var result *pdf.Result
	if request.Again {
		result, err = o.convertIsolated(ctx, request)
	} else {
		result, err = o.convertNext(ctx, request, size)
	}
	if err == nil {
		o.pace.took(request.Kind, size, result.Took)
	}
	o.metrics.converted(result, err)
	return result, err
}

// convertNext converts a document with the next worker that is free.
func (o *Office) convertNext(ctx context.Context, request pdf.Request, size float64) (*pdf.Result, error) {
	w, err := o.takeNext(ctx)
	if err != nil {
		return nil, err
	}
	defer o.putBack(w)
	othersWait := func() bool { return o.othersWait() || request.OthersWait != nil && request.OthersWait() }
	result, err := w.convert(ctx, request, limits{o.cfg.Deadline, o.pace.patience(request.Kind, size), othersWait})
	if stopped, ok := errors.AsType[*stoppedError](err); ok {
		return nil, &pdf.SuspectError{Reason: stopped.Error()}
	}
	return result, err
}

// Fonts says what becomes of the fonts that a document asks for.
func (o *Office) Fonts(document []byte) (*font.Report, error) {
	if o.absent != nil {
		return nil, o.absent
	}
	inspected, err := o.fontsOf(document)
	return inspected.report, err
}

// convertIsolated converts a document that was a suspect, by a process that has done nothing before.
func (o *Office) convertIsolated(ctx context.Context, request pdf.Request) (*pdf.Result, error) {
	w, err := take(ctx, o.isolated, nil)
	if err != nil {
		return nil, err
	}
	defer func() { o.isolated <- w }()
	result, err := w.convert(ctx, request, limits{deadline: isolatedFactor * o.cfg.Deadline})
	w.end()
	stopped, ok := errors.AsType[*stoppedError](err)
	if !ok {
		return result, err
	}
	kept, err := o.keep.document(request, stopped)
	if err != nil {
		o.cfg.Log.ErrorContext(ctx, "a document that LibreOffice cannot convert was not kept", "error", err)
	}
	o.cfg.Log.WarnContext(ctx, "LibreOffice cannot convert a document", "reason", stopped.Error(), "kept", kept, "said", stopped.said)
	return nil, &pdf.DocumentError{Reason: stopped.Error() + " It was tried twice.", Poison: true, Kept: kept}
}

// takeNext takes a worker that is free, a spare one only if there is no other, or waits for the next.
func (o *Office) takeNext(ctx context.Context) (*worker, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	for _, free := range []chan *worker{o.workers, o.spares} {
		select {
		case w := <-free:
			w.stopIdling()
			return w, nil
		default:
		}
	}
	o.waiting.Add(1) // not before: whoever finds a free worker is no reason to stop the documents of others
	defer o.waiting.Add(-1)
	w, err := take(ctx, o.workers, o.spares)
	if err == nil {
		w.stopIdling()
	}
	return w, err
}

// putBack lets the next document have a worker. A spare one ends its process unless a document comes soon.
func (o *Office) putBack(w *worker) {
	if !w.isSpare {
		o.workers <- w
		return
	}
	o.idling.Lock()
	defer o.idling.Unlock()
	w.idle = time.AfterFunc(o.cfg.SpareIdle, o.endIdleSpare)
	o.spares <- w
}

// endIdleSpare ends the process of a spare worker that has had no document for a while.
func (o *Office) endIdleSpare() {
	o.idling.Lock()
	defer o.idling.Unlock()
	o.ending.Store(true)
	defer o.ending.Store(false)
	select {
	case w := <-o.spares:
		w.stopIdling()
		w.end()
		o.spares <- w
	default: // it has a document
	}
}

// othersWait tells whether documents wait in here that no worker is about to take.
func (o *Office) othersWait() bool { return o.waiting.Load() > 0 && !o.ending.Load() }

// take waits for a worker, of one kind or the other.
func take(ctx context.Context, workers, others chan *worker) (*worker, error) {
	select {
	case w := <-workers:
		return w, nil
	case w := <-others:
		return w, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close ends the conversions that run, with [pdf.ErrClosed], and all processes, and removes their files. It is called once.
func (o *Office) Close() error {
	o.stop(pdf.ErrClosed)
	if o.absent != nil {
		return nil //nolint:nilerr // there is nothing to be closed
	}
	// A worker that is taken and not put back is taken by nobody else.
	for range o.cfg.Workers {
		(<-o.workers).end()
	}
	for range o.cfg.Spare {
		spare := <-o.spares
		spare.stopIdling()
		spare.end()
	}
	(<-o.isolated).end()
	if err := o.folder.remove(); err != nil {
		return fmt.Errorf("remove the folder of LibreOffice: %w", err)
	}
	return nil
}
