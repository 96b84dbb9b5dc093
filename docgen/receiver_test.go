package docgen_test

import (
	"testing"
	"time"

	"platen/docgen"
)

func TestReceiver(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "watched")
		hook, err := w.CreateWebhook(ctx, w.alice, docgen.NewWebhook{
			TargetKind: docgen.Folder, TargetID: folder, Address: "https://example.com/", Triggers: []docgen.Trigger{docgen.FileUploaded},
		})
		must(t, err)
		state := func() docgen.Receiver {
			t.Helper()
			r, err := w.Receiver(ctx, w.alice, hook.ID)
			must(t, err)
			return r
		}
		_, err = w.Receiver(ctx, w.bob, hook.ID)
		wantCode(t, err, docgen.CodeNotFound)
		if r := state(); r != (docgen.Receiver{WebhookID: hook.ID, State: docgen.ReceiverWorking}) {
			t.Errorf("of a new webhook: %+v", r)
		}
		w.upload(w.alice, folder, "a.txt", "x")
		w.upload(w.alice, folder, "b.txt", "x")
		box, err := w.Outbox(ctx, hook.ID, 10)
		must(t, err)
		fail := func(n int, retryAfter time.Duration) {
			t.Helper()
			try := docgen.AttemptResult{
				Attempt: docgen.Attempt{DeliveryID: box.Deliveries[n].ID, Outcome: "busy", Status: 503, Reason: "it is busy"},
				Again:   w.clock.now().Add(time.Minute), Health: docgen.Unhealthy, RetryAfter: retryAfter,
			}
			if retryAfter > 0 {
				try.RestingUntil = w.clock.now().Add(retryAfter)
			}
			must(t, w.RecordAttempts(ctx, []docgen.AttemptResult{try}))
		}
		fail(0, 0)
		if r := state(); r.State != docgen.ReceiverFailing || r.Failures != 1 || r.Pending != 2 || !r.RestingUntil.IsZero() {
			t.Errorf("after a failure: %+v", r)
		}
		w.clock.advance(time.Second)
		fail(1, time.Minute)
		other := w.again(docgen.Config{})
		r, err := other.Receiver(ctx, w.alice, hook.ID)
		must(t, err)
		if r.State != docgen.ReceiverFailing && r.State != docgen.ReceiverResting || r.Failures != 2 || !r.FailingSince.Equal(noon) {
			t.Errorf("another server says %+v", r)
		}
		r = state()
		if r.State != docgen.ReceiverResting || !r.RestingUntil.Equal(noon.Add(61*time.Second)) || !r.NextAt.Equal(noon.Add(time.Minute)) {
			t.Errorf("while it rests: %+v", r)
		}
		want := docgen.ReceiverFailure{At: noon.Add(time.Second), Status: 503, RetryAfter: time.Minute, Reason: "it is busy"}
		if *r.LastFailure != want {
			t.Errorf("the failure is %+v, want %+v", *r.LastFailure, want)
		}
		auditor := w.auditor()
		if o, err := w.Operations(ctx, auditor, noNode); err != nil || o.Resting != 1 {
			t.Errorf("%d receivers rest, %v", o.Resting, err)
		}
		w.clock.advance(time.Hour)
		if r := state(); r.State != docgen.ReceiverFailing {
			t.Errorf("after the rest: %+v", r)
		}
		if o := w.summary(auditor); o.Resting != 0 || !hasAlert(o, "PlatenReceiversResting") {
			t.Errorf("after an hour: %+v", o)
		}
		ok := docgen.AttemptResult{Attempt: docgen.Attempt{DeliveryID: box.Deliveries[0].ID, Outcome: "delivered", Status: 200}, Delivered: true}
		must(t, w.RecordAttempts(ctx, []docgen.AttemptResult{ok}))
		if r := state(); r.State != docgen.ReceiverWorking || r.LastFailure != nil || r.Pending != 1 {
			t.Errorf("after a success: %+v", r)
		}
		fail(1, time.Minute)
		address := "https://example.net/"
		_, err = w.UpdateWebhook(ctx, w.alice, hook.ID, docgen.WebhookChange{Address: &address})
		must(t, err)
		if r := state(); r.State != docgen.ReceiverWorking {
			t.Errorf("another receiver: %+v", r)
		}
		fail(1, time.Minute)
		must(t, w.DeleteWebhook(ctx, w.alice, hook.ID))
		fail(1, time.Minute) // an attempt that was in progress
		if n := w.count("SELECT COUNT(*) FROM webhook_receivers"); n != 0 {
			t.Errorf("%d rows are left of a deleted webhook", n)
		}
	})
}

func hasAlert(o docgen.Operations, name string) bool {
	for _, alert := range o.Alerts {
		if alert.Name == name {
			return true
		}
	}
	return false
}
