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

// Run serves until the process is told to stop.
func (c *serveCmd) Run(ctx context.Context, s *streams) error {
	log, err := newLogger(s.err, c.LogFormat, c.LogLevel)
	if err != nil {
		return err
	}
	return serve(ctx, &c.config, log, func(string) {})
}

// serve puts Platen together, runs it until ctx is done, and takes it apart again. It calls listening once requests are
// taken, with the URL for them.
//
//	requests ──▶ server ───┐            ┌──▶ blob    contents, in DIR/blobs, and a store for each storage policy
//	                       ├──▶ docgen ─┤
//	   queue ──▶ generate ─┤            └──▶ store   rows and tasks, in DIR/platen.db or PostgreSQL
//	     ▲   │      └──────│──▶ pdf            │       LibreOffice, in processes of its own
//	     │   └─▶ webhook ──┘                   │
//	     └──────────────── tasks ──────────────┘     DIR/platen.lock: one server a data folder
//
// It is one straight line on purpose: what needs another thing comes after it, and is stopped before it.
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
		WordTemplates: cfg.Compat != string(server.CompatBox), Defaults: cfg.defaults(),
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
	if err := errors.Join(service.ScheduleSweep(ctx), service.ScheduleRelocation(ctx), service.ScheduleRemoval(ctx), service.ScheduleErasure(ctx), service.ScheduleDeliveries(ctx),
		service.ScheduleSummaries(ctx), service.ScheduleDocuments(ctx), cfg.retain(ctx, service, queue, log, registry)); err != nil {
		return err
	}

	listener, err := listen(ctx, cfg.Listen, &stop)
	if err != nil {
		return err
	}

	// Stopping is the queue's own business: ctx would take the jobs that run away from under it.
	if err := queue.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	stop.add("queue", within(cfg.Drain, queue.Stop))

	address := urlOf(listener.Addr())
	baseURL := cmp.Or(cfg.BaseURL, address)
	serving := &serving{baseURL: baseURL, drain: cfg.Drain, log: log, stop: &stop, broken: make(chan error, 2), limits: cfg.connections(plan, registry)}
	if err := cfg.serveHTTP(ctx, serving, listener, server.Config{
		Service: service, Log: log, BaseURL: baseURL, Version: version(), TrustedProxies: cfg.TrustedProxies, Tracer: tracer,
		RateLimits: cfg.rateLimits(), Rates: sharedRates(db), InFlight: server.InFlight{Memory: plan.InFlight, Folder: cfg.Data},
		Compat: server.Compat(cfg.Compat), Metrics: registry, Sign: signed, PDF: engine.Available,
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

// openContents opens the blob stores: the usual one, and that of each storage policy.
func (c *config) openContents(stop *teardown) (blob.Store, []docgen.NewStoragePolicy, error) {
	blobs, err := blob.Open(c.blobsLocation())
	if err != nil {
		return nil, nil, err
	}
	stop.add("contents", blobs.Close)
	policies, err := c.StoragePolicies.open(stop)
	return blobs, policies, err
}

// sharedRates counts requests for all servers on a database; nil where there is only one.
func sharedRates(db *store.DB) server.RateCounter {
	if db.Dialect() == store.PostgreSQL {
		return store.NewRateCounter(db, server.RatePeriod)
	}
	return nil
}

// generator is what makes documents.
func (c *config) generator(service *docgen.Service, engine pdf.Engine, plan memoryPlan, log *slog.Logger, registry prometheus.Registerer, tracer trace.Tracer) *generate.Generator {
	cfg := generate.Config{
		Service: service, Log: log, TemplateCache: int64(c.TemplateCache), Metrics: registry, PDF: engine, Tracer: tracer,
		Program: thisProgram, Cores: cores, Workers: c.documentWorkers(), PDFWorkers: c.pdfConfig.workers(), Limits: c.budgetFlags.limits(c.DocumentTime), TemplateTime: time.Duration(orNone(int64(c.TemplateTime))),
		IsolatedMemory: max(plan.Server, leastIsolated), Conversion: c.longestConversion(),
	}
	if source := c.PictureHosts.source(); source != nil {
		cfg.Picture = source.fetch
	}
	return generate.New(cfg)
}

// damageCounter counts reads of damaged content, by kind. Every kind is there from the start, so that alerts see the first.
func damageCounter(registry prometheus.Registerer) func(kind string) {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "platen_content_damaged_total", Help: "Reads that found stored content damaged, by kind: missing, changed, unreadable.",
	}, []string{"kind"})
	registry.MustRegister(counter)
	for _, kind := range []string{docgen.DamageMissing, docgen.DamageChanged, docgen.DamageUnreadable} {
		counter.WithLabelValues(kind)
	}
	return func(kind string) { counter.WithLabelValues(kind).Inc() }
}

// cores is how many cores the process may use.
var cores = runtime.GOMAXPROCS(0)

// documentWorkers is how many Word documents are in progress at once.
func (c *config) documentWorkers() int {
	return cmp.Or(c.Workers, generate.TasksPerCore*cores)
}

// How many tasks of a queue are worked at once. Those of generation mostly wait for their user's turn, which package generate
// sees to; a few do other work.
const (
	otherWorkers    = 8
	tagWorkers      = 64
	manyTagsWorkers = 16
	docxWorkers     = 500
	pdfTasks        = 250
	isolatedWorkers = 50
	mergeWorkers    = 50
)

