package docgen_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/docgen"
)

// removeContents runs the tasks that delete contents, as the queue does.
func (w *world) removeContents() {
	w.t.Helper()
	text := "SELECT args FROM river_job WHERE kind = 'remove_contents'"
	if w.cfg.Path != "" {
		text = "SELECT json(args) FROM river_job WHERE kind = 'remove_contents'"
	}
	for _, args := range query[string](w, text) {
		var task docgen.RemoveContents
		must(w.t, json.Unmarshal([]byte(args), &task))
		must(w.t, w.RemoveContents(w.t.Context(), task))
	}
}

// trash lists the names of the items that a caller moved to the trash, in the order of pages by marker.
func (w *world) trash(c *docgen.Caller) []string {
	w.t.Helper()
	names := []string{}
	for marker := "0"; marker != ""; {
		request, err := docgen.ParsePage("2", marker)
		must(w.t, err)
		page, err := w.Trash(w.t.Context(), c, request)
		must(w.t, err)
		for _, item := range page.Entries {
			names = append(names, item.Name)
		}
		marker = page.Next
	}
	return names
}

func TestListOfTheTrash(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		w.upload(w.alice, folder, "inside.txt", "x")
		early := w.upload(w.alice, folder, "early.txt", "four")
		must(t, w.TrashFile(ctx, w.alice, early.ID, ""))
		must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
		w.clock.advance(time.Minute)
		late := w.upload(w.alice, 0, "a late one.txt", "x")
		must(t, w.TrashFile(ctx, w.alice, late.ID, ""))
		w.upload(w.alice, 0, "kept.txt", "x")
		theirs := w.upload(w.bob, 0, "bob's.txt", "x")
		must(t, w.TrashFile(ctx, w.bob, theirs.ID, ""))

		if got, want := w.trash(w.alice), []string{"folder", "early.txt", "a late one.txt"}; !slices.Equal(got, want) {
			t.Errorf("by marker %q, want %q", got, want)
		}
		for order, want := range map[docgen.ItemOrder]string{
			{By: "name"}: "folder, a late one.txt, early.txt", {By: "name", Descending: true}: "folder, early.txt, a late one.txt",
			{By: "id"}: "folder, early.txt, a late one.txt", {By: "id", Descending: true}: "folder, a late one.txt, early.txt",
			{By: "date"}: "folder, early.txt, a late one.txt", {By: "date", Descending: true}: "folder, a late one.txt, early.txt",
			{By: "size"}: "folder, a late one.txt, early.txt", {By: "size", Descending: true}: "folder, early.txt, a late one.txt",
		} {
			page, err := w.TrashByOffset(ctx, w.alice, docgen.OffsetRequest{Limit: 10}, order)
			must(t, err)
			var names []string
			for _, item := range page.Entries {
				names = append(names, item.Name)
			}
			if got := strings.Join(names, ", "); got != want || page.Total != 3 {
				t.Errorf("%+v: %d items: %s, want %s", order, page.Total, got, want)
			}
		}
		page, err := w.TrashByOffset(ctx, w.alice, docgen.OffsetRequest{Offset: 2, Limit: 10}, docgen.ItemOrder{By: "id"})
		must(t, err)
		if len(page.Entries) != 1 || !page.Entries[0].TrashedAt.Equal(noon.Add(time.Minute)) {
			t.Errorf("the last entry is %+v", page.Entries)
		}
	})
}

// TestTrashOfArchives: items deleted in archives are in the trash of all users who manage the content of the
// enterprise, and of no one else.
func TestTrashOfArchives(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		manager, plain := w.archivist(), w.member("plain", docgen.RoleAdmin)
		archive := w.archive(manager, "archive").ID
		for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
			must(t, w.TrashFile(ctx, manager, w.upload(manager, archive, name, "x").ID, ""))
			must(t, w.TrashFile(ctx, manager, w.upload(manager, 0, "own "+name, "x").ID, ""))
		}
		must(t, w.TrashFile(ctx, w.alice, w.upload(w.alice, 0, "alice's.txt", "x").ID, ""))
		if got, want := w.trash(manager), []string{"a.txt", "own a.txt", "b.txt", "own b.txt", "c.txt", "own c.txt"}; !slices.Equal(got, want) {
			t.Errorf("by marker %q, want %q", got, want)
		}
		page, err := w.TrashByOffset(ctx, manager, docgen.OffsetRequest{Offset: 1, Limit: 2}, docgen.ItemOrder{By: "name"})
		must(t, err)
		if page.Total != 6 || len(page.Entries) != 2 || page.Entries[0].Name != "b.txt" || page.Entries[1].Name != "c.txt" {
			t.Errorf("by offset %+v", page)
		}
		for _, c := range []*docgen.Caller{plain, w.caller(manager.User.Name, docgen.ScopeRead)} {
			if got := w.trash(c); slices.Contains(got, "a.txt") {
				t.Errorf("%s without the scope sees %q", c.User.Name, got)
			}
		}
	})
}

