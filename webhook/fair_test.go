package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"platen/docgen"
	"platen/fair"
	"platen/store"
	"platen/store/storetest"
)

// TestHangingReceiversDoNotDelayOtherUsers notifies a user's receiver while more receivers of another user hang than that user
// may have attempts.
func TestHangingReceiversDoNotDelayOtherUsers(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		const hooks, perOwner = 200, 50
		w := newWorld(t, db)
		w.config.Limit, w.config.Attempts.Slots, w.config.Attempts.Most = time.Hour, 1024, perOwner
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

// TestCrowdedQueue delivers for a user who has more webhooks than the queue has workers.
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

// TestDeliveriesUseTheWeightOfTheOwner checks that slots released by a third user are shared by weight between two users whose
// receivers hang.
func TestDeliveriesUseTheWeightOfTheOwner(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		const places, least, hooks = 16, 2, 20
		w := newWorld(t, db)
		w.config.Limit, w.config.Attempts = time.Hour, fair.Config{Slots: places, Least: least}
		first, released := hangingReceiver(t)
		w.manyHooks(first, places)
		deliverer := w.start()
		waitFor(t, "all places to be held", func() bool { return len(first.requests()) == places })
		var hanging []*receiver
		for i, weight := range []int64{3, 1} {
			caller := w.user(fmt.Sprint("user", i), docgen.RoleUser)
			_, err := w.service.UpdateUser(t.Context(), w.admin, caller.User.ID, docgen.UserChange{Weight: &weight})
			must(t, err)
			r, letGo := hangingReceiver(t)
			t.Cleanup(func() { close(letGo) })
			w.as(caller).manyHooks(r, hooks)
			hanging = append(hanging, r)
		}
		waitFor(t, "the others to wait", func() bool { return deliverer.Waiting() == 2*(hooks-least) })
		close(released)
		waitFor(t, "the places to be held again", func() bool { return deliverer.Waiting() == 2*hooks-places })
		heavy, light := 0, 0
		waitFor(t, "requests in all places", func() bool {
			heavy, light = len(hanging[0].requests()), len(hanging[1].requests())
			return heavy+light == places
		})
		if heavy != places*3/4 {
			t.Errorf("a user with three times the weight has %d requests in flight, another %d, want %d and %d", heavy, light, places*3/4, places/4)
		}
	})
}

// TestDeliveriesRunAsTheOwner checks that the context of a task contains the owner and the owner's weight, which the database
// uses to share its connections.
func TestDeliveriesRunAsTheOwner(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		claimants := make(chan fair.Claimant, 1)
		w.config.Guard.LookUp(func(ctx context.Context, _, _ string) ([]netip.Addr, error) {
			claimants <- fair.ClaimantOf(ctx)
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		})
		weight := int64(7)
		_, err := w.service.UpdateUser(t.Context(), w.admin, w.caller.User.ID, docgen.UserChange{Weight: &weight})
		must(t, err)
		folder, id := w.hook("inbox", strings.Replace(newReceiver(t, nil).URL, "127.0.0.1", "receiver.example.com", 1))
		w.start()
		w.upload(folder, "a")
		w.await(id, 1, docgen.DeliveryDelivered)
		if got, want := <-claimants, (fair.Claimant{User: w.caller.User.ID, Weight: 7}); got != want {
			t.Errorf("delivered for %+v, want %+v", got, want)
		}
	})
}

// hangingReceiver does not answer until released is closed.
func hangingReceiver(t testing.TB) (r *receiver, released chan struct{}) {
	released = make(chan struct{})
	return newReceiver(t, func(http.ResponseWriter, *http.Request) { <-released }), released
}

// manyHooks creates a webhook for each address, with one pending notification.
func (w *world) manyHooks(r *receiver, n int) { w.as(w.caller).manyHooks(r, n) }

func (w *actor) manyHooks(r *receiver, n int) {
	w.t.Helper()
	for i := range n {
		folder, _ := w.hook(fmt.Sprint("inbox ", i), fmt.Sprint(r.URL, "/", i))
		w.upload(folder, "a")
	}
}
