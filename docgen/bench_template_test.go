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

// BenchmarkTemplates measures an empty page of templates: with 50,000 templates of others, and with 50,000 in the user's own trash.
// longest-step-ms is how long one step, and other requests because of it, may wait for a connection to read.
func BenchmarkTemplates(b *testing.B) {
	const templates = 50_000
	for name, config := range map[string]func(testing.TB) store.Config{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			blobs, err := blob.Open(b.TempDir())
			must(b, err)
			w := newWorld(b, config(b), blobs, docgen.Limits{})
			folder := w.folder(w.alice, 0, "many")
			w.fill(folder, 1<<50, templates)
			must(b, w.exec(`INSERT INTO docgen_templates (file_id, marked_at, marked_by, owner_id) SELECT id, 0, owner_id, owner_id FROM `+
				`items WHERE parent_id = $1`, folder))
			w.recount()
			must(b, w.TrashFolder(b.Context(), w.alice, folder, true, ""))
			must(b, w.exec("ANALYZE"))
			for who, caller := range map[string]*docgen.Caller{"others": w.bob, "trash": w.alice} {
				b.Run(fmt.Sprintf("%s=%d", who, templates), func(b *testing.B) {
					for b.Loop() {
						page, err := w.Templates(b.Context(), caller, docgen.PageRequest{})
						must(b, err)
						if len(page.Entries) > 0 {
							b.Fatalf("%d templates, want none", len(page.Entries))
						}
					}
					var longest time.Duration
					for from, done := int64(0), false; !done; {
						start := time.Now()
						must(b, w.db.Read(b.Context(), func(q *store.Queries) error {
							step, err := q.TemplatesAfter(b.Context(), from, caller.User.ID, 51, noon.UnixMicro())
							from, done = step.Next, step.Done
							return err
						}))
						longest = max(longest, time.Since(start))
					}
					b.ReportMetric(float64(longest.Microseconds())/1000, "longest-step-ms")
				})
			}
		})
	}
}
