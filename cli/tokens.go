package cli

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/docgen"
)

// noteEvery is the interval at which notes of the service are written.
const noteEvery = 30 * time.Second

// writeNotes periodically writes what the service noted in memory, until the caller calls the returned function, which writes a last time.
func writeNotes(service *docgen.Service, log *slog.Logger) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		for ticker := time.NewTicker(noteEvery); ; {
			select {
			case <-ctx.Done():
				ticker.Stop()
				return
			case <-ticker.C:
				if err := recordNotes(ctx, service); err != nil && ctx.Err() == nil {
					log.Warn("cannot write the last use of tokens, denied requests, or downloads", "error", err)
				}
			}
		}
	})
	return func() error {
		cancel()
		done.Wait()
		return within(noteEvery, func(ctx context.Context) error { return recordNotes(ctx, service) })()
	}
}

// recordNotes writes what the service has noted since the last time.
func recordNotes(ctx context.Context, service *docgen.Service) error {
	return errors.Join(service.RecordUses(ctx), service.RecordDenials(ctx), service.RecordDownloads(ctx))
}

// warnOfTokens logs, once after an upgrade, what has changed for new tokens.
func warnOfTokens(ctx context.Context, service *docgen.Service, log *slog.Logger) error {
	lasting, err := service.TokenNotice(ctx)
	if err == nil && lasting > 0 {
		log.WarnContext(ctx, "platen token create now creates tokens that expire after 30 days, unless --ttl is set; existing tokens "+
			"keep their lifetime, and these never expire: see platen token list", "tokens", lasting)
	}
	return err
}

// expiring is a metric with the number of tokens that expire soon. While the database does not respond, there is no value.
type expiring struct {
	service *docgen.Service
	log     *slog.Logger

	mu   sync.Mutex
	read time.Time // time of the last read, or attempt
	last *int64
}

// The number of expiring tokens is the same for every server of a cluster.
const (
	expiringEvery = 10 * time.Second // the value is cached in between
	expiringLimit = 2 * time.Second
)

var tokensExpiring = prometheus.NewDesc("platen_tokens_expiring",
	"Access tokens from platen token create that expire within 7 days. The same for every server on the database.", nil, nil)

// Describe implements prometheus.Collector.
func (e *expiring) Describe(to chan<- *prometheus.Desc) { to <- tokensExpiring }

// Collect reports the number, which is at most a few seconds old.
func (e *expiring) Collect(to chan<- prometheus.Metric) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := time.Now(); e.read.IsZero() || now.Sub(e.read) >= expiringEvery {
		e.read, e.last = now, nil
		ctx, cancel := context.WithTimeout(context.Background(), expiringLimit)
		defer cancel()
		count, err := e.service.CountExpiring(ctx)
		if err != nil {
			e.log.Warn("cannot count the tokens that expire soon", "error", err)
			return
		}
		e.last = &count
	}
	if e.last != nil {
		to <- prometheus.MustNewConstMetric(tokensExpiring, prometheus.GaugeValue, float64(*e.last))
	}
}
