package docgen_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

func fileIn(id int64) docgen.ZipItem { return docgen.ZipItem{Kind: docgen.File, ID: id} }

func folderIn(id int64) docgen.ZipItem { return docgen.ZipItem{Kind: docgen.Folder, ID: id} }

// zipped creates a ZIP download.
func (w *world) zipped(c *docgen.Caller, items ...docgen.ZipItem) docgen.ZipDownload {
	w.t.Helper()
	made, err := w.CreateZip(w.t.Context(), c, docgen.NewZip{Items: items})
	must(w.t, err)
	return made
}

// unpack downloads a ZIP file, and returns its paths, each with the content, and what it lacks. Before each file, it calls before.
func (w *world) unpack(c *docgen.Caller, zip docgen.ZipDownload, before func(path string)) (paths []string, missing string) {
	w.t.Helper()
	ctx := w.t.Context()
	bundle, err := w.StartZip(ctx, c, zip.ID)
	must(w.t, err)
	for file, err := range bundle.Files {
		must(w.t, err)
		if before != nil {
			before(file.Path)
		}
		if file.Content == nil {
			paths = append(paths, file.Path)
			continue
		}
		text, err := io.ReadAll(file.Reader)
		must(w.t, errors.Join(err, file.Reader.Close()))
		paths = append(paths, file.Path+" "+string(text))
	}
	_, lines := bundle.Missing()
	bundle.End(ctx, nil)
	return paths, strings.Join(lines, "\n")
}

func (w *world) wantStatus(c *docgen.Caller, zip docgen.ZipDownload, want docgen.ZipStatus) {
	w.t.Helper()
	got, err := w.ZipStatus(w.t.Context(), c, zip.Ticket)
	must(w.t, err)
	if got != want {
		w.t.Errorf("the status is %+v, want %+v", got, want)
	}
}

func TestZipOfFolders(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		top := w.folder(w.alice, 0, "Top")
		b := w.folder(w.alice, top, "b")
		w.folder(w.alice, top, "Empty")
		trashed := w.folder(w.alice, top, "trashed")
		w.upload(w.alice, trashed, "in trash.txt", "x")
		must(t, w.TrashFolder(t.Context(), w.alice, trashed, true, ""))
		must(t, w.TrashFile(t.Context(), w.alice, w.upload(w.alice, b, "gone.txt", "x").ID, ""))
		w.upload(w.alice, b, "inner.txt", "inner")
		w.upload(w.alice, top, "c.txt", "")
		changed := w.upload(w.alice, top, "a.txt", "old")
		w.version(w.alice, changed.ID, "a")
		single := w.upload(w.alice, 0, "single.txt", "single")
		w.upload(w.alice, 0, "other.txt", "not requested")
		hook, files := w.hook(w.alice, top, docgen.FolderDownloaded), w.hook(w.alice, b, docgen.FileDownloaded, docgen.FolderDownloaded)

		zip := w.zipped(w.alice, folderIn(top), fileIn(single.ID))
		if len(zip.Conflicts) > 0 || !zip.ExpiresAt.Equal(noon.Add(docgen.ZipTTL)) {
			t.Errorf("the download is %+v", zip)
		}
		_, err := w.ZipStatus(t.Context(), w.alice, zip.Ticket)
		wantCode(t, err, docgen.CodeNotFound) // before the start
		found, err := w.FindZip(t.Context(), w.alice, zip.ID)
		must(t, err)
		paths, missing := w.unpack(w.alice, zip, nil)
		want := []string{"Top/", "Top/a.txt a", "Top/b/", "Top/b/inner.txt inner", "Top/c.txt ", "Top/Empty/", "single.txt single"}
		if !slices.Equal(paths, want) || missing != "" || found.FileName() != "Files.zip" {
			t.Errorf("%s has %q and lacks %q, want %q", found.FileName(), paths, missing, want)
		}
		w.wantStatus(w.alice, zip, docgen.ZipStatus{Files: 4, Downloaded: 4, State: docgen.ZipSucceeded})
		if got := w.notices(hook.ID); !slices.Equal(got, []string{"FOLDER.DOWNLOADED folder Top"}) {
			t.Errorf("notifications for the folder: %q", got)
		}
		if got := w.notices(files.ID); !slices.Equal(got, []string{"FILE.DOWNLOADED file inner.txt"}) {
			t.Errorf("notifications for the folder in it: %q", got) // it was not requested itself
		}
		found, err = w.FindZip(t.Context(), w.alice, w.zipped(w.alice, fileIn(single.ID)).ID)
		if err != nil || found.FileName() != "single.txt.zip" {
			t.Errorf("the ZIP file of a file is %q: %v", found.FileName(), err)
		}
	})
}

