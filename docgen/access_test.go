package docgen_test

import (
	"slices"
	"strings"
	"testing"

	"platen/docgen"
)

// rights says in words what each kind of caller may do with an item.
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

// permissions are the words of rights as an item shows them.
var permissions = map[string]docgen.Permissions{
	"see": docgen.MaySee, "preview": docgen.MayPreview, "download": docgen.MayDownload, "upload": docgen.MayUpload, "edit": docgen.MayEdit,
	"delete": docgen.MayDelete, "invite": docgen.MayInvite, "manage": docgen.MayManage, "own": docgen.MayOwn,
}

// target is what an operation is tried on: all of it lies in one folder.
type target struct {
	folder, file, template int64
	collaboration          int64 // of somebody else on the folder
	guest                  int64 // whom to invite
	own                    int64 // a folder of the caller's own
	past                   int64 // a version of the file before its current one
}

// operation is one use of the service on a target by a caller.
type operation struct {
	name string
	need string // the word of rights
	call func(w *world, c *docgen.Caller, at target) error
}

// operations lists every operation on an item; what destroys comes last.
var operations = []operation{
	{"File", "see", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.File(w.t.Context(), c, at.file)
		return err
	}},
	{"Folder", "see", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Folder(w.t.Context(), c, at.folder)
		return err
	}},
	{"Items", "see", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Items(w.t.Context(), c, at.folder, docgen.PageRequest{})
		return err
	}},
	{"ItemsByOffset", "see", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.ItemsByOffset(w.t.Context(), c, at.folder, docgen.OffsetRequest{Limit: 1}, docgen.ItemOrder{})
		return err
	}},
	{"Template", "see", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Template(w.t.Context(), c, at.template)
		return err
	}},
	{"TemplateJobs", "see", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.TemplateJobs(w.t.Context(), c, at.template, docgen.PageRequest{})
		return err
	}},
	{"Collaboration", "see", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Collaboration(w.t.Context(), c, at.collaboration)
		return err
	}},
	{"Tags", "preview", func(w *world, c *docgen.Caller, at target) error {
		_, _, err := w.Tags(w.t.Context(), c, at.template, 0, docgen.PageRequest{})
		return err
	}},
	{"Content", "download", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Content(w.t.Context(), c, at.file, 0)
		return err
	}},
	{"CreateBatch from a template", "download", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateBatch(w.t.Context(), c, batchOf(at.template, at.own, "{}"))
		return err
	}},
	{"CreateFile", "upload", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateFile(w.t.Context(), c, docgen.NewFile{Name: "new.txt", ParentID: at.folder}, reader("new"))
		return err
	}},
	{"CreateFolder", "upload", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateFolder(w.t.Context(), c, docgen.NewFolder{Name: "new", ParentID: at.folder})
		return err
	}},
	{"UpdateFile to move something of one's own in", "upload", func(w *world, c *docgen.Caller, at target) error {
		mine := w.upload(c, at.own, "mine.txt", "mine")
		_, err := w.UpdateFile(w.t.Context(), c, mine.ID, docgen.ItemChange{ParentID: &at.folder})
		if err != nil {
			must(w.t, w.TrashFile(w.t.Context(), c, mine.ID, ""))
		}
		return err
	}},
	{"Version", "see", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Version(w.t.Context(), c, at.file, at.past)
		return err
	}},
	{"Versions", "see", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.Versions(w.t.Context(), c, at.file, docgen.OffsetRequest{Limit: 1})
		return err
	}},
	{"CopyFile from it", "download", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CopyFile(w.t.Context(), c, docgen.NewCopy{ItemID: at.file, ParentID: at.own})
		return err
	}},
	{"CopyFolder from it", "download", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CopyFolder(w.t.Context(), c, docgen.NewCopy{ItemID: at.folder, ParentID: at.own})
		return err
	}},
	{"CheckFile", "upload", func(w *world, c *docgen.Caller, at target) error {
		return w.CheckFile(w.t.Context(), c, docgen.NewFile{Name: "newer.txt", ParentID: at.folder}, 1)
	}},
	{"CopyFile into it", "upload", func(w *world, c *docgen.Caller, at target) error {
		mine := w.upload(c, at.own, "mine.txt", "mine")
		_, err := w.CopyFile(w.t.Context(), c, docgen.NewCopy{ItemID: mine.ID, ParentID: at.folder, Name: "copied.txt"})
		must(w.t, w.TrashFile(w.t.Context(), c, mine.ID, ""))
		return err
	}},
	{"CopyFolder into it", "upload", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CopyFolder(w.t.Context(), c, docgen.NewCopy{ItemID: at.own, ParentID: at.folder, Name: "copied"})
		return err
	}},
	{"CheckVersion", "edit", func(w *world, c *docgen.Caller, at target) error {
		return w.CheckVersion(w.t.Context(), c, docgen.NewVersion{FileID: at.file}, 1)
	}},
	{"PromoteVersion", "edit", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.PromoteVersion(w.t.Context(), c, at.file, at.past)
		return err
	}},
	{"TrashVersion", "delete", func(w *world, c *docgen.Caller, at target) error {
		return w.TrashVersion(w.t.Context(), c, at.file, at.past, "")
	}},
	{"RestoreVersion", "delete", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.RestoreVersion(w.t.Context(), c, at.file, at.past)
		return err
	}},
	{"UpdateFile", "edit", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateFile(w.t.Context(), c, at.file, docgen.ItemChange{Name: new("renamed.txt")})
		return err
	}},
	{"UpdateFolder", "edit", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateFolder(w.t.Context(), c, at.folder, docgen.ItemChange{Description: new("described")})
		return err
	}},
	{"CreateVersion", "edit", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateVersion(w.t.Context(), c, docgen.NewVersion{FileID: at.file}, reader("newer"))
		return err
	}},
	{"MarkTemplate", "edit", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.MarkTemplate(w.t.Context(), c, at.file)
		return err
	}},
	{"UnmarkTemplate", "edit", func(w *world, c *docgen.Caller, at target) error {
		return w.UnmarkTemplate(w.t.Context(), c, at.template)
	}},
	{"CreateCollaboration", "invite", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.CreateCollaboration(w.t.Context(), c,
			docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: at.folder, UserID: at.guest, Role: docgen.RolePreviewer})
		return err
	}},
	{"UpdateCollaboration", "manage", func(w *world, c *docgen.Caller, at target) error {
		_, err := w.UpdateCollaboration(w.t.Context(), c, at.collaboration, docgen.RoleEditor)
		return err
	}},
	{"DeleteCollaboration", "manage", func(w *world, c *docgen.Caller, at target) error {
		return w.DeleteCollaboration(w.t.Context(), c, at.collaboration)
	}},
	{"TrashFile", "delete", func(w *world, c *docgen.Caller, at target) error {
		return w.TrashFile(w.t.Context(), c, at.file, "")
	}},
	{"TrashFolder", "delete", func(w *world, c *docgen.Caller, at target) error {
		return w.TrashFolder(w.t.Context(), c, at.folder, true, "")
	}},
}

