package docgen_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platen/blob"
	"platen/docgen"
	"platen/store/storetest"
)

func noNode() docgen.Node { return docgen.Node{Name: "here"} }

// auditor returns a caller who may see the summary.
func (w *world) auditor() *docgen.Caller {
	w.t.Helper()
	_, err := w.CreateUser(w.t.Context(), docgen.NewUser{Login: "auditor@example.com", Name: "Auditor", Role: docgen.RoleAdmin})
	must(w.t, err)
	return w.caller("auditor", docgen.ScopeEnterprise)
}

func (w *world) summary(c *docgen.Caller) docgen.Operations {
	w.t.Helper()
	w.clock.advance(time.Minute) // nothing is read again within a few seconds
	o, err := w.Operations(w.t.Context(), c, noNode)
	must(w.t, err)
	return o
}

func TestOperations(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		auditor := w.auditor()
		_, err := w.Operations(t.Context(), w.alice, noNode)
		wantCode(t, err, docgen.CodeScope)

		empty := w.summary(auditor)
		if len(empty.Hours) != 24 || len(empty.Failed) != 0 || empty.Batches != 0 || len(empty.Alerts) != 0 || empty.Node.Name != "here" {
			t.Errorf("of an empty server: %+v", empty)
		}
		press := w.newPress("a", "b", "c", "d")
		if waiting := w.summary(auditor); waiting.Batches != 1 || waiting.Lanes[docgen.LaneDocx].Documents != 4 {
			t.Errorf("%d batches, and in lanes %+v", waiting.Batches, waiting.Lanes)
		}
		claim := press.claim()
		results := press.results(claim, "text")
		results[1].Failures.Errors = []string{"something is missing"}
		results[2].Output, results[2].Failures.Errors = nil, []string{"broken"}
		press.complete(claim, results)
		press.complete(claim, results) // they have ended

		w.clock.advance(time.Hour)
		canceled := w.newPress("e", "f")
		_, err = w.CancelBatch(t.Context(), w.alice, canceled.batchID)
		must(t, err)
		w.cancelJobs(t)
		o := w.summary(auditor)
		first := docgen.DocumentCounts{Completed: 2, CompletedWithError: 1, Failed: 1}
		if got := o.Hours[22]; got.DocumentCounts != first || !got.BeginsAt.Equal(noon) {
			t.Errorf("the hour before: %+v, want %+v at noon", got, first)
		}
		if got := o.Hours[23].DocumentCounts; got != (docgen.DocumentCounts{Canceled: 2}) {
			t.Errorf("this hour: %+v", got)
		}
		if diff := cmp.Diff([]docgen.FailedDocuments{{Reason: docgen.FailedOther, Documents: 1}}, o.Failed); diff != "" {
			t.Error(diff)
		}

		w.clock.advance(23 * time.Hour)
		if o := w.summary(auditor); len(o.Failed) != 0 || o.Hours[0].Canceled != 2 {
			t.Errorf("a day later: %+v", o)
		}
		w.clock.advance(48 * time.Hour)
		_, err = w.RemoveExpired(t.Context())
		must(t, err)
		if n := w.count("SELECT COUNT(*) FROM docgen_periods"); n != 0 {
			t.Errorf("%d old numbers are kept", n)
		}
	})
}

func TestOperationsCountReasons(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		press := w.newPress("a", "b", "c", "d", "e")
		claim := press.claim()
		details := func(d docgen.Detail) docgen.Failures {
			return docgen.Failures{Errors: []string{"x"}, Details: []*docgen.Detail{{Warning: true, Path: "unused"}, &d}}
		}
		press.complete(claim, []docgen.Result{
			{Job: claim.Jobs[0], Failures: details(docgen.Detail{Path: "customer.name"})},
			{Job: claim.Jobs[1], Failures: details(docgen.Detail{Path: "customer.name"})},
			{Job: claim.Jobs[2], Failures: details(docgen.Detail{Tag: "{{if"})},
			{Job: claim.Jobs[3], Reason: docgen.FailedPDF, Failures: docgen.Failures{Errors: []string{"x"}}},
			{Job: claim.Jobs[4], Failures: docgen.Failures{Errors: []string{"x"}}},
		})
		gone := w.newPress("f")
		claim = gone.claim()
		results := gone.results(claim, "text")
		must(t, w.TrashFolder(t.Context(), w.alice, gone.folder, true, ""))
		gone.complete(claim, results)
		o := w.summary(w.auditor())
		want := []docgen.FailedDocuments{
			{Reason: docgen.FailedData, Documents: 2}, {Reason: docgen.FailedDestination, Documents: 1}, {Reason: docgen.FailedOther, Documents: 1},
			{Reason: docgen.FailedPDF, Documents: 1}, {Reason: docgen.FailedTemplate, Documents: 1},
		}
		if diff := cmp.Diff(want, o.Failed); diff != "" {
			t.Error(diff)
		}
		if len(o.Alerts) != 1 || o.Alerts[0].Name != "PlatenDocumentsFail" {
			t.Errorf("alerts: %+v", o.Alerts)
		}
	})
}

