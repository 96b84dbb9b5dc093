// Package generate runs the generation tasks of the queue: it generates documents from templates and data, and reads the tags of
// templates. Each of its methods is the handler of one task. If a process dies during a task, the next process that gets the task
// completes it, and nothing is done twice.
package generate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"platen/docgen"
	"platen/docx"
	"platen/fair"
	"platen/pdf"
	"platen/pdf/raster"
)

// TasksPerCore is the number of concurrent tasks per core. Most of them wait for the disk.
const TasksPerCore = 8

// internalFailure is the failure of a job after an error of the server. The log has the details.
const internalFailure = "The document could not be generated because of an error in the server. The operator can find the cause in the " +
	"log under the id of this job."

// Config configures a Generator.
type Config struct {
	Service *docgen.Service
	Log     *slog.Logger
	// TemplateCache is the memory for compiled templates, in bytes; 0 means 256 MiB.
	TemplateCache int64
	// Picture fetches the image at a URL in the data. nil disables fetching.
	Picture func(ctx context.Context, address string) ([]byte, error)
	// WordML allows the filter wordml, with which data contains WordprocessingML.
	WordML bool
	// Limits are the budgets of each document. The zero value means the defaults of docx.
	Limits docx.Limits
	// TemplateTime is the maximum time to compile a template; 0 means the default of docx, and a negative value no limit.
	TemplateTime time.Duration
	PDF          pdf.Engine // converts documents to PDF; nil disables PDFs
	// Pages draws the pages of PDFs; nil disables page images.
	Pages *raster.Rasterizer
	// Conversion is the maximum time for one call of the engine, without waiting for a worker.
	Conversion time.Duration
	// Program is a program that calls Worker first in its main, usually this one. It generates documents in isolation that were in
	// progress when servers crashed. Without it, they are generated like others.
	Program string
	// IsolatedMemory is the memory limit of such a process, in bytes; 0 means 4 GiB.
	IsolatedMemory int64
	// Cores is the number of documents that are rendered concurrently; 0 means GOMAXPROCS.
	Cores int
	// Workers is the number of Word documents in progress, from the claim until they are durable; 0 means eight per core.
	Workers int
	// PDFWorkers is the number of documents that the engine converts concurrently; 0 means one per core.
	PDFWorkers int
	Now        func() time.Time      // time.Now if nil
	Metrics    prometheus.Registerer // registry for metrics; none if nil
	Tracer     trace.Tracer          // records a span for each document; none if nil
}

// Generator runs generation tasks. It is safe for concurrent use, by more goroutines than cores, because documents mostly wait for the
// disk. Scarce resources are shared among users with package fair: documents in progress, cores, the PDF engine, and merging.
type Generator struct {
	service      *docgen.Service
	log          *slog.Logger
	templates    *templateCache
	places       map[docgen.Lane]*fair.Slots // held from the claim of documents until they are completed
	cores        *fair.Slots                 // held while a document is rendered or a template is compiled
	engines      *fair.Slots                 // held while a document is converted to PDF
	merges       *fair.Slots
	joins        *fair.Slots // held while PDFs are merged for a caller who waits
	requests     *fair.Slots // held while a document is generated for a caller who waits
	program      string
	isolated     uint64   // memory of a process that generates in isolation, in bytes
	left         sync.Map // slots, as docgen.GenerateDocuments, whose documents this process may have failed to release
	metrics      *metrics
	shortages    *shortages
	tracer       trace.Tracer
	picture      func(ctx context.Context, address string) ([]byte, error)
	wordML       bool
	limits       docx.Limits
	templateTime time.Duration
	pdf          pdf.Engine
	pages        *raster.Rasterizer
	conversion   time.Duration
	now          func() time.Time
}

const (
	// longAfter is the time after which a document counts as long and leaves a slot for users without one.
	longAfter = time.Second
	// sparePlaces are for users without a document in progress, who then need not wait for one to be completed.
	sparePlaces = 2
	// requestsPerCore is the number of documents in progress per core for callers who wait, without those that are converted to PDF.
	requestsPerCore = 4
	// placesPerEngine is the number of PDFs in progress per concurrent conversion: while one is converted, the next one is rendered, and
	// the previous one is made durable.
	placesPerEngine = 2
)

// SpareProcs is the recommended difference between GOMAXPROCS of a server and [Config].Cores. A goroutine that becomes ready because the
// database responded waits for up to 10 ms if all processors of the Go runtime render documents. With a free processor, the kernel
// decides, and runs it immediately.
const SpareProcs = 1

