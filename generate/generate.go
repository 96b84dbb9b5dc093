// Package generate does the work of generation: a template and data become a document in its folder, and the tags of a
// template are read. Each of its methods does one task of the queue; what a task leaves behind when its process dies is
// done again by whoever gets the task next, and nothing is done twice.
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
)

// TasksPerCore is how many tasks are to be worked at once for each core: most of them wait for the disk.
const TasksPerCore = 8

// internalFailure is what a job says when the fault is ours; the log has the rest.
const internalFailure = "The document could not be made because of an error in the server. Its operator finds the reason " +
	"in the log under the id of this job."

// Config is what a Generator stands on.
type Config struct {
	Service *docgen.Service
	Log     *slog.Logger
	// TemplateCache bounds the memory of the compiled templates that are kept, in bytes; 0 is 256 MiB.
	TemplateCache int64
	// Picture fetches the picture at an address of the data; none are fetched when nil.
	Picture func(ctx context.Context, address string) ([]byte, error)
	// Limits are the budgets of each document; the zero value is docx's defaults.
	Limits docx.Limits
	// TemplateTime is how long compiling a template may take; 0 is docx's default, and below 0 there is no limit.
	TemplateTime time.Duration
	PDF          pdf.Engine // makes PDFs; without it there are none
	// Conversion is how long one call of the engine may take, besides waiting for a worker.
	Conversion time.Duration
	// Program is a program that calls Worker first in its main, usually this one: it generates documents in isolation that were in
	// progress when servers crashed. Without it they are generated like others.
	Program string
	// IsolatedMemory is how much memory such a process may have, in bytes; 0 is 4 GiB.
	IsolatedMemory int64
	// Cores is how many documents are rendered at once; 0 is GOMAXPROCS.
	Cores int
	// Workers is how many Word documents are in progress at once, from the claim until they are durable; 0 is eight a core.
	Workers int
	// PDFWorkers is how many documents the engine converts at once; 0 is one a core.
	PDFWorkers int
	Now        func() time.Time      // time.Now when nil
	Metrics    prometheus.Registerer // where documents are counted; nowhere when nil
	Tracer     trace.Tracer          // records a span for each document; none when nil
}

// Generator does the tasks of generation. It is safe for use by many goroutines: by more of them than there are cores,
// because a document spends most of its time waiting for the disk. What is scarce is shared among users, as package fair says:
// the places of documents in progress, the cores, the engine for PDFs, and merging.
type Generator struct {
	service      *docgen.Service
	log          *slog.Logger
	templates    *templateCache
	places       map[docgen.Lane]*fair.Slots // held from the claim of some documents until they are completed
	cores        *fair.Slots                 // held while a document is rendered, or a template compiled
	engines      *fair.Slots                 // held while a document is converted to PDF
	merges       *fair.Slots
	program      string
	isolated     uint64   // bytes of memory of a process that generates in isolation
	left         sync.Map // slots, as docgen.GenerateDocuments, whose documents this process may not have put back
	metrics      *metrics
	shortages    *shortages
	tracer       trace.Tracer
	picture      func(ctx context.Context, address string) ([]byte, error)
	limits       docx.Limits
	templateTime time.Duration
	pdf          pdf.Engine
	conversion   time.Duration
	now          func() time.Time
}

const (
	// longAfter is when a document is a long one, which leaves a slot for users without one.
	longAfter = time.Second
	// sparePlaces are for users who have no document in progress: they need not wait for one to be finished.
	sparePlaces = 2
	// placesPerEngine is how many PDFs are in progress for each that is converted: while one is converted, the document for the
	// next is rendered, and the one before is made durable.
	placesPerEngine = 2
)

// SpareProcs is by how much GOMAXPROCS of a server is to exceed [Config].Cores. A goroutine that has become ready, because the database
// answered, waits for up to 10 ms for each processor of the Go runtime that renders a document. With one that is free, it is up to the kernel,
// which lets it run at once.
const SpareProcs = 1

