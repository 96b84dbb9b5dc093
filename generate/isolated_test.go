package generate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"platen/docgen"
	"platen/generate"
	"platen/store"
	"platen/store/storetest"
)

// killIsolated kills the process that works in isolation for this one, and reports whether there was one.
func killIsolated(t *testing.T) bool {
	for _, pid := range isolatedProcesses(t) {
		return syscall.Kill(pid, syscall.SIGKILL) == nil
	}
	return false
}

// isolatedProcesses returns the ids of the processes that work in isolation for this one.
func isolatedProcesses(t *testing.T) (found []int) {
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Error(err)
	}
	for _, path := range paths {
		line, _ := os.ReadFile(path) // it may have ended
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "stat"))
		_, after, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(after); strings.Contains(string(line), "generate-isolated") && len(fields) > 1 &&
			fields[1] == strconv.Itoa(os.Getpid()) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				found = append(found, pid)
			}
		}
	}
	return found
}

// Documents that were in progress when two servers crashed are generated in isolation. The one whose process crashes
// fails, with the reason; the others are generated, and the server keeps running.
func TestDocumentsAreIsolatedAfterCrashes(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		killed := false
		picture := func(_ context.Context, address string) ([]byte, error) {
			if strings.Contains(address, "deadly") {
				killed = killIsolated(t)
			}
			return nil, errors.New("is not to be had")
		}
		w := newWorldAs(t, db, newBlobs(t), generate.Config{Picture: picture, Program: "/proc/self/exe"})
		template := w.template("T.docx", docxOf(t, "{{a}} {{p :: image}}"))
		batch := w.batch(template.ID, docgen.OutputDocx, `{"a": "good", "p": ""}`, `{"a": "bad", "p": "https://example.com/deadly.png"}`)
		for slot := range 2 {
			task := docgen.GenerateDocuments{UserID: w.caller.User.ID, Lane: docgen.LaneDocx, Slot: slot}
			for range 2 { // a server claims, and crashes
				claim, err := w.service.ClaimJobs(t.Context(), task)
				if err != nil || len(claim.Jobs) != 1 {
					t.Fatalf("claim %+v, %v", claim, err)
				}
				if _, taken, err := w.service.ResumeSlot(t.Context(), task, true); err != nil || taken != 1 {
					t.Fatalf("%d taken back, %v", taken, err)
				}
			}
		}
		w.start()
		jobs := w.jobs(batch)
		if jobs[0].Status == docgen.StatusFailed || !strings.HasPrefix(w.text(jobs[0]), "good") {
			t.Errorf("the good document is %s: %q", jobs[0].Status, jobs[0].Failures.Errors)
		}
		if said := strings.Join(jobs[1].Failures.Errors, " "); !killed || jobs[1].Status != docgen.StatusFailed ||
			!strings.Contains(said, "in isolation ended (signal: killed)") {
			t.Errorf("the deadly document (killed: %v) is %s: %s", killed, jobs[1].Status, said)
		}
	})
}
