package store

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// River reports a leader election that was late as an error, and repeats it. In Platen's log it is a warning; other errors stay
// errors.
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