// TestZipNames downloads items whose names are equal, or mean something else on some systems.
func TestZipNames(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		var items []docgen.ZipItem
		for i, name := range []string{"Report.pdf", "report.PDF", "Report (1).pdf", "CON", "Report.pdf", "b:c", "b?c", docgen.MissingName} {
			parent := w.folder(w.alice, 0, fmt.Sprint("parent ", i))
			items = append(items, fileIn(w.upload(w.alice, parent, name, "").ID))
		}
		nested := w.folder(w.alice, 0, "Report.pdf")
		for _, name := range []string{"aux.txt", "x:", "x*", "..."} {
			w.upload(w.alice, nested, name, "")
		}
		items = append(items, folderIn(nested))
		zip := w.zipped(w.alice, items...)
		var conflicts []string
		for _, pair := range zip.Conflicts {
			conflicts = append(conflicts, fmt.Sprintf("%s %s, %s %s", pair[0].Original, pair[0].Download, pair[1].Original, pair[1].Download))
		}
		if want := []string{
			"Report.pdf Report.pdf, report.PDF report (1).PDF", "report.PDF report (1).PDF, Report (1).pdf Report (1) (1).pdf",
			"Report.pdf Report.pdf, Report.pdf Report (2).pdf", "b:c b_c, b?c b_c (1)",
			"Report.pdf Report.pdf, Report.pdf Report.pdf (3)", //nolint:dupword // names
		}; !slices.Equal(conflicts, want) {
			t.Errorf("conflicts:\n%s\nwant:\n%s", strings.Join(conflicts, "\n"), strings.Join(want, "\n"))
		}
		// The names stay, whatever happens to the items before the download.
		must(t, w.TrashFile(t.Context(), w.alice, items[0].ID, ""))
		_, err := w.UpdateFile(t.Context(), w.alice, items[3].ID, docgen.ItemChange{Name: new("report.pdf")})
		must(t, err)
		paths, missing := w.unpack(w.alice, zip, nil)
		want := []string{"report (1).PDF ", "Report (1) (1).pdf ", "report (3).pdf ", "Report (2).pdf ", "b_c ", "b_c (1) ",
			docgen.MissingName + " ",
			"Report.pdf (3)/", "Report.pdf (3)/_ ", "Report.pdf (3)/_aux.txt ", "Report.pdf (3)/x_ ", "Report.pdf (3)/x_ (1) "}
		if !slices.Equal(paths, want) || !strings.Contains(missing, "1 files and folders were deleted") {
			t.Errorf("the ZIP file has %q and lacks %q, want %q", paths, missing, want)
		}
		w.wantStatus(w.alice, zip, docgen.ZipStatus{Files: 12, Downloaded: 11, Skipped: 1, State: docgen.ZipSucceeded})
	})
}

