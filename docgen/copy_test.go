package docgen_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"platen/docgen"
	"platen/store"
)

// wantSize checks the size of an archive, and that it is the sum of its files.
func (w *world) wantSize(c *docgen.Caller, archive, want int64) {
	w.t.Helper()
	item, err := w.Folder(w.t.Context(), c, archive)
	must(w.t, err)
	if item.Size != want {
		w.t.Errorf("the archive has %d bytes, want %d", item.Size, want)
	}
}

// tree lists the tree of a folder: the path and the content of each file, and the path of each folder.
func (w *world) tree(c *docgen.Caller, folder int64, at string) []string {
	w.t.Helper()
	page, err := w.Items(w.t.Context(), c, folder, docgen.PageRequest{Limit: docgen.MaxPageLimit})
	must(w.t, err)
	lines := []string{}
	for _, item := range page.Entries {
		if item.Kind == docgen.File {
			lines = append(lines, at+item.Name+"="+w.text(c, item.ID, 0))
			continue
		}
		lines = append(lines, at+item.Name)
		lines = append(lines, w.tree(c, item.ID, at+item.Name+"/")...)
	}
	slices.Sort(lines)
	return lines
}

func TestCopyFile(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		w.version(w.alice, template.ID, "second")
		_, err := w.UpdateFile(ctx, w.alice, template.ID, docgen.ItemChange{Description: new("described")})
		must(t, err)
		w.share(docgen.File, template.ID, w.bob, docgen.RoleViewer)
		folder := w.folder(w.alice, 0, "folder")
		copied, err := w.CopyFile(ctx, w.alice, docgen.NewCopy{ItemID: template.ID, ParentID: folder})
		must(t, err)
		if copied.Name != "a.docx" || copied.Parent.ID != folder || copied.SHA1 != sha1Of("second") || copied.VersionNumber != 1 ||
			copied.Description != "described" || copied.ETag != 0 {
			t.Errorf("copy %+v", copied)
		}
		if text := w.text(w.alice, copied.ID, 0); text != "second" {
			t.Errorf("content %q", text)
		}
		t.Run("is not a template, and only the owner has access", func(t *testing.T) {
			_, err := w.Template(ctx, w.alice, copied.ID)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.File(ctx, w.bob, copied.ID)
			wantCode(t, err, docgen.CodeNotFound)
		})
		t.Run("of an earlier version, under a new name", func(t *testing.T) {
			got, err := w.CopyFile(ctx, w.alice, docgen.NewCopy{ItemID: template.ID, ParentID: folder, VersionID: template.VersionID,
				Name: "first.docx"})
			must(t, err)
			if text := w.text(w.alice, got.ID, 0); text != "text of a.docx" || got.Name != "first.docx" {
				t.Errorf("%s holds %q", got.Name, text)
			}
		})
		t.Run("belongs to the owner of its folder", func(t *testing.T) {
			got, err := w.CopyFile(ctx, w.bob, docgen.NewCopy{ItemID: template.ID})
			must(t, err)
			if got.Owner.ID != w.bob.User.ID || got.CreatedBy.ID != w.bob.User.ID {
				t.Errorf("the copy is %+v", got)
			}
		})
		t.Run("is refused", func(t *testing.T) {
			for name, tt := range map[string]struct {
				copy docgen.NewCopy
				want docgen.Code
			}{
				"under a name that is taken":     {docgen.NewCopy{ItemID: template.ID, ParentID: folder, Name: "A.DOCX"}, docgen.CodeNameInUse},
				"into the same folder":           {docgen.NewCopy{ItemID: template.ID}, docgen.CodeNameInUse},
				"under a name that cannot be":    {docgen.NewCopy{ItemID: template.ID, ParentID: folder, Name: ".."}, docgen.CodeNameInvalid},
				"into a file":                    {docgen.NewCopy{ItemID: template.ID, ParentID: template.ID}, docgen.CodeNotFound},
				"of an unknown version":          {docgen.NewCopy{ItemID: template.ID, VersionID: 7, Name: "x"}, docgen.CodeNotFound},
				"of a version of another file":   {docgen.NewCopy{ItemID: template.ID, VersionID: copied.VersionID, Name: "x"}, docgen.CodeNotFound},
				"of a folder, as if of one file": {docgen.NewCopy{ItemID: folder, Name: "x"}, docgen.CodeNotFound},
			} {
				_, err := w.CopyFile(ctx, w.alice, tt.copy)
				if !docgen.IsCode(err, tt.want) {
					t.Errorf("%s: %v, want %s", name, err, tt.want)
				}
			}
		})
		if n := len(w.keys()); n != 2 {
			t.Errorf("%d contents, want 2: contents are not copied", n)
		}
		t.Run("into an archive counts there", func(t *testing.T) {
			manager := w.archivist()
			archive := w.archive(manager, "archive").ID
			_, err := w.CopyFile(ctx, manager, docgen.NewCopy{ItemID: template.ID, ParentID: archive})
			must(t, err)
			w.wantSize(manager, archive, 6)
			_, err = w.CopyFolder(ctx, manager, docgen.NewCopy{ItemID: folder, ParentID: archive})
			must(t, err)
			w.wantSize(manager, archive, 6+6+14)
		})
		w.wantNoOrphans()
	})
}

