package docgen_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

// link gives an item of a caller a shared link.
func (w *world) link(c *docgen.Caller, kind docgen.Kind, id int64, change docgen.LinkChange) *docgen.SharedLink {
	w.t.Helper()
	item, err := w.changeLink(c, kind, id, change)
	must(w.t, err)
	return item.SharedLink
}

func (w *world) changeLink(c *docgen.Caller, kind docgen.Kind, id int64, change docgen.LinkChange) (*docgen.Item, error) {
	update := w.UpdateFile
	if kind == docgen.Folder {
		update = w.UpdateFolder
	}
	return update(w.t.Context(), c, id, docgen.ItemChange{Link: &change})
}

// secretOf returns the secret in the URL of a link.
func secretOf(link *docgen.SharedLink) string { return link.URL[strings.LastIndex(link.URL, "/")+1:] }

// visit opens a link for a caller, or for a visitor.
func (w *world) visit(c *docgen.Caller, link *docgen.SharedLink) (*docgen.Caller, error) {
	if c == nil {
		c = w.Visitor()
	}
	with, _, err := w.WithLink(w.t.Context(), c, docgen.LinkKey{Secret: secretOf(link)})
	return with, err
}

// visitor is a visitor who has opened a link.
func (w *world) visitor(link *docgen.SharedLink) *docgen.Caller {
	w.t.Helper()
	with, err := w.visit(nil, link)
	must(w.t, err)
	return with
}

var open = docgen.LinkChange{Access: docgen.LinkOpen}

func TestSharedLinks(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		must(t, w.SetBaseURL(ctx, "https://platen.example.com/"))
		folder := w.folder(w.alice, 0, "folder")
		file := w.upload(w.alice, folder, "a.txt", "text")
		first := w.link(w.alice, docgen.File, file.ID, docgen.LinkChange{})
		if !strings.HasPrefix(first.URL, "https://platen.example.com/s/") || first.DownloadURL != fmt.Sprint(first.URL, "/files/", file.ID) ||
			first.Access != docgen.LinkCompany || !first.CanDownload || first.HasPassword || !first.ExpiresAt.IsZero() {
			t.Errorf("the link is %+v", first)
		}
		t.Run("stay the same when they change", func(t *testing.T) {
			before, err := w.File(ctx, w.alice, file.ID)
			must(t, err)
			end := noon.Add(time.Hour)
			changed := w.link(w.alice, docgen.File, file.ID, docgen.LinkChange{Access: docgen.LinkOpen, Password: new("correct horse"),
				ExpiresAt: &end, CanDownload: new(false)})
			want := docgen.SharedLink{URL: first.URL, Access: docgen.LinkOpen, HasPassword: true, ExpiresAt: end}
			if *changed != want {
				t.Errorf("the link is %+v, want %+v", *changed, want)
			}
			after, err := w.changeLink(w.alice, docgen.File, file.ID, docgen.LinkChange{CanDownload: new(false)})
			must(t, err)
			if *after.SharedLink != want || after.ETag != before.ETag+1 {
				t.Errorf("the link is %+v, the etag %d, before %d", *after.SharedLink, after.ETag, before.ETag)
			}
			reset := w.link(w.alice, docgen.File, file.ID, docgen.LinkChange{Password: new(""), ExpiresAt: new(time.Time), CanDownload: new(true)})
			if reset.HasPassword || !reset.ExpiresAt.IsZero() || reset.DownloadURL == "" {
				t.Errorf("the link is %+v", reset)
			}
		})
		t.Run("have another URL when they are created again", func(t *testing.T) {
			if gone := w.link(w.alice, docgen.File, file.ID, docgen.LinkChange{Remove: true}); gone != nil {
				t.Errorf("the link is %+v", gone)
			}
			w.link(w.alice, docgen.File, file.ID, docgen.LinkChange{Remove: true})
			if again := w.link(w.alice, docgen.File, file.ID, open); again.URL == first.URL {
				t.Error("the URL is the same")
			}
			_, err := w.visit(w.bob, first)
			wantCode(t, err, docgen.CodeNotFound)
		})
		t.Run("are shown to users who may do what they permit", func(t *testing.T) {
			for _, tt := range []struct {
				role  docgen.Role
				shown bool
			}{{docgen.RolePreviewer, false}, {docgen.RoleUploader, false}, {docgen.RoleViewer, true}, {docgen.RoleEditor, true}} {
				c := w.user(strings.ReplaceAll("link "+string(tt.role), " ", "-"))
				w.share(docgen.File, file.ID, c, tt.role)
				item, err := w.File(ctx, c, file.ID)
				must(t, err)
				if got := item.SharedLink != nil; got != tt.shown {
					t.Errorf("%s: %+v", tt.role, item.SharedLink)
				}
			}
		})
		t.Run("are not copied", func(t *testing.T) {
			copied, err := w.CopyFile(ctx, w.alice, docgen.NewCopy{ItemID: file.ID, Name: "copy.txt"})
			must(t, err)
			if copied.SharedLink != nil {
				t.Errorf("the copy has the link %+v", copied.SharedLink)
			}
		})
		t.Run("change together with other properties", func(t *testing.T) {
			hook := w.hook(w.alice, folder, docgen.SharedLinkUpdated, docgen.FileRenamed)
			link := &docgen.LinkChange{Access: docgen.LinkCompany}
			_, err := w.UpdateFile(ctx, w.alice, file.ID, docgen.ItemChange{Name: new("b.txt"), Link: link})
			must(t, err)
			w.wantNotices(hook.ID, "FILE.RENAMED file b.txt", "SHARED_LINK.UPDATED file b.txt")
		})
	})
}

