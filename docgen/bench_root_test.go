package docgen_test

import (
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// The number of items in the folders of BenchmarkRootPages, and the number of items shared with the user.
const (
	rootItems   = 100_000
	rootsShared = 2_000
)

// BenchmarkRootPages reads a page of 100 items in the middle of a root folder, while many other items are shared with
// the user. The floor is a page in the middle of a folder with as many items.
func BenchmarkRootPages(b *testing.B) {
	for name, config := range map[string]func(testing.TB) store.Config{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			blobs, err := blob.Open(b.TempDir())
			must(b, err)
			w := newWorld(b, config(b), blobs, docgen.Limits{})
			folder, theirs := w.folder(w.alice, 0, "folder"), w.folder(w.bob, 0, "theirs")
			root := query[int64](w, "SELECT root_folder_id FROM users WHERE id = $1", w.alice.User.ID)[0]
			w.fill(root, 1, rootItems)
			w.fill(folder, rootItems+1, rootItems)
			w.fill(theirs, 2*rootItems+1, rootsShared)
			must(b, w.exec(`INSERT INTO collaborations (id, user_id, item_id, invite_login, invite_key, role, status, is_access_only, expires_at,
				can_view_path, acknowledged_at, created_at, created_by, modified_at)
				SELECT id, $1, id, '', '', 'viewer', 'accepted', FALSE, 0, FALSE, 0, 0, owner_id, 0 FROM items WHERE parent_id = $2`,
				w.alice.User.ID, theirs))
			must(b, w.exec("ANALYZE"))
			inRoot, inFolder := w.middle(b, 0), w.middle(b, folder)
			var spent, floor time.Duration
			for b.Loop() {
				spent += w.timePage(b, 0, inRoot)
				floor += w.timePage(b, folder, inFolder)
			}
			b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "root-µs")
			b.ReportMetric(float64(floor.Microseconds())/float64(b.N), "floor-µs")
			b.ReportMetric(spent.Seconds()/floor.Seconds(), "times-floor")
		})
	}
}

// fill inserts files into a folder directly in the database, with ids from one on.
func (w *world) fill(folder, first, count int64) {
	w.t.Helper()
	must(w.t, w.exec(`WITH RECURSIVE n (i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $2)
		INSERT INTO items (id, kind, parent_id, owner_id, name, name_key, description, etag, version_id, version_number, size, sha1,
			created_at, created_by, modified_at, modified_by, content_created_at, content_modified_at, trashed_at, trashed_by)
		SELECT n.i, 1, items.id, items.owner_id, 'n' || n.i, 'n' || n.i, '', 0, 0, 0, 0, '', 0, items.owner_id, 0, items.owner_id, 0, 0, 0, 0
		FROM n JOIN items ON items.id = $3`, first, first+count-1, folder))
}

// middle returns the marker of the page in the middle of a folder.
func (w *world) middle(b *testing.B, folder int64) docgen.PageRequest {
	b.Helper()
	r := docgen.PageRequest{Limit: docgen.MaxPageLimit}
	for range rootItems / docgen.MaxPageLimit / 2 {
		page, err := w.Items(b.Context(), w.alice, folder, r)
		must(b, err)
		r.Marker = page.Next
	}
	r.Limit = 100
	return r
}

func (w *world) timePage(b *testing.B, folder int64, r docgen.PageRequest) time.Duration {
	b.Helper()
	began := time.Now()
	page, err := w.Items(b.Context(), w.alice, folder, r)
	must(b, err)
	if len(page.Entries) != r.Limit {
		b.Fatalf("a page of %d items has %d", r.Limit, len(page.Entries))
	}
	return time.Since(began)
}
