package webhook_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// BenchmarkFair measures the time from an upload to the arrival of its notification, with 200 samples. It does so while 900
// receivers of another user hang and, in the same run, on an otherwise idle server.
func BenchmarkFair(b *testing.B) {
	const hooks, samples = 900, 200
	for name, config := range map[string]func(testing.TB) store.Config{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b, storetest.Open(b, config(b)))
			w.config.Limit, w.config.Schedule, w.pace = 30*time.Second, nil, time.Second
			hanging, released := hangingReceiver(b)
			defer close(released)
			bob := w.as(w.user("bob", docgen.RoleUser))
			quick := newReceiver(b, nil)
			folder, _ := bob.hook("inbox", quick.URL)
			folders := make([]int64, hooks)
			for i := range folders {
				folders[i], _ = w.hook(fmt.Sprint("inbox ", i), fmt.Sprint(hanging.URL, "/", i))
			}
			w.start()
			measure := func(prefix string) (waits []time.Duration) {
				for i := range samples {
					begun := time.Now()
					bob.upload(folder, fmt.Sprint(prefix, i))
					<-quick.came
					waits = append(waits, time.Since(begun))
				}
				slices.Sort(waits)
				return waits
			}
			var idle, loaded []time.Duration
			for n := range b.N {
				idle = measure(fmt.Sprint("idle ", n, " "))
				for _, folder := range folders {
					w.upload(folder, fmt.Sprint(n))
				}
				waitFor(b, "the receivers to hang", func() bool { return len(hanging.requests()) >= 256 })
				loaded = measure(fmt.Sprint("loaded ", n, " "))
			}
			b.ReportMetric(0, "ns/op")
			for name, waits := range map[string][]time.Duration{"idle": idle, "loaded": loaded} {
				b.ReportMetric(float64(waits[samples/2].Microseconds())/1000, name+"-p50-ms")
				b.ReportMetric(float64(waits[samples*99/100].Microseconds())/1000, name+"-p99-ms")
			}
		})
	}
}
