package docgen_test

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
)

func sha1Of(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestCreateFile(t *testing.T) {
	runWith(t, docgen.Limits{UploadBytes: 100}, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		create := func(f docgen.NewFile, text string) (*docgen.Item, error) {
			return w.CreateFile(ctx, w.alice, f, iotest.OneByteReader(strings.NewReader(text)))
		}
		t.Run("keeps the content and tells all about it", func(t *testing.T) {
			got, err := create(docgen.NewFile{Name: "a.txt", ParentID: folder, SHA1: strings.ToUpper(sha1Of("content")),
				ContentModifiedAt: noon.Add(-time.Hour)}, "content")
			must(t, err)
			if got.ID == 0 || got.VersionID == 0 || got.ID == got.VersionID {
				t.Errorf("ids of file and version = %d, %d", got.ID, got.VersionID)
			}
			alice := docgen.UserRef{ID: w.alice.User.ID, Name: "alice", Login: "alice@example.com"}
			parent := docgen.FolderRef{ID: folder, Name: "folder"}
			want := &docgen.Item{
				Kind: docgen.File, ID: got.ID, Name: "a.txt", Size: 7, SHA1: sha1Of("content"), VersionID: got.VersionID, VersionNumber: 1,
				Parent: &parent, Path: []docgen.FolderRef{{ID: 0, Name: "All Files"}, parent},
				Owner: alice, CreatedBy: alice, ModifiedBy: alice,
				CreatedAt: noon, ModifiedAt: noon, ContentCreatedAt: noon, ContentModifiedAt: noon.Add(-time.Hour),
				Permissions: got.Permissions,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			again, err := w.File(ctx, w.alice, got.ID)
			must(t, err)
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("the file read again: -created +read:\n%s", diff)
			}
			if text := w.text(w.alice, got.ID, 0); text != "content" {
				t.Errorf("content = %q", text)
			}
		})
		t.Run("keeps an empty file and one as large as may be", func(t *testing.T) {
			for _, size := range []int{0, 100} {
				item, err := create(docgen.NewFile{Name: fmt.Sprint(size), ParentID: folder}, strings.Repeat("x", size))
				if err != nil || item.Size != int64(size) {
					t.Errorf("%d bytes: %+v, %v", size, item, err)
				}
			}
		})
		before := len(w.keys())
		refused := map[string]struct {
			file    docgen.NewFile
			content io.Reader
			want    docgen.Code
		}{
			"a bad digest": {docgen.NewFile{Name: "b", ParentID: folder, SHA1: sha1Of("other")}, reader("content"),
				docgen.CodeBadDigest},
			"an invalid digest": {docgen.NewFile{Name: "b", ParentID: folder, SHA1: "zz"}, reader("content"), docgen.CodeBadDigest},
			"a byte too many":   {docgen.NewFile{Name: "b", ParentID: folder}, reader(strings.Repeat("x", 101)), docgen.CodeTooLarge},
			"far too much": {docgen.NewFile{Name: "b", ParentID: folder}, reader(strings.Repeat("x", 1<<20)),
				docgen.CodeTooLarge},
			"a taken name, unread":         {docgen.NewFile{Name: "A.TXT", ParentID: folder}, unread{t}, docgen.CodeNameInUse},
			"a bad name, unread":           {docgen.NewFile{Name: "a/b", ParentID: folder}, unread{t}, docgen.CodeNameInvalid},
			"a folder that is not, unread": {docgen.NewFile{Name: "b", ParentID: 1}, unread{t}, docgen.CodeNotFound},
			"a folder that is a file, unread": {docgen.NewFile{Name: "b", ParentID: w.upload(w.alice, 0, "file", "x").ID}, unread{t},
				docgen.CodeNotFound},
		}
		before++ // the last case's file
		for name, tt := range refused {
			t.Run("refuses "+name, func(t *testing.T) {
				item, err := w.CreateFile(ctx, w.alice, tt.file, tt.content)
				wantCode(t, err, tt.want)
				if item != nil {
					t.Errorf("item = %+v, want none", item)
				}
			})
		}
		t.Run("fails with the error of a broken upload", func(t *testing.T) {
			broken := errors.New("the line is cut")
			_, err := w.CreateFile(ctx, w.alice, docgen.NewFile{Name: "b", ParentID: folder},
				io.MultiReader(reader("half"), iotest.ErrReader(broken)))
			if !errors.Is(err, broken) {
				t.Errorf("error = %v, want %v", err, broken)
			}
		})
		t.Run("leaves nothing of rejected uploads", func(t *testing.T) {
			if got := len(w.keys()); got != before {
				t.Errorf("%d contents, want %d", got, before)
			}
			w.wantNoOrphans()
			if n := w.count("SELECT COUNT(*) FROM items WHERE name = 'b'"); n != 0 {
				t.Errorf("%d rows of refused files", n)
			}
		})
		t.Run("returns the conflicting item", func(t *testing.T) {
			_, err := create(docgen.NewFile{Name: "A.TXT", ParentID: folder}, "x")
			conflicts := asError(t, err).Conflicts
			if len(conflicts) != 1 || conflicts[0].Name != "a.txt" || conflicts[0].Kind != docgen.File {
				t.Errorf("conflicts = %+v, want a.txt", conflicts)
			}
		})
	})
}