func TestRestore(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		file := w.upload(w.alice, folder, "a.txt", "a")
		old := w.upload(w.alice, folder, "old.txt", "old")
		must(t, w.TrashFile(ctx, w.alice, old.ID, ""))
		restore := func(c *docgen.Caller, kind docgen.Kind, id int64, r docgen.Restoration, want docgen.Code) *docgen.Item {
			t.Helper()
			item, err := w.Restore(ctx, c, kind, id, r)
			wantCode(t, err, want)
			return item
		}
		none := docgen.Restoration{}
		t.Run("items outside the trash", func(t *testing.T) {
			restore(w.alice, docgen.File, file.ID, none, docgen.CodeNotTrashed)
			restore(w.alice, docgen.Folder, 0, none, docgen.CodeNotTrashed)
			wantCode(t, w.Purge(ctx, w.alice, docgen.File, file.ID), docgen.CodeNotTrashed)
			_, err := w.Trashed(ctx, w.alice, docgen.File, file.ID)
			wantCode(t, err, docgen.CodeNotTrashed)
			restore(w.bob, docgen.File, old.ID, none, docgen.CodeNotFound)
		})
		must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
		t.Run("shows the item", func(t *testing.T) {
			got, err := w.Trashed(ctx, w.alice, docgen.File, old.ID)
			must(t, err)
			if got.Name != "old.txt" || !got.TrashedAt.Equal(noon) || got.Parent.ID != folder || got.ETag != 1 {
				t.Errorf("in the trash: %+v", got)
			}
			_, err = w.Trashed(ctx, w.alice, docgen.File, file.ID)
			wantCode(t, err, docgen.CodeNotTrashed) // its folder is in the trash
		})
		t.Run("of an item from a trashed folder needs another folder", func(t *testing.T) {
			_, err := w.Restore(ctx, w.alice, docgen.File, old.ID, none)
			if got := problemNames(t, err); !slices.Equal(got, []string{"parent.id"}) {
				t.Errorf("problems with %q", got)
			}
			restore(w.alice, docgen.File, old.ID, docgen.Restoration{ParentID: new(folder)}, docgen.CodeTrashed)
			restore(w.alice, docgen.File, old.ID, docgen.Restoration{ParentID: new(int64(7))}, docgen.CodeNotFound)
			if got := restore(w.alice, docgen.File, old.ID, docgen.Restoration{ParentID: new(int64(0))}, ""); got == nil ||
				got.Parent.ID != 0 || got.ETag != 2 {
				t.Errorf("restored %+v", got)
			}
		})
		t.Run("restores a folder with its items", func(t *testing.T) {
			w.folder(w.alice, 0, "FOLDER")
			_, err := w.Restore(ctx, w.alice, docgen.Folder, folder, none)
			wantCode(t, err, docgen.CodeNameInUse)
			if conflicts := asError(t, err).Conflicts; len(conflicts) != 1 || conflicts[0].Name != "FOLDER" {
				t.Errorf("conflicts with %+v", conflicts)
			}
			restore(w.alice, docgen.Folder, folder, docgen.Restoration{Name: "a/b"}, docgen.CodeNameInvalid)
			other := w.folder(w.alice, 0, "other")
			got := restore(w.alice, docgen.Folder, folder, docgen.Restoration{Name: "back", ParentID: &other}, "")
			if got == nil || got.Name != "back" || got.Parent.ID != 0 || !got.TrashedAt.IsZero() {
				t.Errorf("restored %+v, want it where it lay: that folder is there", got)
			}
			if names := w.names(w.alice, folder); !slices.Equal(names, []string{"a.txt"}) {
				t.Errorf("it holds %q", names)
			}
		})
		t.Run("by collaborators", func(t *testing.T) {
			editor, viewer := w.user("editor"), w.user("viewer")
			w.share(docgen.File, file.ID, editor, docgen.RoleEditor)
			w.share(docgen.File, file.ID, viewer, docgen.RoleViewer)
			must(t, w.TrashFile(ctx, editor, file.ID, ""))
			restore(viewer, docgen.File, file.ID, none, docgen.CodeForbidden)
			wantCode(t, w.Purge(ctx, editor, docgen.File, file.ID), docgen.CodeForbidden)
			if names := w.trash(editor); len(names) != 0 {
				t.Errorf("the trash of the editor holds %q", names)
			}
			restore(editor, docgen.File, file.ID, none, "")
			must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
			wantCode(t, w.TrashFolder(ctx, w.alice, folder, true, ""), docgen.CodeTrashed)
		})
	})
}

