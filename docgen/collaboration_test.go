package docgen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
)

func TestCollaborations(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		inner := w.folder(w.alice, folder, "inner")
		editor, coOwner, guest, gone := w.user("editor"), w.user("co-owner"), w.user("guest"), w.user("gone")
		ofEditor := w.share(docgen.Folder, folder, editor, docgen.RoleEditor)
		ofCoOwner := w.share(docgen.Folder, folder, coOwner, docgen.RoleCoOwner)
		invite := func(c *docgen.Caller, item int64, user *docgen.Caller, role docgen.Role) (*docgen.Collaboration, error) {
			return w.CreateCollaboration(ctx, c, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: item, UserID: user.User.ID, Role: role})
		}

		t.Run("are shown as created", func(t *testing.T) {
			got, err := w.Collaboration(ctx, editor, ofEditor.ID)
			must(t, err)
			want := &docgen.Collaboration{
				ID: ofEditor.ID, Item: &docgen.Item{
					Kind: docgen.Folder, ID: folder, Name: "folder",
					CreatedAt: noon, ModifiedAt: noon, ContentCreatedAt: noon, ContentModifiedAt: noon,
				}, Role: docgen.RoleEditor,
				User:   &docgen.UserRef{ID: editor.User.ID, Name: "editor", Login: "editor@example.com"},
				Status: docgen.CollaborationAccepted, CreatedBy: docgen.UserRef{ID: w.alice.User.ID, Name: "alice", Login: "alice@example.com"},
				AcknowledgedAt: noon, CreatedAt: noon, ModifiedAt: noon,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
		t.Run("give no more than the giver has", func(t *testing.T) {
			_, err := invite(editor, inner, guest, docgen.RoleCoOwner)
			wantCode(t, err, docgen.CodeForbidden)
			for giver, role := range map[*docgen.Caller]docgen.Role{editor: docgen.RoleEditor, coOwner: docgen.RoleCoOwner} {
				made, err := invite(giver, inner, guest, role)
				must(t, err)
				must(t, w.DeleteCollaboration(ctx, coOwner, made.ID))
			}
		})
		t.Run("are changed by managers of the item", func(t *testing.T) {
			w.clock.advance(time.Minute)
			changed, err := w.UpdateCollaboration(ctx, coOwner, ofEditor.ID, docgen.CollaborationChange{Role: docgen.RoleViewer})
			must(t, err)
			if changed.Role != docgen.RoleViewer || !changed.ModifiedAt.Equal(noon.Add(time.Minute)) || !changed.CreatedAt.Equal(noon) {
				t.Errorf("collaboration = %+v, want a viewer since a minute past noon", changed)
			}
			_, err = w.CreateFolder(ctx, editor, docgen.NewFolder{Name: "x", ParentID: folder})
			wantCode(t, err, docgen.CodeForbidden)
			_, err = w.UpdateCollaboration(ctx, editor, ofEditor.ID, docgen.CollaborationChange{Role: docgen.RoleCoOwner})
			wantCode(t, err, docgen.CodeForbidden)
		})
		t.Run("are one for a user and an item", func(t *testing.T) {
			_, err := invite(w.alice, folder, editor, docgen.RoleViewer)
			wantCode(t, err, docgen.CodeCollaborator)
			_, err = invite(coOwner, folder, w.alice, docgen.RoleViewer)
			wantCode(t, err, docgen.CodeCollaborator)
		})
		t.Run("are deleted by the collaborator, who then sees nothing", func(t *testing.T) {
			must(t, w.DeleteCollaboration(ctx, editor, ofEditor.ID))
			_, err := w.Folder(ctx, editor, inner)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.Collaboration(ctx, editor, ofEditor.ID)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.Collaboration(ctx, w.alice, ofEditor.ID)
			wantCode(t, err, docgen.CodeNotFound)
		})
		t.Run("of others are hidden from users who do not see the item", func(t *testing.T) {
			_, err := w.Collaboration(ctx, w.bob, ofCoOwner.ID)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.UpdateCollaboration(ctx, w.bob, ofCoOwner.ID, docgen.CollaborationChange{Role: docgen.RoleViewer})
			wantCode(t, err, docgen.CodeNotFound)
			wantCode(t, w.DeleteCollaboration(ctx, w.bob, ofCoOwner.ID), docgen.CodeNotFound)
		})
		t.Run("need a role, an item and a user that exist", func(t *testing.T) {
			for _, role := range []docgen.Role{"", docgen.RoleOwner, "Editor", "king"} {
				_, err := invite(w.alice, folder, guest, role)
				if names := problemNames(t, err); !slices.Equal(names, []string{"role"}) {
					t.Errorf("role %q: problems with %q", role, names)
				}
			}
			_, err := invite(w.bob, folder, guest, docgen.RoleViewer)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = invite(w.alice, 0, guest, docgen.RoleViewer)
			wantCode(t, err, docgen.CodeRootCollaboration)
			nobody := &docgen.Caller{User: docgen.User{ID: 1}}
			_, err = invite(w.alice, folder, nobody, docgen.RoleViewer)
			if names := problemNames(t, err); !slices.Equal(names, []string{"accessible_by"}) {
				t.Errorf("a missing user: problems with %q", names)
			}
			account := query[int64](w, "SELECT account_id FROM enterprises")[0]
			_, err = invite(w.alice, folder, &docgen.Caller{User: docgen.User{ID: account}}, docgen.RoleViewer)
			wantCode(t, err, docgen.CodeBadRequest)
			must(t, w.exec("UPDATE users SET deleted_at = 1 WHERE login = 'gone@example.com'"))
			for _, n := range []docgen.NewCollaboration{{UserID: gone.User.ID}, {Login: "gone@example.com"}} {
				n.ItemKind, n.ItemID, n.Role = docgen.Folder, folder, docgen.RoleViewer
				_, err = w.CreateCollaboration(ctx, w.alice, n)
				wantCode(t, err, docgen.CodeBadRequest)
			}
		})
		t.Run("are rejected with all of their problems", func(t *testing.T) {
			_, err := w.CreateCollaboration(ctx, w.alice, docgen.NewCollaboration{
				ItemKind: docgen.File, ItemID: 1, Login: "a b", Role: "king", CanViewPath: true, ExpiresAt: w.clock.now(),
			})
			want := []string{"role", "accessible_by.login", "can_view_path", "expires_at"}
			if names := problemNames(t, err); !slices.Equal(names, want) {
				t.Errorf("problems with %q, want %q", names, want)
			}
			_, err = w.UpdateCollaboration(ctx, w.alice, 1, docgen.CollaborationChange{
				Role: "king", Status: docgen.CollaborationPending, ExpiresAt: new(w.clock.now()),
			})
			want = []string{"role", "status", "expires_at"}
			if names := problemNames(t, err); !slices.Equal(names, want) {
				t.Errorf("problems with %q, want %q", names, want)
			}
			_, err = w.UpdateCollaboration(ctx, w.alice, 1, docgen.CollaborationChange{Role: docgen.RoleOwner, CanViewPath: new(true)})
			if names := problemNames(t, err); !slices.Equal(names, []string{"role"}) {
				t.Errorf("an owner who sees the path: problems with %q", names)
			}
		})
		t.Run("name a user by login, whatever its case", func(t *testing.T) {
			made, err := w.CreateCollaboration(ctx, w.alice,
				docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folder, Login: "GUEST@example.com", Role: docgen.RoleViewer})
			if err != nil || made.User.ID != guest.User.ID {
				t.Errorf("CreateCollaboration = %+v, %v, want one of the guest", made, err)
			}
		})
	})
}

