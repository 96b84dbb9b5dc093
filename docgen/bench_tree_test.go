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

// fillFiles inserts files with one version each into a folder directly in the database, with ids from one on.
func (w *world) fillFiles(folder, first, count int64) {
	w.t.Helper()
	w.fill(folder, first, count)
	must(w.t, w.exec(`INSERT INTO file_versions (id, file_id, number, name, blob_key, size, sha1, created_at, created_by)
		SELECT id, id AS file_id, 1, name, 'versions/' || id, 10, '', 0, owner_id FROM items WHERE parent_id = $1 AND kind = 1 AND
			version_id = 0`, folder))
	must(w.t, w.exec("UPDATE items SET version_id = id, version_number = 1, size = 10 WHERE parent_id = $1 AND kind = 1 AND "+
		"version_id = 0", folder))
}

// BenchmarkTrees measures how long others may have to wait while one user changes a large tree: each operation is one
// transaction. For users, the limits on transfers and copies apply; for managers of content, they do not.
func BenchmarkTrees(b *testing.B) {
	for name, config := range map[string]func(testing.TB) store.Config{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		for _, items := range []int64{docgen.OwnerItems, docgen.CopyItems, 100_000} {
			b.Run(fmt.Sprintf("%s/items=%d", name, items), func(b *testing.B) {
				spent := map[string]time.Duration{}
				for b.Loop() {
					blobs, err := blob.Open(b.TempDir())
					must(b, err)
					newWorld(b, config(b), blobs, docgen.Limits{}).changeTree(b, items, spent)
				}
				for step, all := range spent {
					b.ReportMetric(float64(all.Milliseconds())/float64(b.N), step+"-ms")
				}
			})
		}
	}
}

// changeTree performs every operation on a tree with the given number of items, and adds up the time of each step.
func (w *world) changeTree(b *testing.B, items int64, spent map[string]time.Duration) {
	b.Helper()
	ctx := b.Context()
	cold, err := blob.Open(b.TempDir())
	must(b, err)
	w.Service, err = docgen.New(ctx, docgen.Config{Store: w.db, Blobs: w.blobs, Now: w.clock.now,
		Policies: []docgen.NewStoragePolicy{{Name: "cold", Blobs: cold}}})
	must(b, err)
	manager := w.archivist(docgen.ScopeManagedUsers, docgen.ScopeGlobalContent)
	policies, err := w.StoragePolicies(ctx, manager, docgen.PageRequest{})
	must(b, err)
	folder := w.folder(w.alice, 0, "folder")
	const folders = 10
	files := (items - 1 - folders) / folders
	for i := range int64(folders) {
		w.fillFiles(w.folder(w.alice, folder, fmt.Sprint(i)), 1+i*files, files)
	}
	w.recount()
	must(b, w.exec("ANALYZE"))
	archive, err := w.CreateArchive(ctx, manager, docgen.NewArchive{Name: "archive", PolicyID: &policies.Entries[1].ID})
	must(b, err)
	theirs, within := w.folder(w.bob, 0, "theirs"), w.folder(w.alice, 0, "within")
	_, err = w.CreateCollaboration(ctx, w.bob, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: theirs, UserID: w.alice.User.ID,
		Role: docgen.RoleEditor})
	must(b, err)
	mover := w.alice
	if items > docgen.OwnerItems {
		mover = manager // alice may not
	}
	step := func(name string, act func() error) {
		b.Helper()
		began := time.Now()
		must(b, act())
		spent[name] += time.Since(began)
	}
	move := func(c *docgen.Caller, to int64) func() error {
		return func() error {
			_, err := w.UpdateFolder(ctx, c, folder, docgen.ItemChange{ParentID: &to})
			return err
		}
	}
	trash := func(c *docgen.Caller) func() error {
		return func() error { return w.TrashFolder(ctx, c, folder, true, "") }
	}
	restore := func(c *docgen.Caller) func() error {
		return func() error {
			_, err := w.Restore(ctx, c, docgen.Folder, folder, docgen.Restoration{})
			return err
		}
	}
	step("move-within", move(w.alice, within))
	step("move-to-user", move(mover, theirs))
	step("move-to-archive", move(manager, archive.ID))
	step("trash-in-archive", trash(manager))
	step("restore-in-archive", restore(manager))
	step("move-from-archive", move(manager, within))
	step("copy", func() error {
		_, err := w.CopyFolder(ctx, w.alice, docgen.NewCopy{ItemID: folder, Name: "copy"})
		if items > docgen.CopyItems && docgen.IsCode(err, docgen.CodeBadRequest) {
			return nil // the time until it is rejected
		}
		return err
	})
	step("trash", trash(w.alice))
	step("restore", restore(w.alice))
	step("transfer", func() error {
		_, err := w.TransferContent(ctx, manager, w.alice.User.ID, w.bob.User.ID)
		return err
	})
	must(b, trash(w.bob)())
	step("purge", func() error { return w.Purge(ctx, w.bob, docgen.Folder, folder) })
}
