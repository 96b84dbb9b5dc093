package docgen_test

import (
	"slices"
	"strings"
	"testing"

	"platen/docgen"
	"platen/store"
)

// At most maxOwnerItems files and folders change owner at once, in any operation, unless an administrator performs it.
func TestChangesOfOwnerAreLimited(t *testing.T) {
	runLong(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		theirs := w.folder(w.bob, 0, "theirs")
		_, err := w.CreateCollaboration(ctx, w.bob, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: theirs,
			UserID: w.alice.User.ID, Role: docgen.RoleEditor})
		must(t, err)
		top := w.folder(w.alice, 0, "top")
		folder := w.folder(w.alice, top, "folder")
		w.fillFiles(folder, 1, docgen.OwnerItems) // plus the folder itself, which is one too many
		w.recount()
		given := w.share(docgen.Folder, folder, w.bob, docgen.RoleViewer)
		space := func() []string {
			return query[string](w, "SELECT user_id || ': ' || files || ' files, ' || bytes || ' bytes' FROM user_space ORDER BY user_id")
		}
		owners := func() []int64 {
			return query[int64](w, "SELECT DISTINCT owner_id FROM items WHERE parent_id = $1", folder)
		}
		before := space()

		move := func(c *docgen.Caller, to int64) error {
			_, err := w.UpdateFolder(ctx, c, folder, docgen.ItemChange{ParentID: &to})
			return err
		}
		refused := func(way string, err error) {
			t.Helper()
			wantCode(t, err, docgen.CodeBadRequest)
			if err == nil || !strings.Contains(err.Error(), "more than the 5000 files and folders") {
				t.Errorf("%s: %v, want the limit", way, err)
			}
			if got := space(); !slices.Equal(got, before) {
				t.Errorf("%s: users store %q, want %q", way, got, before)
			}
			if got := owners(); !slices.Equal(got, []int64{w.alice.User.ID}) {
				t.Errorf("%s: the files belong to %d, want alice", way, got)
			}
		}
		refused("move", move(w.alice, theirs))
		_, err = w.UpdateCollaboration(ctx, w.alice, given.ID, docgen.CollaborationChange{Role: docgen.RoleOwner})
		refused("new owner", err)
		must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
		must(t, w.TrashFolder(ctx, w.alice, top, true, ""))
		_, err = w.Restore(ctx, w.alice, docgen.Folder, folder, docgen.Restoration{ParentID: &theirs})
		refused("restore", err)
		_, err = w.Restore(ctx, w.alice, docgen.Folder, top, docgen.Restoration{})
		must(t, err)
		_, err = w.Restore(ctx, w.alice, docgen.Folder, folder, docgen.Restoration{})
		must(t, err)
		must(t, move(w.alice, 0)) // it stays alice's

		must(t, w.TrashFile(ctx, w.alice, 1, ""))
		refused("move with one file in the trash", move(w.alice, theirs))
		must(t, w.Purge(ctx, w.alice, docgen.File, 1))
		must(t, move(w.alice, theirs))
		if got := owners(); !slices.Equal(got, []int64{w.bob.User.ID}) {
			t.Errorf("after the move the files belong to %d, want bob", got)
		}
		w.fillFiles(folder, 1, 1)
		w.recount()
		must(t, move(w.contentManager("manager"), w.folder(w.alice, 0, "back")))
		if got := owners(); !slices.Equal(got, []int64{w.alice.User.ID}) {
			t.Errorf("after the manager's move the files belong to %d, want alice", got)
		}
	})
}

// Changing the storage policy of a tree updates each version once, even if nearly all versions are stored elsewhere.
func TestPoliciesOfTreeAreSetPerItem(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		folder := w.folder(w.alice, 0, "folder")
		w.fillFiles(folder, 1, 2000)
		w.recount()
		must(t, w.exec("ANALYZE")) // by which all versions are kept by policy 1
		plans := w.plans(func(q *store.Queries) error {
			if n, err := q.SetTreePolicy(t.Context(), folder, 2); err != nil || n != 2000 {
				t.Errorf("SetTreePolicy = %d, %v, want 2000 versions", n, err)
			}
			n, err := q.SetTreePolicy(t.Context(), folder, 1)
			if n != 2000 {
				t.Errorf("SetTreePolicy back = %d, want 2000 versions", n)
			}
			return err
		})
		for _, plan := range plans {
			if strings.Contains(plan, "Join Filter") {
				t.Errorf("each version is compared with each item:\n%s", plan)
			}
		}
	})
}