// TestZipChanges changes what is downloaded, after the download has started.
func TestZipChanges(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		top := w.folder(w.alice, 0, "top")
		deleted, inner := w.upload(w.alice, top, "b.txt", "b"), w.folder(w.alice, top, "c")
		w.upload(w.alice, inner, "inner.txt", "inner")
		w.upload(w.alice, top, "a.txt", "a")
		last := w.upload(w.alice, top, "d.txt", "old")
		w.share(docgen.Folder, top, w.bob, docgen.RoleViewer)
		revoked := w.folder(w.alice, 0, "revoked")
		w.upload(w.alice, revoked, "secret.txt", "secret")
		shared := w.share(docgen.Folder, revoked, w.bob, docgen.RoleViewer)

		zip := w.zipped(w.bob, folderIn(top), folderIn(revoked))
		paths, missing := w.unpack(w.bob, zip, func(path string) {
			if path != "top/a.txt" {
				return
			}
			must(t, w.TrashFile(ctx, w.alice, deleted.ID, ""))
			must(t, w.Purge(ctx, w.alice, docgen.File, deleted.ID))
			must(t, w.TrashFolder(ctx, w.alice, inner, true, ""))
			w.version(w.alice, last.ID, "new")
			must(t, w.DeleteCollaboration(ctx, w.alice, shared.ID))
		})
		want := []string{"top/", "top/a.txt a", "top/d.txt new"}
		if !slices.Equal(paths, want) || !strings.HasPrefix(missing, "3 files and folders") {
			t.Errorf("the ZIP file has %q and lacks %q, want %q", paths, missing, want)
		}
		w.wantStatus(w.bob, zip, docgen.ZipStatus{Files: 3, Downloaded: 2, Skipped: 1, SkippedFolders: 2, State: docgen.ZipSucceeded})
		_, err := w.StartZip(ctx, w.bob, w.zipped(w.alice, folderIn(top)).ID)
		wantCode(t, err, docgen.CodeNotFound) // of another user

		late := w.zipped(w.bob, folderIn(top))
		must(t, w.TrashFolder(ctx, w.alice, top, true, ""))
		_, err = w.StartZip(ctx, w.bob, late.ID)
		wantCode(t, err, docgen.CodeTrashed) // nothing is left
	})
}

func TestZipsThatCannotBe(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		file := fileIn(w.upload(w.alice, 0, "a.txt", "a").ID)
		trashed := folderIn(w.folder(w.alice, 0, "trashed"))
		must(t, w.TrashFolder(ctx, w.alice, trashed.ID, true, ""))
		bobs := fileIn(w.upload(w.bob, 0, "bob.txt", "b").ID)
		many := make([]docgen.ZipItem, 1001)
		for i := range many {
			many[i] = fileIn(int64(i))
		}
		for why, tt := range map[string]struct {
			docgen.NewZip
			code docgen.Code
		}{
			"nothing":            {docgen.NewZip{}, docgen.CodeBadRequest},
			"too many items":     {docgen.NewZip{Items: many}, docgen.CodeBadRequest},
			"an item twice":      {docgen.NewZip{Items: []docgen.ZipItem{file, file}}, docgen.CodeBadRequest},
			"the root folder":    {docgen.NewZip{Items: []docgen.ZipItem{folderIn(0)}}, docgen.CodeBadRequest},
			"a name that climbs": {docgen.NewZip{Items: []docgen.ZipItem{file}, Name: "../x.zip"}, docgen.CodeNameInvalid},
			"another's item":     {docgen.NewZip{Items: []docgen.ZipItem{file, bobs}}, docgen.CodeNotFound},
			"trash":              {docgen.NewZip{Items: []docgen.ZipItem{file, trashed}}, docgen.CodeTrashed},
			"a wrong kind":       {docgen.NewZip{Items: []docgen.ZipItem{folderIn(file.ID)}}, docgen.CodeNotFound},
		} {
			if _, err := w.CreateZip(ctx, w.alice, tt.NewZip); !docgen.IsCode(err, tt.code) {
				t.Errorf("%s: %v, want %s", why, err, tt.code)
			}
		}
		_, err := w.CreateZip(ctx, w.caller("alice", docgen.ScopeDocGen), docgen.NewZip{Items: []docgen.ZipItem{file}})
		wantCode(t, err, docgen.CodeScope)
		if n := w.count("SELECT COUNT(*) FROM zip_downloads"); n != 0 {
			t.Errorf("there are %d downloads", n)
		}
		must(t, w.exec("UPDATE items SET size = $1 WHERE id = $2", int64(32<<30+1), file.ID))
		_, err = w.CreateZip(ctx, w.alice, docgen.NewZip{Items: []docgen.ZipItem{file}})
		wantCode(t, err, docgen.CodeZipFiles)
	})
}

