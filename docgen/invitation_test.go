package docgen_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
)

func TestInvitations(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		editor := w.user("editor")
		w.share(docgen.Folder, folder, editor, docgen.RoleEditor)
		invite := func(c *docgen.Caller, login string) *docgen.Collaboration {
			t.Helper()
			made, err := w.CreateCollaboration(ctx, c, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folder, Login: login,
				Role: docgen.RoleViewer})
			must(t, err)
			return made
		}
		answer := func(c *docgen.Caller, id int64, status string) (*docgen.Collaboration, error) {
			return w.UpdateCollaboration(ctx, c, id, docgen.CollaborationChange{Status: status})
		}
		waiting := func(c *docgen.Caller) (ids []int64) {
			t.Helper()
			page, err := w.Invitations(ctx, c, docgen.OffsetRequest{Limit: 10})
			must(t, err)
			for _, one := range page.Entries {
				if one.Item != nil {
					t.Errorf("an invitation reveals its item: %+v", one.Item)
				}
				ids = append(ids, one.ID)
			}
			if page.Total != len(ids) {
				t.Errorf("total %d of %d invitations", page.Total, len(ids))
			}
			return ids
		}
		made := invite(editor, "New@Example.com")

		t.Run("to an unknown login are pending, without user and item", func(t *testing.T) {
			want := &docgen.Collaboration{
				ID: made.ID, InviteLogin: "New@Example.com", Role: docgen.RoleViewer, Status: docgen.CollaborationPending,
				CreatedBy: docgen.UserRef{ID: editor.User.ID, Name: "editor", Login: "editor@example.com"}, CreatedAt: noon, ModifiedAt: noon,
			}
			for _, c := range []*docgen.Caller{w.alice, editor} {
				got, err := w.Collaboration(ctx, c, made.ID)
				must(t, err)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
		})
		t.Run("are one for a login and an item", func(t *testing.T) {
			_, err := w.CreateCollaboration(ctx, w.alice, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folder,
				Login: "new@EXAMPLE.com", Role: docgen.RoleEditor})
			wantCode(t, err, docgen.CodeCollaborator)
		})
		t.Run("are withdrawn by the inviting user", func(t *testing.T) {
			viewer := w.user("viewer")
			w.share(docgen.Folder, folder, viewer, docgen.RoleViewer)
			other := invite(editor, "other@example.com")
			wantCode(t, w.DeleteCollaboration(ctx, viewer, other.ID), docgen.CodeForbidden)
			wantCode(t, w.DeleteCollaboration(ctx, editor, other.ID), "")
			of := invite(w.alice, "other@example.com")
			wantCode(t, w.DeleteCollaboration(ctx, editor, of.ID), docgen.CodeForbidden)
			wantCode(t, w.DeleteCollaboration(ctx, w.alice, of.ID), "")
			accepted := invite(editor, "bob@example.com")
			wantCode(t, w.DeleteCollaboration(ctx, editor, accepted.ID), docgen.CodeForbidden)
			wantCode(t, w.DeleteCollaboration(ctx, w.bob, accepted.ID), "")
		})
		t.Run("cannot be answered, nor make an owner, while no user has the login", func(t *testing.T) {
			_, err := answer(w.alice, made.ID, docgen.CollaborationAccepted)
			wantCode(t, err, docgen.CodeForbidden)
			_, err = w.UpdateCollaboration(ctx, w.alice, made.ID, docgen.CollaborationChange{Role: docgen.RoleOwner})
			wantCode(t, err, docgen.CodeInvalidStatus)
		})
		t.Run("change their role while they wait", func(t *testing.T) {
			changed, err := w.UpdateCollaboration(ctx, w.alice, made.ID, docgen.CollaborationChange{Role: docgen.RoleUploader})
			if err != nil || changed.Role != docgen.RoleUploader || changed.Status != docgen.CollaborationPending {
				t.Errorf("UpdateCollaboration = %+v, %v", changed, err)
			}
		})

		guest := w.user("new")
		t.Run("reach the user who gets the login, and give nothing yet", func(t *testing.T) {
			if got := waiting(guest); !slices.Equal(got, []int64{made.ID}) {
				t.Fatalf("invitations %d, want %d", got, made.ID)
			}
			if got := waiting(w.bob); got != nil {
				t.Errorf("bob has the invitations %d", got)
			}
			_, err := w.Folder(ctx, guest, folder)
			wantCode(t, err, docgen.CodeNotFound)
			got, err := w.Collaboration(ctx, guest, made.ID)
			must(t, err)
			if got.Item != nil || got.User == nil || got.User.ID != guest.User.ID || got.InviteLogin != "New@Example.com" {
				t.Errorf("the invitation is shown as %+v", got)
			}
			_, err = w.CreateCollaboration(ctx, w.alice, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folder,
				UserID: guest.User.ID, Role: docgen.RoleEditor})
			wantCode(t, err, docgen.CodeCollaborator)
		})
		t.Run("are answered only by their user", func(t *testing.T) {
			_, err := answer(w.alice, made.ID, docgen.CollaborationAccepted)
			wantCode(t, err, docgen.CodeForbidden)
			_, err = answer(w.bob, made.ID, docgen.CollaborationAccepted)
			wantCode(t, err, docgen.CodeNotFound)
			for _, change := range []docgen.CollaborationChange{{Role: docgen.RoleEditor}, {Role: docgen.RoleOwner}, {ExpiresAt: new(time.Time)}} {
				_, err = w.UpdateCollaboration(ctx, guest, made.ID, change)
				wantCode(t, err, docgen.CodeForbidden)
			}
			_, err = w.UpdateCollaboration(ctx, guest, made.ID, docgen.CollaborationChange{Status: docgen.CollaborationAccepted,
				Role: docgen.RoleEditor})
			wantCode(t, err, docgen.CodeForbidden)
			if got := waiting(guest); len(got) != 1 {
				t.Errorf("%d invitations after an answer that was refused, want 1", len(got))
			}
		})
		t.Run("are accepted once, and then give their role", func(t *testing.T) {
			w.clock.advance(time.Minute)
			got, err := w.UpdateCollaboration(ctx, guest, made.ID, docgen.CollaborationChange{Status: docgen.CollaborationAccepted,
				Role: docgen.RoleUploader})
			must(t, err)
			if got.Status != docgen.CollaborationAccepted || got.Item == nil || got.InviteLogin != "" ||
				!got.AcknowledgedAt.Equal(noon.Add(time.Minute)) {
				t.Errorf("accepted: %+v", got)
			}
			w.upload(guest, folder, "mine.txt", "x")
			for _, status := range []string{docgen.CollaborationAccepted, docgen.CollaborationRejected} {
				_, err := answer(guest, made.ID, status)
				wantCode(t, err, docgen.CodeInvalidStatus)
			}
			if got := waiting(guest); got != nil {
				t.Errorf("invitations %d after the answer", got)
			}
		})
		t.Run("that are rejected give nothing, and can be created again", func(t *testing.T) {
			rejected := invite(w.alice, "shy@example.com")
			shy := w.user("shy")
			got, err := answer(shy, rejected.ID, docgen.CollaborationRejected)
			must(t, err)
			if got.Status != docgen.CollaborationRejected || got.Item != nil {
				t.Errorf("rejected: %+v", got)
			}
			_, err = w.Folder(ctx, shy, folder)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.UpdateCollaboration(ctx, w.alice, rejected.ID, docgen.CollaborationChange{Role: docgen.RoleEditor})
			wantCode(t, err, docgen.CodeInvalidStatus)
			w.share(docgen.Folder, folder, shy, docgen.RoleViewer)
			_, err = w.Collaboration(ctx, w.alice, rejected.ID)
			wantCode(t, err, docgen.CodeNotFound)
		})
	})
}

