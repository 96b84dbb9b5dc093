package cli

import (
	"strconv"
	"strings"

	"platen/client"
)

// The notifications must match the files and jobs that exist in the end.

// checkFiles compares the notifications about each file with its row: every change has increased its etag by one.
func (a *accounts) checkFiles() {
	a.t.Helper()
	there := map[string]bool{}
	changes := 0
	a.each(`SELECT id, name, etag, trashed_at <> 0 FROM items WHERE kind = 1 AND parent_id IN (`+strings.Join(a.folders[:], ", ")+`)`,
		4, func(row []string) {
			id, name := row[0], row[1]
			there[id] = true
			h := a.files[id]
			if h == nil {
				a.t.Errorf("no notification about file %s, %s", id, name)
				return
			}
			etag, err := strconv.Atoi(row[2])
			if err != nil {
				a.t.Fatal(err)
			}
			changes += etag + 1
			c := h.count
			sum := c[client.TriggerFILEUPLOADED] + c[client.TriggerFILEMOVED] + c[client.TriggerFILERENAMED] + c[client.TriggerFILETRASHED] +
				c[client.TriggerFILERESTORED]
			trashed := c[client.TriggerFILETRASHED] - c[client.TriggerFILERESTORED]
			isTrashed, err := strconv.ParseBool(row[3])
			if err != nil {
				a.t.Fatal(err)
			}
			if sum != etag+1 || trashed != map[bool]int{true: 1}[isTrashed] || c[client.TriggerFILEDELETED] != 0 {
				a.t.Errorf("file %s, %s, changed %d times since its creation, is in the trash: %t; notifications: %v", id, name, etag, isTrashed, c)
			}
		})
	deleted := a.checkDeleted(there)
	a.t.Logf("%d files are there with %d changes, %d were deleted for good", len(there), changes, deleted)
}

// checkDeleted checks the notifications about files that no longer exist. It returns the number of these files.
func (a *accounts) checkDeleted(there map[string]bool) (deleted int) {
	a.t.Helper()
	for id, h := range a.files {
		if copied := a.copied[id]; strings.HasPrefix(strings.Join(h.names, " "), "Copy ") != (copied == 1) || copied > 1 {
			a.t.Errorf("file %s, uploaded as %q, was said to be a copy %d times", id, h.names, copied)
		}
		if id == a.template && h.count[client.TriggerFILECOPIED] == 0 || there[id] {
			continue
		}
		deleted++
		if h.count[client.TriggerFILEDELETED] != 1 || h.count[client.TriggerFILEUPLOADED] == 0 ||
			h.count[client.TriggerFILETRASHED]-h.count[client.TriggerFILERESTORED] != 1 {
			a.t.Errorf("file %s does not exist; notifications: %v", id, h.count)
		}
	}
	for _, w := range a.workers {
		for _, id := range w.files {
			if h := a.files[id]; !there[id] && (h == nil || h.count[client.TriggerFILEDELETED] == 0) {
				a.t.Errorf("file %s was said to be there, and is not", id)
			}
		}
	}
	return deleted
}

// checkVersions checks that each version has exactly one notification.
func (a *accounts) checkVersions() {
	a.t.Helper()
	a.each(`SELECT v.id, v.file_id FROM file_versions v JOIN items i ON i.id = v.file_id WHERE i.parent_id IN (`+
		strings.Join(a.folders[:], ", ")+`)`, 2, func(row []string) {
		if n := a.uploaded[row[0]]; n != 1 {
			a.t.Errorf("version %s of file %s has %d notifications", row[0], row[1], n)
		}
	})
}

// checkJobs checks the notifications of each job: that it began, and how it ended.
func (a *accounts) checkJobs() {
	a.t.Helper()
	jobs := 0
	a.each("SELECT id, status FROM docgen_jobs", 2, func(row []string) {
		jobs++
		triggers := a.jobs[row[0]]
		end := client.TriggerDOCGENDOCUMENTGENERATIONSUCCEEDED
		if row[1] == "failed" {
			end = client.TriggerDOCGENDOCUMENTGENERATIONFAILED
		}
		if len(triggers) != 2 || triggers[client.TriggerDOCGENDOCUMENTGENERATIONSTARTED] != 1 || triggers[end] != 1 {
			a.t.Errorf("job %s is %s; notifications: %v", row[0], row[1], triggers)
		}
	})
	if jobs != len(a.jobs) {
		a.t.Errorf("%d jobs exist, and %d have notifications", jobs, len(a.jobs))
	}
	a.t.Logf("%d jobs", jobs)
}

// checkMore compares the notifications of the webhook on one of the folders with those of the webhook on the folder
// above: it got the same ones about events in its folder, and one about each file that was moved there.
func (a *accounts) checkMore(more []notification) {
	a.t.Helper()
	want, cameIn := map[string]client.Trigger{}, map[string]int{}
	for _, n := range a.received {
		moved := n.Trigger == client.TriggerFILEMOVED
		there := n.Source.Parent.ID == a.folders[1] && (n.Trigger == client.TriggerFILEUPLOADED || n.Trigger == client.TriggerFILERENAMED)
		if moved || there {
			want[n.ID] = n.Trigger
		}
		if moved && n.info(a.t).After.ID == a.folders[1] {
			cameIn[n.Source.ID]++
		}
	}
	for _, n := range more {
		switch trigger, ok := want[n.ID]; {
		case ok && trigger == n.Trigger:
			delete(want, n.ID)
		case !ok && n.Trigger == client.TriggerFILEUPLOADED && cameIn[n.Source.ID] > 0:
			cameIn[n.Source.ID]--
		default:
			a.t.Errorf("the webhook on %s got a notification about another folder: %+v", a.folders[1], n)
		}
	}
	for event, trigger := range want {
		a.t.Errorf("the webhook on %s got no notification of %s %s", a.folders[1], trigger, event)
	}
	for id, n := range cameIn {
		if n > 0 {
			a.t.Errorf("the webhook on %s lacks %d notifications that file %s was moved there", a.folders[1], n, id)
		}
	}
}
