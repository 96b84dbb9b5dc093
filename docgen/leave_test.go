package docgen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
)

func TestDeletingUsers(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root := w.member("root", docgen.RoleAdmin)
		t.Run("needs force when they own items, even if only in the trash", func(t *testing.T) {
			zoe := w.user("zoe")
			file := w.upload(zoe, 0, "a.txt", "a")
			wantCode(t, w.DeleteUser(ctx, root, zoe.User.ID, false), docgen.CodeUserOwns)
			must(t, w.TrashFile(ctx, zoe, file.ID, ""))
			wantCode(t, w.DeleteUser(ctx, root, zoe.User.ID, false), docgen.CodeUserOwns)
			must(t, w.DeleteUser(ctx, root, zoe.User.ID, true))
		})
		t.Run("deletes their private data, and keeps that of others", func(t *testing.T) {
			app, client := w.app(docgen.NewApplication{Name: "App"})
			leaver := w.user("max")
			grant, err := w.CreateGrant(ctx, app.Name, "max@example.com", nil)
			must(t, err)
			folder := w.folder(leaver, 0, "deep")
			for range 5 {
				folder = w.folder(leaver, folder, "er")
			}
			template := w.template(leaver, folder, "t.docx")
			w.version(leaver, template.ID, "second")
			_, err = w.CreateCollaboration(ctx, leaver, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folder, UserID: w.bob.User.ID,
				Role: docgen.RoleEditor})
			must(t, err)
			shared := w.folder(w.alice, 0, "shared")
			w.share(docgen.Folder, shared, leaver, docgen.RoleEditor)
			kept := w.upload(leaver, shared, "kept.txt", "kept")
			must(t, w.DeleteUser(ctx, root, leaver.User.ID, true))

			if w.good(grant.Access) {
				t.Error("a token is good")
			}
			_, err = w.refresh(client, grant.Refresh)
			wantReason(t, err, "invalid_grant", "")
			_, err = w.User(ctx, root, leaver.User.ID)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.CreateToken(ctx, docgen.NewToken{Login: "max@example.com"})
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.File(ctx, w.bob, template.ID)
			wantCode(t, err, docgen.CodeNotFound)
			if n := w.count(fmt.Sprint("SELECT COUNT(*) FROM items WHERE owner_id = ", leaver.User.ID)) +
				w.count(fmt.Sprint("SELECT COUNT(*) FROM collaborations WHERE user_id = ", leaver.User.ID)); n != 0 {
				t.Errorf("%d rows are left", n)
			}
			item, err := w.File(ctx, w.alice, kept.ID)
			if err != nil || item.CreatedBy.Name != "max" || w.text(w.alice, kept.ID, 0) != "kept" {
				t.Errorf("the item that max created for alice: %+v, %v", item, err)
			}
			_, err = w.AddUser(ctx, root, docgen.NewUser{Name: "Another Max", Login: "max@example.com"})
			wantCode(t, err, "")
		})
		t.Run("is once", func(t *testing.T) {
			ida := w.user("ida")
			must(t, w.DeleteUser(ctx, root, ida.User.ID, false))
			wantCode(t, w.DeleteUser(ctx, root, ida.User.ID, false), docgen.CodeNotFound)
		})
	})
}

// TestBatchesOfDeletedUsers deletes a user with a batch in progress: its jobs end, and say why nothing was written.
func TestBatchesOfDeletedUsers(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root := w.member("root", docgen.RoleAdmin)
		for _, transfer := range []bool{false, true} {
			zoe := w.user(fmt.Sprint("zoe", transfer))
			template := w.template(zoe, 0, "t.docx")
			id, err := w.CreateBatch(ctx, zoe, batchOf(template.ID, 0, `{"a":1}`, `{"a":2}`))
			must(t, err)
			if transfer {
				_, err := w.TransferContent(ctx, withContent(root), zoe.User.ID, w.bob.User.ID)
				must(t, err)
			}
			must(t, w.DeleteUser(ctx, root, zoe.User.ID, true))
			claim, err := w.ClaimBatch(ctx, id)
			must(t, err)
			var results []docgen.Result
			for _, job := range claim.Jobs {
				output, err := w.SaveOutput(ctx, job, reader("a document"))
				must(t, err)
				results = append(results, docgen.Result{Job: job, Output: &output})
			}
			ended, err := w.CompleteJobs(ctx, claim, results)
			must(t, err)
			if ended[docgen.StatusFailed] != 2 {
				t.Errorf("transfer %v: ended %v, want 2 failed", transfer, ended)
			}
			for _, failures := range query[string](w, "SELECT details FROM docgen_failures JOIN docgen_jobs ON id = job_id WHERE batch_id = '"+
				id+"'") {
				if !strings.Contains(failures, "can no longer be written to") {
					t.Errorf("transfer %v: failures %s", transfer, failures)
				}
			}
		}
	})
}

