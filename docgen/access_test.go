package docgen_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
)

// rights describes the permissions of each kind of caller on an item.
var rights = map[string]string{
	"nobody":             "",
	"previewer":          "see preview",
	"viewer":             "see preview download",
	"uploader":           "see upload",
	"previewer uploader": "see preview upload",
	"viewer uploader":    "see preview download upload",
	"editor":             "see preview download upload edit delete invite",
	"co-owner":           "see preview download upload edit delete invite manage",
	"owner":              "see preview download upload edit delete invite manage own",
}

// permissions maps the words of rights to permissions.
var permissions = map[string]docgen.Permissions{
	"see": docgen.MaySee, "preview": docgen.MayPreview, "download": docgen.MayDownload, "upload": docgen.MayUpload, "edit": docgen.MayEdit,
	"delete": docgen.MayDelete, "invite": docgen.MayInvite, "manage": docgen.MayManage, "own": docgen.MayOwn,
}

// permissionsIn parses the words of rights.
func permissionsIn(words string) docgen.Permissions {
	var all docgen.Permissions
	for word := range strings.FieldsSeq(words) {
		all |= permissions[word]
	}
	return all
}

// TestPermissions compares the permissions that an item reports for its caller with rights.
func TestPermissions(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		file := w.upload(w.alice, folder, "file.txt", "x").ID
		permissionsOf := func(c *docgen.Caller, words string) {
			t.Helper()
			want := permissionsIn(words)
			item, err := w.File(ctx, c, file)
			must(t, err)
			if item.Permissions != want {
				t.Errorf("permissions = %b, want %b (%s)", item.Permissions, want, words)
			}
		}
		for kind, words := range rights {
			switch kind {
			case "nobody":
				_, err := w.File(ctx, w.bob, file)
				wantCode(t, err, docgen.CodeNotFound)
			case "owner":
				permissionsOf(w.alice, words)
			default:
				c := w.user("direct-" + strings.ReplaceAll(kind, " ", "-"))
				w.share(docgen.File, file, c, docgen.Role(kind))
				permissionsOf(c, words)
				_, err := w.Folder(ctx, c, folder)
				wantCode(t, err, docgen.CodeNotFound) // a role on a file does not extend to the folder around it
			}
		}
		t.Run("of roles on an item and above it add up", func(t *testing.T) {
			strong := w.user("strong-above")
			w.share(docgen.Folder, folder, strong, docgen.RoleEditor)
			w.share(docgen.File, file, strong, docgen.RolePreviewer)
			permissionsOf(strong, rights["editor"])
			both := w.user("both")
			w.share(docgen.Folder, folder, both, docgen.RoleUploader)
			w.share(docgen.File, file, both, docgen.RoleViewer)
			permissionsOf(both, rights["viewer uploader"])
		})
		t.Run("are the owner's for items that others add to the owner's folder", func(t *testing.T) {
			uploader := w.user("uploader")
			w.share(docgen.Folder, folder, uploader, docgen.RoleUploader)
			item := w.upload(uploader, folder, "theirs.txt", "x")
			if item.Owner.ID != w.alice.User.ID || item.CreatedBy.ID != uploader.User.ID {
				t.Errorf("owner %+v, created by %+v, want alice and the uploader", item.Owner, item.CreatedBy)
			}
			_, err := w.Content(ctx, uploader, item.ID, 0)
			wantCode(t, err, docgen.CodeForbidden)
		})
		t.Run("a kind is part of an id", func(t *testing.T) {
			_, err := w.File(ctx, w.alice, folder)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.Folder(ctx, w.alice, file)
			wantCode(t, err, docgen.CodeNotFound)
		})
	})
}

// besideTheTrash are the operations that do not fail for a target in the trash: those of the trash itself, and of
// archives.
var besideTheTrash = []string{"Trashed", "Trashed, a folder", "Restore", "Restore, a folder", "Purge", "Purge, a folder",
	"UpdateArchive", "DeleteArchive", "UpdateFile to move into an archive", "UpdateFolder to move into an archive"}

func TestTrash(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		other, guest, viewer := w.user("other"), w.user("guest"), w.user("viewer")
		top := w.folder(w.alice, 0, "top")
		w.share(docgen.Folder, top, viewer, docgen.RoleViewer)
		at := w.newTarget(w.folder(w.alice, top, "between"), viewer, other, guest)
		must(t, w.TrashFolder(t.Context(), w.alice, top, true, ""))
		for name, who := range map[string]struct {
			caller *docgen.Caller
			want   docgen.Code
		}{
			"the owner":                         {w.alice, docgen.CodeTrashed},
			"a user who could see it":           {viewer, docgen.CodeTrashed},
			"a user who could see a part of it": {other, docgen.CodeTrashed},
			"a stranger":                        {w.bob, docgen.CodeNotFound},
			"another stranger":                  {guest, docgen.CodeNotFound},
		} {
			t.Run(name, func(t *testing.T) {
				at := at
				at.own = w.folder(who.caller, 0, "own after")
				at.ownTemplate = w.template(who.caller, at.own, "mine.docx").ID
				for _, op := range operations {
					if slices.Contains(besideTheTrash, op.name) {
						continue
					}
					if err, want := op.call(w, who.caller, at), cmp.Or(op.unseen, who.want); !docgen.IsCode(err, want) {
						t.Errorf("%s: %v, want %s", op.name, err, want)
					}
				}
			})
		}
		t.Run("the name is free again", func(t *testing.T) {
			w.folder(w.alice, 0, "top")
		})
	})
}
