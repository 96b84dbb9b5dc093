package office_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/pdf"
	"platen/pdf/office"
	"platen/pdf/pdftest"
)

// held waits until n documents hold their workers, and returns a function that releases them.
func held(t *testing.T, engine *office.Office, n int) (letGo func()) {
	t.Helper()
	var cues []string
	await(t, "documents that hold their workers", func() bool {
		var err error
		cues, err = filepath.Glob(filepath.Join(engine.Folder(), "*", "documents", cueFile))
		if err != nil {
			t.Fatal(err)
		}
		return len(cues) == n
	})
	return func() {
		for _, cue := range cues {
			if err := os.Remove(cue); err != nil {
				t.Error(err)
			}
		}
	}
}

// await waits until a condition holds.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for limit := time.After(time.Minute); !is(); {
		select {
		case <-limit:
			t.Fatal("timed out waiting for", what)
		default:
		}
	}
}

// While documents of one user hold all workers, the spare worker converts those of another user. That is no reason to
// stop the former. Then the spare process exits.
func TestSpare(t *testing.T) {
	engine := newOffice(t, office.Config{Workers: 2, Spare: 1, SpareIdle: 200 * time.Millisecond, Deadline: 5 * time.Minute})
	for range 5 { // known to take a fraction of a second: others would not wait longer
		convertText(t, engine, "somebody")
	}
	var long sync.WaitGroup
	for range 2 {
		long.Go(func() {
			result, err := engine.Convert(t.Context(), pdf.Request{Document: poisonous("hold"), Kind: "long"})
			if err != nil {
				t.Errorf("long document: %v", err)
			} else if text := textOf(t, result.PDF); !strings.Contains(text, "To nobody\n") {
				t.Errorf("long document:\n%s", text)
			}
		})
	}
	letGo := held(t, engine, 2)
	for range 20 {
		convertText(t, engine, "another user")
	}
	await(t, "the idle spare process to exit", func() bool { return len(workers(t)) == 2 })
	convertText(t, engine, "a third user") // starts it again
	letGo()
	long.Wait()
	await(t, "the spare process to exit", func() bool { return len(workers(t)) == 2 })
}

// While no document takes long, the spare worker has no process: the regular ones are taken first.
func TestSpareIsNotUsed(t *testing.T) {
	engine := newOffice(t, office.Config{Workers: 2, Spare: 1})
	for range 6 {
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if _, err := engine.Convert(t.Context(), pdf.Request{Document: pdftest.Letter("somebody")}); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
	if found := workers(t); len(found) != 2 {
		t.Errorf("workers: %v", found)
	}
}

// Close also ends the spare worker, whether it is idle or has a document.
func TestCloseSpare(t *testing.T) {
	for _, busy := range []bool{false, true} {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		engine, err := office.New(office.Config{Worker: self, Folder: folder, Workers: 1, Spare: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.Available(); err != nil {
			t.Skip(err)
		}
		var all sync.WaitGroup
		hold := func() {
			if _, err := engine.Convert(t.Context(), pdf.Request{Document: poisonous("hold")}); err == nil {
				t.Error("converted a document that holds its worker")
			}
		}
		all.Go(hold)
		held(t, engine, 1)
		if busy {
			all.Go(hold)
			held(t, engine, 2)
		} else {
			convertText(t, engine, "somebody")
		}
		if found := workers(t); len(found) != 2 {
			t.Errorf("workers: %v", found)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
		if left := append(files(t, folder), workers(t)...); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	}
}