// TestTransferRequiresContentScope shows that managing users does not give access to their content: neither by transferring it
// to oneself, nor by taking over a login that items are shared with.
func TestTransferRequiresContentScope(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		secret := w.upload(w.alice, 0, "secret.txt", "text")
		customers := docgen.NewApplication{Name: "Customers", Scopes: []docgen.Scope{docgen.ScopeAppUsers, docgen.ScopeManagedUsers,
			docgen.ScopeRead}}
		for _, c := range []*docgen.Caller{w.member("root", docgen.RoleAdmin), w.member("coadmin", docgen.RoleCoadmin), w.service(customers)} {
			_, err := w.TransferContent(ctx, c, w.alice.User.ID, w.bob.User.ID)
			wantCode(t, err, docgen.CodeScope)
			_, err = w.Content(ctx, w.bob, secret.ID, 0)
			wantCode(t, err, docgen.CodeNotFound)
		}
		_, err := w.CreateCollaboration(ctx, w.alice, docgen.NewCollaboration{
			ItemKind: docgen.File, ItemID: secret.ID, Login: "guest@example.com", Role: docgen.RoleViewer,
		})
		must(t, err)
		coadmin := w.caller("coadmin")
		_, err = w.UpdateUser(ctx, coadmin, coadmin.User.ID, docgen.UserChange{Login: new("guest@example.com")})
		wantCode(t, err, docgen.CodeScope)
		_, err = w.UpdateUser(ctx, coadmin, coadmin.User.ID, docgen.UserChange{Login: new("COADMIN@example.com")})
		wantCode(t, err, "")
		_, err = w.UpdateUser(ctx, withContent(coadmin), coadmin.User.ID, docgen.UserChange{Login: new("guest@example.com")})
		wantCode(t, err, "")
	})
}

// withContent returns the caller with the additional scope for the content of all users.
func withContent(c *docgen.Caller) *docgen.Caller {
	more := *c
	more.Scopes = append(slices.Clone(c.Scopes), docgen.ScopeGlobalContent)
	return &more
}

func TestTransferringContent(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root := w.member("root", docgen.RoleAdmin)
		folder := w.folder(w.alice, 0, "work")
		file := w.upload(w.alice, folder, "a.txt", "text")
		trashed := w.upload(w.alice, 0, "b.txt", "old")
		must(t, w.TrashFile(ctx, w.alice, trashed.ID, ""))
		w.share(docgen.Folder, folder, w.bob, docgen.RoleViewer)

		made, err := w.TransferContent(ctx, withContent(root), w.alice.User.ID, w.bob.User.ID)
		must(t, err)
		if made.Name != "alice's Files and Folders" || made.Owner.ID != w.bob.User.ID || len(made.Path) != 1 || made.Parent.ID != 0 ||
			made.Permissions == 0 {
			t.Errorf("folder %+v", made)
		}
		if got := w.names(w.bob, made.ID); !slices.Equal(got, []string{"work"}) {
			t.Errorf("bob has %q", got)
		}
		if got := w.names(w.alice, 0); len(got) != 0 {
			t.Errorf("alice has %q", got)
		}
		item, err := w.UpdateFile(ctx, w.bob, file.ID, docgen.ItemChange{Name: new("mine.txt")})
		if err != nil || item.Owner.ID != w.bob.User.ID {
			t.Errorf("the file %+v, %v", item, err)
		}
		_, err = w.File(ctx, w.alice, file.ID)
		wantCode(t, err, docgen.CodeNotFound)
		if owners := query[int64](w, fmt.Sprint("SELECT owner_id FROM items WHERE id = ", trashed.ID)); owners[0] != w.bob.User.ID {
			t.Error("alice still owns the items in the trash")
		}

		t.Run("again uses a folder with a number", func(t *testing.T) {
			for n := range 3 {
				again, err := w.TransferContent(ctx, withContent(root), w.alice.User.ID, w.bob.User.ID)
				must(t, err)
				if want := fmt.Sprintf("alice's Files and Folders (%d)", n+1); again.Name != want {
					t.Errorf("name %q, want %q", again.Name, want)
				}
			}
		})
		t.Run("of a user whose name no folder can bear", func(t *testing.T) {
			for name, want := range map[string]string{
				" A/B\\C\n. ":               "A_B_C_.'s Files and Folders",
				strings.Repeat("é", 250):    strings.Repeat("é", 235) + "'s Files and Folders",
				"J. Smith\tand his friends": "J. Smith_and his friends's Files and Folders",
			} {
				user, err := w.AddUser(ctx, root, docgen.NewUser{Name: name, Login: fmt.Sprintf("u%d@example.com", len(name))})
				must(t, err)
				made, err := w.TransferContent(ctx, withContent(root), user.ID, w.bob.User.ID)
				must(t, err)
				if made.Name != want {
					t.Errorf("name %q, want %q", made.Name, want)
				}
			}
		})
		t.Run("needs two users, of whom the other is active", func(t *testing.T) {
			_, err := w.TransferContent(ctx, withContent(root), w.alice.User.ID, w.alice.User.ID)
			wantCode(t, err, docgen.CodeBadRequest)
			_, err = w.TransferContent(ctx, withContent(root), w.alice.User.ID, 4711)
			wantCode(t, err, docgen.CodeBadRequest)
			_, err = w.TransferContent(ctx, withContent(root), 4711, w.alice.User.ID)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.UpdateUser(ctx, root, w.alice.User.ID, docgen.UserChange{Status: new(docgen.StatusInactive)})
			must(t, err)
			_, err = w.TransferContent(ctx, withContent(root), w.bob.User.ID, w.alice.User.ID)
			wantCode(t, err, docgen.CodeBadRequest)
			_, err = w.TransferContent(ctx, withContent(root), w.alice.User.ID, w.bob.User.ID)
			wantCode(t, err, "")
		})
	})
}