func TestCopyFolder(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		source := w.folder(w.alice, 0, "source")
		inner := w.folder(w.alice, source, "inner")
		w.folder(w.alice, inner, "empty")
		w.upload(w.alice, inner, "a.txt", "a")
		gone := w.upload(w.alice, inner, "gone.txt", "gone")
		must(t, w.TrashFile(ctx, w.alice, gone.ID, ""))
		template := w.template(w.alice, source, "t.docx")
		w.version(w.alice, template.ID, "second")
		want := []string{"inner", "inner/a.txt=a", "inner/empty", "t.docx=second"}

		copied, err := w.CopyFolder(ctx, w.alice, docgen.NewCopy{ItemID: source, Name: "copy"})
		must(t, err)
		if got := w.tree(w.alice, copied.ID, ""); !slices.Equal(got, want) || copied.Name != "copy" {
			t.Errorf("the copy %s holds %q, want %q", copied.Name, got, want)
		}
		if n := w.count("SELECT COUNT(*) FROM docgen_templates"); n != 1 {
			t.Errorf("%d templates, want the one", n)
		}
		t.Run("of another user's item belongs to the owner of the target", func(t *testing.T) {
			w.share(docgen.Folder, source, w.bob, docgen.RoleViewer)
			theirs, err := w.CopyFolder(ctx, w.bob, docgen.NewCopy{ItemID: source})
			must(t, err)
			if got := w.tree(w.bob, theirs.ID, ""); !slices.Equal(got, want) {
				t.Errorf("the copy holds %q, want %q", got, want)
			}
			if n := query[int](w, "SELECT COUNT(*) FROM items WHERE owner_id = $1", w.bob.User.ID)[0]; n != 6 {
				t.Errorf("bob owns %d items, want his root folder and the 5 of the copy", n)
			}
		})
		t.Run("is refused", func(t *testing.T) {
			for name, tt := range map[string]struct {
				copy docgen.NewCopy
				want docgen.Code
			}{
				"into itself":                  {docgen.NewCopy{ItemID: source, ParentID: source}, docgen.CodeCycle},
				"into a folder below it":       {docgen.NewCopy{ItemID: source, ParentID: inner}, docgen.CodeCycle},
				"under a name that is taken":   {docgen.NewCopy{ItemID: source}, docgen.CodeNameInUse},
				"under a name that cannot be":  {docgen.NewCopy{ItemID: source, Name: "a/b"}, docgen.CodeNameInvalid},
				"of all files":                 {docgen.NewCopy{ItemID: 0, ParentID: inner, Name: "x"}, docgen.CodeForbidden},
				"of a file, as if of a folder": {docgen.NewCopy{ItemID: template.ID, Name: "x"}, docgen.CodeNotFound},
				"into a missing folder":        {docgen.NewCopy{ItemID: source, ParentID: 7}, docgen.CodeNotFound},
			} {
				_, err := w.CopyFolder(ctx, w.alice, tt.copy)
				if !docgen.IsCode(err, tt.want) {
					t.Errorf("%s: %v, want %s", name, err, tt.want)
				}
			}
		})
		w.wantNoOrphans()
	})
}

func TestCopyTooLarge(t *testing.T) {
	runLong(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		source := w.folder(w.alice, 0, "source")
		many := w.folder(w.alice, source, "many")
		must(t, w.exec(`INSERT INTO items (id, kind, parent_id, owner_id, name, name_key, description, etag, version_id, version_number,
			size, sha1,
			created_at, created_by, modified_at, modified_by, content_created_at, content_modified_at, trashed_at, trashed_by)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
			SELECT i, 0, $1, $2, 'n' || i, 'n' || i, '', 0, 0, 0, 0, '', 0, $2, 0, $2, 0, 0, 0, 0 FROM n`, many, w.alice.User.ID))
		w.recount()
		_, err := w.CopyFolder(ctx, w.alice, docgen.NewCopy{ItemID: source, Name: "copy"})
		if names := problemNames(t, err); !slices.Equal(names, []string{"folder"}) {
			t.Errorf("10,001 items: problems with %q", names)
		}
		copied, err := w.CopyFolder(ctx, w.alice, docgen.NewCopy{ItemID: many, ParentID: 0, Name: "copy"})
		must(t, err)
		if n := query[int](w, "SELECT COUNT(*) FROM items WHERE parent_id = $1", copied.ID)[0]; n != 9999 {
			t.Errorf("the copy holds %d folders, want 9999", n)
		}
	})
}

