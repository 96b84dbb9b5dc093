package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/docgen"
	"platen/store"
)

// retentionConfig configures how long data is kept that nobody deletes.
type retentionConfig struct {
	KeepBatches  keepDays `default:"90" env:"PLATEN_KEEP_BATCHES" placeholder:"DAYS" group:"Retention" help:"Number of days to keep a batch with its jobs after its creation, or forever (default 90). Generated files remain."`
	KeepInputs   keepDays `default:"14" env:"PLATEN_KEEP_INPUTS" placeholder:"DAYS" group:"Retention" help:"Number of days to keep the data of failed jobs, or forever (default 14). The data of other jobs is deleted when they end."`
	KeepFailures keepDays `default:"30" env:"PLATEN_KEEP_FAILURES" placeholder:"DAYS" group:"Retention" help:"Number of days to keep the failures of a job after its end, or forever (default 30). The job's status and the number of failures remain."`
	KeepTrash    keepDays `default:"30" env:"PLATEN_KEEP_TRASH" placeholder:"DAYS" group:"Retention" help:"Number of days to keep files, folders, and file versions in the trash, or forever (default 30)."`
	KeepAudit    keepDays `default:"365" env:"PLATEN_KEEP_AUDIT" placeholder:"DAYS" group:"Retention" help:"Number of days to keep entries of the audit log, or forever (default 365)."`
	KeepEvents   keepDays `default:"14" env:"PLATEN_KEEP_EVENTS" placeholder:"DAYS" group:"Retention" help:"Number of days to keep events of the event stream, or forever (default 14)."`
}

func (c *retentionConfig) periods() docgen.Retention {
	return docgen.Retention{
		Batches: c.KeepBatches.duration(), Inputs: c.KeepInputs.duration(), Trash: c.KeepTrash.duration(), Failures: c.KeepFailures.duration(),
		Audit: c.KeepAudit.duration(), Events: c.KeepEvents.duration(),
	}
}

// keepDays is a number of days, or 0 for forever.
type keepDays int

const (
	forever     = "forever"
	maxKeepDays = 36_500
)

// UnmarshalText parses a number of days, or forever. It rejects 0, which could mean either.
func (d *keepDays) UnmarshalText(text []byte) error {
	if string(text) == forever {
		*d = 0
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 || n > maxKeepDays {
		return fmt.Errorf("%q must be a number of days from 1 to %d, or %s", text, maxKeepDays, forever)
	}
	*d = keepDays(n)
	return nil
}

func (d keepDays) String() string {
	if d == 0 {
		return forever
	}
	return strconv.Itoa(int(d))
}

func (d keepDays) duration() time.Duration { return time.Duration(d) * 24 * time.Hour }

// retentionEvery is the interval at which the retention periods are applied.
const retentionEvery = 24 * time.Hour

// retainer applies the retention periods and counts what is removed.
type retainer struct {
	service *docgen.Service
	periods docgen.Retention
	log     *slog.Logger
	removed *prometheus.CounterVec
}

// retain schedules the retention periods, and announces what they will remove for the first time.
func (c *retentionConfig) retain(ctx context.Context, service *docgen.Service, queue *store.Queue, log *slog.Logger,
	registry prometheus.Registerer) error {
	r := newRetainer(service, c.periods(), log, registry)
	store.Handle(queue, r.apply)
	store.Handle(queue, r.removeBatches)
	return errors.Join(service.ScheduleRetention(ctx), r.announce(ctx))
}

func newRetainer(service *docgen.Service, periods docgen.Retention, log *slog.Logger, registry prometheus.Registerer) *retainer {
	r := &retainer{service: service, periods: periods, log: log, removed: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "platen_retention_removed_total",
		Help: "Items removed by this process: expired inputs and failures of jobs, trash, entries of the audit log, and events; batches that " +
			"expired or that their creator deleted.",
	}, []string{"kind"})}
	for _, kind := range []string{"batches", "inputs", "failures", "trash", "audit", "events"} {
		r.removed.WithLabelValues(kind)
	}
	registry.MustRegister(r.removed)
	return r
}

func (r *retainer) apply(ctx context.Context, _ docgen.ApplyRetention) error {
	removed, more, err := r.service.ApplyRetention(ctx, r.periods)
	r.removed.WithLabelValues("inputs").Add(float64(removed.Inputs))
	r.removed.WithLabelValues("failures").Add(float64(removed.Failures))
	r.removed.WithLabelValues("trash").Add(float64(removed.Trash))
	r.removed.WithLabelValues("audit").Add(float64(removed.Audit))
	r.removed.WithLabelValues("events").Add(float64(removed.Events))
	if removed != (docgen.RetentionCounts{}) {
		r.log.InfoContext(ctx, "retention applied", "batches", removed.Batches, "inputs", removed.Inputs, "failures", removed.Failures,
			"trash", removed.Trash,
			"audit", removed.Audit, "events", removed.Events)
	}
	switch {
	case err != nil:
		return err
	case more:
		return store.Snooze(0)
	}
	return store.Snooze(retentionEvery)
}

func (r *retainer) removeBatches(ctx context.Context, _ docgen.RemoveBatches) error {
	deleted, more, err := r.service.RemoveBatches(ctx)
	r.removed.WithLabelValues("batches").Add(float64(deleted))
	if err == nil && more {
		return store.Snooze(0)
	}
	return err
}

// announce logs, once per start, what the retention periods will remove for the first time.
func (r *retainer) announce(ctx context.Context) error {
	begins, err := r.service.RetentionBegins(ctx)
	if err != nil || !time.Now().Before(begins) {
		return err
	}
	found, err := r.service.OutdatedAt(ctx, r.periods, begins)
	if err != nil || found == (docgen.RetentionCounts{}) {
		return err
	}
	for _, kind := range []struct {
		found   int64
		setting string
	}{{found.Batches, "keep-batches"}, {found.Inputs, "keep-inputs"}, {found.Failures, "keep-failures"}, {found.Trash, "keep-trash"},
		{found.Audit, "keep-audit"}, {found.Events, "keep-events"}} {
		if kind.found > 0 {
			r.log.WarnContext(ctx, "old data will be removed unless its setting is "+forever, "setting", kind.setting, "from", begins)
		}
	}
	return nil
}

// keysEvery is the interval between deletions of expired idempotency keys.
const keysEvery = time.Hour

// removingKeys deletes expired idempotency keys, now and again every hour.
func removingKeys(service *docgen.Service) func(context.Context, docgen.RemoveKeys) error {
	return func(ctx context.Context, _ docgen.RemoveKeys) error {
		if _, err := service.RemoveExpiredKeys(ctx); err != nil {
			return err
		}
		return store.Snooze(keysEvery)
	}
}
