package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/docgen"
)

// metrics counts and times attempts and deliveries.
type metrics struct {
	attempts *prometheus.CounterVec
	ended    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	latency  prometheus.Histogram
}

// newMetrics returns metrics that it registers with registry, unless that is nil.
func newMetrics(registry prometheus.Registerer, d *Deliverer) *metrics {
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_webhook_attempts_total", Help: "Attempts of this process to deliver a notification, by outcome.",
		}, []string{"outcome"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_webhook_deliveries_total", Help: "Deliveries that this process completed: delivered, or given up (failed).",
		}, []string{"state"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "platen_webhook_attempt_duration_seconds", Help: "Duration of an attempt, by outcome.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"outcome"}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "platen_webhook_latency_seconds", Help: "Time from an event, or its replay, to the delivery of its notification, including " +
				"retries.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 600, 3600, 7200},
		}),
	}
	for _, state := range []docgen.DeliveryState{docgen.DeliveryDelivered, docgen.DeliveryFailed} {
		m.ended.WithLabelValues(string(state)) // starts at zero, so that the first one counts as an increase
	}
	if registry != nil {
		dropped := prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "platen_webhook_dropped_total",
			Help: "Notifications that this process dropped because too many were waiting for one user.",
		}, func() float64 { return float64(d.service.DroppedNotifications()) })
		registry.MustRegister(m.attempts, m.ended, m.duration, m.latency, dropped, breakers{d}, &backlog{d: d})
	}
	return m
}

// tried counts an attempt, and its delivery if that is complete.
func (m *metrics) tried(outcome Outcome, state docgen.DeliveryState, took time.Duration) {
	m.attempts.WithLabelValues(string(outcome)).Inc()
	m.duration.WithLabelValues(string(outcome)).Observe(took.Seconds())
	if state != docgen.DeliveryPending {
		m.ended.WithLabelValues(string(state)).Inc()
	}
}

func (m *metrics) delivered(after time.Duration) { m.latency.Observe(after.Seconds()) }

// breakers is a collector of the number of receivers, by the state of their circuit breakers.
type breakers struct{ d *Deliverer }

var breakerStates = prometheus.NewDesc("platen_webhook_receivers",
	"Receivers that this process has recently sent to, by the state of their circuit breaker.", []string{"breaker"}, nil)

// Describe implements [prometheus.Collector].
func (b breakers) Describe(to chan<- *prometheus.Desc) { to <- breakerStates }

// Collect implements [prometheus.Collector].
func (b breakers) Collect(to chan<- prometheus.Metric) {
	for state, n := range b.d.receivers.states() {
		to <- prometheus.MustNewConstMetric(breakerStates, prometheus.GaugeValue, float64(n), string(state))
	}
}

// Limits on reading the backlog, which every server of a cluster and every scraper would otherwise read again.
const (
	backlogEvery = 10 * time.Second // minimum time between two reads
	backlogLimit = 2 * time.Second
)

// backlog is a collector of the deliveries that are waiting. It collects nothing while the database does not answer.
type backlog struct {
	d *Deliverer

	mu    sync.Mutex
	begun time.Time       // start of the last read, successful or not
	last  *docgen.Backlog // nil if that failed
}

var (
	queueAge = prometheus.NewDesc("platen_webhook_queue_age_seconds",
		"Time since the oldest due delivery became due; 0 if none is due. All servers on one database report the same value.", nil, nil)
	queueDeliveries = prometheus.NewDesc("platen_webhook_queue_deliveries",
		"Pending deliveries, due now or later, counted up to 100000. All servers on one database report the same value.", nil, nil)
	webhooksByStatus = prometheus.NewDesc("platen_webhooks",
		"Webhooks, by status. All servers on one database report the same value.", []string{"status"}, nil)
)

// Describe implements [prometheus.Collector].
func (b *backlog) Describe(to chan<- *prometheus.Desc) {
	to <- queueAge
	to <- queueDeliveries
	to <- webhooksByStatus
}

// Collect implements [prometheus.Collector]. The values are up to backlogEvery old.
func (b *backlog) Collect(to chan<- prometheus.Metric) {
	known := b.read()
	if known == nil {
		return
	}
	to <- prometheus.MustNewConstMetric(queueAge, prometheus.GaugeValue, known.Late.Seconds())
	to <- prometheus.MustNewConstMetric(queueDeliveries, prometheus.GaugeValue, float64(known.Pending))
	to <- prometheus.MustNewConstMetric(webhooksByStatus, prometheus.GaugeValue, float64(known.Active), docgen.WebhookActive)
	to <- prometheus.MustNewConstMetric(webhooksByStatus, prometheus.GaugeValue, float64(known.Disabled), docgen.WebhookDisabled)
}

// read returns the backlog, or nil if the database did not answer.
func (b *backlog) read() *docgen.Backlog {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.d.now()
	if !b.begun.IsZero() && now.Sub(b.begun) < backlogEvery {
		return b.last
	}
	b.begun, b.last = now, nil
	ctx, cancel := context.WithTimeout(context.Background(), backlogLimit)
	defer cancel()
	found, err := b.d.service.Backlog(ctx)
	if err != nil {
		b.d.log.Warn("cannot count the pending deliveries of webhooks", "error", err)
		return nil
	}
	b.last = &found
	return b.last
}
