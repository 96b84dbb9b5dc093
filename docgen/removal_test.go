package docgen_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
	"platen/store"
)

// bulky creates a folder that takes several portions to delete, with something of every kind in it. It returns the
// folder, and some of the files and folders in it: a folder, a file, a template, and a file in the trash.
func (w *world) bulky(c *docgen.Caller, parent int64, name string) (folder, inner int64, files []int64) {
	w.t.Helper()
	ctx := w.t.Context()
	folder = w.folder(c, parent, name)
	inner = w.folder(c, folder, "inner")
	for i := range 30 {
		w.upload(c, inner, fmt.Sprintf("%d.txt", i), fmt.Sprint(name, i))
	}
	for i := range 15 {
		_, err := w.CopyFolder(ctx, c, docgen.NewCopy{ItemID: inner, ParentID: folder, Name: fmt.Sprint("copy ", i)})
		must(w.t, err)
	}
	file := w.upload(c, inner, "file.txt", "one")
	w.version(c, file.ID, "two")
	template := w.template(c, inner, "t.docx")
	tags := make([]docgen.Tag, 450)
	for i := range tags {
		tags[i] = docgen.Tag{Content: fmt.Sprintf("{{a%d}}", i), Type: "text"}
	}
	must(w.t, w.SaveReading(ctx, template.VersionID, docgen.Reading{Tags: tags}))
	early := w.upload(c, inner, "early.txt", "early")
	must(w.t, w.TrashFile(ctx, c, early.ID, ""))
	return folder, inner, []int64{file.ID, template.ID, early.ID}
}

// wantGone checks that items deleted permanently cannot be found.
func (w *world) wantGone(c *docgen.Caller, folders, files []int64) {
	w.t.Helper()
	ctx := w.t.Context()
	for _, id := range folders {
		_, err := w.Folder(ctx, c, id)
		wantCode(w.t, err, docgen.CodeNotFound)
		_, err = w.Restore(ctx, c, docgen.Folder, id, docgen.Restoration{})
		wantCode(w.t, err, docgen.CodeNotFound)
		wantCode(w.t, w.Purge(ctx, c, docgen.Folder, id), docgen.CodeNotFound)
		_, err = w.CreateFolder(ctx, c, docgen.NewFolder{Name: "new", ParentID: id})
		wantCode(w.t, err, docgen.CodeNotFound)
	}
	for _, id := range files {
		_, err := w.File(ctx, c, id)
		wantCode(w.t, err, docgen.CodeNotFound)
		_, err = w.Trashed(ctx, c, docgen.File, id)
		wantCode(w.t, err, docgen.CodeNotFound)
		_, err = w.CopyFile(ctx, c, docgen.NewCopy{ItemID: id, Name: "copy"})
		wantCode(w.t, err, docgen.CodeNotFound)
	}
	if names := w.trash(c); len(names) > 0 {
		w.t.Errorf("the trash of %s holds %q", c.User.Name, names)
	}
	page, err := w.TrashByOffset(ctx, c, docgen.OffsetRequest{Limit: 10}, docgen.ItemOrder{By: "name"})
	must(w.t, err)
	if page.Total != 0 || len(page.Entries) != 0 {
		w.t.Errorf("the trash of %s holds %d items, and shows %+v", c.User.Name, page.Total, page.Entries)
	}
	templates, err := w.Templates(ctx, c, docgen.PageRequest{})
	must(w.t, err)
	if len(templates.Entries) > 0 {
		w.t.Errorf("templates %+v", templates.Entries)
	}
}

// rows counts the rows that may be left of trees.
func (w *world) rows() int {
	w.t.Helper()
	total := 0
	for _, table := range []string{"items", "file_versions", "docgen_tags", "docgen_tag_readings", "docgen_templates", "collaborations",
		"folder_counts", "removals", "shared_links"} {
		total += w.count("SELECT COUNT(*) FROM " + table)
	}
	return total
}