// TestCopyDuringPurge copies items that are being deleted permanently. A copy is complete or fails, and in the end the
// stored contents are exactly those that versions refer to.
func TestCopyDuringPurge(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		target := w.folder(w.bob, 0, "target")
		const rounds = 12
		var group sync.WaitGroup
		errs := make([]error, 3*rounds)
		for i := range rounds {
			source := w.folder(w.alice, 0, fmt.Sprint("source ", i))
			file := w.upload(w.alice, source, "a.txt", fmt.Sprint("content ", i))
			w.share(docgen.Folder, source, w.bob, docgen.RoleViewer)
			group.Go(func() {
				_, err := w.CopyFile(ctx, w.bob, docgen.NewCopy{ItemID: file.ID, ParentID: target, Name: fmt.Sprint("file ", i)})
				errs[3*i] = unlessGone(err)
			})
			group.Go(func() {
				_, err := w.CopyFolder(ctx, w.bob, docgen.NewCopy{ItemID: source, ParentID: target, Name: fmt.Sprint("folder ", i)})
				errs[3*i+1] = unlessGone(err)
			})
			group.Go(func() {
				errs[3*i+2] = errors.Join(w.TrashFolder(ctx, w.alice, source, true, ""), w.Purge(ctx, w.alice, docgen.Folder, source))
				w.removeContents()
			})
		}
		group.Wait()
		must(t, errors.Join(errs...))
		w.removeContents()
		w.wantNoOrphans()
		for _, line := range w.tree(w.bob, target, "") { // reads every content
			t.Log(line)
		}
	})
}

// TestPurgeWaitsForCopy permanently deletes items that are being copied: the deletion waits until the copy refers to
// the content.
func TestPurgeWaitsForCopy(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		if w.cfg.Path != "" {
			t.Skip("on SQLite writers wait for each other anyway")
		}
		ctx := t.Context()
		source := w.folder(w.alice, 0, "source")
		file := w.upload(w.alice, source, "a.txt", "text")
		target := w.folder(w.bob, 0, "target")
		w.share(docgen.Folder, source, w.bob, docgen.RoleViewer)

		locked, release := make(chan struct{}), make(chan struct{})
		var group sync.WaitGroup
		var holding, copying, removing error
		group.Go(func() {
			holding = w.db.Write(ctx, func(tx *store.Tx) error {
				_, err := tx.LockItem(ctx, target)
				close(locked)
				<-release
				return err
			})
		})
		<-locked
		var copied *docgen.Item
		group.Go(func() { copied, copying = w.CopyFile(ctx, w.bob, docgen.NewCopy{ItemID: file.ID, ParentID: target}) })
		w.waitForWaiting(1, nil)
		removed := make(chan struct{})
		group.Go(func() {
			defer close(removed)
			removing = errors.Join(w.TrashFile(ctx, w.alice, file.ID, ""), w.Purge(ctx, w.alice, docgen.File, file.ID))
			w.removeContents()
		})
		w.waitForWaiting(2, removed)
		close(release)
		group.Wait()
		must(t, errors.Join(holding, copying, removing))
		w.wantNoOrphans()
		if text := w.text(w.bob, copied.ID, 0); text != "text" {
			t.Errorf("the copy holds %q", text)
		}
	})
}

// waitForWaiting waits until the given number of connections wait for a lock, or until done is closed.
func (w *world) waitForWaiting(connections int, done <-chan struct{}) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for w.count("SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") < connections {
		select {
		case <-done:
			return
		case <-w.t.Context().Done():
			w.t.Fatal("the test ended before a connection waited")
		case <-tick.C:
		}
	}
}

// unlessGone ignores errors because an item was trashed or deleted a moment before.
func unlessGone(err error) error {
	if docgen.IsCode(err, docgen.CodeTrashed) || docgen.IsCode(err, docgen.CodeNotFound) {
		return nil
	}
	return err
}