func TestRestoreInArchives(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		manager := w.archivist()
		archive := w.archive(manager, "archive").ID
		folder := w.folder(manager, archive, "folder")
		inner := w.folder(manager, folder, "inner")
		w.upload(manager, inner, "a.txt", "12345")
		file := w.upload(manager, folder, "b.txt", "123")
		must(t, w.TrashFile(ctx, manager, file.ID, ""))
		w.wantSize(manager, archive, 5)
		must(t, w.TrashFolder(ctx, manager, folder, true, ""))
		w.wantSize(manager, archive, 0)
		_, err := w.Restore(ctx, manager, docgen.Folder, folder, docgen.Restoration{})
		must(t, err)
		w.wantSize(manager, archive, 5)
		must(t, w.TrashFolder(ctx, manager, inner, true, ""))
		must(t, w.TrashFolder(ctx, manager, folder, true, ""))

		mine := w.folder(manager, 0, "mine")
		item, err := w.Restore(ctx, manager, docgen.Folder, inner, docgen.Restoration{ParentID: &mine})
		must(t, err)
		w.wantSize(manager, archive, 0)
		if item.Owner.ID != manager.User.ID || item.Parent.ID != mine {
			t.Errorf("out of the archive: %+v", item)
		}
		second := w.archive(manager, "second").ID
		_, err = w.Restore(ctx, manager, docgen.File, file.ID, docgen.Restoration{ParentID: &second})
		must(t, err)
		w.wantSize(manager, archive, 0)
		w.wantSize(manager, second, 3)
		must(t, w.Purge(ctx, manager, docgen.Folder, folder))
		w.wantSize(manager, archive, 0)
		w.removeContents()
		w.wantNoOrphans()
	})
}

func TestPurge(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		inner := w.folder(w.alice, folder, "inner")
		template := w.template(w.alice, inner, "t.docx")
		must(t, w.SaveReading(ctx, template.VersionID,
			docgen.Reading{Tags: []docgen.Tag{{Content: "{{a}}", Type: "text", JSONPaths: []string{"a"}}}}))
		newer := w.version(w.alice, template.ID, "second")
		must(t, w.TrashVersion(ctx, w.alice, template.ID, template.VersionID, ""))
		early := w.upload(w.alice, inner, "early.txt", "early")
		must(t, w.TrashFile(ctx, w.alice, early.ID, ""))
		copied, err := w.CopyFile(ctx, w.alice, docgen.NewCopy{ItemID: template.ID})
		must(t, err)
		w.share(docgen.Folder, inner, w.bob, docgen.RoleEditor)
		batch := w.batch(batchOf(template.ID, inner, "{}"))
		wantCode(t, w.Purge(ctx, w.alice, docgen.Folder, folder), docgen.CodeNotTrashed)
		must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
		must(t, w.Purge(ctx, w.alice, docgen.Folder, folder))

		for table, want := range map[string]int{
			"items": 4, "file_versions": 1, "docgen_templates": 0, "docgen_tag_readings": 0, "docgen_tags": 0, "collaborations": 0, "docgen_jobs": 1,
		} {
			if n := w.count("SELECT COUNT(*) FROM " + table); n != want {
				t.Errorf("%d rows of %s, want %d", n, table, want)
			}
		}
		t.Run("removes the contents that nothing names any more", func(t *testing.T) {
			if n := len(w.keys()); n != 3 {
				t.Errorf("%d contents before the task, want all 3", n)
			}
			w.removeContents()
			w.wantNoOrphans()
			if text := w.text(w.alice, copied.ID, 0); text != "second" {
				t.Errorf("the copy holds %q", text)
			}
			w.removeContents() // a task may run twice
			w.wantNoOrphans()
		})
		t.Run("leaves the jobs to be looked at, and to fail", func(t *testing.T) {
			claim, err := w.ClaimBatch(ctx, batch)
			must(t, err)
			if claim.TemplateVersionID != newer.VersionID {
				t.Errorf("claim %+v", claim)
			}
			_, err = w.TemplateContent(ctx, claim.TemplateVersionID)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.IncludedContent(ctx, claim.TemplateVersionID, "a.docx", claim.Requester)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.FailBatch(ctx, batch, asError(t, err).Message)
			must(t, err)
			job := w.jobs(batch)[0]
			if job.Status != docgen.StatusFailed || len(job.Failures.Errors) != 1 ||
				!strings.Contains(job.Failures.Errors[0], "permanently deleted") {
				t.Errorf("job %+v", job)
			}
			page, err := w.Jobs(ctx, w.alice, docgen.JobFilter{}, docgen.PageRequest{})
			must(t, err)
			if len(page.Entries) != 1 || page.Entries[0].TemplateID != template.ID {
				t.Errorf("jobs %+v", page.Entries)
			}
			must(t, w.SaveReading(ctx, newer.VersionID, docgen.Reading{Tags: []docgen.Tag{{Content: "{{a}}", Type: "text"}}}))
		})
		t.Run("is for good", func(t *testing.T) {
			for _, id := range []int64{folder, inner} {
				_, err := w.Restore(ctx, w.alice, docgen.Folder, id, docgen.Restoration{})
				wantCode(t, err, docgen.CodeNotFound)
			}
			_, err := w.File(ctx, w.alice, early.ID)
			wantCode(t, err, docgen.CodeNotFound)
		})
	})
}