// TestLargeZip downloads as many files as possible, and paths that are too long.
func TestLargeZip(t *testing.T) {
	runLong(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		top, hundred := w.folder(w.alice, 0, "top"), w.folder(w.alice, 0, "hundred")
		for i := range 100 {
			w.upload(w.alice, hundred, fmt.Sprintf("%d.txt", i), "text")
		}
		for i := range 100 {
			_, err := w.CopyFolder(ctx, w.alice, docgen.NewCopy{ItemID: hundred, ParentID: top, Name: fmt.Sprint("copy ", i)})
			must(t, err)
		}
		zip := w.zipped(w.alice, folderIn(top))
		paths, missing := w.unpack(w.alice, zip, nil)
		slices.Sort(paths)
		if len(slices.Compact(paths)) != 10_101 || missing != "" {
			t.Errorf("the ZIP file has %d paths and lacks %q", len(paths), missing)
		}
		w.wantStatus(w.alice, zip, docgen.ZipStatus{Files: 10_000, Downloaded: 10_000, State: docgen.ZipSucceeded})

		late := w.zipped(w.alice, folderIn(top))
		w.upload(w.alice, top, "one more", "")
		_, err := w.CreateZip(ctx, w.alice, docgen.NewZip{Items: []docgen.ZipItem{folderIn(top)}})
		wantCode(t, err, docgen.CodeZipFiles)
		bundle, err := w.StartZip(ctx, w.alice, late.ID)
		must(t, err)
		var failed error
		for file, err := range bundle.Files {
			if failed = err; err == nil && file.Reader != nil {
				must(t, file.Reader.Close())
			}
		}
		if failed == nil {
			t.Error("the ZIP file has more files than it may have")
		}
		bundle.End(ctx, failed)

		must(t, w.exec("UPDATE items SET kind = 0 WHERE kind = 1 AND parent_id <> $1", top))
		_, err = w.CreateZip(ctx, w.alice, docgen.NewZip{Items: []docgen.ZipItem{folderIn(top)}})
		wantCode(t, err, docgen.CodeZipFiles) // too many folders

		deep := w.folder(w.alice, 0, "deep")
		for inner := deep; ; {
			inner = w.folder(w.alice, inner, strings.Repeat("ü", 200))
			if w.upload(w.alice, inner, "x", "x"); w.count("SELECT COUNT(*) FROM items WHERE name LIKE 'üü%'") == 5 {
				break
			}
		}
		zip = w.zipped(w.alice, folderIn(deep))
		paths, missing = w.unpack(w.alice, zip, nil)
		if len(paths) != 5 || !strings.HasPrefix(missing, "1 files and folders would have paths of more than 1024 bytes") {
			t.Errorf("the ZIP file has %q and lacks %q", paths, missing)
		}
	})
}

// TestZipStates starts downloads again, too many at once, and too late.
func TestZipStates(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		file := fileIn(w.upload(w.alice, 0, "a.txt", "a").ID)
		start := func(zip docgen.ZipDownload, code docgen.Code) *docgen.Bundle {
			t.Helper()
			bundle, err := w.StartZip(ctx, w.alice, zip.ID)
			wantCode(t, err, code)
			return bundle
		}
		zips := make([]docgen.ZipDownload, 6)
		bundles := make([]*docgen.Bundle, len(zips))
		for i := range zips {
			zips[i] = w.zipped(w.alice, file)
		}
		for i := range 5 {
			bundles[i] = start(zips[i], "")
		}
		w.wantStatus(w.alice, zips[0], docgen.ZipStatus{Files: 1, State: docgen.ZipInProgress})
		start(zips[0], docgen.CodeNotFound)
		start(zips[5], docgen.CodeZipStreams)
		bundles[0].End(ctx, errors.New("the connection broke"))
		w.wantStatus(w.alice, zips[0], docgen.ZipStatus{Files: 1, State: docgen.ZipFailed})
		w.unpack(w.alice, zips[0], nil) // again
		start(zips[0], docgen.CodeNotFound)
		w.unpack(w.alice, zips[5], nil)

		// The server of the other four crashes, except for one that sends a large file.
		large := w.zipped(w.alice, fileIn(w.upload(w.alice, 0, "large", strings.Repeat("x", 1000)).ID))
		bundle := start(large, "")
		for file, err := range bundle.Files {
			must(t, err)
			for range 10 {
				w.clock.advance(time.Minute)
				_, err := io.ReadFull(file.Reader, make([]byte, 100))
				must(t, err)
			}
			w.wantStatus(w.alice, large, docgen.ZipStatus{Files: 1, State: docgen.ZipInProgress})
			must(t, file.Reader.Close())
		}
		w.wantStatus(w.alice, zips[1], docgen.ZipStatus{Files: 1, State: docgen.ZipFailed})
		again := start(zips[1], "")
		bundles[1].End(ctx, nil) // the first attempt has lost the download
		w.wantStatus(w.alice, zips[1], docgen.ZipStatus{Files: 1, State: docgen.ZipInProgress})
		again.End(ctx, nil)
		bundle.End(ctx, nil)

		_, _, err := w.RedeemZip(ctx, large.Ticket)
		must(t, err)
		w.clock.advance(docgen.ZipTTL)
		_, _, err = w.RedeemZip(ctx, large.Ticket)
		wantCode(t, err, docgen.CodeUnauthorized)
		w.wantStatus(w.alice, large, docgen.ZipStatus{Files: 1, Downloaded: 1, State: docgen.ZipSucceeded})
		w.clock.advance(docgen.ZipStatusTTL)
		_, err = w.ZipStatus(ctx, w.alice, large.Ticket)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.Sweep(ctx)
		must(t, err)
		if n := w.count("SELECT COUNT(*) FROM zip_downloads"); n != 0 {
			t.Errorf("%d downloads were not swept", n)
		}
	})
}