// New returns a Generator.
func New(cfg Config) *Generator {
	cores := cmp.Or(cfg.Cores, runtime.GOMAXPROCS(0))
	workers, engines := cmp.Or(cfg.Workers, TasksPerCore*cores), cmp.Or(cfg.PDFWorkers, cores)
	g := &Generator{
		service: cfg.Service, log: cfg.Log, picture: cfg.Picture, wordML: cfg.WordML, limits: cfg.Limits, program: cfg.Program,
		isolated: uint64(max(0, cfg.IsolatedMemory)), templateTime: cfg.TemplateTime, pdf: cfg.PDF, pages: cfg.Pages,
		now: cfg.Now, conversion: cfg.Conversion,
		tracer: cmp.Or[trace.Tracer](cfg.Tracer, noop.Tracer{}),
		places: map[docgen.Lane]*fair.Slots{
			docgen.LaneDocx:     fair.New(fair.Config{Slots: workers, Spare: sparePlaces}),
			docgen.LanePDF:      fair.New(fair.Config{Slots: placesPerEngine * engines, Spare: sparePlaces}),
			docgen.LaneIsolated: fair.New(fair.Config{Slots: 1, Long: longAfter}),
		},
		cores:    fair.New(fair.Config{Slots: cores, Long: longAfter}),
		engines:  fair.New(fair.Config{Slots: engines, Long: longAfter}),
		merges:   fair.New(fair.Config{Slots: 1, Long: longAfter}),
		joins:    fair.New(fair.Config{Slots: 1, Spare: 1, Long: longAfter}),
		requests: fair.New(fair.Config{Slots: requestsPerCore*cores + placesPerEngine*engines, Spare: sparePlaces, Long: longAfter}),
	}
	if g.now == nil {
		g.now = time.Now
	}
	g.metrics = newMetrics(cfg.Metrics)
	g.shortages = &shortages{log: g.log, now: g.now, counter: g.metrics.shortages, known: map[docgen.Shortage]*shortage{}}
	if cfg.Metrics != nil {
		cfg.Metrics.MustRegister(&backlog{g: g}, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "platen_pdf_waiting", Help: "Documents that wait for conversion to PDF.",
		}, func() float64 { return float64(g.WaitingForPDF()) }))
		for _, what := range docgen.Shortages() {
			cfg.Metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "platen_shortage", Help: "1 while documents of this process are postponed because it lacks a resource, otherwise 0.",
				ConstLabels: prometheus.Labels{"waiting_for": string(what)},
			}, func() float64 {
				if g.shortages.lacks(what) {
					return 1
				}
				return 0
			}))
		}
	}
	g.templates = newTemplateCache(g, cfg.TemplateCache)
	return g
}

// compile reads a template's version, with the files that it includes for a requester, and compiles it. The error for an invalid template
// is a *templateError. It takes a core, on behalf of the first user who needs the template.
func (g *Generator) compile(ctx context.Context, claimant fair.Claimant, of templateUse) (*docx.Template, inclusions, error) {
	core, err := g.cores.Acquire(ctx, claimant)
	if err != nil {
		return nil, nil, err
	}
	defer core.Release()
	data, err := g.source(ctx, of)
	if tooLarge, ok := errors.AsType[*sizeError](err); ok {
		return nil, nil, &templateError{fmt.Errorf("the template %w", tooLarge)}
	}
	if err != nil {
		return nil, nil, err
	}
	files := inclusions{}
	var lost error // why a file could not be read, if that is an error of the server
	template, err := docx.ParseWith(ctx, bytes.NewReader(data), int64(len(data)),
		docx.ParseOptions{Time: g.templateTime, Include: func(name string) ([]byte, error) {
			data, versionID, err := g.include(ctx, of, name)
			if of.inline == nil {
				files.add(name, versionID)
			}
			if isIncludeFault(err) {
				lost = err
			}
			return data, err
		}})
	if lost != nil {
		return nil, nil, lost
	}
	if err != nil && ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if exceeded, ok := errors.AsType[*docx.BudgetError](err); ok {
		g.metrics.exceededBudget(exceeded.Budget)
	}
	g.metrics.compiledTemplate(err)
	if err != nil {
		return nil, files, &templateError{err}
	}
	return template, files, nil
}

// source returns the file of a template.
func (g *Generator) source(ctx context.Context, of templateUse) ([]byte, error) {
	if of.inline != nil {
		return of.inline.content, nil
	}
	content, err := g.service.TemplateContent(ctx, of.versionID)
	if err != nil {
		return nil, err
	}
	return g.read(ctx, content)
}

// read returns the content of a template or an included file.
func (g *Generator) read(ctx context.Context, content *docgen.Content) ([]byte, error) {
	if limit := g.service.Limits().TemplateBytes; content.Size > limit {
		return nil, &sizeError{content.Size, limit}
	}
	r, err := content.Open(ctx, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, content.Size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("read template version %d: %w", content.VersionID, err)
	}
	return data, nil
}