// TestRestoreDuringCreate restores files while files with the same names are created: each name is used once.
func TestRestoreDuringCreate(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		const rounds = 10
		var group sync.WaitGroup
		restored, created := make([]error, rounds), make([]error, rounds)
		for i := range rounds {
			name := fmt.Sprint(i, ".txt")
			file := w.upload(w.alice, folder, name, "old")
			must(t, w.TrashFile(ctx, w.alice, file.ID, ""))
			group.Go(func() { _, restored[i] = w.Restore(ctx, w.alice, docgen.File, file.ID, docgen.Restoration{}) })
			group.Go(func() {
				_, created[i] = w.CreateFile(ctx, w.alice, docgen.NewFile{Name: strings.ToUpper(name), ParentID: folder}, reader("new"))
			})
		}
		group.Wait()
		for i := range rounds {
			if (restored[i] == nil) == (created[i] == nil) {
				t.Errorf("%d: restored %v, created %v, want one of both", i, restored[i], created[i])
			}
			for _, err := range []error{restored[i], created[i]} {
				if err != nil && !docgen.IsCode(err, docgen.CodeNameInUse) {
					t.Error(err)
				}
			}
		}
		if n := len(w.names(w.alice, folder)); n != rounds {
			t.Errorf("%d files, want %d", n, rounds)
		}
		w.wantNoOrphans()
	})
}

// TestPurgeDuringOtherOperations deletes a folder permanently while every operation is performed on it.
func TestPurgeDuringOtherOperations(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		for round := range 5 {
			folder := w.folder(w.alice, 0, fmt.Sprint("folder ", round))
			file := w.upload(w.alice, folder, fmt.Sprintf("t%d.docx", round), "text")
			older := file.VersionID
			w.version(w.alice, file.ID, "newer")
			uses := []func() error{
				func() error { _, err := w.PromoteVersion(ctx, w.alice, file.ID, older); return err },
				func() error { _, err := w.MarkTemplate(ctx, w.alice, file.ID); return err },
				func() error { _, _, err := w.Tags(ctx, w.alice, file.ID, older, docgen.PageRequest{}); return err },
				func() error {
					return w.SaveReading(ctx, older, docgen.Reading{Tags: []docgen.Tag{{Content: "{{a}}", Type: "text"}}})
				},
				func() error {
					_, err := w.CreateFile(ctx, w.alice, docgen.NewFile{Name: "new.txt", ParentID: folder}, reader("new"))
					return err
				},
				func() error {
					_, err := w.CreateFolder(ctx, w.alice, docgen.NewFolder{Name: "new", ParentID: folder})
					return err
				},
				func() error {
					_, err := w.CreateCollaboration(ctx, w.alice, docgen.NewCollaboration{ItemKind: docgen.File, ItemID: file.ID,
						UserID: w.bob.User.ID, Role: docgen.RoleViewer})
					return err
				},
				func() error {
					_, err := w.UpdateFile(ctx, w.alice, file.ID, docgen.ItemChange{ParentID: new(int64(0)), Name: new(fmt.Sprint(round))})
					return err
				},
				func() error {
					return errors.Join(w.TrashFolder(ctx, w.alice, folder, true, ""), w.Purge(ctx, w.alice, docgen.Folder, folder))
				},
			}
			errs := make([]error, len(uses))
			var group sync.WaitGroup
			for i, use := range uses {
				group.Go(func() { errs[i] = unlessGone(use()) })
			}
			group.Wait()
			must(t, errors.Join(errs...))
		}
		w.removeContents()
		w.wantNoOrphans()
	})
}

