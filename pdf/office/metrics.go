package office

import (
	"errors"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"platen/pdf"
)

// metrics are the Prometheus metrics of conversions.
type metrics struct {
	conversions *prometheus.CounterVec
	duration    prometheus.Histogram
	starts      atomic.Int64
	stopped     atomic.Int64
	poison      atomic.Int64
}

// Results of conversions: values of the label "result".
const (
	wasMade    = "made"
	wasRefused = "refused"
	wasStopped = "stopped" // will be tried again
	wasPoison  = "poison"
)

// newMetrics registers the metrics with a registry, or nowhere if it is nil.
func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		conversions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_pdf_conversions_total",
			Help: "Conversions by LibreOffice, by result: made, refused, stopped (will be tried again), or poison (stopped twice).",
		}, []string{"result"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "platen_pdf_conversion_duration_seconds",
			Help:    "Time to convert a document with LibreOffice, in seconds, excluding time in the queue.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}),
	}
	starts := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "platen_pdf_worker_starts_total", Help: "Number of LibreOffice processes started.",
	}, func() float64 { return float64(m.starts.Load()) })
	for _, result := range []string{wasMade, wasRefused, wasStopped, wasPoison} {
		m.conversions.WithLabelValues(result) // start at zero, so that the first conversion counts as an increase
	}
	if registry != nil {
		registry.MustRegister(m.conversions, m.duration, starts)
	}
	return m
}

// converted counts a finished conversion, whatever its result.
func (m *metrics) converted(result *pdf.Result, err error) {
	var refused *pdf.DocumentError
	var suspect *pdf.SuspectError
	switch {
	case err == nil:
		m.conversions.WithLabelValues(wasMade).Inc()
		m.duration.Observe(result.Took.Seconds())
	case errors.As(err, &suspect):
		m.stopped.Add(1)
		m.conversions.WithLabelValues(wasStopped).Inc()
	case errors.As(err, &refused) && refused.Poison:
		m.poison.Add(1)
		m.conversions.WithLabelValues(wasPoison).Inc()
	case errors.As(err, &refused):
		m.conversions.WithLabelValues(wasRefused).Inc()
	}
}
