package generate

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/docgen"
)

// metrics counts what is made.
type metrics struct {
	documents *prometheus.CounterVec
	duration  prometheus.Histogram
	compiled  *prometheus.CounterVec
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
	}
	for _, status := range []docgen.Status{docgen.StatusCompleted, docgen.StatusCompletedWithError, docgen.StatusFailed} {
		m.documents.WithLabelValues(string(status)) // from zero, so that the first of them is an increase
	}
	if registry != nil {
		registry.MustRegister(m.documents, m.duration, m.compiled)
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

func (m *metrics) compiledTemplate(err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.compiled.WithLabelValues(result).Inc()
}