// TestInvalidLinks sends changes of shared links that are wrong, or not permitted.
func TestInvalidLinks(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		file := w.upload(w.alice, folder, "a.txt", "text")
		for problem, change := range map[string]docgen.LinkChange{
			"access":                   {Access: "everyone"},
			"password":                 {Access: docgen.LinkOpen, Password: new("7 chars")},
			"password ":                {Access: docgen.LinkOpen, Password: new(strings.Repeat("x", 129))},
			"password  ":               {Password: new("for a company")},
			"unshared_at":              {ExpiresAt: new(noon)},
			"vanity_name":              {VanityName: "my-own-name"},
			"permissions.can_preview":  {CanPreview: new(false)},
			"permissions.can_edit":     {CanEdit: new(true)},
			"permissions.can_download": {Access: docgen.LinkCollaborators, CanDownload: new(false)},
		} {
			_, err := w.changeLink(w.alice, docgen.File, file.ID, change)
			if got, want := problemNames(t, err), "shared_link."+strings.TrimSpace(problem); !slices.Equal(got, []string{want}) {
				t.Errorf("%+v: problems with %q, want %s", change, got, want)
			}
		}
		_, err := w.changeLink(w.alice, docgen.Folder, 0, open)
		wantCode(t, err, docgen.CodeForbidden)
		_, err = w.changeLink(w.bob, docgen.File, file.ID, docgen.LinkChange{Access: docgen.LinkOpen, Password: new("correct horse")})
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.UpdateFile(ctx, w.alice, file.ID, docgen.ItemChange{Link: &open, IfMatch: "4711"})
		wantCode(t, err, docgen.CodePrecondition)

		keeper := w.archivist()
		archive := w.archive(keeper, "archive").ID
		w.link(w.alice, docgen.File, file.ID, open)
		w.link(w.alice, docgen.Folder, folder, open)
		_, err = w.UpdateFolder(ctx, keeper, folder, docgen.ItemChange{ParentID: &archive})
		must(t, err)
		if n := w.count("SELECT COUNT(*) FROM shared_links"); n != 0 {
			t.Errorf("%d links are in an archive", n)
		}
		_, err = w.changeLink(keeper, docgen.File, file.ID, open)
		wantCode(t, err, docgen.CodeForbidden)
	})
}

