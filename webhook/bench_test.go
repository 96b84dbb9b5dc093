package webhook_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
	"platen/webhook"
)

// The load of the benchmark.
const (
	benchReceivers  = 100
	benchEvents     = 100 // for each receiver
	benchConcurrent = 8   // requests to one receiver
	benchSlice      = 20  // events of one transaction in the second part, as in a batch of documents
)

// BenchmarkDeliver delivers 10,000 events to 100 receivers. One of the receivers hangs for 30 seconds, and one refuses
// connections. First, all events are due at once, as after a replay: the rate counts those that arrive. The floor is an HTTP
// client that posts the same bytes to the same receivers, with the same concurrency, over reused connections. Then the events
// become due at half that rate: the latency is the time from an event to its arrival.
func BenchmarkDeliver(b *testing.B) {
	for name, config := range map[string]func(testing.TB) store.Config{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			l := newLoad(b, storetest.Open(b, config(b)))
			l.floor() // opens the connections
			l.replay()
			var all, floor time.Duration
			var latencies []time.Duration
			var live []uint64 // bytes of the heap after each round
			b.ResetTimer()
			for range b.N {
				floor += l.floor()
				took := l.replay()
				all += took
				latencies = append(latencies, l.steady(took*2)...)
				live = append(live, liveHeap())
			}
			b.StopTimer()
			slices.Sort(latencies)
			events := float64(l.healthy() * benchEvents * b.N)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(events/all.Seconds(), "events/s")
			b.ReportMetric(events/floor.Seconds(), "floor-events/s")
			b.ReportMetric(all.Seconds()/floor.Seconds(), "times-floor")
			b.ReportMetric(float64(latencies[len(latencies)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(latencies[len(latencies)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(live[len(live)-1])/(1<<20), "heap-MiB")
			b.ReportMetric((float64(live[len(live)-1])-float64(live[0]))/(1<<20), "heap-growth-MiB")
		})
	}
}

// liveHeap returns the number of bytes of the heap that are in use.
func liveHeap() uint64 {
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	return memory.HeapAlloc
}

// load has receivers, a folder with a webhook for each, and events that were delivered once.
type load struct {
	*world
	b         *testing.B
	client    *http.Client // of the floor
	addresses []string
	bodies    [][]byte
	all       docgen.DeliveryFilter   // the events, without those that they are copies of
	slices    []docgen.DeliveryFilter // each matches a part of them
	arrived   atomic.Int64
	want      atomic.Int64
	done      chan struct{} // receives a value when arrived reaches want
	ended     chan struct{} // when closed, no receiver hangs any more

	mu    sync.Mutex
	begun map[string]time.Time // by event
	waits []time.Duration
}

func newLoad(b *testing.B, db *store.DB) *load {
	b.Helper()
	l := &load{world: newWorld(b, db), b: b, done: make(chan struct{}, 1), ended: make(chan struct{}), begun: map[string]time.Time{}}
	l.config.Limit, l.config.Concurrency, l.config.Schedule = 30*time.Second, benchConcurrent, webhook.Schedule{time.Hour}
	l.config.Roots = x509.NewCertPool()
	l.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchConcurrent,
		TLSClientConfig: &tls.Config{RootCAs: l.config.Roots}}}
	b.Cleanup(l.client.CloseIdleConnections)
	l.want.Store(-1)
	folders := make([]int64, benchReceivers)
	for i := range benchReceivers {
		address := l.receiver(i)
		l.addresses = append(l.addresses, address)
		folders[i], _ = l.hook(fmt.Sprint(i), address)
	}
	for _, folder := range folders {
		l.upload(folder, "file.txt")
	}
	l.multiply(l.oneOfEach())
	l.want.Store(int64(l.healthy())) // the original events
	l.start()
	b.Cleanup(func() { close(l.ended) }) // before the queue stops, which waits for hanging requests
	<-l.done
	l.want.Store(int64(l.healthy() * benchEvents))
	return l
}

