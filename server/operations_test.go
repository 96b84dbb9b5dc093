package server_test

import (
	"testing"

	"platen/docgen"
	"platen/server"
)

func TestOperationsOnTheWire(t *testing.T) {
	node := func() docgen.Node {
		return docgen.Node{Name: "docs-1", Version: "1.2.3", PDF: docgen.PDFEngine{Problem: "LibreOffice is not installed.", Workers: 2}}
	}
	runWith(t, server.Config{RateLimits: noLimits, Node: node}, docgen.Limits{}, func(w *world) {
		s := w.scene()
		w.failJobs(s.batch)
		o := w.do("GET /operations", request{as: "admin"}).want(w.t, 200)
		hours := o["hours"].([]any)
		if last := hours[23].(object); len(hours) != 24 || last["failed"] != 1.0 || last["completed"] != 0.0 {
			w.t.Errorf("hours: %v", hours)
		}
		if failures := o["failures"].([]any); len(failures) != 1 || failures[0].(object)["documents"] != 1.0 {
			w.t.Errorf("failures: %v", failures)
		}
		if lanes := o["backlog"].([]any); len(lanes) != 3 || lanes[0].(object)["lane"] != "docx" {
			w.t.Errorf("backlog: %v", lanes)
		}
		this := o["server"].(object)
		pdf := this["pdf"].(object)
		if this["name"] != "docs-1" || this["version"] != "1.2.3" || pdf["problem"] != "LibreOffice is not installed." || pdf["workers"] != 2.0 {
			w.t.Errorf("server: %v", this)
		}
		if alerts := o["alerts"].([]any); len(alerts) != 1 || alerts[0].(object)["name"] != "PlatenDocumentsFail" {
			w.t.Errorf("alerts: %v", alerts)
		}
	})
}
