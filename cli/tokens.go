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

// noteEvery is how often what the service only notes while it answers requests is written.
const noteEvery = 30 * time.Second

// writeNotes writes what the service notes, now and then, until the function that it returns is called, which writes once more.
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
					log.Warn("the last use of tokens, or what was denied, cannot be written", "error", err)
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
	return errors.Join(service.RecordUses(ctx), service.RecordDenials(ctx))
}

// warnOfTokens says once after an upgrade what has changed for new tokens.
func warnOfTokens(ctx context.Context, service *docgen.Service, log *slog.Logger) error {
	lasting, err := service.TokenNotice(ctx)
	if err == nil && lasting > 0 {
		log.WarnContext(ctx, "platen token create now makes tokens that expire after 30 days, unless --ttl says otherwise; existing tokens keep "+
			"their lifetime, and these never expire: see platen token list", "tokens", lasting)
	}
	return err
}

// expiring shows how many tokens expire soon. While the database does not tell there is nothing to show.
type expiring struct {
	service *docgen.Service
	log     *slog.Logger

	mu   sync.Mutex
	read time.Time // when it was read last, or should have been
	last *int64
}

// How the number of expiring tokens is read: it is the same for every server of a cluster.
const (
	expiringEvery = 10 * time.Second // in between it is what it was
	expiringLimit = 2 * time.Second
)

var tokensExpiring = prometheus.NewDesc("platen_tokens_expiring",
	"Access tokens made by hand that expire within 7 days. It is of the database: the same for every server on it.", nil, nil)

// Describe sends the description.
func (e *expiring) Describe(to chan<- *prometheus.Desc) { to <- tokensExpiring }

// Collect shows the number as it was a few seconds ago at most.
func (e *expiring) Collect(to chan<- prometheus.Metric) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := time.Now(); e.read.IsZero() || now.Sub(e.read) >= expiringEvery {
		e.read, e.last = now, nil
		ctx, cancel := context.WithTimeout(context.Background(), expiringLimit)
		defer cancel()
		count, err := e.service.CountExpiring(ctx)
		if err != nil {
			e.log.Warn("the tokens that expire soon cannot be counted", "error", err)
			return
		}
		e.last = &count
	}
	if e.last != nil {
		to <- prometheus.MustNewConstMetric(tokensExpiring, prometheus.GaugeValue, float64(*e.last))
	}
}
