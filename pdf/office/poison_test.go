package office_test

import (
	"context"
	"errors"
	"fmt"
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

// A harmful document is stopped, tried again in isolation, rejected, and quarantined.
func TestPoison(t *testing.T) {
	quarantine := t.TempDir()
	engine := newOffice(t, office.Config{Deadline: time.Second, MaxMemory: 512 << 20, Quarantine: quarantine})
	for order, reason := range map[string]string{
		"crash":  "LibreOffice exited while converting the document (SIGSEGV: segmentation violation).",
		"exit":   "LibreOffice exited while converting the document (exit status 0).",
		"spin":   "LibreOffice was still busy with the document after 1",
		"sleep":  "LibreOffice was still busy with the document after 1",
		"devour": "LibreOffice ",
	} {
		t.Run(order, func(t *testing.T) {
			request := pdf.Request{Document: poisonous(order), Kind: "letters"}
			_, err := engine.Convert(t.Context(), request)
			if suspect, ok := errors.AsType[*pdf.SuspectError](err); !ok || !strings.HasPrefix(suspect.Reason, reason) {
				t.Fatalf("first try: %T %v", err, err)
			}
			if kept := files(t, quarantine); len(kept) > 0 {
				t.Errorf("a suspect is in quarantine: %v", kept)
			}
			convertText(t, engine, "another user") // others are not affected
			request.Again = true
			_, err = engine.Convert(t.Context(), request)
			poison, ok := errors.AsType[*pdf.DocumentError](err)
			if !ok || !poison.Poison || !strings.HasSuffix(poison.Reason, "It was tried twice.") {
				t.Fatalf("second try: %T %v", err, err)
			}
			kept, err := os.ReadFile(filepath.Join(poison.Kept, "document.docx"))
			if err != nil || string(kept) != string(request.Document) {
				t.Errorf("%d bytes of %d are in quarantine: %v", len(kept), len(request.Document), err)
			}
			report, err := os.ReadFile(filepath.Join(poison.Kept, "report.json"))
			if err != nil || !strings.Contains(string(report), `"kind": "letters"`) {
				t.Errorf("report: %s, %v", report, err)
			}
			if err := os.RemoveAll(poison.Kept); err != nil {
				t.Fatal(err)
			}
			convertText(t, engine, "a third user")
		})
	}
}

// A document that takes much longer than others is stopped long before its deadline while documents wait, even
// outside the engine. While none waits, it continues.
func TestPatienceWithThoseOutside(t *testing.T) {
	engine := newOffice(t, office.Config{Deadline: 5 * time.Minute})
	for range 5 { // known to take a fraction of a second
		convertText(t, engine, "somebody")
	}
	asked := 0
	request := pdf.Request{Document: poisonous("spin"), OthersWait: func() bool {
		asked++
		return asked == 5
	}}
	_, err := engine.Convert(t.Context(), request)
	if _, ok := errors.AsType[*pdf.SuspectError](err); !ok || asked != 5 {
		t.Errorf("after %d calls of OthersWait: %T %v", asked, err, err)
	}
}

// One in ten documents hangs and one in ten crashes: all others are converted correctly.
func TestPoisonAmongOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("TestPoison covers the same documents in sequence")
	}
	engine := newOffice(t, office.Config{Workers: 2, Deadline: 5 * time.Second}) // a busy machine takes seconds for a letter
	const documents = 30
	outcome := func(i int) string { return [10]string{3: "spin", 6: "crash"}[i%10] }
	crowd(t.Context(), engine, documents, func(i int) []byte {
		if order := outcome(i); order != "" {
			return poisonous(order)
		}
		return pdftest.Letter(fmt.Sprintf("Reader %d.", i))
	}, func(i int, result *pdf.Result, err error) {
		if outcome(i) != "" {
			if poison, ok := errors.AsType[*pdf.DocumentError](err); !ok || !poison.Poison {
				t.Errorf("document %d (%s): %v", i, outcome(i), err)
			}
			return
		}
		if err != nil {
			t.Errorf("document %d: %v", i, err)
			return
		}
		if text := textOf(t, result.PDF); !strings.Contains(text, fmt.Sprintf("To Reader %d.\n", i)) {
			t.Errorf("document %d is\n%s", i, text)
		}
	})
}

// BenchmarkPoison measures how much longer documents take if one in ten hangs and one in ten crashes.
func BenchmarkPoison(b *testing.B) {
	for _, test := range benchmarked() {
		b.Run(test.name, func(b *testing.B) {
			documents := 500
			if test.name == "contract" {
				documents = 100
			}
			engine := newOffice(b, office.Config{Workers: 2, Deadline: 5 * time.Second, Recycle: 1 << 30})
			var quiet, disturbed durations
			good := func(i int) bool { return i%10 != 3 && i%10 != 6 }
			last := func(orders ...string) time.Duration {
				var mu sync.Mutex
				var last time.Duration
				left := documents * 8 / 10
				ctx, cancel := context.WithCancel(b.Context()) // ends without waiting for the poison documents
				defer cancel()
				begun := time.Now()
				crowd(ctx, engine, documents, func(i int) []byte {
					switch {
					case good(i):
						return test.document
					case len(orders) == 0:
						return nil
					default:
						return poisonous(orders[i%2])
					}
				}, func(i int, _ *pdf.Result, err error) {
					mu.Lock()
					defer mu.Unlock()
					if good(i) {
						if left--; left == 0 {
							last = time.Since(begun)
							cancel()
						}
						if err != nil {
							b.Errorf("document %d: %v", i, err)
						}
					}
				})
				return last
			}
			for b.Loop() {
				quiet = append(quiet, last())
				disturbed = append(disturbed, last("crash", "spin"))
			}
			b.ReportMetric(quiet.milliseconds(), "quiet-ms")
			b.ReportMetric(disturbed.milliseconds(), "disturbed-ms")
			b.ReportMetric(disturbed.milliseconds()/quiet.milliseconds(), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// crowd converts documents like the tasks of a queue: a few at once, and suspects in isolation.
func crowd(ctx context.Context, engine *office.Office, documents int, document func(i int) []byte,
	done func(i int, result *pdf.Result, err error)) {
	work, suspects := make(chan int), make(chan int, documents)
	var first, second sync.WaitGroup
	for range engine.Workers() + 2 {
		first.Go(func() {
			for i := range work {
				result, err := engine.Convert(ctx, pdf.Request{Document: document(i), Kind: "crowd"})
				if _, ok := errors.AsType[*pdf.SuspectError](err); ok {
					suspects <- i
				} else {
					done(i, result, err)
				}
			}
		})
	}
	second.Go(func() {
		for i := range suspects {
			result, err := engine.Convert(ctx, pdf.Request{Document: document(i), Kind: "crowd", Again: true})
			done(i, result, err)
		}
	})
	for i := range documents {
		work <- i
	}
	close(work)
	first.Wait()
	close(suspects)
	second.Wait()
}

func convertText(t *testing.T, engine pdf.Engine, to string) {
	t.Helper()
	result, err := pdf.Convert(t.Context(), engine, pdf.Request{Document: pdftest.Letter(to)})
	if err != nil {
		t.Fatal(err)
	}
	if text := textOf(t, result.PDF); !strings.Contains(text, "To "+to+"\n") {
		t.Errorf("the letter to %s is\n%s", to, text)
	}
}

func textOf(t *testing.T, content []byte) string {
	t.Helper()
	return pdftest.Text(t, pdftest.Save(t, content))
}

// files returns all files below a folder.
func files(t *testing.T, folder string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && path != folder {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