// TestArchiveUnderConcurrentChanges changes the content of an archive in every way at once. In the end, its size is the sum of its
// files.
func TestArchiveUnderConcurrentChanges(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		manager := w.archivist()
		archive := w.archive(manager, "archive").ID
		outside := w.folder(manager, 0, "outside")
		folder := w.folder(manager, archive, "folder")
		file := w.upload(manager, folder, "a.txt", "12345")
		older := file.VersionID
		w.version(manager, file.ID, "12")
		attacks := []func(r *rand.Rand) error{
			func(r *rand.Rand) error {
				parent := []int64{archive, folder, outside}[r.IntN(3)]
				item, err := w.CopyFile(ctx, manager, docgen.NewCopy{ItemID: file.ID, ParentID: parent, Name: fmt.Sprint("copy ", r.Uint64())})
				if err != nil {
					return err
				}
				return w.TrashFile(ctx, manager, item.ID, "")
			},
			func(r *rand.Rand) error {
				parent := []int64{archive, outside}[r.IntN(2)]
				item, err := w.CopyFolder(ctx, manager, docgen.NewCopy{ItemID: folder, ParentID: parent, Name: fmt.Sprint("copy ", r.Uint64())})
				if err != nil || r.IntN(2) == 0 {
					return err
				}
				if err := w.TrashFolder(ctx, manager, item.ID, true, ""); err != nil || r.IntN(2) == 0 {
					return err
				}
				return w.Purge(ctx, manager, docgen.Folder, item.ID)
			},
			func(*rand.Rand) error { _, err := w.PromoteVersion(ctx, manager, file.ID, older); return err },
			func(*rand.Rand) error {
				_, err := w.CreateVersion(ctx, manager, docgen.NewVersion{FileID: file.ID}, reader("1234567"))
				return err
			},
			func(*rand.Rand) error {
				return errors.Join(w.TrashFile(ctx, manager, file.ID, ""),
					unlessGone(restored(w.Restore(ctx, manager, docgen.File, file.ID, docgen.Restoration{}))))
			},
			func(*rand.Rand) error {
				if err := w.TrashFolder(ctx, manager, folder, true, ""); err != nil {
					return err
				}
				return restored(w.Restore(ctx, manager, docgen.Folder, folder, docgen.Restoration{}))
			},
			func(r *rand.Rand) error {
				_, err := w.UpdateFolder(ctx, manager, folder, docgen.ItemChange{ParentID: &[]int64{archive, outside}[r.IntN(2)]})
				return err
			},
		}
		errs := make([]error, len(attacks))
		var group sync.WaitGroup
		for i, attack := range attacks {
			group.Go(func() {
				r := rand.New(rand.NewPCG(2, uint64(i)))
				for range 10 {
					var known *docgen.Error
					if err := attack(r); err != nil && !errors.As(err, &known) {
						errs[i] = errors.Join(errs[i], err)
					}
				}
			})
		}
		group.Wait()
		must(t, errors.Join(errs...))
		w.wantSize(manager, archive, query[int64](w, `WITH RECURSIVE below (id, kind, size) AS (
			SELECT id, kind, size FROM items WHERE parent_id = $1 AND trashed_at = 0
			UNION ALL SELECT items.id, items.kind, items.size FROM below JOIN items ON items.parent_id = below.id AND items.trashed_at = 0)
			SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM below WHERE kind = 1`, archive)[0])
		w.removeContents()
		w.wantNoOrphans()
	})
}

func restored(_ *docgen.Item, err error) error { return err }

// TestRestoreKeepsOwner has an editor restore an item that cannot return to its folder: it cannot be restored to
// a folder of another owner.
func TestRestoreKeepsOwner(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		shared := w.folder(w.alice, 0, "shared")
		inner, root := w.folder(w.alice, shared, "inner"), int64(0)
		file := w.upload(w.alice, inner, "file", "text").ID
		w.share(docgen.Folder, shared, w.bob, docgen.RoleEditor)
		must(t, w.TrashFile(t.Context(), w.alice, file, ""))
		must(t, w.TrashFolder(t.Context(), w.alice, inner, true, ""))
		_, err := w.Restore(t.Context(), w.bob, docgen.File, file, docgen.Restoration{ParentID: &root})
		wantCode(t, err, docgen.CodeForbidden)
		_, err = w.Restore(t.Context(), w.bob, docgen.File, file, docgen.Restoration{ParentID: &shared})
		wantCode(t, err, "")
	})
}
