package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"platen/blob"
	"platen/docgen"
	"platen/generate"
	"platen/pdf"
	"platen/server"
	"platen/store"
	"platen/webhook"
)

type serveCmd struct {
	config `embed:""`
}

// Run serves until the process receives a signal to stop.
func (c *serveCmd) Run(ctx context.Context, s *streams) error {
	log, err := newLogger(s.err, c.LogFormat, c.LogLevel)
	if err != nil {
		return err
	}
	return serve(ctx, &c.config, log, func(string) {})
}

// serve wires Platen together, runs it until ctx is done, and shuts it down. It calls listening with the URL of the server once it
// accepts requests.
//
//	requests ──▶ server ───┐            ┌──▶ blob    contents, in DIR/blobs, and a store for each storage policy
//	                       ├──▶ docgen ─┤
//	   queue ──▶ generate ─┤            └──▶ store   rows and tasks, in DIR/platen.db or PostgreSQL
//	     ▲   │      └──────│──▶ pdf            │       LibreOffice, in processes of its own
//	     │   └─▶ webhook ──┘                   │
//	     └──────────────── tasks ──────────────┘     DIR/platen.lock: one server per data folder
//
// The function is deliberately one straight line: each part comes after the parts that it needs, and is stopped before them.
func serve(ctx context.Context, cfg *config, log *slog.Logger, listening func(url string)) (err error) {
	var stop teardown
	defer func() { err = errors.Join(err, stop.run(log)) }()
	runtime.GOMAXPROCS(cores + generate.SpareProcs)
	plan, err := cfg.prepareMemory(log)
	if err != nil {
		return err
	}

	lock, err := store.LockDir(cfg.Data)
	if err != nil {
		return secondServer(err)
	}
	stop.add("data folder", lock.Unlock)

	dbConfig := cfg.storeConfig(log)
	dbConfig.MaxConns = cfg.DatabaseConns
	db, err := store.Open(ctx, dbConfig)
	if err != nil {
		return err
	}
	stop.add("database", db.Close)

	blobs, policies, err := cfg.openContents(&stop)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	guard := cfg.guard(log)
	disks := cfg.disks()
	diskMetrics(registry, disks, int64(cfg.MinFree))
	service, err := docgen.New(ctx, docgen.Config{
		Disks: disks, MinFree: int64(cfg.MinFree), Quota: docgen.Quota{Bytes: int64(cfg.UserBytes), Files: cfg.UserFiles},
		WordTemplates: cfg.Compat != string(server.CompatBox), LeadingSpaces: cfg.Compat == string(server.CompatBox), Defaults: cfg.defaults(),
		Store: db, Blobs: blobs, Policies: policies, Limits: cfg.limits(), KeepArchives: !cfg.ArchiveDelete,
		CheckAddress: guard.Check, Notification: server.Notification, Log: log, CountDamage: damageCounter(registry),
	})
	if err != nil {
		return err
	}
	if err := warnOfTokens(ctx, service, log); err != nil {
		return err
	}
	stop.add("notes", writeNotes(service, log))

	tracer, err := cfg.tracer(ctx, log, &stop)
	if err != nil {
		return err
	}
	registry.MustRegister(&expiring{service: service, log: log})
	engine, err := cfg.pdfEngine(log, registry)
	if err != nil {
		return err
	}
	stop.add("PDF engine", engine.Close)
	generator := cfg.generator(service, engine, plan, log, registry, tracer)
	deliverer, err := cfg.deliverer(service, guard, log, registry)
	if err != nil {
		return err
	}
	stop.add("connections to receivers", func() error { deliverer.Close(); return nil })
	queue, workers := cfg.queue(db, service, generator, deliverer, log)
	if err := errors.Join(scheduleTasks(ctx, service), cfg.retain(ctx, service, queue, log, registry)); err != nil {
		return err
	}

	listener, err := listen(ctx, cfg.Listen, &stop)
	if err != nil {
		return err
	}

	address := urlOf(listener.Addr())
	baseURL := cmp.Or(cfg.BaseURL, address)
	if err := startQueue(ctx, service, baseURL, queue); err != nil {
		return err
	}
	stop.add("queue", within(cfg.Drain, queue.Stop))

	serving := &serving{baseURL: baseURL, drain: cfg.Drain, log: log, stop: &stop, broken: make(chan error, 2),
		limits: cfg.connections(plan, registry)}
	if err := cfg.serveHTTP(ctx, serving, listener, server.Config{
		Node: nodeOf(engine, generator), Service: service, Generator: generator, Log: log, BaseURL: baseURL, FixedURL: cfg.BaseURL != "",
		Sign: signed, PDF: engine.Available,
		Version: version(), Tracer: tracer, TrustedProxies: cfg.TrustedProxies, RateLimits: cfg.rateLimits(), Rates: sharedRates(db),
		Compat: server.Compat(cfg.Compat), InFlight: server.InFlight{Memory: plan.InFlight, Folder: cfg.Data}, Metrics: registry,
	}); err != nil {
		return err
	}

	log.Info("listening", "url", address, "data", cfg.Data, "database", db.Dialect(), "workers", workers)
	listening(address)
	select {
	case <-ctx.Done():
		log.Info("stopping", "at_most", cfg.Drain)
		return nil
	case err := <-serving.broken:
		return fmt.Errorf("serve: %w", err)
	}
}