func TestNamesInAFolder(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.upload(w.alice, 0, "Café", "x")
		other := w.folder(w.alice, 0, "other")
		for _, name := range []string{"Café", "CAFÉ", "cafe\u0301"} {
			_, err := w.CreateFile(ctx, w.alice, docgen.NewFile{Name: name}, unread{t})
			wantCode(t, err, docgen.CodeNameInUse)
			_, err = w.CreateFolder(ctx, w.alice, docgen.NewFolder{Name: name})
			wantCode(t, err, docgen.CodeNameInUse)
			_, err = w.UpdateFolder(ctx, w.alice, other, docgen.ItemChange{Name: &name})
			wantCode(t, err, docgen.CodeNameInUse)
		}
		if names := w.names(w.alice, 0); len(names) != 2 {
			t.Errorf("the folder holds %q, want 2 items", names)
		}
		w.upload(w.alice, other, "CAFÉ", "a name of another folder is free")
	})
}

// TestConcurrentUploads has many callers upload a file with the same name at once.
func TestConcurrentUploads(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		const uploads = 40
		errs := make([]error, uploads)
		begin := make(chan struct{})
		var group sync.WaitGroup
		for i := range uploads {
			group.Go(func() {
				content := &gate{begin, reader(fmt.Sprint(i))}
				_, errs[i] = w.CreateFile(t.Context(), w.alice, docgen.NewFile{Name: "one.txt"}, content)
			})
		}
		close(begin)
		group.Wait()
		winners := 0
		for i, err := range errs {
			if err == nil {
				winners++
			} else if !docgen.IsCode(err, docgen.CodeNameInUse) {
				t.Errorf("upload %d: %v, want %s", i, err, docgen.CodeNameInUse)
			}
		}
		if winners != 1 {
			t.Errorf("%d uploads won, want 1", winners)
		}
		w.wantNoOrphans()
	})
}

// gate blocks readers until it is opened.
type gate struct {
	open <-chan struct{}
	r    io.Reader
}

func (g *gate) Read(p []byte) (int, error) {
	<-g.open
	return g.r.Read(p)
}

