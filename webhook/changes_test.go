package webhook_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
	"platen/webhook"
)

// states lists the states of a webhook's deliveries, oldest first, each with the number of attempts.
func (w *world) states(id int64) (states []string) {
	w.t.Helper()
	for _, d := range w.deliveries(id) {
		states = append(states, fmt.Sprint(d.State, " ", d.Attempts))
	}
	return states
}

func (w *world) awaitStates(id int64, want ...string) {
	w.t.Helper()
	waitFor(w.t, fmt.Sprint("the deliveries to be ", want), func() bool { return slices.Equal(w.states(id), want) })
}

func (w *world) update(id int64, change docgen.WebhookChange) {
	w.t.Helper()
	_, err := w.service.UpdateWebhook(w.t.Context(), w.caller, id, change)
	must(w.t, err)
}

// TestChangedWhileWaiting changes a webhook before anything is sent. Waiting notifications follow the changed webhook.
func TestChangedWhileWaiting(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		before, after := newReceiver(t, nil), newReceiver(t, nil)
		ids := map[string]int64{}
		for _, name := range []string{"deleted", "disabled", "moved"} {
			folder, id := w.hook(name, before.URL)
			w.upload(folder, "a")
			w.upload(folder, "b")
			ids[name] = id
		}
		must(t, w.service.DeleteWebhook(t.Context(), w.caller, ids["deleted"]))
		w.update(ids["disabled"], docgen.WebhookChange{Status: new(docgen.WebhookDisabled)})
		w.update(ids["moved"], docgen.WebhookChange{Address: &after.URL})
		w.start()
		w.awaitStates(ids["deleted"], "canceled 0", "canceled 0")
		w.awaitStates(ids["disabled"], "canceled 0", "canceled 0")
		w.awaitStates(ids["moved"], "delivered 1", "delivered 1")
		if n, m := len(before.requests()), len(after.requests()); n != 0 || m != 2 {
			t.Errorf("%d requests arrived at the old address and %d at the new one", n, m)
		}
	})
}

// TestChangedWhileSending changes a webhook while its first notification is in flight. That one is not affected. The others follow
// the changed webhook, even though they have already been read.
func TestChangedWhileSending(t *testing.T) {
	t.Parallel()
	const waiting = 20
	all := func(first, others string) []string {
		return append([]string{first}, slices.Repeat([]string{others}, waiting)...)
	}
	for name, test := range map[string]struct {
		change func(w *world, id int64, address string)
		want   []string
		sent   int // to the new address
	}{
		"deleted": {func(w *world, id int64, _ string) {
			must(w.t, w.service.DeleteWebhook(w.t.Context(), w.caller, id))
		}, all("delivered 1", "canceled 0"), 0},
		"disabled": {func(w *world, id int64, _ string) {
			w.update(id, docgen.WebhookChange{Status: new(docgen.WebhookDisabled)})
		}, all("delivered 1", "canceled 0"), 0},
		"moved": {func(w *world, id int64, address string) {
			w.update(id, docgen.WebhookChange{Address: &address})
		}, all("delivered 1", "delivered 1"), waiting},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, db *store.DB) {
				w := newWorld(t, db)
				w.config.Concurrency = 1
				arrived, release := make(chan struct{}), make(chan struct{})
				before, after := newReceiver(t, func(http.ResponseWriter, *http.Request) {
					arrived <- struct{}{}
					<-release
				}), newReceiver(t, nil)
				folder, id := w.hook("inbox", before.URL)
				for i := range 1 + waiting {
					w.upload(folder, fmt.Sprint(i))
				}
				w.start()
				<-arrived
				test.change(w, id, after.URL)
				w.later(5 * time.Second)
				before.become(nil)
				close(release)
				w.awaitStates(id, test.want...)
				if n, m := len(before.requests()), len(after.requests()); n != 1 || m != test.sent {
					t.Errorf("%d requests arrived at the old address and %d at the new one", n, m)
				}
			})
		})
	}
}

// TestSameAddress delivers for two webhooks with one receiver. They share its limit, and each gets all its notifications.
func TestSameAddress(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		const limit, each = 3, 30
		w := newWorld(t, db)
		w.config.Concurrency = limit
		var now, tooMany atomic.Int32
		full, filled := make(chan struct{}), sync.Once{}
		r := newReceiver(t, func(http.ResponseWriter, *http.Request) {
			switch n := now.Add(1); {
			case n == limit:
				filled.Do(func() { close(full) })
			case n > limit:
				tooMany.Add(1)
			}
			<-full // until as many requests have arrived as the limit permits
			now.Add(-1)
		})
		one, oneID := w.hook("one", r.URL)
		two, twoID := w.hook("two", r.URL)
		for i := range each {
			w.upload(one, fmt.Sprint("one ", i))
			w.upload(two, fmt.Sprint("two ", i))
		}
		w.start()
		w.await(oneID, each, docgen.DeliveryDelivered)
		w.await(twoID, each, docgen.DeliveryDelivered)
		if n, names := len(r.requests()), len(r.files(t)); n != 2*each || names != n || tooMany.Load() > 0 {
			t.Errorf("%d requests arrived for %d files, %d of them while %d others were in flight", n, names, tooMany.Load(), limit)
		}
	})
}

// TestAddressChangedDuringPause checks that notifications go to a new address at once, even if the old receiver is paused.
func TestAddressChangedDuringPause(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		w.config.Schedule, w.config.Concurrency = webhook.Schedule{time.Hour}, 1
		bad, good := newReceiver(t, status(http.StatusInternalServerError)), newReceiver(t, nil)
		folder, id := w.hook("inbox", bad.URL)
		const waiting = 10
		for i := range waiting {
			w.upload(folder, fmt.Sprint("before ", i))
		}
		w.start()
		waitFor(t, "a pause of the receiver", func() bool {
			return !slices.ContainsFunc(w.deliveries(id), func(d docgen.Delivery) bool { return d.DueAt.Before(w.now().Add(10 * time.Second)) })
		})
		tried := len(bad.requests())
		w.update(id, docgen.WebhookChange{Address: &good.URL})
		w.upload(folder, "after")
		w.await(id, waiting+1, docgen.DeliveryDelivered)
		if n, m := len(bad.requests()), len(good.requests()); n != tried || m != waiting+1 {
			t.Errorf("%d requests arrived at the old address after the change, and %d at the new one", n-tried, m)
		}
	})
}