// startQueue starts the tasks in the background, after the service knows the URL that their notifications contain.
func startQueue(ctx context.Context, service *docgen.Service, baseURL string, queue *store.Queue) error {
	if err := service.SetBaseURL(ctx, baseURL); err != nil {
		return err
	}
	return queue.Start(context.WithoutCancel(ctx)) // stopping is its own business: ctx would take the jobs that run away from under it
}

// scheduleTasks schedules the tasks of the service that run in the background.
func scheduleTasks(ctx context.Context, service *docgen.Service) error {
	return errors.Join(
		service.ScheduleSweep(ctx), service.ScheduleRelocation(ctx), service.ScheduleRemoval(ctx), service.ScheduleErasure(ctx),
		service.ScheduleDeliveries(ctx), service.ScheduleSummaries(ctx), service.ScheduleDocuments(ctx),
		service.ScheduleTemporary(ctx),
		service.ScheduleCancellation(ctx),
		service.ScheduleKeys(ctx),
	)
}

// openContents opens the default blob store and that of each storage policy.
func (c *config) openContents(stop *teardown) (blob.Store, []docgen.NewStoragePolicy, error) {
	blobs, err := blob.Open(c.blobsLocation())
	if err != nil {
		return nil, nil, err
	}
	stop.add("contents", blobs.Close)
	policies, err := c.StoragePolicies.open(stop)
	return blobs, policies, err
}

// sharedRates returns a counter for all servers of a database, or nil if there is only one server.
func sharedRates(db *store.DB) server.RateCounter {
	if db.Dialect() == store.PostgreSQL {
		return store.NewRateCounter(db, server.RatePeriod)
	}
	return nil
}

// generator returns the generator of documents.
func (c *config) generator(service *docgen.Service, engine pdf.Engine, plan memoryPlan, log *slog.Logger,
	registry prometheus.Registerer, tracer trace.Tracer) *generate.Generator {
	cfg := generate.Config{
		Service: service, Log: log, TemplateCache: int64(c.TemplateCache), Metrics: registry, PDF: engine, Pages: c.rasterizer(), Tracer: tracer,
		Program: thisProgram, Cores: cores, Workers: c.documentWorkers(), PDFWorkers: c.pdfConfig.workers(),
		Limits: c.budgetFlags.limits(c.DocumentTime), TemplateTime: time.Duration(orNone(int64(c.TemplateTime))),
		IsolatedMemory: max(plan.Server, leastIsolated), Conversion: c.longestConversion(), WordML: c.AllowWordML,
	}
	if source := c.PictureHosts.source(); source != nil {
		cfg.Picture = source.fetch
	}
	return generate.New(cfg)
}

// damageCounter counts reads of damaged content by kind. All kinds exist from the start, so that alerts see the first read.
func damageCounter(registry prometheus.Registerer) func(kind string) {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "platen_content_damaged_total", Help: "Reads of damaged stored content, by kind: missing, changed, unreadable.",
	}, []string{"kind"})
	registry.MustRegister(counter)
	for _, kind := range []string{docgen.DamageMissing, docgen.DamageChanged, docgen.DamageUnreadable} {
		counter.WithLabelValues(kind)
	}
	return func(kind string) { counter.WithLabelValues(kind).Inc() }
}

// cores returns the number of cores that the process may use.
var cores = runtime.GOMAXPROCS(0)

// documentWorkers returns the number of Word documents that are generated concurrently.
func (c *config) documentWorkers() int {
	return cmp.Or(c.Workers, generate.TasksPerCore*cores)
}

