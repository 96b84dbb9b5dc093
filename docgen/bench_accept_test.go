package docgen_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// BenchmarkAcceptBatch receives batches of different sizes. peak-MB is the most memory in use meanwhile, which must not depend on the size.
func BenchmarkAcceptBatch(b *testing.B) {
	for _, size := range []struct {
		name string
		rows int
	}{{"10000", 10_000}, {"1000000", 1_000_000}} {
		b.Run("sqlite/"+size.name, func(b *testing.B) { benchmarkAccept(b, storetest.SQLite(b), size.rows) })
		b.Run("postgres/"+size.name, func(b *testing.B) { benchmarkAccept(b, storetest.Postgres(b), size.rows) })
	}
}

func benchmarkAccept(b *testing.B, cfg store.Config, rows int) {
	b.Helper()
	blobs, err := blob.Open(b.TempDir())
	must(b, err)
	w := newWorld(b, cfg, blobs, docgen.Limits{Waiting: 1 << 40})
	batch := w.streamed()
	var peak atomic.Uint64
	done := make(chan struct{})
	go func() {
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse))
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	for b.Loop() {
		_, err := w.AcceptBatch(b.Context(), w.alice, batch, csvFormat, csvOf(rows, func(int) {}))
		must(b, err)
	}
	close(done)
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(peak.Load())/(1<<20), "peak-MB")
}
