package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/docgen"
)

// metrics counts what is delivered, and what is not.
type metrics struct {
	attempts *prometheus.CounterVec
	ended    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	latency  prometheus.Histogram
}

// newMetrics counts into a registry; into none when it is nil.
func newMetrics(registry prometheus.Registerer, d *Deliverer) *metrics {
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_webhook_attempts_total", Help: "Attempts of this process to deliver a notification, by what came of them.",
		}, []string{"outcome"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "platen_webhook_deliveries_total", Help: "Deliveries that this process ended, by whether they were delivered or given up (failed).",
		}, []string{"state"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "platen_webhook_attempt_duration_seconds", Help: "Time of an attempt, by what came of it.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"outcome"}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "platen_webhook_latency_seconds", Help: "Time from an event, or its replay, until its notification was delivered, retries included.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 600, 3600, 7200},
		}),
	}
	for _, state := range []docgen.DeliveryState{docgen.DeliveryDelivered, docgen.DeliveryFailed} {
		m.ended.WithLabelValues(string(state)) // from zero, so that the first of them is an increase
	}
	if registry != nil {
		dropped := prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "platen_webhook_dropped_total",
			Help: "Notifications that this process dropped, because too many waited for the webhooks of their user.",
		}, func() float64 { return float64(d.service.DroppedNotifications()) })
		registry.MustRegister(m.attempts, m.ended, m.duration, m.latency, dropped, breakers{d}, &backlog{d: d})
	}
	return m
}

// tried counts an attempt, and its delivery if that has ended.
func (m *metrics) tried(outcome Outcome, state docgen.DeliveryState, took time.Duration) {
	m.attempts.WithLabelValues(string(outcome)).Inc()
	m.duration.WithLabelValues(string(outcome)).Observe(took.Seconds())
	if state != docgen.DeliveryPending {
		m.ended.WithLabelValues(string(state)).Inc()
	}
}

func (m *metrics) delivered(after time.Duration) { m.latency.Observe(after.Seconds()) }

// breakers shows how many receivers there are, by the states of their circuit breakers.
type breakers struct{ d *Deliverer }

var breakerStates = prometheus.NewDesc("platen_webhook_receivers",
	"Receivers that this process has sent to of late, by the state of their circuit breaker.", []string{"breaker"}, nil)

// Describe sends the one description.
func (b breakers) Describe(to chan<- *prometheus.Desc) { to <- breakerStates }

// Collect counts the receivers at the moment.
func (b breakers) Collect(to chan<- prometheus.Metric) {
	for state, n := range b.d.receivers.states() {
		to <- prometheus.MustNewConstMetric(breakerStates, prometheus.GaugeValue, float64(n), string(state))
	}
}

// How the backlog is read. It is the same for every server of a cluster, and each of them may be looked at by several.
const (
	backlogEvery = 10 * time.Second // in between it is what it was
	backlogLimit = 2 * time.Second
)

// backlog shows what waits to be delivered. While the database does not tell there is nothing to show.
type backlog struct {
	d *Deliverer

	mu    sync.Mutex
	begun time.Time // when it was read last, or should have been
	last  *docgen.Backlog
}

var (
	queueAge = prometheus.NewDesc("platen_webhook_queue_age_seconds",
		"How long the most overdue delivery has been due; 0 when nothing is due. It is of the database: the same for every server on it.", nil, nil)
	queueDeliveries = prometheus.NewDesc("platen_webhook_queue_deliveries",
		"Deliveries that wait, due now or later; counted up to 100000. It is of the database: the same for every server on it.", nil, nil)
	webhooksByStatus = prometheus.NewDesc("platen_webhooks",
		"Webhooks, by status. It is of the database: the same for every server on it.", []string{"status"}, nil)
)

// Describe sends the descriptions.
func (b *backlog) Describe(to chan<- *prometheus.Desc) {
	to <- queueAge
	to <- queueDeliveries
	to <- webhooksByStatus
}

// Collect shows the backlog as it was a few seconds ago at most.
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

// read returns the backlog; nil when it could not be read.
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
		b.d.log.Warn("what waits for webhooks cannot be counted", "error", err)
		return nil
	}
	b.last = &found
	return b.last
}
