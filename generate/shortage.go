package generate

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/docgen"
)

// logInterval is the interval of log messages during a shortage.
const logInterval = time.Minute

// shortages tracks the resources that the server lacks, and logs a shortage immediately, then once a minute, and at its end.
type shortages struct {
	log     *slog.Logger
	now     func() time.Time
	counter *prometheus.CounterVec

	mu    sync.Mutex
	known map[docgen.Shortage]*shortage
}

// shortage is a shortage since the start.
type shortage struct {
	since    time.Time // zero if it has ended
	logged   time.Time // when it was last logged
	unlogged bool      // it has returned, but was not logged since
	met      int       // number of times since the last log message
}

// met records that something was postponed because of a shortage. The attributes identify it.
func (s *shortages) met(ctx context.Context, what docgen.Shortage, err error, attributes ...any) {
	s.counter.WithLabelValues(string(what)).Inc()
	s.mu.Lock()
	defer s.mu.Unlock()
	now, known := s.now(), s.known[what]
	if known == nil {
		known = &shortage{}
		s.known[what] = known
	}
	if known.since.IsZero() {
		known.since, known.unlogged = now, true
	}
	known.met++
	if now.Sub(known.logged) < logInterval {
		return
	}
	s.log.ErrorContext(ctx, "documents wait until the server can generate them", append(attributes,
		"waiting_for", what, "since", known.since, "put_off", known.met, "error", err)...)
	known.logged, known.unlogged, known.met = now, false, 0
}

// lacks reports whether a shortage has not ended.
func (s *shortages) lacks(what docgen.Shortage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[what]
	return known != nil && !known.since.IsZero()
}

// over records that shortages have ended: all of them when a document was completed.
func (s *shortages) over(ctx context.Context, ended ...docgen.Shortage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, what := range ended {
		known := s.known[what]
		if known == nil {
			continue
		}
		if !known.since.IsZero() && !known.unlogged {
			s.log.InfoContext(ctx, "documents are generated again", "waited_for", what, "after",
				s.now().Sub(known.since).Round(time.Second).String())
		}
		known.since = time.Time{}
	}
}

// afterShortage returns a *PauseError if an error is due to a shortage, and any other error unchanged.
func (g *Generator) afterShortage(ctx context.Context, err error, attributes ...any) error {
	lacking := docgen.ShortageOf(err)
	if lacking == docgen.NoShortage || ctx.Err() != nil {
		return err
	}
	g.shortages.met(ctx, lacking, err, attributes...)
	return &PauseError{For: faultPause, cause: err}
}