// TestUsingLinks opens links with each kind of access as each kind of caller.
func TestUsingLinks(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		top := w.folder(w.alice, 0, "top")
		folder := w.folder(w.alice, top, "folder")
		inner := w.folder(w.alice, folder, "inner")
		file := w.upload(w.alice, inner, "a.txt", "text")
		other := w.upload(w.alice, top, "other.txt", "x")
		guest := w.user("guest")
		w.share(docgen.Folder, top, guest, docgen.RoleViewer)
		link := w.link(w.alice, docgen.Folder, folder, open)

		c := w.visitor(link)
		item, err := w.File(ctx, c, file.ID)
		must(t, err)
		if want := docgen.MaySee | docgen.MayPreview | docgen.MayDownload; item.Permissions != want {
			t.Errorf("the permissions are %b, want %b", item.Permissions, want)
		}
		if len(item.Path) != 2 || item.Path[0].Name != "folder" || item.Parent.ID != inner {
			t.Errorf("the path is %+v", item.Path)
		}
		if got := w.names(c, folder); !slices.Equal(got, []string{"inner"}) || w.text(c, file.ID, 0) != "text" {
			t.Errorf("the folder has %q", got)
		}
		for _, id := range []int64{top, 0} {
			_, err := w.Folder(ctx, c, id)
			wantCode(t, err, docgen.CodeNotFound)
		}
		_, err = w.Content(ctx, c, other.ID, 0)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.UpdateFile(ctx, c, file.ID, docgen.ItemChange{Name: new("x")})
		wantCode(t, err, docgen.CodeScope)
		bob, err := w.visit(w.bob, link)
		must(t, err)
		_, err = w.UpdateFile(ctx, bob, file.ID, docgen.ItemChange{Name: new("x")})
		wantCode(t, err, docgen.CodeForbidden)

		newer := w.version(w.alice, file.ID, "newer")
		for _, caller := range []*docgen.Caller{c, bob} {
			_, err = w.Content(ctx, caller, file.ID, file.VersionID)
			wantCode(t, err, docgen.CodeNotFound)
			if got := w.text(caller, file.ID, newer.VersionID); got != "newer" {
				t.Errorf("the content is %s", got)
			}
		}

		w.link(w.alice, docgen.Folder, folder, docgen.LinkChange{CanDownload: new(false)})
		_, err = w.Content(ctx, c, file.ID, 0)
		wantCode(t, err, docgen.CodeForbidden)
		for access, want := range map[docgen.LinkAccess][3]docgen.Code{ // for a visitor, another user, and a collaborator
			docgen.LinkOpen:          {"", "", ""},
			docgen.LinkCompany:       {docgen.CodeNotFound, "", ""},
			docgen.LinkCollaborators: {docgen.CodeNotFound, docgen.CodeNotFound, ""},
		} {
			w.link(w.alice, docgen.Folder, folder, docgen.LinkChange{Access: access})
			for i, caller := range []*docgen.Caller{c, bob, guest} {
				_, err := w.File(ctx, caller, file.ID)
				if want[i] == "" {
					must(t, err)
				} else {
					wantCode(t, err, want[i])
				}
			}
			if _, err := w.visit(nil, link); access == docgen.LinkOpen {
				must(t, err)
			} else {
				wantCode(t, err, docgen.CodeUnauthorized)
			}
		}
		with, linked, err := w.WithLink(ctx, guest, docgen.LinkKey{Secret: secretOf(link)})
		must(t, err)
		if linked != (docgen.LinkedItem{Kind: docgen.Folder, ID: folder}) || w.text(with, file.ID, file.VersionID) != "text" {
			t.Errorf("the item is %+v", linked)
		}
	})
}

// TestSecretsOfLinks changes the secret in the URL of a link.
func TestSecretsOfLinks(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		secret := secretOf(w.link(w.alice, docgen.File, w.upload(w.alice, 0, "a.txt", "x").ID, open))
		refused := func(text string) {
			t.Helper()
			_, _, err := w.WithLink(t.Context(), w.Visitor(), docgen.LinkKey{Secret: text})
			wantCode(t, err, docgen.CodeNotFound)
		}
		for i := range secret {
			other := byte('A')
			if secret[i] == other {
				other = 'B'
			}
			refused(secret[:i] + string(other) + secret[i+1:])
			refused(secret[:i])
		}
		refused(secret + "A")
		refused(" " + secret)
		refused(strings.Repeat("A", len(secret)))
	})
}

