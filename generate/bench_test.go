package generate_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"platen/docgen"
	"platen/docx"
	"platen/docx/lang"
	"platen/examples"
	"platen/store"
	"platen/store/storetest"
)

// BenchmarkBatch measures a batch of one-page letters, from its acceptance until the last job is completed and every
// document is durable in its folder. It compares the time with the floor, which is the minimum work for the same
// documents: render them on all cores, write and fsync the same bytes, and insert the same rows in one transaction. The
// peak is the maximum memory of the process since the acceptance.
func BenchmarkBatch(b *testing.B) {
	databases := map[string]func(testing.TB) store.Config{"sqlite": storetest.SQLite, "postgres": storetest.Postgres}
	for name, config := range databases {
		for _, documents := range []int{1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", name, documents), func(b *testing.B) {
				var batch, floor time.Duration
				var peak int64
				for range b.N {
					took, memory := wholeWay(b, config(b), documents)
					batch, peak = batch+took, max(peak, memory)
					floor += leastWay(b, config(b), documents)
				}
				per := func(d time.Duration) float64 { return float64(documents*b.N) / d.Seconds() }
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(per(batch), "documents/s")
				b.ReportMetric(per(floor), "floor-documents/s")
				b.ReportMetric(batch.Seconds()/floor.Seconds(), "times-floor")
				b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
			})
		}
	}
}

func example(b testing.TB, name string) []byte {
	b.Helper()
	content, err := examples.Files.ReadFile(name)
	must(b, err)
	return content
}

// floorWorkers is the number of documents in progress in the floor: more than cores, so that syncs overlap.
const floorWorkers = 16

// letterInput returns the data of the n-th letter.
func letterInput(b testing.TB, n int) []byte {
	b.Helper()
	var data map[string]any
	must(b, json.Unmarshal(example(b, "letter/data.json"), &data))
	data["candidate"].(map[string]any)["name"] = fmt.Sprintf("Candidate %d", n)
	input, err := json.Marshal(data)
	must(b, err)
	return input
}

// wholeWay creates a batch through the service. It returns the time since its acceptance, and the peak memory of the
// process in that time.
func wholeWay(b *testing.B, cfg store.Config, documents int) (time.Duration, int64) {
	b.Helper()
	w := newWorld(b, storetest.Open(b, cfg), newBlobs(b))
	id := w.letters(documents)
	var took time.Duration
	peak := peakMemory(b, func() {
		begun := time.Now()
		must(b, w.queue.Start(context.WithoutCancel(b.Context())))
		w.ended(id)
		took = time.Since(begun)
	})
	must(b, w.queue.Stop(b.Context()))
	return took, peak
}

// letters creates a batch of letters.
func (w *world) letters(documents int) string { return w.lettersAs(docgen.OutputDocx, documents) }

func (w *world) lettersAs(outputType string, documents int) string {
	template := w.template("Letter.docx", example(w.t, "letter/template.docx"))
	batch := docgen.NewBatch{TemplateID: template.ID, InputSource: docgen.InputSource, DestinationID: w.folder, OutputType: outputType}
	for i := range documents {
		input := new(docgen.Inputs).Parse(letterInput(w.t, i))
		batch.Documents = append(batch.Documents, docgen.NewDocument{Name: fmt.Sprintf("Letter %d", i), Input: input})
	}
	id, err := w.service.CreateBatch(w.t.Context(), w.caller, batch)
	must(w.t, err)
	return id
}

// ended waits until all documents of a batch are in the folder, with little load on the generator.
func (w *world) ended(batch string) {
	w.t.Helper()
	marker := ""
	waitFor(w.t, "the batch to end", func() bool {
		page, err := w.service.Jobs(w.t.Context(), w.caller, docgen.JobFilter{BatchID: new(batch)}, docgen.PageRequest{Limit: 50, Marker: marker})
		must(w.t, err)
		for _, job := range page.Entries {
			if job.Status != docgen.StatusCompleted {
				return false
			}
		}
		marker = page.Next
		return marker == ""
	})
}

// leastWay does the minimum work for the same documents and returns the time.
func leastWay(b *testing.B, cfg store.Config, documents int) time.Duration {
	b.Helper()
	w := newWorld(b, storetest.Open(b, cfg), newBlobs(b))
	db := storetest.Open(b, cfg)
	file := example(b, "letter/template.docx")
	template, err := docx.Parse(bytes.NewReader(file), int64(len(file)))
	must(b, err)
	inputs := make([][]byte, documents)
	for i := range inputs {
		inputs[i] = letterInput(b, i)
	}
	dir := b.TempDir()
	begun := time.Now()
	var workers errgroup.Group
	workers.SetLimit(floorWorkers)
	for i, input := range inputs {
		workers.Go(func() error { return renderAndSync(b.Context(), template, input, filepath.Join(dir, strconv.Itoa(i))) })
	}
	must(b, workers.Wait())
	must(b, db.Write(b.Context(), func(tx *store.Tx) error { return insertRows(b.Context(), tx, w.caller.User.ID, documents) }))
	return time.Since(begun)
}

func renderAndSync(ctx context.Context, template *docx.Template, input []byte, path string) error {
	data, err := lang.Decode(input)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var document bytes.Buffer
	if _, err := template.Execute(ctx, &document, data, docx.Options{}); err != nil {
		return err
	}
	if _, err := document.WriteTo(f); err != nil {
		return err
	}
	return f.Sync()
}

// insertRows inserts a file and a version for every document.
func insertRows(ctx context.Context, tx *store.Tx, user int64, documents int) error {
	for i := range int64(documents) {
		name := fmt.Sprintf("Letter %d.docx", i)
		if _, err := tx.InsertItem(ctx, store.InsertItemParams{
			ID: 1000 + i, Kind: 1, ParentID: sql.NullInt64{}, OwnerID: user, Name: name, NameKey: name,
			VersionID: 1000 + i, VersionNumber: 1, CreatedBy: user, ModifiedBy: user,
		}); err != nil {
			return err
		}
		if err := tx.InsertVersion(ctx, store.InsertVersionParams{
			ID: 1000 + i, FileID: 1000 + i, Number: 1, Name: name, BlobKey: name, CreatedBy: user,
		}); err != nil {
			return err
		}
	}
	return nil
}

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakMemory returns the peak memory of the process while do runs, in bytes, or 0 if the system does not report it.
func peakMemory(b *testing.B, do func()) int64 {
	b.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		do()
		return 0
	}
	do()
	status, err := os.ReadFile("/proc/self/status")
	must(b, err)
	kilobytes, err := strconv.ParseInt(string(highWater.FindSubmatch(status)[1]), 10, 64)
	must(b, err)
	return kilobytes << 10
}
