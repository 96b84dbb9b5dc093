package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics counts responses. Routes are labeled by pattern, so that the number of series is limited.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

// newMetrics registers the metrics. Each scrape calls ready, which returns 1 or 0. If ready is nil, there is no such metric.
func newMetrics(registry prometheus.Registerer, ready func() float64) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_http_requests_total", Help: "HTTP requests, by route and status.",
		}, []string{"route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "platen_http_request_duration_seconds", Help: "Time from the header of a request to the end of its response, by route.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "platen_http_requests_in_flight", Help: "HTTP requests in progress.",
		}),
	}
	registry.MustRegister(m.requests, m.duration, m.inFlight)
	if ready != nil {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "platen_ready", Help: "1 while the readiness check passes, 0 otherwise.",
		}, ready))
	}
	return m
}

func (m *metrics) observe(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(route).Observe(took.Seconds())
}

// metricsPage serves the metrics of a registry in the format of Prometheus.
func metricsPage(registry *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}
