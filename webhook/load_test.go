package webhook_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// TestManyWebhooks delivers for hundreds of webhooks concurrently, while every tenth receiver hangs.
func TestManyWebhooks(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		const hooks = 300
		w := newWorld(t, db)
		w.config.Limit = time.Minute
		released := make(chan struct{})
		r := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "0") {
				<-released
			}
		})
		defer close(released)
		ids := map[int]int64{}
		for i := range hooks {
			var folder int64
			folder, ids[i] = w.hook(fmt.Sprint("inbox ", i), fmt.Sprint(r.URL, "/", i))
			w.upload(folder, "a")
		}
		w.start()
		for i, id := range ids {
			if i%10 != 0 {
				w.await(id, 1, docgen.DeliveryDelivered)
			}
		}
		waitFor(t, "all to come", func() bool { return len(r.requests()) == hooks })
	})
}

// TestOrder checks that deliveries are sent in the order in which they became due, if one is sent at a time. A delivery that
// failed comes after those that became due before its retry.
func TestOrder(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		const waiting = 300 // more than one read returns
		w := newWorld(t, db)
		w.config.Concurrency = 1
		var once sync.Once
		r := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request) {
			once.Do(func() { rw.WriteHeader(http.StatusInternalServerError) })
		})
		folder, id := w.hook("inbox", r.URL)
		var want []string
		for i := range waiting {
			want = append(want, fmt.Sprint(i))
			w.upload(folder, want[i])
		}
		w.start()
		w.await(id, waiting, docgen.DeliveryDelivered)
		got := r.names(t)
		again := slices.Index(got[1:], "0") + 1
		if again < 2 {
			t.Fatalf("the retry arrived as number %d", again)
		}
		if got = slices.Delete(got, again, again+1); !slices.Equal(got, want) {
			t.Errorf("the notifications arrived in the order %v", got)
		}
	})
}

// TestUnfinished checks that a task that used up its time continues where it stopped.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		const waiting = 20
		w := newWorld(t, db)
		w.config.Concurrency = 1
		var once sync.Once
		r := newReceiver(t, func(http.ResponseWriter, *http.Request) { once.Do(func() { w.later(10 * time.Minute) }) })
		folder, id := w.hook("inbox", r.URL)
		for i := range waiting {
			w.upload(folder, fmt.Sprint(i))
		}
		w.start()
		w.await(id, waiting, docgen.DeliveryDelivered)
		if n, unfinished := len(r.requests()), w.unfinished.Load(); n != waiting || unfinished != 1 {
			t.Errorf("%d requests arrived, and %d tasks used up their time", n, unfinished)
		}
	})
}

// TestTwoNodes checks that two servers on one database deliver each notification once, while more are added.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	const hooks, each = 8, 40
	database := storetest.Postgres(t)
	w := newWorld(t, storetest.Open(t, database))
	w.start()
	other := storetest.Open(t, database)
	service, err := docgen.New(t.Context(), docgen.Config{Store: other})
	must(t, err)
	config := w.config
	config.Service, config.Metrics = service, nil
	w.startNode(other, service, config)
	r := newReceiver(t, nil)
	var uploading sync.WaitGroup
	ids := make([]int64, hooks)
	for i := range hooks {
		var folder int64
		folder, ids[i] = w.hook(fmt.Sprint("inbox ", i), fmt.Sprint(r.URL, "/", i))
		uploading.Go(func() {
			for n := range each {
				w.upload(folder, fmt.Sprint(i, " ", n))
			}
		})
	}
	uploading.Wait()
	for _, id := range ids {
		for _, d := range w.await(id, each, docgen.DeliveryDelivered) {
			if d.Attempts != 1 {
				t.Errorf("%+v", d)
			}
		}
	}
	if n, names := len(r.requests()), len(r.files(t)); n != hooks*each || names != n {
		t.Errorf("%d requests arrived for %d files", n, names)
	}
}
