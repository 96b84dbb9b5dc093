package generate

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/budget"
	"platen/docgen"
)

// metrics counts what is made.
type metrics struct {
	documents *prometheus.CounterVec
	duration  prometheus.Histogram
	wait      *prometheus.HistogramVec
	compiled  *prometheus.CounterVec
	exceeded  *prometheus.CounterVec
	shortages *prometheus.CounterVec
}

// newMetrics counts into a registry; into none when it is nil.
func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		documents: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_documents_total", Help: "Jobs that this process ended, by the status they ended with.",
		}, []string{"status"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "platen_document_duration_seconds", Help: "Time from the reading of a document's data until it is durable, waiting for a core included.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}),
		wait: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "platen_document_wait_seconds", Help: "Time from the acceptance of a batch until a document of it starts, by lane.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200},
		}, []string{"lane"}),
		compiled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_templates_compiled_total", Help: "Template versions compiled, by whether they can be used.",
		}, []string{"result"}),
		exceeded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_budget_exceeded_total", Help: "Documents and templates that failed because they exceed a budget, by budget.",
		}, []string{"budget"}),
	}
	m.shortages = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "platen_shortages_total", Help: "Times that this process put documents off because of what it lacks: disk_space, or the database.",
	}, []string{"waiting_for"})
	for _, lacking := range docgen.Shortages() {
		m.shortages.WithLabelValues(string(lacking))
	}
	for _, name := range budget.Names {
		m.exceeded.WithLabelValues(string(name))
	}
	for _, status := range []docgen.Status{docgen.StatusCompleted, docgen.StatusCompletedWithError, docgen.StatusFailed} {
		m.documents.WithLabelValues(string(status)) // from zero, so that the first of them is an increase
	}
	for _, result := range []string{"ok", "error"} {
		m.compiled.WithLabelValues(result)
	}
	for _, lane := range docgen.Lanes() {
		m.wait.WithLabelValues(string(lane))
	}
	if registry != nil {
		registry.MustRegister(m.documents, m.duration, m.wait, m.compiled, m.exceeded, m.shortages)
	}
	return m
}

// ended counts jobs that have ended.
func (m *metrics) ended(jobs map[docgen.Status]int) {
	for status, n := range jobs {
		m.documents.WithLabelValues(string(status)).Add(float64(n))
	}
}

// made counts a document that is durable.
func (m *metrics) made(took time.Duration) { m.duration.Observe(took.Seconds()) }

// exceededBudget counts a document or template that exceeds a budget.
func (m *metrics) exceededBudget(name budget.Name) { m.exceeded.WithLabelValues(string(name)).Inc() }

// How the backlog is read. It is the same for every server of a cluster, and each of them may be looked at by several.
const (
	backlogEvery = 10 * time.Second // in between it is what it was
	backlogLimit = 2 * time.Second
)

// backlog shows what waits in the lanes. While the database does not answer there is nothing to show.
type backlog struct {
	g *Generator

	mu    sync.Mutex
	begun time.Time // when it was read last, or should have been
	last  map[docgen.Lane]docgen.LaneBacklog
}

var (
	backlogDocuments = prometheus.NewDesc("platen_document_backlog",
		"Documents that wait, by lane; counted up to 100000. It is of the database: the same for every server on it.", []string{"queue"}, nil)
	backlogAge = prometheus.NewDesc("platen_document_backlog_age_seconds",
		"Age of the oldest batch with documents that wait, by lane; 0 when none wait. It is of the database: the same for every server on it.", []string{"queue"}, nil)
)

// Describe sends the descriptions.
func (b *backlog) Describe(to chan<- *prometheus.Desc) {
	to <- backlogDocuments
	to <- backlogAge
}

// Collect shows the backlog as it was a few seconds ago at most.
func (b *backlog) Collect(to chan<- prometheus.Metric) {
	for lane, waiting := range b.read() {
		to <- prometheus.MustNewConstMetric(backlogDocuments, prometheus.GaugeValue, float64(waiting.Documents), string(lane))
		to <- prometheus.MustNewConstMetric(backlogAge, prometheus.GaugeValue, waiting.Oldest.Seconds(), string(lane))
	}
}

// read returns the backlog; nil when it could not be read.
func (b *backlog) read() map[docgen.Lane]docgen.LaneBacklog {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.g.now()
	if !b.begun.IsZero() && now.Sub(b.begun) < backlogEvery {
		return b.last
	}
	b.begun, b.last = now, nil
	ctx, cancel := context.WithTimeout(context.Background(), backlogLimit)
	defer cancel()
	found, err := b.g.service.DocumentBacklog(ctx)
	if err != nil {
		b.g.log.Warn("the documents that wait cannot be counted", "error", err)
		return nil
	}
	b.last = found
	return found
}

// waited counts how long a document waited until it started.
func (m *metrics) waited(lane docgen.Lane, wait time.Duration) {
	m.wait.WithLabelValues(string(lane)).Observe(max(0, wait.Seconds()))
}

func (m *metrics) compiledTemplate(err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.compiled.WithLabelValues(result).Inc()
}