// TestTransferRace uploads files and transfers content at the same time: uploaded files are owned by the owner of their
// folder.
// TestTransferToServiceAccount transfers content to service accounts: only to the one that calls.
func TestTransferToServiceAccount(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		scopes := []docgen.Scope{docgen.ScopeManagedUsers, docgen.ScopeRead}
		first := withContent(w.service(docgen.NewApplication{Name: "First", Scopes: scopes}))
		second := withContent(w.service(docgen.NewApplication{Name: "Second", Scopes: scopes}))
		file := w.upload(w.alice, 0, "a.txt", "text")
		_, err := w.TransferContent(ctx, first, w.alice.User.ID, second.User.ID)
		wantCode(t, err, docgen.CodeBadRequest)
		_, err = w.TransferContent(ctx, withContent(w.member("root", docgen.RoleAdmin)), w.alice.User.ID, first.User.ID)
		wantCode(t, err, docgen.CodeBadRequest)
		folder, err := w.TransferContent(ctx, first, w.alice.User.ID, first.User.ID)
		must(t, err)
		moved, err := w.File(ctx, first, file.ID)
		must(t, err)
		if moved.Owner.ID != first.User.ID || moved.Parent.ID != folder.ID {
			t.Errorf("the file belongs to %d, in folder %d", moved.Owner.ID, moved.Parent.ID)
		}
	})
}

func TestTransferRace(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root := w.member("root", docgen.RoleAdmin)
		next := make(chan int, 12)
		for i := range 12 {
			next <- i
		}
		for err := range atOnce(12, func() error {
			i := <-next
			switch i % 3 {
			case 0:
				_, err := w.TransferContent(ctx, withContent(root), w.alice.User.ID, w.bob.User.ID)
				return err
			case 1:
				_, err := w.TransferContent(ctx, withContent(root), w.bob.User.ID, w.alice.User.ID)
				return err
			}
			_, err := w.CreateFile(ctx, w.alice, docgen.NewFile{Name: fmt.Sprint(i, ".txt")}, reader("x"))
			return err
		}) {
			must(t, err)
		}
		wrong := query[string](w, `WITH RECURSIVE below (id, owner_id, root) AS (
			SELECT id, owner_id, owner_id FROM items WHERE parent_id IS NULL
			UNION ALL
			SELECT items.id, items.owner_id, below.root FROM below JOIN items ON items.parent_id = below.id
		) SELECT items.name FROM below JOIN items ON items.id = below.id WHERE below.owner_id <> below.root`)
		if len(wrong) > 0 {
			t.Errorf("owned by another than the owner of the tree: %q", wrong)
		}
	})
}