// TestLinksEnd does everything that ends a link, or the access with it.
func TestLinksEnd(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		for name, end := range map[string]func(t *testing.T, owner *docgen.Caller, folder, file int64){
			"expired": func(t *testing.T, owner *docgen.Caller, folder, _ int64) {
				w.link(owner, docgen.Folder, folder, docgen.LinkChange{ExpiresAt: new(w.clock.now().Add(time.Minute))})
				w.clock.advance(time.Minute)
				item, err := w.Folder(ctx, owner, folder)
				must(t, err)
				if item.SharedLink != nil {
					t.Errorf("the link is %+v", item.SharedLink)
				}
				w.link(owner, docgen.Folder, folder, open) // a new one
			},
			"removed": func(_ *testing.T, owner *docgen.Caller, folder, _ int64) {
				w.link(owner, docgen.Folder, folder, docgen.LinkChange{Remove: true})
			},
			"of a folder in the trash": func(t *testing.T, owner *docgen.Caller, folder, _ int64) {
				must(t, w.TrashFolder(ctx, owner, folder, true, ""))
			},
			"of a file in the trash": func(t *testing.T, owner *docgen.Caller, _, file int64) { must(t, w.TrashFile(ctx, owner, file, "")) },
			"of a deleted folder": func(t *testing.T, owner *docgen.Caller, folder, _ int64) {
				must(t, w.TrashFolder(ctx, owner, folder, true, ""))
				must(t, w.Purge(ctx, owner, docgen.Folder, folder))
			},
			"of a file that was moved out": func(t *testing.T, owner *docgen.Caller, _, file int64) {
				_, err := w.UpdateFile(ctx, owner, file, docgen.ItemChange{ParentID: new(int64(0))})
				must(t, err)
			},
			"of an inactive owner": func(t *testing.T, owner *docgen.Caller, _, _ int64) {
				must(t, w.exec("UPDATE users SET status = 'inactive' WHERE login = '"+owner.User.Login+"'"))
			},
			"of a deleted owner": func(t *testing.T, owner *docgen.Caller, _, _ int64) {
				must(t, w.DeleteUser(ctx, w.Operator(), owner.User.ID, true))
			},
			"with a new password": func(_ *testing.T, owner *docgen.Caller, folder, _ int64) {
				w.link(owner, docgen.Folder, folder, docgen.LinkChange{Password: new("correct horse")})
			},
		} {
			t.Run(name, func(t *testing.T) {
				owner := w.user(strings.ReplaceAll(name, " ", "-"))
				folder := w.folder(owner, 0, name)
				file := w.upload(owner, folder, "a.txt", "x").ID
				link := w.link(owner, docgen.Folder, folder, open)
				visitor, user := w.visitor(link), w.bobWith(link)
				ticket, err := w.Ticket(ctx, user, file, 0)
				must(t, err)
				end(t, owner, folder, file)
				for _, c := range []*docgen.Caller{visitor, user} {
					_, err := w.Content(ctx, c, file, 0)
					wantCode(t, err, docgen.CodeNotFound)
				}
				redeemed, _, err := w.Redeem(ctx, ticket)
				must(t, err)
				_, err = w.Content(ctx, redeemed, file, 0)
				wantCode(t, err, docgen.CodeNotFound)
			})
		}
	})
}

// bobWith is bob with a link.
func (w *world) bobWith(link *docgen.SharedLink) *docgen.Caller {
	w.t.Helper()
	with, err := w.visit(w.bob, link)
	must(w.t, err)
	return with
}

