package docgen_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

// TestPendingIsBounded shows that notifications are dropped when too many wait for the webhooks of a user. The log
// reports this once in a while. Other users are notified, and the user is again when there is room.
func TestPendingIsBounded(t *testing.T) {
	runWith(t, docgen.Limits{Pending: 3}, func(t *testing.T, w *world) {
		inbox := w.folder(w.alice, 0, "inbox")
		hook := w.hook(w.alice, inbox, docgen.FileUploaded)
		for _, name := range numbered("%d.txt", 6) {
			w.upload(w.alice, inbox, name, "")
		}
		w.wantStates(w.alice, hook.ID, map[docgen.DeliveryState]int{docgen.DeliveryPending: 3, docgen.DeliveryCanceled: 1})
		if n := w.DroppedNotifications(); n != 3 {
			t.Errorf("%d notifications were dropped, want 3", n)
		}
		_, err := w.TestWebhook(t.Context(), w.alice, hook.ID, docgen.FileUploaded)
		wantCode(t, err, docgen.CodeConflict)

		other := w.folder(w.bob, 0, "other")
		others := w.hook(w.bob, other, docgen.FileUploaded)
		w.upload(w.bob, other, "a.txt", "")
		w.wantStates(w.bob, others.ID, map[docgen.DeliveryState]int{docgen.DeliveryPending: 1})

		must(t, w.DisableWebhook(t.Context(), hook.ID, "It is in the way."))
		active := docgen.WebhookActive
		_, err = w.UpdateWebhook(t.Context(), w.alice, hook.ID, docgen.WebhookChange{Status: &active})
		must(t, err)
		w.clock.advance(time.Minute)
		w.upload(w.alice, inbox, "again.txt", "")
		w.wantStates(w.alice, hook.ID, map[docgen.DeliveryState]int{docgen.DeliveryPending: 1, docgen.DeliveryCanceled: 4})
	})
}

// wantStates checks the number of a webhook's deliveries in each state, and that dropped ones give the reason.
func (w *world) wantStates(c *docgen.Caller, webhook int64, want map[docgen.DeliveryState]int) {
	w.t.Helper()
	page, err := w.Deliveries(w.t.Context(), c, docgen.DeliveryFilter{WebhookID: webhook}, docgen.PageRequest{})
	must(w.t, err)
	got, noted := map[docgen.DeliveryState]int{}, false
	for _, d := range page.Entries {
		got[d.State]++
		noted = noted || strings.Contains(d.Reason, "the webhooks of this user already have 3 pending notifications")
	}
	if !maps.Equal(got, want) || noted != (want[docgen.DeliveryCanceled] > 0) {
		w.t.Errorf("the deliveries are %v, want %v; one says why it was dropped: %t", got, want, noted)
	}
}