// The number of concurrent tasks by queue. Generation tasks mostly wait for their user's turn, which package generate controls; only a
// few do other work.
const (
	otherWorkers    = 8
	tagWorkers      = 64
	sampleWorkers   = 8
	manyTagsWorkers = 16
	docxWorkers     = 500
	pdfTasks        = 250
	isolatedWorkers = 50
	mergeWorkers    = 50
)

// queue returns the queue that runs the tasks, with the number of concurrent generation tasks.
func (c *config) queue(db *store.DB, service *docgen.Service, generator *generate.Generator, deliverer *webhook.Deliverer,
	log *slog.Logger) (queue *store.Queue, workers int) {
	workers = c.documentWorkers()
	queue = store.NewQueue(db, store.QueueConfig{
		Workers: map[string]int{
			store.DefaultQueue: otherWorkers, docgen.TagQueue: tagWorkers, docgen.ManyTagsQueue: manyTagsWorkers,
			docgen.SampleQueue:      sampleWorkers,
			docgen.LaneDocx.Queue(): docxWorkers, docgen.LanePDF.Queue(): pdfTasks, docgen.LaneIsolated.Queue(): isolatedWorkers,
			docgen.OldPDFQueue: 1, docgen.OldIsolatedQueue: 1,
			docgen.MergeQueue: mergeWorkers, docgen.RelocationQueue: 1, docgen.RemovalQueue: 1, docgen.DeliveryQueue: deliveryWorkers,
			docgen.CancelQueue: 1,
		},
		Exhausted: generator.TaskFailed,
	})
	store.Handle(queue, afterFaults(generator.ReadTags))
	store.HandleWithin(queue, generator.TaskTimeout(), afterFaults(inPortions(generator.CheckSamples, generate.ErrUnfinished)))
	store.HandleWithin(queue, generator.TaskTimeout(), afterFaults(inPortions(generator.GenerateDocuments, generate.ErrUnfinished)))
	store.Handle(queue, service.RequeueOldBatch)
	store.Handle(queue, wakingDocuments(service))
	store.Handle(queue, removingTemporary(service))
	store.HandleWithin(queue, generate.MergeTimeout, afterFaults(inPortions(generator.MergeDocuments, generate.ErrUnfinished)))
	store.Handle(queue, delivering(deliverer))
	store.Handle(queue, waking(service, deliverer))
	store.HandleWithin(queue, dailyTimeout, daily(service, time.Duration(c.WebhookLogDays)*24*time.Hour, log))
	store.Handle(queue, service.RemoveContents)
	store.Handle(queue, summaries(service))
	store.Handle(queue, relocation(service.Relocate, log))
	store.Handle(queue, removal(service))
	store.Handle(queue, erasing(service))
	store.Handle(queue, canceling(service))
	store.Handle(queue, removingKeys(service))
	return queue, workers
}

// teardown undoes startup steps, in reverse order.
type teardown struct{ steps []teardownStep }

type teardownStep struct {
	name string
	undo func() error
}

func (t *teardown) add(name string, undo func() error) {
	t.steps = append(t.steps, teardownStep{name, undo})
}

// run runs every step, even after one failed.
func (t *teardown) run(log *slog.Logger) error {
	var failed []error
	for _, step := range slices.Backward(t.steps) {
		log.Debug("stopping", "part", step.name)
		if err := step.undo(); err != nil {
			failed = append(failed, fmt.Errorf("stop %s: %w", step.name, err))
		}
	}
	return errors.Join(failed...)
}

// within returns a step that calls fn with a deadline.
func within(limit time.Duration, fn func(context.Context) error) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		return fn(ctx)
	}
}

// secondServer explains what to do if the data folder is in use.
func secondServer(err error) error {
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%w: only one server can use a data folder; stop that server, or select another folder with --data", err)
	}
	return err
}

// inPortions runs a task again that used up its time, to continue where it stopped.
func inPortions[T store.Task](work func(context.Context, T) error, unfinished error) func(context.Context, T) error {
	return func(ctx context.Context, task T) error {
		err := work(ctx, task)
		if errors.Is(err, unfinished) {
			return store.Snooze(0)
		}
		return err
	}
}

// afterFaults runs a task again after a pause if an error of the server interrupted it.
func afterFaults[T store.Task](work func(context.Context, T) error) func(context.Context, T) error {
	return func(ctx context.Context, task T) error {
		err := work(ctx, task)
		if paused, ok := errors.AsType[*generate.PauseError](err); ok {
			return store.Snooze(paused.For)
		}
		return err
	}
}

// wakeEvery is the interval between searches for documents that wait although no task generates them.
const wakeEvery = 2 * time.Second

