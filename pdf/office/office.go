// Package office converts documents to PDF with LibreOffice. It runs a few worker processes. Each loads LibreOffice
// once and converts many documents. A document that crashes or delays a worker does not affect the documents of
// others.
//
//	Convert ──▶ a free worker ──▶ process: LibreOffice, confined ──▶ PDF
//	   │             │  crashes, or delays others: killed, *pdf.SuspectError
//	   └─ Again ──▶ the isolated worker ──▶ a new process for this document alone ──▶ PDF, or *pdf.DocumentError
//
// Spare workers take documents only while all others are busy. Their processes exit after some idle time.
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
	"platen/pdf/internal/confine"
)

//go:embed settings.xcu
var settings []byte

// Config configures an Office. Zero values mean the defaults.
type Config struct {
	// Worker is the path of a program whose main first calls [Worker]: usually this one.
	Worker string
	// Program is LibreOffice's program folder, such as /usr/lib/libreoffice/program. The default is one of the usual
	// folders.
	Program string
	// Folder is where the workers create their folders. The default is the system's folder for temporary files.
	Folder string
	// Quarantine is a folder for copies of the documents that crashed or delayed LibreOffice twice, each with a
	// report. The default is to keep none.
	Quarantine string
	// Fonts is a folder of fonts that are preferred to those of the system. If it is empty, no fonts are preferred.
	Fonts    string
	TimeZone string // name of the time zone for date and time fields; the system's if empty

	Workers   int           // number of documents converted at once; 1 if 0
	Spare     int           // additional workers, used only while all others are busy
	SpareIdle time.Duration // idle time after which the process of a spare worker exits; 30 s if 0
	Deadline  time.Duration // for one conversion; 30 s if 0
	Recycle   int           // number of documents after which a worker restarts; 500 if 0
	MaxMemory int64         // … or resident memory, in bytes; 1 GiB if 0. The hard limit is 1.5 times as high

	// RequireSandbox makes New fail, and every worker exit, if a part of the sandbox is missing.
	RequireSandbox bool

	Log     *slog.Logger
	Metrics prometheus.Registerer // not registered if nil
}

// Defaults of Config.
const (
	DefaultDeadline  = 30 * time.Second
	DefaultRecycle   = 500
	DefaultMaxMemory = 1 << 30
	DefaultSpareIdle = 30 * time.Second
)

const (
	isolatedNice   = 10 // the isolated worker gives way to the others
	isolatedFactor = 3  // and gets this many times the deadline
)

// LongestConversion returns the maximum duration of one call to [Office.Convert] with a deadline, excluding the time
// spent waiting for a worker.
func LongestConversion(deadline time.Duration) time.Duration { return isolatedFactor * deadline }

// Office is a [pdf.Engine] that uses LibreOffice.
type Office struct {
	cfg     Config
	program string // "" if LibreOffice is not installed
	absent  error  // the error if LibreOffice is not installed
	fonts   *font.Library
	folder  *folder

	workers  chan *worker // free workers
	spares   chan *worker // free spare workers, used when workers is empty
	isolated chan *worker // the one for suspects
	waiting  atomic.Int64 // number of calls that wait for a worker
	idling   sync.Mutex   // held while a spare worker is put back, and while an idle one is ended
	ending   atomic.Bool  // whether an idle spare worker is being ended
	pace     pace
	keep     quarantine

	metrics *metrics

	stop    context.CancelCauseFunc
	stopped context.Context // done when the Office is closed
}

var _ pdf.Engine = (*Office)(nil)

// MissingSandbox returns the parts of the sandbox that the kernel, systemd, or the container denies to LibreOffice:
// one sentence each, with the cause. With a complete sandbox, the processes can open no sockets, start no programs,
// and see only their own files, fonts, and system files.
func MissingSandbox() []string { return confine.Missing() }

// UnconfinedError reports that the sandbox is required but incomplete, so LibreOffice is not started.
type UnconfinedError struct{ Missing []string }

func (e *UnconfinedError) Error() string {
	return "the sandbox of LibreOffice is required but incomplete: " + strings.Join(e.Missing, "; ")
}

// New returns an Office. It starts no process before the first document. If LibreOffice is not installed, New
// succeeds, and all conversions fail with a *[pdf.UnavailableError].
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
		return o, nil //nolint:nilerr // every conversion returns it
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

// Available returns nil if LibreOffice is installed, and a *[pdf.UnavailableError] otherwise.
func (o *Office) Available() error { return o.absent }

// State is the work of an Office at a moment.
type State struct {
	Workers int   // documents converted at once, without spare workers and the isolated one
	Busy    int   // workers with a document, of all kinds
	Waiting int   // documents that wait for a worker
	Starts  int64 // processes since New
	Stopped int64 // conversions that were stopped, and will be tried again
	Poison  int64 // documents that were stopped twice
}

// State returns what the Office is doing.
func (o *Office) State() State {
	state := State{
		Workers: o.cfg.Workers, Waiting: int(o.waiting.Load()), Starts: o.metrics.starts.Load(), Stopped: o.metrics.stopped.Load(),
		Poison: o.metrics.poison.Load(),
	}
	if o.absent == nil {
		state.Busy = o.cfg.Workers - len(o.workers) + o.cfg.Spare - len(o.spares) + 1 - len(o.isolated)
	}
	return state
}

// versionOf returns the version in LibreOffice's version information, which is JSON.
func versionOf(info string) string {
	var version struct {
		Version   string `json:"ProductVersion"`
		Extension string `json:"ProductExtension"`
	}
	if err := json.Unmarshal([]byte(info), &version); err != nil {
		return info
	}
	return version.Version + version.Extension
}

// Convert converts a document as soon as a worker is free. See [pdf.Engine].
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

// convertNext converts a document with the next free worker.
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

// Fonts reports which fonts a document asks for and which fonts it gets.
func (o *Office) Fonts(document []byte) (*font.Report, error) {
	if o.absent != nil {
		return nil, o.absent
	}
	inspected, err := o.fontsOf(document)
	return inspected.report, err
}

// convertIsolated converts a suspect with a new process.
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
		o.cfg.Log.ErrorContext(ctx, "cannot quarantine a document", "error", err)
	}
	o.cfg.Log.WarnContext(ctx, "LibreOffice cannot convert a document", "reason", stopped.Error(), "kept", kept, "said", stopped.said)
	return nil, &pdf.DocumentError{Reason: stopped.Error() + " It was tried twice.", Poison: true, Kept: kept}
}

// takeNext returns a free worker, or waits for one. It prefers regular workers to spare ones.
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
	o.waiting.Add(1) // not earlier: a document that finds a free worker is no reason to stop others
	defer o.waiting.Add(-1)
	w, err := take(ctx, o.workers, o.spares)
	if err == nil {
		w.stopIdling()
	}
	return w, err
}

// putBack returns a worker to the pool. The process of a spare worker exits after some idle time.
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

// endIdleSpare ends the process of a spare worker that has been idle for too long.
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

// othersWait reports whether documents wait for a worker and no spare worker is about to take one.
func (o *Office) othersWait() bool { return o.waiting.Load() > 0 && !o.ending.Load() }

// take waits for a worker from either channel.
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

// Close ends running conversions with [pdf.ErrClosed], ends all processes, and removes their files. Call it only
// once.
func (o *Office) Close() error {
	o.stop(pdf.ErrClosed)
	if o.absent != nil {
		return nil //nolint:nilerr // there is nothing to close
	}
	// Workers are taken and not put back, so no conversion can take them.
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
