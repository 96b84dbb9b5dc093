package webhook_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
	"platen/webhook"
)

// keys returns the signing keys of the application that owns all webhooks of a world.
func (w *world) keys() []string {
	w.t.Helper()
	keys, err := w.service.SigningKeys(w.t.Context(), w.admin)
	must(w.t, err)
	var secrets []string
	for _, key := range keys {
		secrets = append(secrets, key.Secret)
	}
	return secrets
}

// TestDelivered checks that an event is sent to its receiver, signed, and that the response is recorded.
func TestDelivered(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		w.start()
		r := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("X-Receiver", "here")
			rw.WriteHeader(http.StatusAccepted)
			fmt.Fprint(rw, "thanks")
		})
		folder, id := w.hook("inbox", r.URL+"/path?secret=1")
		w.upload(folder, "a.txt")
		d := w.await(id, 1, docgen.DeliveryDelivered)[0]
		if d.Attempts != 1 || d.Tries != 1 || d.EndedAt.IsZero() || !d.DueAt.IsZero() || d.Reason != "" {
			t.Errorf("delivered %+v", d)
		}
		got := r.requests()[0]
		report := webhook.Verify(got.header, got.body, w.keys(), time.Now(), time.Minute)
		if !report.Good {
			t.Errorf("the signature is not valid: %v", report)
		}
		attempt := w.attempts(d.ID)[0]
		if attempt.Status != http.StatusAccepted || attempt.ResponseBody != "thanks" || attempt.Outcome != "delivered" || attempt.Duration <= 0 ||
			!slices.Equal(attempt.ResponseHeaders["X-Receiver"], []string{"here"}) || got.header.Get("Box-Delivery-Id") != attempt.Name ||
			!slices.Equal(attempt.RequestHeaders["Box-Delivery-Id"], []string{attempt.Name}) || got.header.Get("Webhook-Id") != d.EventID {
			t.Errorf("attempt %+v, request %v", attempt, got.header)
		}
		counted := `
			# HELP platen_webhook_deliveries_total Deliveries that this process completed: delivered, or given up (failed).
			# TYPE platen_webhook_deliveries_total counter
			platen_webhook_deliveries_total{state="delivered"} 1
			platen_webhook_deliveries_total{state="failed"} 0
		`
		if err := testutil.GatherAndCompare(w.metrics, strings.NewReader(counted), "platen_webhook_deliveries_total"); err != nil {
			t.Error(err)
		}
	})
}

// TestRetries checks that a delivery that fails is retried until it succeeds, with the same body and a new name for each attempt.
func TestRetries(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		w.start()
		var answers atomic.Int32
		r := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request) {
			if answers.Add(1) <= 2 {
				rw.WriteHeader(http.StatusBadGateway)
			}
		})
		folder, id := w.hook("inbox", r.URL)
		w.upload(folder, "a.txt")
		d := w.await(id, 1, docgen.DeliveryDelivered)[0]
		got := r.requests()
		if len(got) != 3 || d.Attempts != 3 {
			t.Fatalf("%d requests arrived, %d attempts are counted", len(got), d.Attempts)
		}
		names := map[string]bool{}
		for _, request := range got {
			names[request.header.Get("Box-Delivery-Id")] = true
			if string(request.body) != string(got[0].body) || request.header.Get("Webhook-Id") != d.EventID {
				t.Error("a retry has another body or ID")
			}
		}
		if len(names) != 3 {
			t.Errorf("the names of three attempts are %v", names)
		}
	})
}

// TestRetriesAfterDatabaseErrors checks that a delivery is retried even if looking for due deliveries has failed repeatedly.
func TestRetriesAfterDatabaseErrors(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		w.failing.Store(10)
		w.start()
		var answers atomic.Int32
		r := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request) {
			if answers.Add(1) == 1 {
				rw.WriteHeader(http.StatusBadGateway)
			}
		})
		folder, id := w.hook("inbox", r.URL)
		w.upload(folder, "a.txt")
		w.await(id, 1, docgen.DeliveryDelivered)
	})
}

// TestGivenUp checks that a delivery is given up at the end of the schedule, with the reason, and can be replayed.
func TestGivenUp(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		w.start()
		r := newReceiver(t, status(http.StatusNotFound))
		folder, id := w.hook("inbox", r.URL)
		w.upload(folder, "a.txt")
		d := w.await(id, 1, docgen.DeliveryFailed)[0]
		if d.Attempts != 4 || !strings.Contains(d.Reason, "404") {
			t.Errorf("given up %+v", d)
		}
		r.become(nil)
		_, err := w.service.ReplayDelivery(t.Context(), w.caller, d.ID)
		must(t, err)
		if again := w.await(id, 1, docgen.DeliveryDelivered)[0]; again.Attempts != 5 || again.EventID != d.EventID {
			t.Errorf("replayed %+v", again)
		}
	})
}

