package generate

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/budget"
	"platen/docgen"
)

// metrics counts documents and templates.
type metrics struct {
	documents *prometheus.CounterVec
	duration  prometheus.Histogram
	wait      *prometheus.HistogramVec
	compiled  *prometheus.CounterVec
	exceeded  *prometheus.CounterVec
	shortages *prometheus.CounterVec
	requests  *prometheus.HistogramVec
}

// newMetrics registers the metrics, unless the registry is nil.
func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		documents: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_documents_total", Help: "Jobs that this process ended, by status.",
		}, []string{"status"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "platen_document_duration_seconds",
			Help:    "Time from reading the data of a document until it is durable, including waiting for a core.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}),
		wait: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "platen_document_wait_seconds", Help: "Time from the acceptance of a batch until a document of it is started, by lane.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200},
		}, []string{"lane"}),
		compiled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_templates_compiled_total", Help: "Compiled template versions, by whether they are valid.",
		}, []string{"result"}),
		exceeded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_budget_exceeded_total", Help: "Documents and templates that failed because they exceeded a budget, by budget.",
		}, []string{"budget"}),
	}
	m.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "platen_requested_document_seconds",
		Help:    "Time to generate a document on request, including waiting, by output type and status; error is an error of the server.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
	}, []string{"output_type", "status"})
	m.shortages = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "platen_shortages_total", Help: "Times that this process postponed documents because it lacked a resource: disk_space or database.",
	}, []string{"waiting_for"})
	for _, lacking := range docgen.Shortages() {
		m.shortages.WithLabelValues(string(lacking))
	}
	for _, name := range budget.Names {
		m.exceeded.WithLabelValues(string(name))
	}
	for _, status := range []docgen.Status{docgen.StatusCompleted, docgen.StatusCompletedWithError, docgen.StatusFailed} {
		m.documents.WithLabelValues(string(status)) // start with zero, so that the first one is an increase
	}
	for _, result := range []string{"ok", "error"} {
		m.compiled.WithLabelValues(result)
	}
	for _, lane := range docgen.Lanes() {
		m.wait.WithLabelValues(string(lane))
	}
	if registry != nil {
		registry.MustRegister(m.documents, m.duration, m.wait, m.compiled, m.exceeded, m.shortages, m.requests)
	}
	return m
}

// ended counts jobs that have ended.
func (m *metrics) ended(jobs map[docgen.Status]int) {
	for status, n := range jobs {
		m.documents.WithLabelValues(string(status)).Add(float64(n))
	}
}

// made counts a durable document.
func (m *metrics) made(took time.Duration) { m.duration.Observe(took.Seconds()) }

// requested counts a document on request, or an error.
func (m *metrics) requested(outputType string, took time.Duration, document *docgen.Document, err error) {
	status := "error"
	switch {
	case err == nil:
		status = string(document.Status())
	case docgen.IsCode(err, docgen.CodeDocumentFailed):
		status = string(docgen.StatusFailed)
	}
	m.requests.WithLabelValues(outputType, status).Observe(took.Seconds())
}

// exceededBudget counts a document or template that exceeds a budget.
func (m *metrics) exceededBudget(name budget.Name) { m.exceeded.WithLabelValues(string(name)).Inc() }

// Limits of reading the backlog, which is the same for every server of a cluster. Several systems may scrape each server.
const (
	backlogEvery = 10 * time.Second // the value is cached in between
	backlogLimit = 2 * time.Second
)

// backlog is a metric of the documents that wait in lanes. While the database does not respond, there is no value.
type backlog struct {
	g *Generator

	mu    sync.Mutex
	begun time.Time // time of the last read, or attempt
	last  map[docgen.Lane]docgen.LaneBacklog
}

var (
	backlogDocuments = prometheus.NewDesc("platen_document_backlog",
		"Waiting documents, by lane; counted up to 100000. The same for every server on the database.", []string{"queue"}, nil)
	backlogAge = prometheus.NewDesc("platen_document_backlog_age_seconds",
		"Age of the oldest batch with waiting documents, by lane; 0 if none wait. The same for every server on the database.",
		[]string{"queue"}, nil)
)

// Describe implements prometheus.Collector.
func (b *backlog) Describe(to chan<- *prometheus.Desc) {
	to <- backlogDocuments
	to <- backlogAge
}

// Collect reports the backlog, which is at most a few seconds old.
func (b *backlog) Collect(to chan<- prometheus.Metric) {
	for lane, waiting := range b.read() {
		to <- prometheus.MustNewConstMetric(backlogDocuments, prometheus.GaugeValue, float64(waiting.Documents), string(lane))
		to <- prometheus.MustNewConstMetric(backlogAge, prometheus.GaugeValue, waiting.Oldest.Seconds(), string(lane))
	}
}

// read returns the backlog, or nil if it could not be read.
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
		b.g.log.Warn("cannot count the waiting documents", "error", err)
		return nil
	}
	b.last = found
	return found
}

// waited records the time that a document waited until it was started.
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