// queue is what works the tasks, and how many of generation at the same time.
func (c *config) queue(db *store.DB, service *docgen.Service, generator *generate.Generator, deliverer *webhook.Deliverer, log *slog.Logger) (queue *store.Queue, workers int) {
	workers = c.documentWorkers()
	queue = store.NewQueue(db, store.QueueConfig{
		Workers: map[string]int{
			store.DefaultQueue: otherWorkers, docgen.TagQueue: tagWorkers, docgen.ManyTagsQueue: manyTagsWorkers,
			docgen.LaneDocx.Queue(): docxWorkers, docgen.LanePDF.Queue(): pdfTasks, docgen.LaneIsolated.Queue(): isolatedWorkers,
			docgen.OldPDFQueue: 1, docgen.OldIsolatedQueue: 1,
			docgen.MergeQueue: mergeWorkers, docgen.RelocationQueue: 1, docgen.RemovalQueue: 1, docgen.DeliveryQueue: deliveryWorkers,
		},
		Exhausted: generator.TaskFailed,
	})
	store.Handle(queue, afterFaults(generator.ReadTags))
	store.HandleWithin(queue, generator.TaskTimeout(), afterFaults(inPortions(generator.GenerateDocuments, generate.ErrUnfinished)))
	store.Handle(queue, service.RequeueOldBatch)
	store.Handle(queue, wakingDocuments(service))
	store.HandleWithin(queue, generate.MergeTimeout, afterFaults(inPortions(generator.MergeDocuments, generate.ErrUnfinished)))
	store.Handle(queue, delivering(deliverer))
	store.Handle(queue, waking(service, deliverer))
	store.HandleWithin(queue, dailyTimeout, daily(service, time.Duration(c.WebhookLogDays)*24*time.Hour, log))
	store.Handle(queue, service.RemoveContents)
	store.Handle(queue, summaries(service))
	store.Handle(queue, relocation(service.Relocate, log))
	store.Handle(queue, removal(service))
	store.Handle(queue, erasing(service))
	return queue, workers
}

// teardown undoes what start-up did, the last thing first.
type teardown struct{ steps []teardownStep }

type teardownStep struct {
	name string
	undo func() error
}

func (t *teardown) add(name string, undo func() error) {
	t.steps = append(t.steps, teardownStep{name, undo})
}

// run takes every step, also after one that went wrong.
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

// within makes a step of what takes a context, which it gives an end.
func within(limit time.Duration, fn func(context.Context) error) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		return fn(ctx)
	}
}

// secondServer says what to do when the data folder is in use.
func secondServer(err error) error {
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%w: only one server can work on a data folder; stop that one, or name another folder with --data", err)
	}
	return err
}

// inPortions lets a task that used up its time go on later from where it stopped.
func inPortions[T store.Task](work func(context.Context, T) error, unfinished error) func(context.Context, T) error {
	return func(ctx context.Context, task T) error {
		err := work(ctx, task)
		if errors.Is(err, unfinished) {
			return store.Snooze(0)
		}
		return err
	}
}

// afterFaults lets a task go on after a pause that an error of the server broke off.
func afterFaults[T store.Task](work func(context.Context, T) error) func(context.Context, T) error {
	return func(ctx context.Context, task T) error {
		err := work(ctx, task)
		if paused, ok := errors.AsType[*generate.PauseError](err); ok {
			return store.Snooze(paused.For)
		}
		return err
	}
}

// wakeEvery is how often documents are looked for that wait although nobody generates them.
const wakeEvery = 2 * time.Second

// wakingDocuments looks for documents that wait although nobody generates them.
func wakingDocuments(service *docgen.Service) func(context.Context, docgen.WakeDocuments) error {
	return func(ctx context.Context, _ docgen.WakeDocuments) error {
		if err := service.WakeDocuments(ctx); err != nil {
			return err
		}
		return store.Snooze(wakeEvery)
	}
}

const (
	sweepEvery   = 24 * time.Hour // contents that nothing names are looked for that often
	dailyTimeout = 2 * time.Hour  // enough for 10 million contents
)

// daily removes what nobody needs any more now, and again every day: orphans, tokens that have expired, and deliveries older
// than the log is long.
func daily(service *docgen.Service, keep time.Duration, log *slog.Logger) func(context.Context, docgen.SweepBlobs) error {
	return func(ctx context.Context, _ docgen.SweepBlobs) error {
		done := func(message string, removed int64, err error) error {
			if err == nil {
				log.InfoContext(ctx, message, "removed", removed)
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
			log.WarnContext(ctx, "the log of the database still holds what was deleted, until the next try or a restart", "error", err)
		}
		if failed != nil {
			return failed
		}
		return store.Snooze(sweepEvery)
	}
}

// removal removes what was deleted for good, and goes on where its time was up.
func removal(service *docgen.Service) func(context.Context, docgen.RemoveTrees) error {
	return func(ctx context.Context, _ docgen.RemoveTrees) error {
		more, err := service.RemoveTrees(ctx)
		if err == nil && more {
			return store.Snooze(0)
		}
		return err
	}
}

// erasing erases what is left of users, and goes on where its time was up.
func erasing(service *docgen.Service) func(context.Context, docgen.EraseUsers) error {
	return func(ctx context.Context, _ docgen.EraseUsers) error {
		more, err := service.EraseUsers(ctx)
		if err == nil && more {
			return store.Snooze(0)
		}
		return err
	}
}

// summaries gives the jobs of earlier releases their summaries, some at a time.
func summaries(service *docgen.Service) func(context.Context, docgen.SummarizeFailures) error {
	return func(ctx context.Context, _ docgen.SummarizeFailures) error {
		more, err := service.Summarize(ctx)
		if err == nil && more {
			return store.Snooze(0)
		}
		return err
	}
}

// relocateEvery is how often contents are looked for that could not be relocated when they should have been.
const relocateEvery = time.Hour

// relocation carries contents to the places of their storage policies.
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
			log.ErrorContext(ctx, "contents stay where they are", "error", err, "again_in", pause)
		}
		if more || task.Hourly {
			return store.Snooze(pause)
		}
		return nil
	}
}
