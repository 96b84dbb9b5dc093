package webhook_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// TestHangingReceiversHoldUpNoOtherUser has more receivers of one user hang than that user may be sent to at the same time,
// and notifies another user's receiver meanwhile.
func TestHangingReceiversHoldUpNoOtherUser(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		const hooks, perOwner = 200, 50
		w := newWorld(t, db)
		w.config.Limit, w.config.PerOwner = time.Hour, perOwner
		hanging, released := hangingReceiver(t)
		w.manyHooks(hanging, hooks)
		bob := w.as(w.user("bob", docgen.RoleUser))
		quick := newReceiver(t, nil)
		folder, id := bob.hook("inbox", quick.URL)
		w.start()
		waitFor(t, "the receivers to hang", func() bool { return len(hanging.requests()) >= perOwner })
		for i := range 20 {
			bob.upload(folder, fmt.Sprint(i))
		}
		bob.await(id, 20, docgen.DeliveryDelivered)
		if n := len(hanging.requests()); n != perOwner {
			t.Errorf("%d requests for the webhooks of one user hang, want %d", n, perOwner)
		}
		close(released)
		waitFor(t, "the others to come", func() bool { return len(hanging.requests()) == hooks })
	})
}

// TestCrowdedQueue delivers although one user has more webhooks than the queue has workers: their tasks come and go.
func TestCrowdedQueue(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		const hooks, workers = 100, 50
		w := newWorld(t, db)
		w.config.Limit, w.config.Tasks, w.workers = time.Hour, workers, workers
		hanging, released := hangingReceiver(t)
		defer close(released)
		w.manyHooks(hanging, hooks)
		bob := w.as(w.user("bob", docgen.RoleUser))
		quick := newReceiver(t, nil)
		folder, id := bob.hook("inbox", quick.URL)
		w.start()
		waitFor(t, "the workers to be held", func() bool { return len(hanging.requests()) >= workers/5*4 })
		bob.upload(folder, "a")
		bob.await(id, 1, docgen.DeliveryDelivered)
	})
}

// hangingReceiver answers nobody until released is closed.
func hangingReceiver(t testing.TB) (r *receiver, released chan struct{}) {
	released = make(chan struct{})
	return newReceiver(t, func(http.ResponseWriter, *http.Request) { <-released }), released
}

// manyHooks makes webhooks with an address each, with a notification that waits for each.
func (w *world) manyHooks(r *receiver, n int) {
	w.t.Helper()
	for i := range n {
		folder, _ := w.hook(fmt.Sprint("inbox ", i), fmt.Sprint(r.URL, "/", i))
		w.upload(folder, "a")
	}
}