// TestPurgeInPortions deletes a large folder permanently: at once for all users, and in portions in the database.
// Others write in between, and another server continues after a kill.
func TestPurgeInPortions(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.folder(w.bob, 0, "bob's") // which makes the row that counts his folders
		w.names(w.alice, 0)
		must(t, w.TrashFolder(ctx, w.alice, w.folder(w.alice, 0, "row"), false, ""))
		must(t, w.Purge(ctx, w.alice, docgen.Folder, query[int64](w, "SELECT id FROM items WHERE name = 'row'")[0]))
		before := w.rows()
		folder, inner, files := w.bulky(w.alice, 0, "bulky")
		w.share(docgen.Folder, inner, w.bob, docgen.RoleEditor)
		w.link(w.alice, docgen.Folder, inner, open)
		must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
		must(t, w.Purge(ctx, w.alice, docgen.Folder, folder))

		if n := w.count("SELECT COUNT(*) FROM items"); n < 300 {
			t.Fatalf("%d items are left, want most of them: nothing that large is removed in one transaction", n)
		}
		w.wantGone(w.alice, []int64{folder, inner}, files)
		if got := w.names(w.bob, 0); !slices.Equal(got, []string{"bob's"}) {
			t.Errorf("bob's root folder holds %q", got)
		}
		again := w.folder(w.alice, 0, "bulky") // the name is free
		w.checkRows(t)

		left, portions := w.rows(), 0
		for ; portions < 3; portions++ {
			all, err := w.RemovePortion(ctx, folder)
			must(t, err)
			if all {
				t.Fatalf("all was removed in %d portions", portions+1)
			}
			w.folder(w.bob, 0, fmt.Sprint("between ", portions))                // another's transaction
			now := w.rows() - 1                                                 // without the folder in between
			if gone := left - now; gone < 1 || gone > 2*docgen.RemovalPortion { // some rows take others with them
				t.Errorf("portion %d: %d rows fewer", portions, gone)
			}
			left = now + 1
			w.checkRows(t)
			w.wantGone(w.alice, []int64{folder}, files[:1])
		}
		other := w.again(docgen.Config{}) // as after a crash
		more, err := other.RemoveTrees(ctx)
		must(t, err)
		if more {
			t.Error("RemoveTrees asks to be called again")
		}
		must(t, w.TrashFolder(ctx, w.alice, again, false, ""))
		must(t, w.Purge(ctx, w.alice, docgen.Folder, again))
		if got := w.rows() - portions; got != before {
			t.Errorf("%d rows are left, want %d", got, before)
		}
		w.removeContents()
		w.wantNoOrphans()
	})
}

// TestDeleteUserInPortions deletes a user with a lot of content.
func TestDeleteUserInPortions(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		admin := w.contentManager("admin")
		manager := w.caller("admin")
		folder, inner, files := w.bulky(w.alice, 0, "bulky")
		other := w.folder(w.alice, 0, "other")
		must(t, w.TrashFolder(ctx, w.alice, other, true, ""))
		must(t, w.Purge(ctx, w.alice, docgen.Folder, other))
		must(t, w.DeleteUser(ctx, manager, w.alice.User.ID, true))
		for _, id := range []int64{folder, inner} {
			_, err := w.Folder(ctx, admin, id)
			wantCode(t, err, docgen.CodeNotFound)
		}
		_, err := w.File(ctx, admin, files[0])
		wantCode(t, err, docgen.CodeNotFound)
		w.checkRows(t)
		_, err = w.RemoveTrees(ctx)
		must(t, err)
		if n := w.count(fmt.Sprint("SELECT COUNT(*) FROM items WHERE owner_id = ", w.alice.User.ID)); n != 0 {
			t.Errorf("%d items are left", n)
		}
		w.removeContents()
		w.wantNoOrphans()
	})
}