func TestOperationsAlerts(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		free := int64(10_000)
		disk := docgen.Disk{Name: "data", Free: func() (int64, error) { return free, nil }, Size: func() (int64, error) { return 20_000, nil }}
		other := w.again(docgen.Config{Disks: []docgen.Disk{disk}, MinFree: 1000})
		summary := func(c *docgen.Caller) docgen.Operations {
			t.Helper()
			w.clock.advance(time.Minute)
			o, err := other.Operations(t.Context(), c, noNode)
			must(t, err)
			return o
		}
		auditor := w.auditor()
		press := w.newPress("a")
		names := func(o docgen.Operations) string {
			all := make([]string, len(o.Alerts))
			for i, alert := range o.Alerts {
				all[i] = alert.Name
				if alert.Summary == "" || alert.Remedy == "" {
					t.Errorf("an alert says too little: %+v", alert)
				}
			}
			return strings.Join(all, " ")
		}
		o := summary(auditor)
		if got := names(o); got != "" {
			t.Errorf("all is well, but the alerts are %s", got)
		}
		if diff := cmp.Diff([]docgen.DiskSpace{{Name: "data", Free: 10_000, Size: 20_000}}, o.Disks); diff != "" {
			t.Error(diff)
		}
		w.clock.advance(time.Hour)
		free = 1500
		if got := names(summary(auditor)); got != "PlatenDiskRunsOut PlatenBacklog" {
			t.Errorf("alerts: %s", got)
		}
		free = 500
		must(t, w.exec("UPDATE docgen_batches SET waiting_for = 'disk_space' WHERE id = $1", press.batchID))
		if got := names(summary(auditor)); got != "PlatenNotReady PlatenDiskRunsOut PlatenShortage PlatenBacklog" {
			t.Errorf("alerts: %s", got)
		}
	})
}

// The alerts of the summary have the names and thresholds of those for Prometheus.
func TestAlertThresholds(t *testing.T) {
	rules, err := os.ReadFile("../packaging/alerts.yml")
	must(t, err)
	for _, rule := range []struct{ name, threshold string }{
		{"PlatenNotReady", "== 0"}, {"PlatenDiskRunsOut", "< " + docgen.DiskReserve}, {"PlatenShortage", "> 0"},
		{"PlatenBacklog", "> " + docgen.BacklogTooOld}, {"PlatenReceiversResting", "for: " + docgen.ReceiversFailing},
		{"PlatenWebhooksLate", "> " + docgen.DeliveriesLate},
		{"PlatenDocumentsFail", docgen.FailingFor + "])) > " + docgen.FailedShare},
	} {
		found := regexp.MustCompile(`(?s)alert: ` + rule.name + "\n(.*?)labels:").FindSubmatch(rules)
		if found == nil {
			t.Errorf("there is no alert %s for Prometheus", rule.name)
		} else if !strings.Contains(string(found[1]), rule.threshold+"\n") {
			t.Errorf("%s: the threshold is %q here, but for Prometheus %s", rule.name, rule.threshold, found[1])
		}
	}
}

// BenchmarkOperations reads the summary of a server with a million jobs on SQLite, of which half wait.
func BenchmarkOperations(b *testing.B) {
	blobs, err := blob.Open(b.TempDir())
	must(b, err)
	w := newWorld(b, storetest.SQLite(b), blobs, docgen.Limits{})
	auditor := w.auditor()
	w.backlog(1_000_000, 1000)
	must(b, w.exec("UPDATE docgen_jobs SET status = 'failed', waiting = FALSE, finished_at = 1 WHERE id % 2 = 0"))
	must(b, w.exec(`INSERT INTO docgen_periods
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 143),
		shards (s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM shards WHERE s < 7),
		reasons (r) AS (VALUES ('data'), ('template'), ('budget'), ('pdf'), ('destination'), ('space'), ('server'), ('other'))
		SELECT $1 - i, s, 'failed', r, 100 FROM n, shards, reasons`, w.clock.now().UnixMicro()/(600*1_000_000)))
	for b.Loop() {
		w.summary(auditor)
	}
}