// New returns a Generator.
func New(cfg Config) *Generator {
	cores := cmp.Or(cfg.Cores, runtime.GOMAXPROCS(0))
	workers, engines := cmp.Or(cfg.Workers, TasksPerCore*cores), cmp.Or(cfg.PDFWorkers, cores)
	g := &Generator{
		service: cfg.Service, log: cfg.Log, picture: cfg.Picture, limits: cfg.Limits, program: cfg.Program, isolated: uint64(max(0, cfg.IsolatedMemory)), templateTime: cfg.TemplateTime, pdf: cfg.PDF, now: cfg.Now, conversion: cfg.Conversion,
		tracer: cmp.Or[trace.Tracer](cfg.Tracer, noop.Tracer{}),
		places: map[docgen.Lane]*fair.Slots{
			docgen.LaneDocx:     fair.New(fair.Config{Slots: workers, Spare: sparePlaces}),
			docgen.LanePDF:      fair.New(fair.Config{Slots: placesPerEngine * engines, Spare: sparePlaces}),
			docgen.LaneIsolated: fair.New(fair.Config{Slots: 1, Long: longAfter}),
		},
		cores:   fair.New(fair.Config{Slots: cores, Long: longAfter}),
		engines: fair.New(fair.Config{Slots: engines, Long: longAfter}),
		merges:  fair.New(fair.Config{Slots: 1, Long: longAfter}),
	}
	if g.now == nil {
		g.now = time.Now
	}
	g.metrics = newMetrics(cfg.Metrics)
	g.shortages = &shortages{log: g.log, now: g.now, counter: g.metrics.shortages, known: map[docgen.Shortage]*shortage{}}
	if cfg.Metrics != nil {
		cfg.Metrics.MustRegister(&backlog{g: g}, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "platen_pdf_waiting", Help: "Documents that wait until they can be converted to PDF.",
		}, func() float64 { return float64(g.engines.Waiting()) }))
		for _, what := range docgen.Shortages() {
			cfg.Metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "platen_shortage", Help: "1 from the first document that this process puts off because of what it lacks until the next that it completes.",
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

// compile reads a template's version, with the files that it includes for a requester, and compiles it. A template with mistakes is a
// *templateError. It takes a core, on behalf of whoever needs the template first.
func (g *Generator) compile(ctx context.Context, claimant fair.Claimant, of templateUse) (*docx.Template, inclusions, error) {
	core, err := g.cores.Acquire(ctx, claimant)
	if err != nil {
		return nil, nil, err
	}
	defer core.Release()
	content, err := g.service.TemplateContent(ctx, of.versionID)
	if err != nil {
		return nil, nil, err
	}
	data, err := g.read(ctx, content)
	if tooLarge, ok := errors.AsType[*sizeError](err); ok {
		return nil, nil, &templateError{fmt.Errorf("the template %w", tooLarge)}
	}
	if err != nil {
		return nil, nil, err
	}
	files := inclusions{}
	var lost error // why a file could not be had, if that is the server's fault
	template, err := docx.ParseWith(ctx, bytes.NewReader(data), content.Size, docx.ParseOptions{Time: g.templateTime, Include: func(name string) ([]byte, error) {
		data, versionID, err := g.include(ctx, of, name)
		files.add(name, versionID)
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

// read returns what a template or an included file holds.
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

// errAbsent is why a file cannot be included that is not to be had.
var errAbsent = errors.New("is not in the folder of the template, or is not a file that both the uploader of the template and the user who generates may download")

// include returns a file that a template includes, and its version; 0 if it could not be had.
func (g *Generator) include(ctx context.Context, of templateUse, name string) (data []byte, versionID int64, err error) {
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

// isIncludeFault tells whether an error of include is the server's, and not the template's.
func isIncludeFault(err error) bool {
	_, tooLarge := errors.AsType[*sizeError](err)
	return err != nil && !tooLarge && !errors.Is(err, errAbsent)
}

// current tells whether the files that a template includes are, for a requester, the same as when it was compiled.
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

// sizeError is a file that is larger than a template may be.
type sizeError struct{ size, limit int64 }

// Error continues a sentence whose subject is the file.
func (e *sizeError) Error() string {
	return fmt.Sprintf("has %d bytes, more than the limit of %d", e.size, e.limit)
}

// templateError is a template that can never be used, because of what it holds.
type templateError struct{ err error }

func (b *templateError) Error() string {
	if problems, ok := errors.AsType[docx.Errors](b.err); ok {
		return problems.Mistakes().Error()
	}
	return b.err.Error()
}

func (b *templateError) Unwrap() error { return b.err }

// failures say what is wrong with a template, for a person.
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

// ReadTags reads the tags of a template's version and keeps them. A *[PauseError] asks for another run.
func (g *Generator) ReadTags(ctx context.Context, task docgen.ReadTags) error {
	err := g.readTags(ctx, task)
	if err == nil {
		g.shortages.over(ctx, docgen.ShortOfDatabase) // the disk of the contents may still be full
	}
	return g.afterShortage(ctx, err, "template_version", task.VersionID)
}

func (g *Generator) readTags(ctx context.Context, task docgen.ReadTags) error {
	read, err := g.templates.get(ctx, fair.Claimant{User: task.UserID, Interactive: true}, templateUse{versionID: task.VersionID})
	if docgen.IsCode(err, docgen.CodeNotFound) { // removed for good, with all that was known of it
		return nil
	}
	if err != nil {
		return err
	}
	if read.broken != nil {
		found := read.broken.failures()
		return g.service.SaveReading(ctx, task.VersionID, docgen.Reading{
			Problem: read.broken.Error(), Details: found.Details, Warnings: found.Warnings, Includes: read.files,
		})
	}
	template := read.template
	found := template.Tags()
	tags := make([]docgen.Tag, len(found))
	for i, tag := range found {
		tags[i] = docgen.Tag{Content: tag.Content, Type: tag.Type, JSONPaths: tag.Paths}
	}
	schema, err := template.Schema().MarshalJSON()
	if err != nil {
		return fmt.Errorf("schema of template version %d: %w", task.VersionID, err)
	}
	fonts, err := g.fontWarnings(ctx, task.VersionID)
	if err != nil {
		return err
	}
	warnings := template.Warnings()
	return g.service.SaveReading(ctx, task.VersionID, docgen.Reading{
		Tags: tags, Schema: schema, Details: warnings, Warnings: slices.Concat(warnings.Messages(), fonts), Includes: read.files,
	})
}

// maker returns what makes the documents of a claim. An error of what it returns is one of the server, worth another try;
// what is wrong with a document is in its result.
func (s *slice) maker(ctx context.Context) (func(context.Context, docgen.ClaimedJob) (docgen.Result, error), error) {
	g, claim := s.Generator, s.claim
	fail := func(f docgen.Failures) func(context.Context, docgen.ClaimedJob) (docgen.Result, error) {
		return func(_ context.Context, job docgen.ClaimedJob) (docgen.Result, error) {
			return docgen.Result{Job: job, Failures: f}, nil
		}
	}
	if err := g.available(claim.OutputType); err != nil {
		return fail(docgen.Failures{Errors: []string{err.Error()}}), nil //nolint:nilerr // it is told by the jobs
	}
	used := &cachedTemplate{}
	var err error
	if !s.isIsolated() {
		used, err = g.templates.get(ctx, s.claimant, templateUse{claim.TemplateVersionID, claim.Requester})
	}
	if lost, ok := errors.AsType[*docgen.Error](err); ok && !mayPass(err) && (lost.Code == docgen.CodeNotFound || lost.Code == docgen.CodeContentDamaged) {
		return fail(docgen.Failures{Errors: []string{lost.Message}}), nil
	}
	if err != nil {
		return nil, err
	}
	if used.broken != nil {
		return fail(used.broken.failures()), nil //nolint:nilerr // it is told by the jobs
	}
	options, wrong := claim.Options.Engine()
	if len(wrong) > 0 { // of another version of the program
		return fail(docgen.Failures{Errors: []string{"The batch has an option that this server does not know: " + wrong[0].Message}}), nil
	}
	options.Now, options.Picture, options.ForPDF = claim.CreatedAt, g.picture, claim.OutputType == docgen.OutputPDF
	options.Limits = g.limits
	return func(ctx context.Context, job docgen.ClaimedJob) (docgen.Result, error) {
		return s.document(ctx, used.template, options, job)
	}, nil
}

// mayPass tells whether what damages a content may be over soon: an I/O error of the disk or the network. It is tried again like any
// error of the server.
func mayPass(err error) bool { return errors.Is(err, syscall.EIO) }

// TaskFailed ends what a task was to do that was tried in vain, with a reason for a person: it is what the queue calls
// when it gives a task up.
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