// TestPasswordsOfLinks compares passwords, counts attempts, and uses passes.
func TestPasswordsOfLinks(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		file := w.upload(w.alice, 0, "a.txt", "x").ID
		link := w.link(w.alice, docgen.File, file, docgen.LinkChange{Access: docgen.LinkOpen, Password: new("correct horse")})
		if stored := query[string](w, "SELECT password FROM shared_links")[0]; !strings.HasPrefix(stored, "$argon2id$v=19$") {
			t.Errorf("the password is stored as %s", stored)
		}
		attempts := 0
		enter := func(password, pass string) (*docgen.Caller, error) {
			with, _, err := w.WithLink(ctx, w.Visitor(), docgen.LinkKey{Secret: secretOf(link), Password: password, Pass: pass,
				Attempt: func(int64) error { attempts++; return nil }})
			return with, err
		}
		for _, wrong := range []string{"", "correct", "Correct horse", "correct horse ", strings.Repeat("x", 1000)} {
			if _, err := enter(wrong, ""); !errors.Is(err, docgen.ErrLinkPassword) {
				t.Errorf("%q: %v", wrong, err)
			}
		}
		if attempts != 3 { // an empty password, and one that is too long, need no comparison
			t.Errorf("%d attempts, want 3", attempts)
		}
		c, err := enter("correct horse", "")
		must(t, err)
		_, err = enter("correct horse", "") // known by now
		must(t, err)
		if attempts != 4 {
			t.Errorf("%d attempts, want 4", attempts)
		}
		pass := w.Pass(c)
		c, err = enter("", pass)
		must(t, err)
		_, err = w.Content(ctx, c, file, 0)
		must(t, err)
		for _, wrong := range []string{pass[1:], pass + "A", "B" + pass[1:], "x"} {
			if _, err := enter("", wrong); !errors.Is(err, docgen.ErrLinkPassword) {
				t.Errorf("the pass %s: %v", wrong, err)
			}
		}
		_, _, err = w.WithLink(ctx, w.Visitor(), docgen.LinkKey{Secret: secretOf(link), Password: "another one",
			Attempt: func(int64) error { return docgen.NotFound("file", 1) }})
		wantCode(t, err, docgen.CodeNotFound)

		second := w.link(w.alice, docgen.File, w.upload(w.alice, 0, "b.txt", "x").ID,
			docgen.LinkChange{Access: docgen.LinkOpen, Password: new("correct horse")})
		_, _, err = w.WithLink(ctx, w.Visitor(), docgen.LinkKey{Secret: secretOf(second), Pass: pass})
		if !errors.Is(err, docgen.ErrLinkPassword) {
			t.Errorf("the pass of another link: %v", err)
		}
		w.clock.advance(docgen.PassTTL)
		if _, err := enter("", pass); !errors.Is(err, docgen.ErrLinkPassword) {
			t.Errorf("an expired pass: %v", err)
		}
		w.link(w.alice, docgen.File, file, docgen.LinkChange{Password: new("battery staple")})
		if _, err := enter("correct horse", ""); !errors.Is(err, docgen.ErrLinkPassword) {
			t.Errorf("the old password: %v", err)
		}
		if plain := w.link(w.alice, docgen.File, file, docgen.LinkChange{Access: docgen.LinkCompany}); plain.HasPassword {
			t.Error("a link for users has a password")
		}
	})
}

// TestDownloadsWithLinks checks that downloads are counted, and notified of in the name of the user, or of nobody.
func TestDownloadsWithLinks(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		file := w.upload(w.alice, folder, "a.txt", "x").ID
		hook := w.hook(w.alice, folder, docgen.FileDownloaded)
		link := w.link(w.alice, docgen.Folder, folder, open)
		for _, c := range []*docgen.Caller{w.visitor(link), w.bobWith(link), w.alice} {
			content, err := w.Content(ctx, c, file, 0)
			must(t, err)
			must(t, content.NotifyDownload(ctx))
		}
		item, err := w.Folder(ctx, w.alice, folder)
		must(t, err)
		if item.SharedLink.Downloads != 2 {
			t.Errorf("%d downloads, want 2", item.SharedLink.Downloads)
		}
		bodies := query[string](w, fmt.Sprint("SELECT body FROM webhook_deliveries JOIN webhook_bodies ON delivery_id = id WHERE webhook_id = ",
			hook.ID, " ORDER BY id"))
		for i, who := range []string{`"ID":2,"Name":"Anonymous","Login":""`, `"Name":"bob"`, `"Name":"alice"`} {
			if _, by, _ := strings.Cut(bodies[i], `"CreatedBy":`); !strings.Contains(by[:80], who) {
				t.Errorf("the event is %s, want it by %s", bodies[i], who)
			}
		}
	})
}