// errAbsent is why a file cannot be included that is not available.
var errAbsent = errors.New("is not in the folder of the template, or the uploader of the template or the user who generates may " +
	"not download it")

// errNoFolder is why a template that comes with a request cannot include a file.
var errNoFolder = errors.New("is not available, because the template comes with the request and is in no folder: upload both files to a " +
	"folder, and use the uploaded template")

// include returns a file that a template includes, and its version, which is 0 if the file is not available.
func (g *Generator) include(ctx context.Context, of templateUse, name string) (data []byte, versionID int64, err error) {
	if of.inline != nil {
		return nil, 0, errNoFolder
	}
	content, err := g.service.IncludedContent(ctx, of.versionID, name, of.requester)
	if docgen.IsCode(err, docgen.CodeNotFound) {
		return nil, 0, errAbsent
	}
	if err != nil {
		return nil, 0, err
	}
	data, err = g.read(ctx, content)
	return data, content.VersionID, err
}

// isIncludeFault reports whether an error of include is one of the server rather than of the template.
func isIncludeFault(err error) bool {
	_, tooLarge := errors.AsType[*sizeError](err)
	return err != nil && !tooLarge && !errors.Is(err, errAbsent) && !errors.Is(err, errNoFolder)
}

// current reports whether the files that a template includes are, for a requester, the same as at its compilation.
func (g *Generator) current(ctx context.Context, of templateUse, files inclusions) (bool, error) {
	for _, file := range files {
		content, err := g.service.IncludedContent(ctx, of.versionID, file.Name, of.requester)
		switch {
		case docgen.IsCode(err, docgen.CodeNotFound):
			if file.VersionID != 0 {
				return false, nil
			}
		case err != nil:
			return false, err
		case content.VersionID != file.VersionID:
			return false, nil
		}
	}
	return true, nil
}

// sizeError is a file that is too large for a template.
type sizeError struct{ size, limit int64 }

// Error completes a sentence whose subject is the file.
func (e *sizeError) Error() string {
	return fmt.Sprintf("has %d bytes, more than the limit of %d", e.size, e.limit)
}

// templateError is the error for a template that can never be used.
type templateError struct{ err error }

func (b *templateError) Error() string {
	if problems, ok := errors.AsType[docx.Errors](b.err); ok {
		return problems.Mistakes().Error()
	}
	return b.err.Error()
}

func (b *templateError) Unwrap() error { return b.err }

// failures returns what is wrong with a template, for people.
func (b *templateError) failures() docgen.Failures {
	problems, ok := errors.AsType[docx.Errors](b.err)
	if !ok {
		return docgen.Failures{Errors: []string{"The template cannot be read: " + b.err.Error()}}
	}
	f := docgen.Failures{Details: problems, Warnings: problems.Warnings().Messages()}
	for _, mistake := range problems.Mistakes() {
		f.Errors = append(f.Errors, mistake.Error())
	}
	return f
}

// ReadTags reads and stores the tags of a template's version. A *[PauseError] asks for another run.
func (g *Generator) ReadTags(ctx context.Context, task docgen.ReadTags) error {
	err := g.readTags(ctx, task)
	if err == nil {
		g.shortages.over(ctx, docgen.ShortOfDatabase) // the disk of the contents may still be full
	}
	return g.afterShortage(ctx, err, "template_version", task.VersionID)
}

func (g *Generator) readTags(ctx context.Context, task docgen.ReadTags) error {
	read, err := g.templates.get(ctx, fair.Claimant{User: task.UserID, Interactive: true}, templateUse{versionID: task.VersionID})
	if docgen.IsCode(err, docgen.CodeNotFound) { // permanently deleted, with everything known about it
		return nil
	}
	if err != nil {
		return err
	}
	reading, err := readingOf(read)
	if err != nil {
		return fmt.Errorf("template version %d: %w", task.VersionID, err)
	}
	if reading.Problem == "" {
		fonts, err := g.fontWarnings(ctx, templateUse{versionID: task.VersionID})
		if err != nil {
			return err
		}
		reading.Warnings = slices.Concat(reading.Warnings, fonts)
	}
	return g.service.SaveReading(ctx, task.VersionID, reading)
}

