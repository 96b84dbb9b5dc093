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

// held waits until a number of documents hold their workers, and returns what lets them go.
func held(t *testing.T, engine *office.Office, n int) (letGo func()) {
	t.Helper()
	var cues []string
	await(t, "the documents that hold their workers", func() bool {
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

// await looks until something is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for limit := time.After(time.Minute); !is(); {
		select {
		case <-limit:
			t.Fatal("in vain waited for", what)
		default:
		}
	}
}

// While documents of one user hold all workers, those of another are converted by the spare one, and the former are not stopped
// because of that. Then the spare one ends.
func TestSpare(t *testing.T) {
	engine := newOffice(t, office.Config{Workers: 2, Spare: 1, SpareIdle: 200 * time.Millisecond, Deadline: 5 * time.Minute})
	for range 5 { // known to take a fraction of a second: others are patient for no longer
		convertText(t, engine, "somebody")
	}
	var long sync.WaitGroup
	for range 2 {
		long.Go(func() {
			result, err := engine.Convert(t.Context(), pdf.Request{Document: poisonous("hold"), Kind: "long"})
			if err != nil {
				t.Errorf("a long document: %v", err)
			} else if text := textOf(t, result.PDF); !strings.Contains(text, "To nobody\n") {
				t.Errorf("a long document is\n%s", text)
			}
		})
	}
	letGo := held(t, engine, 2)
	for range 20 {
		convertText(t, engine, "somebody else")
	}
	await(t, "the end of the spare worker, which is idle", func() bool { return len(workers(t)) == 2 })
	convertText(t, engine, "a third") // which starts it again
	letGo()
	long.Wait()
	await(t, "the end of the spare worker", func() bool { return len(workers(t)) == 2 })
}

// While no document takes long, the spare worker has no process: the others are taken first.
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
		t.Errorf("there are the workers %v", found)
	}
}

// Close ends the spare worker too, whether it has a document or is idle.
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
				t.Error("a document was converted that holds its worker")
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
			t.Errorf("there are the workers %v", found)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
		if left := append(files(t, folder), workers(t)...); len(left) > 0 {
			t.Errorf("there are left %v", left)
		}
	}
}