func TestExpiry(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		template := w.template(w.alice, folder, "template.docx").ID
		guest := w.user("guest")
		until := func(d time.Duration) docgen.NewCollaboration {
			return docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folder, UserID: guest.User.ID, Role: docgen.RoleEditor,
				ExpiresAt: w.clock.now().Add(d)}
		}
		listed := func() int {
			t.Helper()
			page, err := w.Collaborations(ctx, w.alice, docgen.Folder, folder, docgen.PageRequest{})
			must(t, err)
			return len(page.Entries)
		}
		templates := func() int {
			t.Helper()
			page, err := w.Templates(ctx, guest, docgen.PageRequest{})
			must(t, err)
			return len(page.Entries)
		}
		made, err := w.CreateCollaboration(ctx, w.alice, until(time.Hour))
		must(t, err)
		w.clock.advance(time.Hour - time.Microsecond)
		_, err = w.Content(ctx, guest, template, 0)
		wantCode(t, err, "")
		if listed() != 1 || templates() != 1 {
			t.Errorf("before its end: %d collaborations and %d templates, want 1 and 1", listed(), templates())
		}
		w.clock.advance(time.Microsecond)
		_, err = w.Content(ctx, guest, template, 0)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.Collaboration(ctx, w.alice, made.ID)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.UpdateCollaboration(ctx, w.alice, made.ID, docgen.CollaborationChange{ExpiresAt: new(time.Time)})
		wantCode(t, err, docgen.CodeNotFound)
		if listed() != 0 || templates() != 0 {
			t.Errorf("after its end: %d collaborations and %d templates, want none", listed(), templates())
		}

		again, err := w.CreateCollaboration(ctx, w.alice, until(time.Hour))
		must(t, err)
		changed, err := w.UpdateCollaboration(ctx, w.alice, again.ID,
			docgen.CollaborationChange{ExpiresAt: new(w.clock.now().Add(3 * time.Hour))})
		must(t, err)
		if want := noon.Add(4 * time.Hour); !changed.ExpiresAt.Equal(want) {
			t.Errorf("expires at %v, want %v", changed.ExpiresAt, want)
		}
		w.clock.advance(2 * time.Hour)
		_, err = w.Folder(ctx, guest, folder)
		wantCode(t, err, "")
		if changed, err = w.UpdateCollaboration(ctx, w.alice, again.ID,
			docgen.CollaborationChange{ExpiresAt: new(time.Time)}); err != nil || !changed.ExpiresAt.IsZero() {
			t.Errorf("UpdateCollaboration = %+v, %v, want one without an end", changed, err)
		}
		w.clock.advance(100 * 365 * 24 * time.Hour)
		_, err = w.Folder(ctx, guest, folder)
		wantCode(t, err, "")

		pending := until(time.Hour)
		pending.UserID, pending.Login = 0, "later@example.com"
		_, err = w.CreateCollaboration(ctx, w.alice, pending)
		must(t, err)
		later := w.user("later")
		w.clock.advance(time.Hour)
		page, err := w.Invitations(ctx, later, docgen.OffsetRequest{Limit: 10})
		if err != nil || page.Total != 0 || len(page.Entries) != 0 {
			t.Errorf("Invitations = %+v, %v, want none: it has expired", page, err)
		}
	})
}