func TestCreateVersion(t *testing.T) {
	runWith(t, docgen.Limits{UploadBytes: 100}, func(t *testing.T, w *world) {
		ctx := t.Context()
		first := w.upload(w.alice, 0, "a.txt", "one")
		w.upload(w.alice, 0, "b.txt", "other")
		w.clock.advance(time.Minute)
		second, err := w.CreateVersion(ctx, w.alice, docgen.NewVersion{FileID: first.ID, Name: "A2.txt", IfMatch: "0"}, reader("two!"))
		must(t, err)
		t.Run("becomes the current one", func(t *testing.T) {
			if second.ID != first.ID || second.VersionID == first.VersionID || second.VersionNumber != 2 || second.ETag <= first.ETag ||
				second.Name != "A2.txt" || second.Size != 4 || second.SHA1 != sha1Of("two!") ||
				!second.ModifiedAt.Equal(noon.Add(time.Minute)) || !second.ContentModifiedAt.Equal(noon.Add(time.Minute)) ||
				!second.CreatedAt.Equal(noon) {
				t.Errorf("file = %+v", second)
			}
			if text := w.text(w.alice, first.ID, 0); text != "two!" {
				t.Errorf("content = %q, want two!", text)
			}
		})
		t.Run("leaves the one before it", func(t *testing.T) {
			if text := w.text(w.alice, first.ID, first.VersionID); text != "one" {
				t.Errorf("content of the first version = %q, want one", text)
			}
		})
		t.Run("of another file is not found", func(t *testing.T) {
			other := w.upload(w.alice, 0, "c.txt", "c")
			_, err := w.Content(ctx, w.alice, other.ID, first.VersionID)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.Content(ctx, w.alice, other.ID, 12345)
			wantCode(t, err, docgen.CodeNotFound)
		})
		refused := map[string]struct {
			version docgen.NewVersion
			content io.Reader
			want    docgen.Code
		}{
			"an old etag, unread": {docgen.NewVersion{FileID: first.ID, IfMatch: "0"}, unread{t}, docgen.CodePrecondition},
			"no etag, unread":     {docgen.NewVersion{FileID: first.ID, IfMatch: "x"}, unread{t}, docgen.CodePrecondition},
			"a bad name, unread":  {docgen.NewVersion{FileID: first.ID, Name: ".."}, unread{t}, docgen.CodeNameInvalid},
			"a taken name":        {docgen.NewVersion{FileID: first.ID, Name: "B.TXT"}, reader("x"), docgen.CodeNameInUse},
			"a bad digest":        {docgen.NewVersion{FileID: first.ID, SHA1: sha1Of("other")}, reader("x"), docgen.CodeBadDigest},
			"too much":            {docgen.NewVersion{FileID: first.ID}, reader(strings.Repeat("x", 101)), docgen.CodeTooLarge},
		}
		for name, tt := range refused {
			t.Run("is refused with "+name, func(t *testing.T) {
				_, err := w.CreateVersion(ctx, w.alice, tt.version, tt.content)
				wantCode(t, err, tt.want)
			})
		}
		t.Run("that is refused leaves nothing", func(t *testing.T) {
			w.wantNoOrphans()
			if item, err := w.File(ctx, w.alice, first.ID); err != nil || item.ETag != second.ETag {
				t.Errorf("file = %+v, %v, want it unchanged", item, err)
			}
		})
		t.Run("may keep the name, in another case too", func(t *testing.T) {
			for _, name := range []string{"", "A2.txt", "a2.TXT"} {
				_, err := w.CreateVersion(ctx, w.alice, docgen.NewVersion{FileID: first.ID, Name: name, IfMatch: "*"}, reader("x"))
				wantCode(t, err, "")
			}
		})
	})
}

// TestConcurrentVersions has many callers upload a new version of a file at once: none is lost.
func TestConcurrentVersions(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		const uploads = 16
		file := w.upload(w.alice, 0, "a.txt", "0")
		errs := make([]error, 2*uploads)
		var group sync.WaitGroup
		for i := range uploads {
			group.Go(func() {
				_, errs[i] = w.CreateVersion(t.Context(), w.alice, docgen.NewVersion{FileID: file.ID}, reader(fmt.Sprint(i)))
			})
			group.Go(func() {
				_, errs[uploads+i] = w.UpdateFile(t.Context(), w.alice, file.ID, docgen.ItemChange{Name: new(fmt.Sprint("renamed ", i))})
			})
		}
		group.Wait()
		must(t, errors.Join(errs...))
		item, err := w.File(t.Context(), w.alice, file.ID)
		must(t, err)
		if item.VersionNumber != 1+uploads || item.ETag != 2*uploads {
			t.Errorf("version %d, etag %d, want %d and %d", item.VersionNumber, item.ETag, 1+uploads, 2*uploads)
		}
		w.wantNoOrphans()
	})
}

func TestContent(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		file := w.upload(w.alice, 0, "a.txt", "0123456789")
		content, err := w.Content(t.Context(), w.alice, file.ID, 0)
		must(t, err)
		if content.Name != "a.txt" || content.Size != 10 || content.SHA1 != sha1Of("0123456789") || content.VersionID != file.VersionID ||
			!content.ModifiedAt.Equal(noon) {
			t.Errorf("content = %+v", content)
		}
		for want, at := range map[string][2]int64{"0123456789": {0, -1}, "3456": {3, 4}, "789": {7, -1}, "9": {9, 5}, "": {10, -1}} {
			r, err := content.Open(t.Context(), at[0], at[1])
			must(t, err)
			got, err := io.ReadAll(r)
			must(t, errors.Join(err, r.Close()))
			if string(got) != want {
				t.Errorf("%d bytes from %d = %q, want %q", at[1], at[0], got, want)
			}
		}
	})
}