func TestRestrictedUsers(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root := w.member("root", docgen.RoleAdmin)
		folder := w.folder(w.alice, 0, "work")
		own, shared := w.upload(w.alice, folder, "own.txt", "x"), w.folder(w.bob, 0, "shared")
		_, err := w.CreateCollaboration(ctx, w.bob, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: shared,
			UserID: w.alice.User.ID, Role: docgen.RoleEditor})
		must(t, err)
		for status, uploads := range map[string]docgen.Code{docgen.StatusCannotDelete: "",
			docgen.StatusCannotDeleteUpload: docgen.CodeForbidden} {
			_, err := w.UpdateUser(ctx, root, w.alice.User.ID, docgen.UserChange{Status: new(status)})
			must(t, err)
			alice := w.caller("alice")
			_, err = w.UpdateFile(ctx, alice, own.ID, docgen.ItemChange{Name: new("x.txt")})
			wantCode(t, err, docgen.CodeForbidden)
			wantCode(t, w.TrashFolder(ctx, alice, folder, true, ""), docgen.CodeForbidden)
			_, err = w.CreateVersion(ctx, alice, docgen.NewVersion{FileID: own.ID}, unread{t})
			wantCode(t, err, docgen.CodeForbidden)
			for _, parent := range []int64{0, folder, shared} {
				_, err = w.CreateFile(ctx, alice, docgen.NewFile{Name: status, ParentID: parent}, reader("x"))
				wantCode(t, err, uploads)
				_, err = w.CreateFolder(ctx, alice, docgen.NewFolder{Name: status + " folder", ParentID: parent})
				wantCode(t, err, uploads)
			}
			if w.text(alice, own.ID, 0) != "x" {
				t.Error("the content cannot be read")
			}
		}
	})
}

// TestRestrictedOwners: owners who may not delete or edit cannot lose their items in other ways.
func TestRestrictedOwners(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root := w.member("root", docgen.RoleAdmin)
		admin := w.contentManager("admin")
		archive, trashed, given := w.archive(admin, "archive"), w.upload(w.alice, 0, "trashed.txt", "x"), w.upload(w.alice, 0, "given.txt", "x")
		must(t, w.TrashFile(ctx, w.alice, trashed.ID, ""))
		shared := w.share(docgen.File, given.ID, w.bob, docgen.RoleEditor)
		for status, uploads := range map[string]docgen.Code{docgen.StatusCannotDelete: "",
			docgen.StatusCannotDeleteUpload: docgen.CodeForbidden} {
			for _, id := range []int64{w.alice.User.ID, admin.User.ID} {
				_, err := w.UpdateUser(ctx, root, id, docgen.UserChange{Status: &status})
				must(t, err)
			}
			alice, admin := w.caller("alice"), w.caller("admin", docgen.ScopeWrite, docgen.ScopeGlobalContent)
			wantCode(t, w.Purge(ctx, alice, docgen.File, trashed.ID), docgen.CodeForbidden)
			_, err := w.UpdateCollaboration(ctx, alice, shared.ID, docgen.CollaborationChange{Role: docgen.RoleOwner})
			wantCode(t, err, docgen.CodeForbidden)
			_, err = w.UpdateArchive(ctx, admin, archive.ID, docgen.ArchiveChange{Name: &status})
			wantCode(t, err, docgen.CodeForbidden)
			wantCode(t, w.DeleteArchive(ctx, admin, archive.ID), docgen.CodeForbidden)
			_, err = w.CreateArchive(ctx, admin, docgen.NewArchive{Name: status})
			wantCode(t, err, uploads)
		}
	})
}

// TestDeletingRace deletes a user who uploads at the same time: nothing that the user owned is left.
func TestDeletingRace(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root, zoe := w.member("root", docgen.RoleAdmin), w.user("zoe")
		folder := w.folder(zoe, 0, "work")
		w.share(docgen.Folder, w.folder(w.alice, 0, "shared"), zoe, docgen.RoleEditor)
		next := make(chan int, 12)
		for i := range 12 {
			next <- i
		}
		for err := range atOnce(12, func() error {
			i := <-next
			switch {
			case i == 6:
				return w.DeleteUser(ctx, root, zoe.User.ID, true)
			case i%2 == 0:
				_, err := w.CreateFolder(ctx, zoe, docgen.NewFolder{Name: fmt.Sprint(i), ParentID: folder})
				return err
			}
			_, err := w.CreateFile(ctx, zoe, docgen.NewFile{Name: fmt.Sprint(i, ".txt")}, reader("x"))
			return err
		}) {
			if err != nil && !docgen.IsCode(err, docgen.CodeNotFound) {
				t.Error(err)
			}
		}
		if n := w.count(fmt.Sprint("SELECT COUNT(*) FROM items WHERE owner_id = ", zoe.User.ID)); n != 0 {
			t.Errorf("%d items of the user are left", n)
		}
	})
}