func TestCollaborationsOfItem(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		file := w.upload(w.alice, folder, "file.txt", "x").ID
		uploader := w.user("uploader")
		want := []int64{w.share(docgen.Folder, folder, uploader, docgen.RoleUploader).ID}
		for i := range 4 {
			want = append(want, w.share(docgen.Folder, folder, w.user(fmt.Sprint("user", i)), docgen.RoleViewer).ID)
		}
		invited, err := w.CreateCollaboration(ctx, w.alice, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folder,
			Login: "x@example.com", Role: docgen.RoleViewer})
		must(t, err)
		want = append(want, invited.ID)
		ofFile := w.share(docgen.File, file, w.bob, docgen.RoleViewer)

		var got []int64
		request := docgen.PageRequest{Limit: 4}
		for pages := 1; ; pages++ {
			page, err := w.Collaborations(ctx, uploader, docgen.Folder, folder, request)
			must(t, err)
			for _, one := range page.Entries {
				got = append(got, one.ID)
			}
			if page.Next == "" {
				back, err := w.Collaborations(ctx, uploader, docgen.Folder, folder, docgen.PageRequest{Limit: 4, Marker: page.Prev})
				if err != nil || len(back.Entries) != 4 || back.Entries[0].ID != want[0] || pages != 2 {
					t.Errorf("the page before = %+v, %v (%d pages)", back, err, pages)
				}
				break
			}
			request.Marker = page.Next
		}
		if !slices.Equal(got, want) {
			t.Errorf("collaborations %d, want %d", got, want)
		}
		page, err := w.Collaborations(ctx, w.bob, docgen.File, file, docgen.PageRequest{})
		if err != nil || len(page.Entries) != 1 || page.Entries[0].ID != ofFile.ID || page.Entries[0].Item.ID != file {
			t.Errorf("collaborations on the file = %+v, %v, want bob's", page, err)
		}
		_, err = w.Collaborations(ctx, w.bob, docgen.Folder, folder, docgen.PageRequest{})
		wantCode(t, err, docgen.CodeNotFound)
		if page, err := w.Collaborations(ctx, w.bob, docgen.Folder, 0, docgen.PageRequest{}); err != nil || len(page.Entries) != 0 {
			t.Errorf("collaborations on a root folder = %+v, %v, want none", page, err)
		}
	})
}