// readingOf returns what is known about a template.
func readingOf(read *cachedTemplate) (docgen.Reading, error) {
	if read.broken != nil {
		found := read.broken.failures()
		reading := docgen.Reading{Problem: read.broken.Error(), Details: found.Details, Warnings: found.Warnings, Includes: read.files}
		return reading, nil //nolint:nilerr // The reading has the error.
	}
	found := read.template.Tags()
	tags := make([]docgen.Tag, len(found))
	for i, tag := range found {
		tags[i] = docgen.Tag{Content: tag.Content, Type: tag.Type, JSONPaths: tag.Paths}
	}
	schema, err := read.template.Schema().MarshalJSON()
	if err != nil {
		return docgen.Reading{}, fmt.Errorf("schema: %w", err)
	}
	warnings := read.template.Warnings()
	return docgen.Reading{
		Tags: tags, Schema: schema, Details: warnings, Warnings: warnings.Messages(), Includes: read.files,
	}, nil
}

// maker returns the function that generates the documents of a claim. An error of that function is one of the server, worth a retry;
// problems of a document are in its result.
func (s *slice) maker(ctx context.Context) (func(context.Context, docgen.ClaimedJob) (docgen.Result, error), error) {
	g, claim := s.Generator, s.claim
	fail := func(reason docgen.FailureReason, f docgen.Failures) func(context.Context, docgen.ClaimedJob) (docgen.Result, error) {
		return func(_ context.Context, job docgen.ClaimedJob) (docgen.Result, error) {
			return docgen.Result{Job: job, Failures: f, Reason: reason}, nil
		}
	}
	if err := g.available(claim.OutputType); err != nil {
		return fail(docgen.FailedPDF, docgen.Failures{Errors: []string{err.Error()}}), nil //nolint:nilerr // the jobs report it
	}
	used := &cachedTemplate{}
	var err error
	if !s.isIsolated() {
		used, err = g.templates.get(ctx, s.claimant, templateUse{versionID: claim.TemplateVersionID, requester: claim.Requester})
	}
	if lost, ok := errors.AsType[*docgen.Error](err); ok && !mayPass(err) &&
		(lost.Code == docgen.CodeNotFound || lost.Code == docgen.CodeContentDamaged) {
		return fail(docgen.FailedTemplate, docgen.Failures{Errors: []string{lost.Message}}), nil
	}
	if err != nil {
		return nil, err
	}
	if used.broken != nil {
		return fail(docgen.FailedTemplate, used.broken.failures()), nil //nolint:nilerr // the jobs report it
	}
	options, wrong := g.engineOptions(claim.Options, claim.OutputType, claim.CreatedAt)
	if len(wrong) > 0 { // from another version of the program
		return fail(docgen.FailedOther, docgen.Failures{
			Errors: []string{"The batch has an option that this server does not support: " + wrong[0].Message},
		}), nil
	}
	return func(ctx context.Context, job docgen.ClaimedJob) (docgen.Result, error) {
		return s.document(ctx, used.template, options, job)
	}, nil
}

// engineOptions returns the options of a document for the engine, and the problems with them. Functions such as $now() return the given
// time.
func (g *Generator) engineOptions(wanted docgen.BatchOptions, outputType string, now time.Time) (docx.Options, []docgen.Problem) {
	options, wrong := wanted.Engine()
	options.Now, options.Picture, options.ForPDF = now, g.picture, outputType != docgen.OutputDocx
	options.Limits, options.WordML = g.limits, g.wordML
	return options, wrong
}

// mayPass reports whether a damaged content may become readable again, because the cause is an I/O error of the disk or the network. Such
// errors are retried like any error of the server.
func mayPass(err error) bool { return errors.Is(err, syscall.EIO) }

// TaskFailed ends the work of a task that failed permanently, with a reason for people. The queue calls it when it gives up a task.
func (g *Generator) TaskFailed(ctx context.Context, kind string, args json.RawMessage, cause error) error {
	g.log.ErrorContext(ctx, "a task is given up", "task", kind, "args", string(args), "error", cause)
	switch kind {
	case docgen.ReadTags{}.Kind():
		var task docgen.ReadTags
		if err := json.Unmarshal(args, &task); err != nil {
			return fmt.Errorf("decode task %s: %w", kind, err)
		}
		return g.service.SaveReading(ctx, task.VersionID, docgen.Reading{Problem: reasonOf(cause)})
	case docgen.GenerateRange{}.Kind():
		var task docgen.GenerateRange
		if err := json.Unmarshal(args, &task); err != nil {
			return fmt.Errorf("decode task %s: %w", kind, err)
		}
		return g.service.RequeueOldBatch(ctx, task)
	case docgen.MergeDocuments{}.Kind():
		var task docgen.MergeDocuments
		if err := json.Unmarshal(args, &task); err != nil {
			return fmt.Errorf("decode task %s: %w", kind, err)
		}
		if docgen.IsCrash(cause) || docgen.ShortageOf(cause) != docgen.NoShortage {
			return g.service.RequeueMerge(ctx, task)
		}
		_, err := g.service.FailMerge(ctx, task, mergeReason(cause))
		return err
	}
	return nil
}