// TestInvitationWaitsForNewUser invites a login while a user with it is being created: the invitation finds the user.
// On SQLite, one waits for the other anyway.
func TestInvitationWaitsForNewUser(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		if w.cfg.URL == "" {
			t.Skip("writers wait for each other")
		}
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		making, err := w.raw().BeginTx(ctx, nil)
		must(t, err)
		defer making.Rollback()
		_, err = making.ExecContext(ctx, "UPDATE settings SET value = value WHERE name = 'invitations'")
		must(t, err)
		_, err = making.ExecContext(ctx, `INSERT INTO users (id, enterprise_id, login, login_key, name, kind, role, status, root_folder_id,
			created_at, modified_at)
			SELECT 1, enterprise_id, 'new', $1, 'New', 'managed', 'user', 'active', 2, 0, 0 FROM users WHERE id = $2`, docgen.FoldKey("new"),
			w.alice.User.ID)
		must(t, err)
		done := make(chan *docgen.Collaboration)
		go func() {
			made, err := w.CreateCollaboration(ctx, w.alice, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folder, Login: "new",
				Role: docgen.RoleViewer})
			if err != nil {
				t.Error(err)
			}
			done <- made
		}()
		for waiting := false; !waiting; {
			select {
			case made := <-done:
				t.Fatalf("created %+v while the user was being created", made)
			default:
				waiting = w.count("SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
			}
		}
		must(t, making.Commit())
		if made := <-done; made == nil || made.User == nil || made.User.ID != 1 || made.Status != docgen.CollaborationAccepted {
			t.Errorf("created %+v, want an accepted one of the new user", made)
		}
	})
}

