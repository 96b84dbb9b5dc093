package docgen_test

import (
	"slices"
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
		editor, coOwner, guest := w.user("editor"), w.user("co-owner"), w.user("guest")
		ofEditor := w.share(docgen.Folder, folder, editor, docgen.RoleEditor)
		ofCoOwner := w.share(docgen.Folder, folder, coOwner, docgen.RoleCoOwner)
		invite := func(c *docgen.Caller, item int64, user *docgen.Caller, role docgen.Role) (*docgen.Collaboration, error) {
			return w.CreateCollaboration(ctx, c, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: item, UserID: user.User.ID, Role: role})
		}

		t.Run("are shown as they were made", func(t *testing.T) {
			got, err := w.Collaboration(ctx, editor, ofEditor.ID)
			must(t, err)
			want := &docgen.Collaboration{
				ID: ofEditor.ID, Role: docgen.RoleEditor,
				Item: docgen.Item{
					Kind: docgen.Folder, ID: folder, Name: "folder",
					CreatedAt: noon, ModifiedAt: noon, ContentCreatedAt: noon, ContentModifiedAt: noon,
				},
				User:      docgen.UserRef{ID: editor.User.ID, Name: "editor", Login: "editor@example.com"},
				CreatedBy: docgen.UserRef{ID: w.alice.User.ID, Name: "alice", Login: "alice@example.com"},
				CreatedAt: noon, ModifiedAt: noon,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
		t.Run("give nobody more than the giver has", func(t *testing.T) {
			_, err := invite(editor, inner, guest, docgen.RoleCoOwner)
			wantCode(t, err, docgen.CodeForbidden)
			for giver, role := range map[*docgen.Caller]docgen.Role{editor: docgen.RoleEditor, coOwner: docgen.RoleCoOwner} {
				made, err := invite(giver, inner, guest, role)
				must(t, err)
				must(t, w.DeleteCollaboration(ctx, coOwner, made.ID))
			}
		})
		t.Run("are changed by who manages them", func(t *testing.T) {
			w.clock.advance(time.Minute)
			changed, err := w.UpdateCollaboration(ctx, coOwner, ofEditor.ID, docgen.RoleViewer)
			must(t, err)
			if changed.Role != docgen.RoleViewer || !changed.ModifiedAt.Equal(noon.Add(time.Minute)) || !changed.CreatedAt.Equal(noon) {
				t.Errorf("collaboration = %+v, want a viewer since a minute past noon", changed)
			}
			_, err = w.CreateFolder(ctx, editor, docgen.NewFolder{Name: "x", ParentID: folder})
			wantCode(t, err, docgen.CodeForbidden)
			_, err = w.UpdateCollaboration(ctx, editor, ofEditor.ID, docgen.RoleCoOwner)
			wantCode(t, err, docgen.CodeForbidden)
		})
		t.Run("are one for a user and an item", func(t *testing.T) {
			_, err := invite(w.alice, folder, editor, docgen.RoleViewer)
			wantCode(t, err, docgen.CodeCollaborator)
			_, err = invite(coOwner, folder, w.alice, docgen.RoleViewer)
			wantCode(t, err, docgen.CodeCollaborator)
		})
		t.Run("are ended by their own user, who then sees nothing", func(t *testing.T) {
			must(t, w.DeleteCollaboration(ctx, editor, ofEditor.ID))
			_, err := w.Folder(ctx, editor, inner)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.Collaboration(ctx, editor, ofEditor.ID)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.Collaboration(ctx, w.alice, ofEditor.ID)
			wantCode(t, err, docgen.CodeNotFound)
		})
		t.Run("of others are hidden from who does not see the item", func(t *testing.T) {
			_, err := w.Collaboration(ctx, w.bob, ofCoOwner.ID)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.UpdateCollaboration(ctx, w.bob, ofCoOwner.ID, docgen.RoleViewer)
			wantCode(t, err, docgen.CodeNotFound)
			wantCode(t, w.DeleteCollaboration(ctx, w.bob, ofCoOwner.ID), docgen.CodeNotFound)
		})
		t.Run("need a role, an item and a user that exist", func(t *testing.T) {
			for _, role := range []docgen.Role{"", "owner", "Editor", "king"} {
				_, err := invite(w.alice, folder, guest, role)
				if names := problemNames(t, err); !slices.Equal(names, []string{"role"}) {
					t.Errorf("role %q: problems with %q", role, names)
				}
			}
			_, err := invite(w.bob, folder, guest, docgen.RoleViewer)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = invite(w.alice, 0, guest, docgen.RoleViewer)
			wantCode(t, err, docgen.CodeRootCollaboration)
			for _, login := range []string{"", "nobody@example.com", "\x00"} {
				_, err := w.CreateCollaboration(ctx, w.alice, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folder, Login: login, Role: docgen.RoleViewer})
				if names := problemNames(t, err); !slices.Equal(names, []string{"accessible_by"}) {
					t.Errorf("login %q: problems with %q", login, names)
				}
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
