package docgen

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Alert is something that an operator must look at. Its name is that of the alert for Prometheus in packaging/alerts.yml with the same
// threshold; docs/operations.md says more under that name.
type Alert struct {
	Name     string
	Severity string // AlertPage or AlertTicket
	Summary  string // what is wrong, in one sentence
	Remedy   string // what to do, in one sentence
}

// The severities.
const (
	AlertPage   = "page"   // needs someone now
	AlertTicket = "ticket" // needs someone on a working day
)

// The thresholds. A test compares them with those of the alerts for Prometheus.
const (
	backlogTooOld  = 900 * time.Second // age of waiting documents
	deliveriesLate = 600 * time.Second // overdue notifications
	diskReserve    = 2                 // times the free space at which nothing is accepted anymore
	failedShare    = 0.1               // of the documents that ended in failingFor
	failingFor     = 30 * time.Minute

	receiversFailing = 30 * time.Minute // receivers that have failed since
)

// alertsOf returns the alerts for a summary, the most urgent first.
func alertsOf(o *Operations, read *summary, ready map[string]error) []Alert {
	alerts := slices.Concat(unreadyAlerts(ready), diskAlerts(o), shortageAlerts(read.shortages), webhookAlerts(o, read),
		documentAlerts(o, read))
	slices.SortStableFunc(alerts, func(a, b Alert) int { return strings.Compare(a.Severity, b.Severity) }) // page before ticket
	return alerts
}

func unreadyAlerts(ready map[string]error) []Alert {
	var failing []string
	for part, err := range ready {
		if err != nil {
			failing = append(failing, part)
		}
	}
	if len(failing) == 0 {
		return []Alert{}
	}
	slices.Sort(failing)
	return []Alert{{
		Name: "PlatenNotReady", Severity: AlertPage,
		Summary: "The server is not ready: " + strings.Join(failing, ", ") + ".",
		Remedy:  "Look into the log, which has the reason for each part, and free disk space or bring the database back.",
	}}
}

func diskAlerts(o *Operations) []Alert {
	var alerts []Alert
	for _, disk := range o.Disks {
		if o.MinFree == 0 || disk.Free < 0 || disk.Free >= diskReserve*o.MinFree {
			continue
		}
		alerts = append(alerts, Alert{
			Name: "PlatenDiskRunsOut", Severity: AlertPage,
			Summary: fmt.Sprintf("The disk of %s has %d MiB left; with less than %d MiB, the server rejects uploads and batches.", disk.Name,
				disk.Free>>20, o.MinFree>>20),
			Remedy: "Empty the trash, shorten the retention, delete old backups, or enlarge the disk.",
		})
	}
	return alerts
}

func shortageAlerts(shortages []string) []Alert {
	var alerts []Alert
	for _, lacking := range shortages {
		remedy := "Bring the database back; Platen then generates the documents, and none fails."
		if Shortage(lacking) == ShortOfDiskSpace {
			remedy = "Free disk space; Platen then generates the documents, and none fails."
		}
		alerts = append(alerts, Alert{
			Name: "PlatenShortage", Severity: AlertPage, Summary: "Documents wait for " + lacking + ".", Remedy: remedy,
		})
	}
	return alerts
}

func webhookAlerts(o *Operations, read *summary) []Alert {
	var alerts []Alert
	if o.Webhooks.Late > deliveriesLate {
		alerts = append(alerts, Alert{
			Name: "PlatenWebhooksLate", Severity: AlertPage,
			Summary: fmt.Sprintf("Notifications of webhooks are overdue by %s.", o.Webhooks.Late.Round(time.Second)),
			Remedy: "See in the log of deliveries whether attempts are made: if not, look for errors of the database in the log; if they are " +
				"slow, raise --webhook-concurrency.",
		})
	}
	if failing := read.receivers.Failing; failing > 0 {
		alerts = append(alerts, Alert{
			Name: "PlatenReceiversResting", Severity: AlertTicket,
			Summary: fmt.Sprintf("Receivers of webhooks have failed for half an hour: %d.", failing),
			Remedy:  "Inform the people who run the receivers, or delete the webhooks.",
		})
	}
	return alerts
}

func documentAlerts(o *Operations, read *summary) []Alert {
	var alerts []Alert
	for _, lane := range Lanes() {
		if oldest := o.Lanes[lane].Oldest; oldest > backlogTooOld {
			alerts = append(alerts, Alert{
				Name: "PlatenBacklog", Severity: AlertTicket,
				Summary: fmt.Sprintf("A document in the lane %s has waited for %s.", lane, oldest.Round(time.Second)),
				Remedy: "See whether documents are finished at all: if not, look for errors in the log; otherwise, add cores, or servers on " +
					"PostgreSQL.",
			})
		}
	}
	recent := read.ended.recent
	if all := recent.Completed + recent.CompletedWithError + recent.Failed; float64(recent.Failed) > failedShare*float64(all) {
		alerts = append(alerts, Alert{
			Name: "PlatenDocumentsFail", Severity: AlertTicket,
			Summary: fmt.Sprintf("%d of the last %d documents failed.", recent.Failed, all),
			Remedy:  "Look at the failed jobs, which say why: the cause is mostly one template, or data that does not fit it.",
		})
	}
	return alerts
}
