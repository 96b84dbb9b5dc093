package docgen_test

import (
	"fmt"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// BenchmarkEvents compares the time in which the documents of a task are completed with the part of it that their events take.
func BenchmarkEvents(b *testing.B) {
	const documents = 16 // of one task
	for name, config := range map[string]func(testing.TB) store.Config{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b, config(b), openBlobs(b), docgen.Limits{})
			names := make([]string, documents)
			for i := range names {
				names[i] = fmt.Sprint("document ", i)
			}
			var spent, empty, recording time.Duration
			for range b.N {
				p := w.newPress(names...)
				claim := p.claim()
				results := p.results(claim, "text")
				events := make([]store.Event, documents)
				for i := range events {
					events[i] = store.Event{
						ID: int64(i), Type: string(docgen.ItemUploaded), CreatedAt: noon.UnixMicro(), ActorID: w.alice.User.ID,
						OwnerID: w.alice.User.ID, Kind: "file", SourceID: claim.Jobs[i].ID,
						Details: fmt.Sprintf(`{"docgen_batch_id":%q,"docgen_job_id":"%d"}`, p.batchID, claim.Jobs[i].ID),
					}
				}
				begun := time.Now()
				p.complete(claim, results)
				completed := time.Now()
				must(b, w.db.Write(b.Context(), func(tx *store.Tx) error { return tx.InsertEvents(b.Context(), events) }))
				recorded := time.Now()
				must(b, w.db.Write(b.Context(), func(tx *store.Tx) error { _, err := tx.LockItem(b.Context(), p.folder); return err }))
				spent, recording, empty = spent+completed.Sub(begun), recording+recorded.Sub(completed), empty+time.Since(recorded)
			}
			per := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N*documents) }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(per(spent), "µs/document")
			b.ReportMetric(per(recording-empty), "µs/event")
			b.ReportMetric(100*(recording-empty).Seconds()/spent.Seconds(), "%")
		})
	}
}

func openBlobs(t testing.TB) blob.Store {
	t.Helper()
	blobs, err := blob.Open(t.TempDir())
	must(t, err)
	return blobs
}
