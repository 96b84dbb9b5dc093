package office

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"platen/pdf"
)

// metrics counts what LibreOffice does.
type metrics struct {
	conversions *prometheus.CounterVec
	duration    prometheus.Histogram
	starts      prometheus.Counter
}

// What became of a conversion.
const (
	wasMade    = "made"
	wasRefused = "refused"
	wasStopped = "stopped" // it is tried again
	wasPoison  = "poison"
)

// newMetrics counts into a registry; into none when it is nil.
func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		conversions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_pdf_conversions_total",
			Help: "Documents that LibreOffice had, by what became of them: made, refused, stopped (it is tried again) or poison (stopped twice).",
		}, []string{"result"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "platen_pdf_conversion_duration_seconds", Help: "Time that LibreOffice took for a document, without that which it waited.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}),
		starts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "platen_pdf_worker_starts_total", Help: "How often a LibreOffice was started.",
		}),
	}
	for _, result := range []string{wasMade, wasRefused, wasStopped, wasPoison} {
		m.conversions.WithLabelValues(result) // from zero, so that the first of them is an increase
	}
	if registry != nil {
		registry.MustRegister(m.conversions, m.duration, m.starts)
	}
	return m
}

// converted counts a conversion that has ended, in whichever way.
func (m *metrics) converted(result *pdf.Result, err error) {
	var refused *pdf.DocumentError
	var suspect *pdf.SuspectError
	switch {
	case err == nil:
		m.conversions.WithLabelValues(wasMade).Inc()
		m.duration.Observe(result.Took.Seconds())
	case errors.As(err, &suspect):
		m.conversions.WithLabelValues(wasStopped).Inc()
	case errors.As(err, &refused) && refused.Poison:
		m.conversions.WithLabelValues(wasPoison).Inc()
	case errors.As(err, &refused):
		m.conversions.WithLabelValues(wasRefused).Inc()
	}
}
