package docgen_test

import (
	"fmt"
	"strings"
	"testing"

	"platen/docgen"
)

// limited returns the world with a default quota for users.
func (w *world) limited(q docgen.Quota) *world {
	w.t.Helper()
	return w.again(docgen.Config{Quota: q})
}

// TestQuotaOfBytes: everything that adds versions to a user's files counts, and is rejected if it exceeds the quota.
// Items in the trash count until they are deleted permanently.
func TestQuotaOfBytes(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w = w.limited(docgen.Quota{Bytes: 100})
		text := strings.Repeat("x", 30)
		a := w.upload(w.alice, 0, "a.txt", text)
		w.version(w.alice, a.ID, text) // 60
		_, err := w.CopyFile(ctx, w.alice, docgen.NewCopy{ItemID: a.ID, Name: "b.txt"})
		must(t, err) // 90

		file := docgen.NewFile{Name: "new.txt"}
		wantCode(t, w.CheckFile(ctx, w.alice, file, 10), "")
		for what, err := range map[string]error{
			"check":         w.CheckFile(ctx, w.alice, file, 11),
			"version check": w.CheckVersion(ctx, w.alice, docgen.NewVersion{FileID: a.ID}, 11),
			"file":          second(w.CreateFile(ctx, w.alice, file, reader(text))),
			"version":       second(w.CreateVersion(ctx, w.alice, docgen.NewVersion{FileID: a.ID}, reader(text))),
			"old version":   second(w.PromoteVersion(ctx, w.alice, a.ID, a.VersionID)),
			"copy":          second(w.CopyFile(ctx, w.alice, docgen.NewCopy{ItemID: a.ID, Name: "c.txt"})),
		} {
			if e := docgen.PublicError(err); e == nil || e.Code != docgen.CodeStorageFull || e.RetryAfter != 0 {
				t.Errorf("%s: %v, want storage_limit_exceeded, not to be tried again", what, err)
			}
		}
		file.AtLeast = 11 // known before anything is read
		_, err = w.CreateFile(ctx, w.alice, file, unread{t})
		wantCode(t, err, docgen.CodeStorageFull)
		_, err = w.CreateVersion(ctx, w.alice, docgen.NewVersion{FileID: a.ID, AtLeast: 11}, unread{t})
		wantCode(t, err, docgen.CodeStorageFull)
		w.wantNoOrphans()
		w.upload(w.alice, 0, "last.txt", text[:10]) // exactly as much as fits
		_, err = w.CreateFile(ctx, w.alice, file, unread{t})
		wantCode(t, err, docgen.CodeStorageFull)
		must(t, w.TrashFile(ctx, w.alice, a.ID, ""))
		_, err = w.CreateFile(ctx, w.alice, file, unread{t})
		wantCode(t, err, docgen.CodeStorageFull)
		must(t, w.Purge(ctx, w.alice, docgen.File, a.ID))
		w.upload(w.alice, 0, "new.txt", text+text)
		me, err := w.Me(ctx, w.alice)
		must(t, err)
		if want := (docgen.Space{Bytes: 100, Files: 3, Quota: docgen.Quota{Bytes: 100}}); me.Space != want {
			t.Errorf("space %+v, want %+v", me.Space, want)
		}
	})
}

// TestQuotaOfOwner: uploads by any user count for the owner of the folder, and moved items count for their new
// owner.
func TestQuotaOfOwner(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		manager := w.archivist(docgen.ScopeManagedUsers)
		w = w.limited(docgen.Quota{Files: 3})
		folder := w.folder(w.alice, 0, "folder")
		w.share(docgen.Folder, folder, w.bob, docgen.RoleEditor)
		for i := range 3 {
			w.upload(w.bob, folder, fmt.Sprint(i), "x")
		}
		_, err := w.CreateFile(ctx, w.bob, docgen.NewFile{Name: "new", ParentID: folder}, unread{t})
		wantCode(t, err, docgen.CodeStorageFull)
		_, err = w.CopyFolder(ctx, w.alice, docgen.NewCopy{ItemID: folder, Name: "copy"})
		wantCode(t, err, docgen.CodeStorageFull)
		w.upload(w.bob, 0, "own", "x")
		_, err = w.TransferContent(ctx, manager, w.bob.User.ID, w.alice.User.ID)
		wantCode(t, err, docgen.CodeStorageFull)
		archive := w.archive(manager, "archive").ID
		_, err = w.UpdateFolder(ctx, manager, folder, docgen.ItemChange{ParentID: &archive})
		must(t, err) // the enterprise has no quota
		_, err = w.TransferContent(ctx, manager, w.bob.User.ID, w.alice.User.ID)
		must(t, err)
		root := int64(0)
		_, err = w.UpdateFolder(ctx, manager, folder, docgen.ItemChange{ParentID: &root, ParentOwner: w.alice.User.ID})
		wantCode(t, err, docgen.CodeStorageFull)
		_, err = w.UpdateFolder(ctx, manager, folder, docgen.ItemChange{ParentID: &root, ParentOwner: w.bob.User.ID})
		must(t, err)
	})
}

// TestQuotaOfDocuments: if the owner of the folder has no space for a document, its job fails, and only this job.
func TestQuotaOfDocuments(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress("a", "b", "c")
		space, err := w.Me(t.Context(), w.alice)
		must(t, err)
		limited := w.limited(docgen.Quota{Files: space.Space.Files + 2})
		claim := p.claim()
		results := p.results(claim, "x")
		_, err = limited.CompleteJobs(t.Context(), claim, results)
		must(t, err)
		p.wantStatuses(docgen.StatusCompleted, docgen.StatusCompleted, docgen.StatusFailed)
		if job := p.jobs(p.batchID)[2]; !strings.Contains(strings.Join(job.Failures.Errors, " "), "larger quota") {
			t.Errorf("failures %q", job.Failures.Errors)
		}
		w.wantNoOrphans()
	})
}

// TestQuotaOfUser: an administrator gives a user a quota that differs from the server's.
func TestQuotaOfUser(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		manager := w.archivist(docgen.ScopeManagedUsers)
		w = w.limited(docgen.Quota{Bytes: 10})
		_, err := w.UpdateUser(ctx, manager, w.alice.User.ID, docgen.UserChange{SpaceAmount: new(int64(-1))})
		must(t, err)
		w.upload(w.alice, 0, "large", strings.Repeat("x", 1000))
		user, err := w.UpdateUser(ctx, manager, w.alice.User.ID, docgen.UserChange{SpaceAmount: new(int64(500))})
		must(t, err)
		if user.Space.Bytes != 1000 || user.Space.Quota.Bytes != 500 {
			t.Errorf("space %+v", user.Space)
		}
		_, err = w.CreateFile(ctx, w.alice, docgen.NewFile{Name: "small"}, unread{t})
		wantCode(t, err, docgen.CodeStorageFull)
		_, err = w.CreateFile(ctx, w.bob, docgen.NewFile{Name: "medium"}, reader("more than ten bytes"))
		wantCode(t, err, docgen.CodeStorageFull)
		for _, wrong := range []int64{0, -2} {
			_, err = w.UpdateUser(ctx, manager, w.alice.User.ID, docgen.UserChange{SpaceAmount: &wrong})
			wantCode(t, err, docgen.CodeBadRequest)
		}
	})
}

// second returns the error of a call with two results.
func second[T any](_ T, err error) error { return err }