// TestPathOfSharedItem reads the path of a file three folders deep, as seen by a user with access to one of these
// folders.
func TestPathOfSharedItem(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		top := w.folder(w.alice, 0, "top")
		middle := w.folder(w.alice, top, "middle")
		low := w.folder(w.alice, middle, "low")
		file := w.upload(w.alice, low, "file.txt", "x").ID
		for name, tt := range map[string]struct {
			give docgen.NewCollaboration
			want string
		}{
			"plain":                     {docgen.NewCollaboration{}, "All Files/middle/low"},
			"with its path":             {docgen.NewCollaboration{CanViewPath: true}, "All Files/top/middle/low"},
			"for access only":           {docgen.NewCollaboration{AccessOnly: true}, "middle/low"},
			"for access, with its path": {docgen.NewCollaboration{AccessOnly: true, CanViewPath: true}, "top/middle/low"},
		} {
			t.Run(name, func(t *testing.T) {
				guest := w.user(strings.ReplaceAll(name, " ", "-"))
				tt.give.ItemKind, tt.give.ItemID, tt.give.UserID, tt.give.Role = docgen.Folder, middle, guest.User.ID, docgen.RoleViewer
				made, err := w.CreateCollaboration(ctx, w.alice, tt.give)
				must(t, err)
				if made.AccessOnly != tt.give.AccessOnly || made.CanViewPath != tt.give.CanViewPath {
					t.Errorf("created %+v", made)
				}
				path := func() string {
					t.Helper()
					item, err := w.File(ctx, guest, file)
					must(t, err)
					var names []string
					for _, folder := range item.Path {
						names = append(names, folder.Name)
					}
					return strings.Join(names, "/")
				}
				if got := path(); got != tt.want {
					t.Errorf("path %s, want %s", got, tt.want)
				}
				_, err = w.Folder(ctx, guest, top)
				wantCode(t, err, docgen.CodeNotFound) // a folder whose name is visible cannot be opened
				shared, err := w.Folder(ctx, guest, middle)
				must(t, err)
				if hidden := tt.give == (docgen.NewCollaboration{AccessOnly: true}); hidden && shared.Parent != nil {
					t.Errorf("an item shared for access only has the parent %+v", shared.Parent)
				}
				_, err = w.UpdateCollaboration(ctx, w.alice, made.ID, docgen.CollaborationChange{CanViewPath: new(false)})
				must(t, err)
				if got := path(); strings.Contains(got, "top") {
					t.Errorf("path %s after it was hidden", got)
				}
			})
		}
		t.Run("is shown only by managers of the folder", func(t *testing.T) {
			editor, guest := w.user("editor"), w.user("guest")
			w.share(docgen.Folder, middle, editor, docgen.RoleEditor)
			n := docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: middle, UserID: guest.User.ID, Role: docgen.RoleViewer, CanViewPath: true}
			_, err := w.CreateCollaboration(ctx, editor, n)
			wantCode(t, err, docgen.CodeForbidden)
			ofFile := w.share(docgen.File, file, guest, docgen.RoleViewer)
			_, err = w.UpdateCollaboration(ctx, w.alice, ofFile.ID, docgen.CollaborationChange{CanViewPath: new(true)})
			if names := problemNames(t, err); !slices.Equal(names, []string{"can_view_path"}) {
				t.Errorf("problems with %q", names)
			}
		})
	})
}

// TestNoCollaborationsInArchives creates an archive in the database, and tries to share it and its content.
func TestNoCollaborationsInArchives(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		archive := w.folder(w.alice, 0, "archive")
		inner := w.folder(w.alice, archive, "inner")
		must(t, w.exec(`UPDATE items SET owner_id = (SELECT account_id FROM enterprises),
			parent_id = (SELECT users.root_folder_id FROM users JOIN enterprises ON enterprises.account_id = users.id) WHERE id = $1`, archive))
		w.recount()
		admin := w.contentManager("admin")
		for _, id := range []int64{archive, inner} {
			_, err := w.CreateCollaboration(t.Context(), admin,
				docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: id, UserID: w.bob.User.ID, Role: docgen.RoleViewer})
			wantCode(t, err, docgen.CodeForbidden)
		}
	})
}
