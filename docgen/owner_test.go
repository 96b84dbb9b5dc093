package docgen_test

import (
	"slices"
	"testing"

	"platen/docgen"
)

func TestTransferOwnership(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		top := w.folder(w.alice, 0, "top")
		coOwner, above, viewer := w.user("co-owner"), w.user("above"), w.user("viewer")
		w.share(docgen.Folder, top, above, docgen.RoleCoOwner)
		folder := w.folder(w.alice, top, "Plans")
		inner := w.folder(w.alice, folder, "inner")
		file := w.upload(w.alice, inner, "file.txt", "text")
		w.folder(w.bob, 0, "plans")
		w.share(docgen.Folder, folder, coOwner, docgen.RoleCoOwner)
		w.share(docgen.Folder, inner, viewer, docgen.RoleViewer)
		w.share(docgen.Folder, inner, w.bob, docgen.RoleViewer)
		ofBob := w.share(docgen.Folder, folder, w.bob, docgen.RoleViewer)
		give := func(c *docgen.Caller, id int64) error {
			made, err := w.UpdateCollaboration(ctx, c, id, docgen.CollaborationChange{Role: docgen.RoleOwner})
			if err == nil && made != nil {
				t.Errorf("a collaboration is left: %+v", made)
			}
			return err
		}

		t.Run("only by the owner", func(t *testing.T) {
			for _, c := range []*docgen.Caller{w.bob, coOwner, above} {
				wantCode(t, give(c, ofBob.ID), docgen.CodeForbidden)
			}
			wantCode(t, give(viewer, ofBob.ID), docgen.CodeNotFound)
		})
		must(t, give(w.alice, ofBob.ID))
		t.Run("with everything below, to the root folder of the new owner", func(t *testing.T) {
			if got := w.names(w.bob, 0); !slices.Equal(got, []string{"plans", "Plans (1)"}) {
				t.Errorf("bob's root folder holds %q", got)
			}
			if got := w.names(w.alice, top); len(got) != 0 {
				t.Errorf("the folder that it lay in holds %q", got)
			}
			item, err := w.File(ctx, w.bob, file.ID)
			must(t, err)
			if item.Owner.ID != w.bob.User.ID || item.Permissions != permissionsIn(rights["owner"]) || item.CreatedBy.ID != w.alice.User.ID {
				t.Errorf("the file is %+v", item)
			}
		})
		t.Run("and the previous owner is a co-owner", func(t *testing.T) {
			item, err := w.Folder(ctx, w.alice, folder)
			must(t, err)
			if item.Permissions != permissionsIn(rights["co-owner"]) {
				t.Errorf("permissions = %b, want those of a co-owner", item.Permissions)
			}
		})
		t.Run("collaborators on it stay, those on its former folder do not", func(t *testing.T) {
			_, err := w.File(ctx, coOwner, file.ID)
			wantCode(t, err, "")
			_, err = w.File(ctx, viewer, file.ID)
			wantCode(t, err, "")
			_, err = w.File(ctx, above, file.ID)
			wantCode(t, err, docgen.CodeNotFound)
		})
		t.Run("the new owner has no collaborations in it", func(t *testing.T) {
			_, err := w.Collaboration(ctx, w.bob, ofBob.ID)
			wantCode(t, err, docgen.CodeNotFound)
			if n := len(query[int64](w, "SELECT id FROM collaborations WHERE user_id = $1", w.bob.User.ID)); n != 0 {
				t.Errorf("%d collaborations of the owner are left", n)
			}
		})
		t.Run("files too, and back again", func(t *testing.T) {
			_, err := w.UpdateFile(ctx, w.bob, file.ID, docgen.ItemChange{Name: new("back.txt")})
			must(t, err)
			page, err := w.Collaborations(ctx, w.bob, docgen.Folder, folder, docgen.PageRequest{})
			must(t, err)
			at := slices.IndexFunc(page.Entries, func(c docgen.Collaboration) bool { return c.User.ID == w.alice.User.ID })
			must(t, give(w.bob, page.Entries[at].ID))
			lone := w.upload(w.alice, 0, "lone.txt", "x").ID
			must(t, give(w.alice, w.share(docgen.File, lone, w.bob, docgen.RolePreviewer).ID))
			if got := w.names(w.bob, 0); !slices.Equal(got, []string{"plans", "Plans (1)", "lone.txt"}) {
				t.Errorf("bob's root folder holds %q", got)
			}
			if got := w.names(w.alice, 0); !slices.Equal(got, []string{"Plans (1)", "top", "lone.txt"}) {
				t.Errorf("alice's root folder holds %q", got)
			}
		})
	})
}

// TestMoveToCollaborator moves a folder to the root folder of a user with a role on it: an owner has no additional
// role.
func TestMoveToCollaborator(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		theirs := w.folder(w.bob, 0, "theirs")
		_, err := w.CreateCollaboration(t.Context(), w.bob, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: theirs,
			UserID: w.alice.User.ID, Role: docgen.RoleEditor})
		must(t, err)
		mine := w.folder(w.alice, 0, "mine")
		w.share(docgen.Folder, mine, w.bob, docgen.RoleViewer)
		_, err = w.UpdateFolder(t.Context(), w.alice, mine, docgen.ItemChange{ParentID: &theirs})
		must(t, err)
		page, err := w.Collaborations(t.Context(), w.bob, docgen.Folder, mine, docgen.PageRequest{})
		if err != nil || len(page.Entries) != 0 {
			t.Errorf("collaborations of what bob owns now = %+v, %v, want none", page, err)
		}
	})
}
