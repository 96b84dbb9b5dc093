package store

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestElectionsAreWarnings checks that a late leader election, which River logs as an error and repeats, is a warning in Platen's log.
// Other errors stay errors.
func TestElectionsAreWarnings(t *testing.T) {
	var out bytes.Buffer
	log := riverLogger(slog.New(slog.NewTextHandler(&out, nil)))
	log.Error("leadership.Elector: Error attempting reelection", "err", "context deadline exceeded")
	log.Error("Producer: Error fetching jobs", "err", "disk I/O error")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "level=WARN") || !strings.Contains(lines[1], "level=ERROR") {
		t.Errorf("logged %q", lines)
	}
}

// TestFailedFetchesAreLoggedOnceAMinute checks the log while the database is not available. River reports that every second for each queue.
func TestFailedFetchesAreLoggedOnceAMinute(t *testing.T) {
	var out bytes.Buffer
	log := riverLogger(slog.New(slog.NewTextHandler(&out, nil)))
	start := time.Now()
	for second := range 150 {
		for _, queue := range []string{"docx", "pdf"} {
			r := slog.NewRecord(start.Add(time.Duration(second)*time.Second), slog.LevelError, "producer: Error fetching jobs", 0)
			r.Add("queue", queue)
			if err := log.Handler().Handle(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := strings.Count(out.String(), "level=ERROR"); n != 3 {
		t.Errorf("logged %d times in 150 seconds, want 3:\n%s", n, out.String())
	}
}
