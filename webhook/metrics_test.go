package webhook_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"platen/store"
	"platen/store/storetest"
	"platen/webhook"
)

var queueMetrics = []string{"platen_webhook_queue_age_seconds", "platen_webhook_queue_deliveries", "platen_webhooks"}

// TestQueueMetrics checks that the backlog is read at most every ten seconds, and is omitted while the database does not answer.
func TestQueueMetrics(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		var passed time.Duration
		begun := time.Now()
		w.config.Now = func() time.Time { return begun.Add(passed) }
		logged := &bytes.Buffer{}
		w.config.Log = slog.New(slog.NewTextHandler(logged, nil))
		defer webhook.New(w.config).Close()
		want := func(deliveries int) {
			t.Helper()
			counted := fmt.Sprintf(`
				# HELP platen_webhook_queue_deliveries %s
				# TYPE platen_webhook_queue_deliveries gauge
				platen_webhook_queue_deliveries %d
				# HELP platen_webhooks Webhooks, by status. All servers on one database report the same value.
				# TYPE platen_webhooks gauge
				platen_webhooks{status="active"} 1
				platen_webhooks{status="disabled"} 0
			`, "Pending deliveries, due now or later, counted up to 100000. All servers on one database report the same value.", deliveries)
			must(t, testutil.GatherAndCompare(w.metrics, strings.NewReader(counted), queueMetrics[1:]...))
		}
		age := func() float64 {
			t.Helper()
			families, err := w.metrics.Gather()
			must(t, err)
			for _, family := range families {
				if family.GetName() == queueMetrics[0] {
					return family.GetMetric()[0].GetGauge().GetValue()
				}
			}
			t.Fatal("the age of the queue is missing")
			return 0
		}
		folder, _ := w.hook("inbox", "https://example.com/hook")
		want(0)
		if got := age(); got != 0 {
			t.Errorf("the age of an empty queue is %v s", got)
		}
		w.upload(folder, "a.txt")
		passed = 9 * time.Second
		want(0)
		passed = 10 * time.Second
		want(1)
		if got := age(); got <= 0 || got > patience.Seconds() {
			t.Errorf("the age of the queue is %v s", got)
		}

		must(t, db.Close())
		want(1)
		passed = 20 * time.Second
		n, err := testutil.GatherAndCount(w.metrics, queueMetrics...)
		must(t, err)
		if n != 0 || !strings.Contains(logged.String(), "cannot count the pending deliveries") {
			t.Errorf("%d metrics without a database, log:\n%s", n, logged)
		}
	})
}