// TestGone checks that a webhook is disabled if its receiver answers 410.
func TestGone(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		r := newReceiver(t, status(http.StatusGone))
		folder, id := w.hook("inbox", r.URL)
		w.config.Concurrency = 1
		for i := range 3 {
			w.upload(folder, fmt.Sprint(i))
		}
		w.start()
		waitFor(t, "all to end", func() bool {
			return !slices.ContainsFunc(w.deliveries(id), func(d docgen.Delivery) bool { return d.State == docgen.DeliveryPending })
		})
		states := []docgen.DeliveryState{}
		for _, d := range w.deliveries(id) {
			states = append(states, d.State)
		}
		if !slices.Equal(states, []docgen.DeliveryState{docgen.DeliveryFailed, docgen.DeliveryCanceled, docgen.DeliveryCanceled}) ||
			len(r.requests()) != 1 {
			t.Errorf("deliveries %v, %d requests", states, len(r.requests()))
		}
		disabled, err := w.service.Webhook(t.Context(), w.caller, id)
		if must(t, err); disabled.Status != docgen.WebhookDisabled || !strings.Contains(disabled.Reason, "410") {
			t.Errorf("the webhook is %+v", disabled)
		}
	})
}

// TestOwnerDeleted checks that nothing is sent if the owner was deleted, and that administrators see the reason.
func TestOwnerDeleted(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		r := newReceiver(t, nil)
		bob := w.user("bob", docgen.RoleUser)
		folder := w.folder("shared")
		_, err := w.service.CreateCollaboration(t.Context(), w.caller,
			docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folder, UserID: bob.User.ID, Role: docgen.RoleViewer})
		must(t, err)
		made, err := w.service.CreateWebhook(t.Context(), bob, docgen.NewWebhook{
			TargetKind: docgen.Folder, TargetID: folder, Address: r.URL, Triggers: []docgen.Trigger{docgen.FileUploaded},
		})
		must(t, err)
		must(t, w.service.DeleteUser(t.Context(), w.admin, bob.User.ID, true))
		w.start()
		w.upload(folder, "a.txt")
		d := w.await(made.ID, 1, docgen.DeliveryFailed)[0]
		attempts := w.attempts(d.ID)
		if len(attempts) != 4 || attempts[0].Outcome != "owner" || !strings.Contains(attempts[0].Reason, "was deleted") ||
			len(r.requests()) != 0 {
			t.Errorf("attempts %+v, %d requests", attempts, len(r.requests()))
		}
	})
}

// TestSlowReceiversDoNotDelayOthers delivers to several receivers while one hangs and one refuses connections.
func TestSlowReceiversDoNotDelayOthers(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		w.config.Limit = time.Hour
		released := make(chan struct{})
		hanging := newReceiver(t, func(http.ResponseWriter, *http.Request) { <-released })
		defer close(released)
		refusing := newReceiver(t, nil)
		refusing.Close()
		slow, slowID := w.hook("slow", hanging.URL)
		refused, _ := w.hook("refused", refusing.URL)
		good := newReceiver(t, nil)
		folder, id := w.hook("good", good.URL)
		w.start()
		for i := range 30 {
			w.upload(slow, fmt.Sprint(i))
			w.upload(refused, fmt.Sprint(i))
			w.upload(folder, fmt.Sprint(i))
		}
		w.await(id, 30, docgen.DeliveryDelivered)
		if n := len(hanging.requests()); n > 8 {
			t.Errorf("%d requests hang at the same receiver, more than its limit", n)
		}
		if list := w.deliveries(slowID); slices.ContainsFunc(list, func(d docgen.Delivery) bool { return d.State != docgen.DeliveryPending }) {
			t.Errorf("the hanging deliveries are %+v", list)
		}
	})
}