// newTarget makes a target of alice's in a folder.
func (w *world) newTarget(parent int64, caller, other, guest *docgen.Caller) target {
	w.t.Helper()
	at := target{folder: w.folder(w.alice, parent, "target"), guest: guest.User.ID}
	file := w.upload(w.alice, at.folder, "file.txt", "older text")
	at.file, at.past = file.ID, file.VersionID
	w.version(w.alice, at.file, "text")
	at.template = w.template(w.alice, at.folder, "template.docx").ID
	at.collaboration = w.share(docgen.Folder, at.folder, other, docgen.RoleViewer).ID
	at.own = w.folder(caller, 0, "own")
	return at
}

// wantRights checks that of all operations those succeed, and those alone, that a kind of caller has the rights to.
func (w *world) wantRights(kind string, c *docgen.Caller, at target) {
	w.t.Helper()
	have := strings.Fields(rights[kind])
	for _, op := range operations {
		want := docgen.Code("")
		switch {
		case !slices.Contains(have, "see"):
			want = docgen.CodeNotFound
		case !slices.Contains(have, op.need):
			want = docgen.CodeForbidden
		}
		if err := op.call(w, c, at); want == "" && err != nil || want != "" && !docgen.IsCode(err, want) {
			w.t.Errorf("%s by %s: %v, want %s", op.name, kind, err, orNone(want))
		}
	}
}

// TestRoles tries every operation as every kind of caller, whose role is on a folder two above the target.
func TestRoles(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		other, guest := w.user("other"), w.user("guest")
		for kind := range rights {
			top := w.folder(w.alice, 0, kind)
			parent := w.folder(w.alice, top, "between")
			caller := w.alice
			if kind != "owner" {
				caller = w.user(strings.ReplaceAll(kind, " ", "-"))
			}
			if kind != "owner" && kind != "nobody" {
				w.share(docgen.Folder, top, caller, docgen.Role(kind))
			}
			w.wantRights(kind, caller, w.newTarget(parent, caller, other, guest))
		}
	})
}

func TestPermissions(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		file := w.upload(w.alice, folder, "file.txt", "x").ID
		permissionsOf := func(c *docgen.Caller, words string) {
			t.Helper()
			var want docgen.Permissions
			for word := range strings.FieldsSeq(words) {
				want |= permissions[word]
			}
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
				wantCode(t, err, docgen.CodeNotFound) // a role on a file says nothing of the folder around it
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
		t.Run("are the owner's for what others put into the owner's folder", func(t *testing.T) {
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
			"its owner is told":                     {w.alice, docgen.CodeTrashed},
			"who could see it is told":              {viewer, docgen.CodeTrashed},
			"who could see a part of it is told":    {other, docgen.CodeTrashed},
			"for a stranger there is nothing":       {w.bob, docgen.CodeNotFound},
			"for another stranger there is as well": {guest, docgen.CodeNotFound},
		} {
			t.Run(name, func(t *testing.T) {
				at := at
				at.own = w.folder(who.caller, 0, "own after")
				for _, op := range operations {
					if err := op.call(w, who.caller, at); !docgen.IsCode(err, who.want) {
						t.Errorf("%s: %v, want %s", op.name, err, who.want)
					}
				}
			})
		}
		t.Run("the name is free again", func(t *testing.T) {
			w.folder(w.alice, 0, "top")
		})
	})
}