// wakingDocuments searches for documents that wait although no task generates them.
func wakingDocuments(service *docgen.Service) func(context.Context, docgen.WakeDocuments) error {
	return func(ctx context.Context, _ docgen.WakeDocuments) error {
		if err := service.WakeDocuments(ctx); err != nil {
			return err
		}
		return store.Snooze(wakeEvery)
	}
}

// temporaryEvery is the interval between searches for temporary documents to delete.
const temporaryEvery = time.Minute

// removingTemporary deletes temporary documents.
func removingTemporary(service *docgen.Service) func(context.Context, docgen.RemoveTemporary) error {
	return func(ctx context.Context, _ docgen.RemoveTemporary) error {
		if _, err := service.RemoveTemporary(ctx); err != nil {
			return err
		}
		return store.Snooze(temporaryEvery)
	}
}

const (
	sweepEvery   = 24 * time.Hour // interval between searches for contents that no row references
	dailyTimeout = 2 * time.Hour  // enough for 10 million contents
)

// daily removes data that is no longer needed, now and then every day: orphaned contents, expired tokens, and deliveries that have left
// the log.
func daily(service *docgen.Service, keep time.Duration, log *slog.Logger) func(context.Context, docgen.SweepBlobs) error {
	return func(ctx context.Context, _ docgen.SweepBlobs) error {
		done := func(message string, removed int64, err error) error {
			if err == nil {
				log.InfoContext(ctx, message, "removed", removed) //nolint:sloglint // one of the three below
			}
			return err
		}
		expired, err := service.RemoveExpired(ctx)
		failed := done("expired tokens removed", expired, err)
		deliveries, err := service.RemoveDeliveries(ctx, time.Now().Add(-keep))
		failed = errors.Join(failed, done("old deliveries removed", deliveries, err))
		swept, err := service.Sweep(ctx)
		failed = errors.Join(failed, done("orphaned contents swept", int64(swept), err))
		if err := service.TruncateLog(ctx); err != nil {
			log.WarnContext(ctx, "the write-ahead log of the database still contains deleted data, until the next attempt or a restart",
				"error", err)
		}
		if failed != nil {
			return failed
		}
		return store.Snooze(sweepEvery)
	}
}

// removal deletes the rest of permanently deleted trees, and continues after its time is up.
func removal(service *docgen.Service) func(context.Context, docgen.RemoveTrees) error {
	return func(ctx context.Context, _ docgen.RemoveTrees) error {
		more, err := service.RemoveTrees(ctx)
		if err == nil && more {
			return store.Snooze(0)
		}
		return err
	}
}

// erasing erases the rest of users, and continues after its time is up.
func erasing(service *docgen.Service) func(context.Context, docgen.EraseUsers) error {
	return func(ctx context.Context, _ docgen.EraseUsers) error {
		more, err := service.EraseUsers(ctx)
		if err == nil && more {
			return store.Snooze(0)
		}
		return err
	}
}

// canceling ends the waiting jobs of canceled batches, and continues after its time is up.
func canceling(service *docgen.Service) func(context.Context, docgen.CancelJobs) error {
	return func(ctx context.Context, _ docgen.CancelJobs) error {
		more, err := service.CancelJobs(ctx)
		if err == nil && more {
			return store.Snooze(0)
		}
		return err
	}
}

// summaries creates the summaries of jobs from earlier releases, some at a time.
func summaries(service *docgen.Service) func(context.Context, docgen.SummarizeFailures) error {
	return func(ctx context.Context, _ docgen.SummarizeFailures) error {
		more, err := service.Summarize(ctx)
		if err == nil && more {
			return store.Snooze(0)
		}
		return err
	}
}

// relocateEvery is the interval between searches for contents whose relocation is overdue.
const relocateEvery = time.Hour

// relocation moves contents to the locations of their storage policies.
func relocation(relocate func(context.Context) (int, bool, error), log *slog.Logger) func(context.Context, docgen.RelocateContents) error {
	return func(ctx context.Context, task docgen.RelocateContents) error {
		moved, more, err := relocate(ctx)
		if moved > 0 {
			log.InfoContext(ctx, "contents relocated", "moved", moved)
		}
		if ctx.Err() != nil || err != nil && !task.Hourly && !more {
			return err
		}
		pause := relocateEvery
		if more {
			pause = 0
		}
		if err != nil {
			log.ErrorContext(ctx, "relocation of contents failed", "error", err, "again_in", pause)
		}
		if more || task.Hourly {
			return store.Snooze(pause)
		}
		return nil
	}
}