// TestZipTickets uses the tickets of downloads as those of files, of others, and after changes.
func TestZipTickets(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		file := w.upload(w.alice, 0, "a.txt", "a")
		zip := w.zipped(w.alice, fileIn(file.ID))
		c, redeemed, err := w.RedeemZip(ctx, zip.Ticket)
		must(t, err)
		if c.User.ID != w.alice.User.ID || redeemed.ZipID != zip.ID || redeemed.FileID != 0 {
			t.Errorf("the ticket is %+v for %+v", redeemed, c)
		}
		_, _, err = w.Redeem(ctx, zip.Ticket)
		wantCode(t, err, docgen.CodeUnauthorized)
		ofFile, err := w.Ticket(ctx, w.alice, file.ID, 0)
		must(t, err)
		_, _, err = w.RedeemZip(ctx, ofFile)
		wantCode(t, err, docgen.CodeUnauthorized)
		w.unpack(w.alice, zip, nil)
		for i := range zip.Ticket {
			changed := zip.Ticket[:i] + string(zip.Ticket[i]^1) + zip.Ticket[i+1:]
			if _, _, err := w.RedeemZip(ctx, changed); !docgen.IsCode(err, docgen.CodeUnauthorized) {
				t.Errorf("changed at %d: %v", i, err)
			}
			if _, err := w.ZipStatus(ctx, w.alice, changed); !docgen.IsCode(err, docgen.CodeNotFound) {
				t.Errorf("the status, changed at %d: %v", i, err)
			}
		}
		_, err = w.ZipStatus(ctx, w.bob, zip.Ticket)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.ZipStatus(ctx, w.caller("alice", docgen.ScopeDocGen), zip.Ticket)
		wantCode(t, err, docgen.CodeScope)
		must(t, w.RevokeToken(ctx, w.alice, w.alice.TokenID))
		_, _, err = w.RedeemZip(ctx, zip.Ticket)
		wantCode(t, err, docgen.CodeUnauthorized)
	})
}

// TestManyZips creates more downloads than are kept, and deletes the user.
func TestManyZips(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		carol := w.user("carol")
		file := fileIn(w.upload(carol, 0, "a.txt", "a").ID)
		first := w.zipped(carol, file)
		running := w.zipped(carol, file)
		_, err := w.StartZip(ctx, carol, running.ID)
		must(t, err)
		for range 105 {
			w.clock.advance(time.Millisecond)
			w.zipped(carol, file)
		}
		if n := w.count("SELECT COUNT(*) FROM zip_downloads"); n != 101 {
			t.Errorf("%d downloads are kept, want 100 and the one in progress", n)
		}
		_, err = w.StartZip(ctx, carol, first.ID)
		wantCode(t, err, docgen.CodeNotFound)
		w.wantStatus(carol, running, docgen.ZipStatus{Files: 1, State: docgen.ZipInProgress})
		must(t, w.DeleteUser(ctx, w.member("root", docgen.RoleAdmin), carol.User.ID, true))
		if n := w.count("SELECT COUNT(*) FROM zip_downloads"); n != 0 {
			t.Errorf("%d downloads of a deleted user", n)
		}
	})
}