// multiply copies the original events until the load has all its events. The times of the slices differ by a millisecond. It
// inserts the copies directly into the database, as delivered, so that the benchmark can replay them.
func (l *load) multiply(events []docgen.Delivery) {
	at := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	id := int64(1)
	for range benchEvents {
		for slice := range slices.Chunk(events, benchSlice) {
			var rows []store.WebhookDelivery
			var bodies []store.WebhookBody
			for _, event := range slice {
				rows = append(rows, store.WebhookDelivery{
					ID: id, WebhookID: event.WebhookID, EventID: uuid.NewString(), TriggerName: string(event.Trigger),
					State: string(docgen.DeliveryDelivered), CreatedAt: at.UnixMicro(), BegunAt: at.UnixMicro(), EndedAt: at.UnixMicro(),
				})
				bodies = append(bodies, store.WebhookBody{DeliveryID: id, Body: string(event.Body)})
				id++
			}
			must(l.b, l.db.WriteAsync(context.Background(), func(tx *store.Tx) error {
				return errors.Join(tx.InsertDeliveries(context.Background(), rows), tx.InsertBodies(context.Background(), bodies))
			}))
			l.slices = append(l.slices, docgen.DeliveryFilter{From: at, To: at.Add(time.Millisecond)})
			at = at.Add(time.Millisecond)
		}
	}
	l.all = docgen.DeliveryFilter{To: at}
	for _, event := range events {
		l.bodies = append(l.bodies, event.Body)
	}
}

// healthy returns the number of receivers that answer.
func (l *load) healthy() int { return benchReceivers - 2 }

// receiver starts receiver i, and returns its address.
func (l *load) receiver(i int) string {
	handler := l.take
	if i == 1 { // hangs
		handler = func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-l.ended:
			case <-r.Context().Done():
			}
		}
	}
	server := httptest.NewTLSServer(http.HandlerFunc(handler))
	l.config.Roots.AddCert(server.Certificate())
	if i == 0 { // refuses
		server.Close()
	} else {
		l.b.Cleanup(server.Close)
	}
	return server.URL
}

func (l *load) take(_ http.ResponseWriter, r *http.Request) {
	_, err := io.Copy(io.Discard, r.Body)
	must(l.b, err)
	now := time.Now()
	if id := r.Header.Get("Webhook-Id"); id != "" {
		l.mu.Lock()
		if begun, ok := l.begun[id]; ok {
			l.waits = append(l.waits, now.Sub(begun))
			delete(l.begun, id)
		}
		l.mu.Unlock()
	}
	if l.arrived.Add(1) == l.want.Load() {
		l.done <- struct{}{}
	}
}

// oneOfEach returns a delivery of each webhook, with its body.
func (l *load) oneOfEach() []docgen.Delivery {
	page, err := l.service.Deliveries(context.Background(), l.admin, docgen.DeliveryFilter{}, docgen.PageRequest{Limit: benchReceivers})
	must(l.b, err)
	for i, d := range page.Entries {
		page.Entries[i], err = l.service.Delivery(context.Background(), l.admin, d.ID)
		must(l.b, err)
	}
	return page.Entries
}

// replay delivers all events again, and returns the time until the last one arrived.
func (l *load) replay() time.Duration {
	l.arrived.Store(0)
	begun := time.Now()
	_, err := l.service.ReplayDeliveries(context.Background(), l.admin, l.all, false)
	must(l.b, err)
	<-l.done
	return time.Since(begun)
}

// steady delivers all events again, one slice after another over the given time, and returns the latency of each event.
func (l *load) steady(in time.Duration) []time.Duration {
	l.arrived.Store(0)
	l.waits = nil
	ids := l.ids()
	pace := time.NewTicker(in / time.Duration(len(l.slices)))
	defer pace.Stop()
	for i, slice := range l.slices {
		<-pace.C
		now := time.Now()
		l.mu.Lock()
		for _, id := range ids[i] {
			l.begun[id] = now
		}
		l.mu.Unlock()
		_, err := l.service.ReplayDeliveries(context.Background(), l.admin, slice, false)
		must(l.b, err)
	}
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.waits)
}

// ids returns the ids of the events of each slice.
func (l *load) ids() [][]string {
	ids := make([][]string, len(l.slices))
	for i, slice := range l.slices {
		page, err := l.service.Deliveries(context.Background(), l.admin, slice, docgen.PageRequest{})
		must(l.b, err)
		for _, d := range page.Entries {
			ids[i] = append(ids[i], d.EventID)
		}
	}
	return ids
}

// floor posts a body for each event to the healthy receivers, with a plain HTTP client.
func (l *load) floor() time.Duration {
	l.arrived.Store(0)
	begun := time.Now()
	var posting sync.WaitGroup
	for i, address := range l.addresses[2:] {
		var left atomic.Int64
		left.Store(benchEvents)
		for range benchConcurrent {
			posting.Go(func() {
				for left.Add(-1) >= 0 {
					response, err := l.client.Post(address, "application/json", bytes.NewReader(l.bodies[i]))
					must(l.b, err)
					_, err = io.Copy(io.Discard, response.Body)
					must(l.b, errors.Join(err, response.Body.Close()))
				}
			})
		}
	}
	posting.Wait()
	<-l.done
	return time.Since(begun)
}