// TestBreakerSparesReceivers checks that a receiver that keeps failing is paused, and that its deliveries stay pending.
func TestBreakerSparesReceivers(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		w.config.Schedule = webhook.Schedule{time.Hour}
		w.config.Concurrency = 1
		r := newReceiver(t, status(http.StatusInternalServerError))
		folder, id := w.hook("inbox", r.URL)
		for i := range 20 {
			w.upload(folder, fmt.Sprint(i))
		}
		w.start()
		waitFor(t, "the deliveries to be postponed", func() bool {
			return !slices.ContainsFunc(w.deliveries(id), func(d docgen.Delivery) bool { return d.DueAt.Before(time.Now().Add(10 * time.Second)) })
		})
		postponed := 0
		for _, d := range w.deliveries(id) {
			if d.State != docgen.DeliveryPending {
				t.Errorf("%+v", d)
			}
			if d.Attempts == 0 && strings.Contains(d.Reason, "paused") {
				postponed++
			}
		}
		if n := len(r.requests()); n != 5 || postponed != 15 {
			t.Errorf("%d requests arrived and %d deliveries are postponed, want 5 and 15", n, postponed)
		}
		counted := `
			# HELP platen_webhook_receivers Receivers that this process has recently sent to, by the state of their circuit breaker.
			# TYPE platen_webhook_receivers gauge
			platen_webhook_receivers{breaker="closed"} 0
			platen_webhook_receivers{breaker="half-open"} 0
			platen_webhook_receivers{breaker="open"} 1
		`
		if err := testutil.GatherAndCompare(w.metrics, strings.NewReader(counted), "platen_webhook_receivers"); err != nil {
			t.Error(err)
		}
	})
}

// TestRetryAfter checks that a receiver is paused for as long as it asks.
func TestRetryAfter(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		r := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", "600")
			rw.WriteHeader(http.StatusTooManyRequests)
		})
		w.config.Concurrency = 1
		folder, id := w.hook("inbox", r.URL)
		w.upload(folder, "a")
		w.upload(folder, "b")
		w.start()
		waitFor(t, "the deliveries to be postponed", func() bool {
			return !slices.ContainsFunc(w.deliveries(id), func(d docgen.Delivery) bool { return d.DueAt.Before(time.Now().Add(9 * time.Minute)) })
		})
		if n := len(r.requests()); n != 1 {
			t.Errorf("%d requests arrived", n)
		}
	})
}

// TestManyDeliveries checks that each of many deliveries is sent once, while more are added.
func TestManyDeliveries(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		r := newReceiver(t, nil)
		folder, id := w.hook("inbox", r.URL)
		const before, after = 50, 100
		for i := range before {
			w.upload(folder, fmt.Sprint("before ", i))
		}
		w.start()
		for i := range after {
			w.upload(folder, fmt.Sprint("after ", i))
		}
		w.await(id, before+after, docgen.DeliveryDelivered)
		if n, names := len(r.requests()), len(r.files(t)); n != before+after || names != n {
			t.Errorf("%d requests arrived for %d files", n, names)
		}
	})
}

// TestForbiddenAddresses checks that nothing is sent to an address that the guard rejects, even if the webhook already exists.
func TestForbiddenAddresses(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		w.config.Guard = webhook.NewGuard(webhook.GuardConfig{})
		r := newReceiver(t, nil)
		folder, id := w.hook("inbox", strings.Replace(r.URL, "http://", "https://", 1))
		w.start()
		w.upload(folder, "a")
		d := w.await(id, 1, docgen.DeliveryFailed)[0]
		if attempts := w.attempts(d.ID); attempts[0].Outcome != "address" || len(r.requests()) != 0 {
			t.Errorf("attempts %+v, %d requests", attempts, len(r.requests()))
		}
	})
}

// TestReceiverStateIsRecorded checks that what attempts find of a receiver can be read: that it asked for a pause, and that it works again.
func TestReceiverStateIsRecorded(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		w.start()
		var answers atomic.Int32
		r := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request) {
			switch answers.Add(1) {
			case 1:
				rw.Header().Set("Retry-After", "1")
				rw.WriteHeader(http.StatusServiceUnavailable)
			case 2:
				rw.WriteHeader(http.StatusNotFound) // it works, but rejects the notification
			}
		})
		folder, id := w.hook("inbox", r.URL)
		w.upload(folder, "a.txt")
		var found docgen.Receiver
		waitFor(t, "the failure to be recorded", func() bool {
			var err error
			found, err = w.service.Receiver(t.Context(), w.caller, id)
			must(t, err)
			return found.Failures == 1
		})
		if f := found.LastFailure; f.Status != http.StatusServiceUnavailable || f.RetryAfter != time.Second ||
			!strings.Contains(f.Reason, "503") {
			t.Errorf("the failure is %+v", f)
		}
		w.await(id, 1, docgen.DeliveryDelivered)
		found, err := w.service.Receiver(t.Context(), w.caller, id)
		if err != nil || found.State != docgen.ReceiverWorking || found.Pending != 0 {
			t.Errorf("afterward: %+v, %v", found, err)
		}
	})
}