// TestRemovalDuringOtherChanges: items that are being deleted do not move with their folder to the tree of another
// owner. They do not count as content of an archive, or of a user to delete.
func TestRemovalDuringOtherChanges(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		manager := w.archivist(docgen.ScopeManagedUsers, docgen.ScopeDocGen)
		t.Run("a folder above is moved", func(t *testing.T) {
			outer := w.folder(w.alice, 0, "outer")
			folder, _, _ := w.bulky(w.alice, outer, "bulky")
			must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
			must(t, w.Purge(ctx, w.alice, docgen.Folder, folder))
			archive := w.archive(manager, "archive").ID
			_, err := w.UpdateFolder(ctx, manager, outer, docgen.ItemChange{ParentID: &archive})
			must(t, err)
			if names := w.trash(manager); len(names) > 0 {
				t.Errorf("the trash of the archive holds %q", names)
			}
			_, err = w.RemoveTrees(ctx)
			must(t, err)
			if n := w.count("SELECT COUNT(*) FROM removals"); n != 0 {
				t.Errorf("%d trees are left", n)
			}
		})
		t.Run("the content of the user is transferred", func(t *testing.T) {
			folder, _, _ := w.bulky(w.bob, 0, "bulky")
			must(t, w.TrashFolder(ctx, w.bob, folder, true, ""))
			must(t, w.Purge(ctx, w.bob, docgen.Folder, folder))
			_, err := w.TransferContent(ctx, manager, w.bob.User.ID, w.alice.User.ID)
			must(t, err)
			if names := w.trash(w.alice); len(names) > 0 {
				t.Errorf("alice's trash holds %q", names)
			}
			must(t, w.DeleteUser(ctx, manager, w.bob.User.ID, false))
			_, err = w.RemoveTrees(ctx)
			must(t, err)
			if n := w.count(fmt.Sprint("SELECT COUNT(*) FROM items WHERE owner_id = ", w.bob.User.ID)); n != 0 {
				t.Errorf("%d items of bob are left", n)
			}
		})
		t.Run("an archive with a full trash is deleted", func(t *testing.T) {
			archive := w.archive(manager, "another").ID
			folder, inner, files := w.bulky(manager, archive, "bulky")
			must(t, w.TrashFolder(ctx, manager, folder, true, ""))
			must(t, w.DeleteArchive(ctx, manager, archive))
			w.wantGone(manager, []int64{archive, folder, inner}, files)
			for _, a := range w.archives(manager) {
				if a.ID == archive {
					t.Errorf("archive %+v is listed", a)
				}
			}
			w.archive(manager, "another") // the name is free
			_, err := w.RemoveTrees(ctx)
			must(t, err)
			w.removeContents()
			w.wantNoOrphans()
		})
	})
}

// TestInvitationsToDeletedItems: an invitation is deleted with the item.
func TestInvitationsToDeletedItems(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder, inner, _ := w.bulky(w.alice, 0, "bulky")
		must(t, w.exec("UPDATE collaborations SET status = 'accepted'"))
		shared := w.share(docgen.Folder, inner, w.bob, docgen.RoleViewer)
		must(t, w.exec(fmt.Sprint("UPDATE collaborations SET status = 'pending', acknowledged_at = 0 WHERE id = ", shared.ID)))
		must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
		must(t, w.Purge(ctx, w.alice, docgen.Folder, folder))
		page, err := w.Invitations(ctx, w.bob, docgen.OffsetRequest{Limit: 10})
		must(t, err)
		if page.Total != 0 || len(page.Entries) != 0 {
			t.Errorf("bob has %d invitations: %+v", page.Total, page.Entries)
		}
		_, err = w.Collaboration(ctx, w.bob, shared.ID)
		wantCode(t, err, docgen.CodeNotFound)
	})
}

// TestRemovalTask: deleting a large folder wakes one task, which ends when nothing is left.
func TestRemovalTask(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		tasks := func() int {
			return w.count("SELECT COUNT(*) FROM river_job WHERE kind = '" + docgen.RemoveTrees{}.Kind() + "' AND state = 'available'")
		}
		must(t, w.ScheduleRemoval(ctx))
		if n := tasks(); n != 0 {
			t.Errorf("%d tasks where nothing is to be removed", n)
		}
		for _, name := range []string{"one", "two"} {
			folder, _, _ := w.bulky(w.alice, 0, name)
			must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
			must(t, w.Purge(ctx, w.alice, docgen.Folder, folder))
		}
		if n := tasks(); n != 1 {
			t.Errorf("%d tasks, want 1", n)
		}
		must(t, w.exec("DELETE FROM river_job")) // lost, as after a restore of an old backup
		must(t, w.ScheduleRemoval(ctx))
		if n := tasks(); n != 1 {
			t.Errorf("%d tasks after a start, want 1", n)
		}
		ran := make(chan error, 1)
		queue := store.NewQueue(w.db, store.QueueConfig{Workers: map[string]int{docgen.RemovalQueue: 1}})
		store.Handle(queue, func(ctx context.Context, _ docgen.RemoveTrees) error {
			_, err := w.RemoveTrees(ctx)
			ran <- err
			return err
		})
		must(t, queue.Start(ctx))
		must(t, <-ran)
		must(t, queue.Stop(ctx))
		if n := w.count("SELECT COUNT(*) FROM removals"); n != 0 {
			t.Errorf("%d trees are left", n)
		}
		if names := strings.Join(w.names(w.alice, 0), " "); names != "" {
			t.Errorf("alice's root folder holds %s", names)
		}
	})
}