func TestUpdateFile(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		file := w.upload(w.alice, 0, "a.txt", "a")
		w.upload(w.alice, folder, "taken.txt", "x")
		update := func(change docgen.ItemChange) (*docgen.Item, error) {
			return w.UpdateFile(ctx, w.alice, file.ID, change)
		}

		t.Run("renames and describes", func(t *testing.T) {
			w.clock.advance(time.Minute)
			item, err := update(docgen.ItemChange{Name: new("b.txt"), Description: new("a letter")})
			must(t, err)
			if item.Name != "b.txt" || item.Description != "a letter" || item.ETag != 1 || !item.ModifiedAt.Equal(noon.Add(time.Minute)) ||
				item.VersionID != file.VersionID {
				t.Errorf("item = %+v", item)
			}
			item, err = update(docgen.ItemChange{Name: new("B.txt")})
			if err != nil || item.Name != "B.txt" || item.Description != "a letter" {
				t.Errorf("another case of the same name: %+v, %v", item, err)
			}
		})
		t.Run("wants the etag that was asked for", func(t *testing.T) {
			_, err := update(docgen.ItemChange{Name: new("c.txt"), IfMatch: "0"})
			wantCode(t, err, docgen.CodePrecondition)
			wantCode(t, w.TrashFile(ctx, w.alice, file.ID, "0"), docgen.CodePrecondition)
			_, err = update(docgen.ItemChange{Name: new("b.txt"), IfMatch: "2"})
			wantCode(t, err, "")
		})
		t.Run("rejects invalid changes", func(t *testing.T) {
			for name, tt := range map[string]struct {
				change docgen.ItemChange
				want   docgen.Code
			}{
				"a bad name":                     {docgen.ItemChange{Name: new("")}, docgen.CodeNameInvalid},
				"a long description":             {docgen.ItemChange{Description: new(strings.Repeat("x", 1025))}, docgen.CodeBadRequest},
				"a description no base can keep": {docgen.ItemChange{Description: new("a\x00b")}, docgen.CodeBadRequest},
				"a description that is no UTF-8": {docgen.ItemChange{Description: new("\xff")}, docgen.CodeBadRequest},
				"a folder that is not":           {docgen.ItemChange{ParentID: new(int64(1))}, docgen.CodeNotFound},
				"a file for a folder":            {docgen.ItemChange{ParentID: &file.ID}, docgen.CodeNotFound},
				"a name taken where it goes":     {docgen.ItemChange{ParentID: &folder, Name: new("TAKEN.txt")}, docgen.CodeNameInUse},
			} {
				_, err := update(tt.change)
				if !docgen.IsCode(err, tt.want) {
					t.Errorf("%s: %v, want %s", name, err, tt.want)
				}
			}
			item, err := w.File(ctx, w.alice, file.ID)
			if err != nil || item.ETag != 3 {
				t.Errorf("item = %+v, %v, want it unchanged", item, err)
			}
		})
		t.Run("moves", func(t *testing.T) {
			item, err := update(docgen.ItemChange{ParentID: &folder})
			must(t, err)
			if item.Parent.ID != folder || len(w.names(w.alice, 0)) != 1 || len(w.names(w.alice, folder)) != 2 {
				t.Errorf("item = %+v, want it in the folder alone", item)
			}
			item, err = update(docgen.ItemChange{ParentID: new(int64(0))})
			if err != nil || item.Parent.ID != 0 {
				t.Errorf("back to the root folder: %+v, %v", item, err)
			}
		})
		t.Run("moves only where the caller may put things", func(t *testing.T) {
			theirs := w.folder(w.bob, 0, "bob's")
			_, err := update(docgen.ItemChange{ParentID: &theirs})
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.CreateCollaboration(ctx, w.bob, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: theirs,
				UserID: w.alice.User.ID, Role: docgen.RoleViewer})
			must(t, err)
			_, err = update(docgen.ItemChange{ParentID: &theirs})
			wantCode(t, err, docgen.CodeForbidden)
		})
		t.Run("into the trash", func(t *testing.T) {
			must(t, w.TrashFile(ctx, w.alice, file.ID, "*"))
			_, err := w.File(ctx, w.alice, file.ID)
			wantCode(t, err, docgen.CodeTrashed)
			wantCode(t, w.TrashFile(ctx, w.alice, file.ID, ""), docgen.CodeTrashed)
			w.upload(w.alice, 0, "b.txt", "the name is free")
			w.wantNoOrphans()
		})
	})
}
