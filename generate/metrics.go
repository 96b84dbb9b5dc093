package generate

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/docgen"
	"platen/docx/budget"
)

// metrics counts what is made.
type metrics struct {
	documents *prometheus.CounterVec
	duration  prometheus.Histogram
	compiled  *prometheus.CounterVec
	exceeded  *prometheus.CounterVec
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
		compiled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_templates_compiled_total", Help: "Template versions compiled, by whether they can be used.",
		}, []string{"result"}),
		exceeded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_budget_exceeded_total", Help: "Documents and templates that failed because they exceed a budget, by budget.",
		}, []string{"budget"}),
	}
	for _, name := range budget.Names {
		m.exceeded.WithLabelValues(string(name))
	}
	for _, status := range []docgen.Status{docgen.StatusCompleted, docgen.StatusCompletedWithError, docgen.StatusFailed} {
		m.documents.WithLabelValues(string(status)) // from zero, so that the first of them is an increase
	}
	if registry != nil {
		registry.MustRegister(m.documents, m.duration, m.compiled, m.exceeded)
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

func (m *metrics) compiledTemplate(err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.compiled.WithLabelValues(result).Inc()
}