// TestInvitationDuringUserCreation creates users and invites their logins at the same time. In any order, every invitation
// finds its user.
func TestInvitationDuringUserCreation(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		var group sync.WaitGroup
		for i := range 8 {
			login := fmt.Sprintf("guest%d@example.com", i)
			group.Go(func() {
				if _, err := w.CreateUser(ctx, docgen.NewUser{Login: login, Name: "Guest"}); err != nil {
					t.Error(err)
				}
			})
			group.Go(func() {
				n := docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folder, Login: login, Role: docgen.RoleViewer}
				if _, err := w.CreateCollaboration(ctx, w.alice, n); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if n := w.count("SELECT COUNT(*) FROM collaborations WHERE user_id IS NOT NULL"); n != 8 {
			t.Errorf("%d of 8 collaborations have their user", n)
		}
	})
}

// TestInvitationOfChangedLogin gives a user a login that was invited: the user gets the new invitations to answer,
// and existing collaborations stay unchanged.
func TestInvitationOfChangedLogin(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		const login = "maiden@example.com"
		folders := map[string]int64{}
		for _, name := range []string{"new", "shared", "rejected", "ended"} {
			folders[name] = w.folder(w.alice, 0, name)
		}
		folders["own"] = w.folder(w.alice, 0, "own")
		invite := func(folder string, n docgen.NewCollaboration) int64 {
			n.ItemKind, n.ItemID, n.Role = docgen.Folder, folders[folder], docgen.RoleViewer
			made, err := w.CreateCollaboration(ctx, w.alice, n)
			must(t, err)
			return made.ID
		}
		for name := range folders {
			invite(name, docgen.NewCollaboration{Login: login})
		}
		kept := invite("shared", docgen.NewCollaboration{UserID: w.bob.User.ID})
		must(t, w.exec("UPDATE collaborations SET status = 'rejected' WHERE id = $1",
			invite("rejected", docgen.NewCollaboration{UserID: w.bob.User.ID})))
		invite("ended", docgen.NewCollaboration{UserID: w.bob.User.ID, ExpiresAt: noon.Add(time.Minute)})
		w.clock.advance(time.Hour)
		must(t, w.exec("UPDATE items SET owner_id = $2 WHERE id = $1", folders["own"], w.bob.User.ID))

		_, err := w.UpdateUser(ctx, w.member("admin", docgen.RoleAdmin), w.bob.User.ID, docgen.UserChange{Login: new(login)})
		must(t, err)
		waiting := query[int64](w, "SELECT item_id FROM collaborations WHERE user_id = $1 AND status = 'pending' ORDER BY item_id", w.bob.User.ID)
		if want := []int64{folders["new"], folders["rejected"], folders["ended"]}; !slices.Equal(waiting, want) {
			t.Errorf("invitations to %v wait, want %v", waiting, want)
		}
		if n := w.count("SELECT COUNT(*) FROM collaborations WHERE user_id IS NULL"); n != 0 {
			t.Errorf("%d invitations have no user", n)
		}
		if have := query[int64](w, "SELECT id FROM collaborations WHERE item_id = $1", folders["shared"]); !slices.Equal(have, []int64{kept}) {
			t.Errorf("collaborations on the shared item: %v, want only %d", have, kept)
		}
	})
}
