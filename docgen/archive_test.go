package docgen_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"platen/blob"
	"platen/docgen"
	"platen/store/storetest"
)

// archivist returns an admin whose token has the scopes for archives, in addition to others.
func (w *world) archivist(scopes ...docgen.Scope) *docgen.Caller {
	w.t.Helper()
	if w.count("SELECT COUNT(*) FROM users WHERE login = 'admin@example.com'") == 0 {
		_, err := w.CreateUser(w.t.Context(), docgen.NewUser{Login: "admin@example.com", Name: "admin", Role: docgen.RoleAdmin})
		must(w.t, err)
	}
	return w.caller("admin", append(scopes, docgen.ScopeGlobalContent, docgen.ScopeWrite)...)
}

func (w *world) archive(c *docgen.Caller, name string) docgen.Archive {
	w.t.Helper()
	made, err := w.CreateArchive(w.t.Context(), c, docgen.NewArchive{Name: name})
	must(w.t, err)
	return made
}

// archives returns all archives, read page by page.
func (w *world) archives(c *docgen.Caller) []docgen.Archive {
	w.t.Helper()
	all := []docgen.Archive{}
	for r := (docgen.PageRequest{Limit: 2}); ; {
		page, err := w.Archives(w.t.Context(), c, r)
		must(w.t, err)
		all = append(all, page.Entries...)
		if r.Marker = page.Next; r.Marker == "" {
			return all
		}
	}
}

// generate generates one document like a worker, and returns its job.
func (w *world) generate(c *docgen.Caller, template, folder int64) docgen.Job {
	w.t.Helper()
	job, err := w.tryGenerate(w.t.Context(), c, template, folder)
	must(w.t, err)
	return job
}

// tryGenerate is generate, but returns errors.
func (w *world) tryGenerate(ctx context.Context, c *docgen.Caller, template, folder int64) (docgen.Job, error) {
	batch, err := w.CreateBatch(ctx, c, batchOf(template, folder, "{}"))
	if err != nil {
		return docgen.Job{}, err
	}
	jobs, err := w.Jobs(ctx, c, docgen.JobFilter{BatchID: new(batch)}, docgen.PageRequest{})
	if err != nil {
		return docgen.Job{}, err
	}
	id := jobs.Entries[0].ID
	p := &press{world: w, batchID: batch}
	if err := p.work("document"); err != nil {
		return docgen.Job{}, err
	}
	return w.Job(ctx, c, id)
}

// again returns another service on the same database and contents, like another server.
func (w *world) again(cfg docgen.Config) *world {
	w.t.Helper()
	other := &world{t: w.t, db: w.db, cfg: w.cfg, blobs: w.blobs, alice: w.alice, bob: w.bob}
	if w.cfg.URL != "" {
		other.db = storetest.Open(w.t, w.cfg)
	}
	if cfg.Blobs == nil {
		cfg.Blobs = w.blobs
	}
	cfg.Store, cfg.Now = other.db, w.clock.now
	var err error
	other.Service, err = docgen.New(w.t.Context(), cfg)
	must(w.t, err)
	return other
}

func TestArchives(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		c := w.archivist()
		first := w.archive(c, "First")
		t.Run("are of the enterprise", func(t *testing.T) {
			made, err := w.CreateArchive(ctx, c, docgen.NewArchive{Name: "Contracts", Description: "ten years"})
			must(t, err)
			account := query[int64](w, "SELECT account_id FROM enterprises")[0]
			want := docgen.Archive{ID: made.ID, Name: "Contracts", Description: "ten years", OwnerID: account}
			if made != want {
				t.Errorf("CreateArchive = %+v, want %+v", made, want)
			}
			if got := w.archives(c); !slices.Equal(got, []docgen.Archive{first, want}) {
				t.Errorf("Archives = %+v", got)
			}
			folder, err := w.Folder(ctx, c, made.ID)
			must(t, err)
			if folder.Parent != nil || folder.Name != "Contracts" || folder.Owner.ID != account || len(folder.Path) != 0 {
				t.Errorf("Folder = %+v, want one without a parent", folder)
			}
		})
		t.Run("have names of their own, whatever the case", func(t *testing.T) {
			_, err := w.CreateArchive(ctx, c, docgen.NewArchive{Name: "FIRST"})
			wantCode(t, err, docgen.CodeConflict)
			_, err = w.UpdateArchive(ctx, c, first.ID, docgen.ArchiveChange{Name: new("contracts")})
			wantCode(t, err, docgen.CodeConflict)
			if names := problemNames(t, err); !slices.Equal(names, []string{"name"}) {
				t.Errorf("problems with %q", names)
			}
			changed, err := w.UpdateArchive(ctx, c, first.ID, docgen.ArchiveChange{Name: new("fIRST")})
			if err != nil || changed.Name != "fIRST" {
				t.Errorf("UpdateArchive = %+v, %v: the archive's own name in another case", changed, err)
			}
		})
		t.Run("keep omitted fields", func(t *testing.T) {
			for _, change := range []docgen.ArchiveChange{{Name: new("First")}, {Description: new("old")}, {}} {
				_, err := w.UpdateArchive(ctx, c, first.ID, change)
				must(t, err)
			}
			want := docgen.Archive{ID: first.ID, Name: "First", Description: "old", OwnerID: first.OwnerID}
			if got := w.archives(c)[0]; got != want {
				t.Errorf("archive = %+v, want %+v", got, want)
			}
			folder, err := w.Folder(ctx, c, first.ID)
			if err != nil || folder.ETag != 3 {
				t.Errorf("Folder = %+v, %v, want it changed three times: nothing is no change", folder, err)
			}
		})
		t.Run("cannot be changed as folders", func(t *testing.T) {
			_, err := w.UpdateFolder(ctx, c, first.ID, docgen.ItemChange{Name: new("x")})
			wantCode(t, err, docgen.CodeForbidden)
			_, err = w.UpdateFolder(ctx, c, first.ID, docgen.ItemChange{ParentID: new(int64(0))})
			wantCode(t, err, docgen.CodeForbidden)
			wantCode(t, w.TrashFolder(ctx, c, first.ID, true, ""), docgen.CodeForbidden)
			_, err = w.CreateCollaboration(ctx, c, docgen.NewCollaboration{ItemID: first.ID, UserID: w.bob.User.ID, Role: docgen.RoleViewer})
			wantCode(t, err, docgen.CodeForbidden)
		})
		t.Run("are found only among archives", func(t *testing.T) {
			for _, id := range []int64{0, 1, w.folder(w.alice, 0, "plain"), w.folder(c, first.ID, "inside")} {
				_, err := w.UpdateArchive(ctx, c, id, docgen.ArchiveChange{})
				wantCode(t, err, docgen.CodeNotFound)
				wantCode(t, w.DeleteArchive(ctx, c, id), docgen.CodeNotFound)
			}
		})
	})
}

func TestInvalidArchives(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		c := w.archivist(docgen.ScopeManagedUsers)
		made := w.archive(c, "a")
		long := strings.Repeat("ä", 101)
		for _, tt := range []struct {
			name, description string
			policy            *int64
			code              docgen.Code
			fields            string
		}{
			{strings.Repeat("ä", 100), strings.Repeat("ä", 255), nil, "", ""},
			{"with the default", "", new(int64(1)), "", ""},
			{"", "", nil, docgen.CodeNameInvalid, "name"},
			{"a/b", "", nil, docgen.CodeNameInvalid, "name"},
			{`a\b`, "", nil, docgen.CodeNameInvalid, "name"},
			{"a\tb", "", nil, docgen.CodeNameInvalid, "name"},
			{"a ", "", nil, docgen.CodeNameInvalid, "name"},
			{" a", "", nil, docgen.CodeNameInvalid, "name"},
			{"..", "", nil, docgen.CodeNameInvalid, "name"},
			{"a\xff", "", nil, docgen.CodeNameInvalid, "name"},
			{long, "", nil, docgen.CodeNameTooLong, "name"},
			{"x", strings.Repeat("x", 256), nil, docgen.CodeBadRequest, "description"},
			{"x", "\x00", nil, docgen.CodeBadRequest, "description"},
			{"x", "\xff", nil, docgen.CodeBadRequest, "description"},
			{"x", "", new(int64(4711)), docgen.CodeBadRequest, "storage_policy_id"},
			{"x", "", new(int64(0)), docgen.CodeBadRequest, "storage_policy_id"},
			{"", "\x00", new(int64(0)), docgen.CodeNameInvalid, "name description storage_policy_id"},
		} {
			_, err := w.CreateArchive(ctx, c, docgen.NewArchive{Name: tt.name, Description: tt.description, PolicyID: tt.policy})
			wantCode(t, err, tt.code)
			if tt.code == "" {
				continue
			}
			if got := strings.Join(problemNames(t, err), " "); got != tt.fields {
				t.Errorf("%q, %q: problems with %s, want %s", tt.name, tt.description, got, tt.fields)
			}
			if tt.policy == nil {
				_, err = w.UpdateArchive(ctx, c, made.ID, docgen.ArchiveChange{Name: &tt.name, Description: &tt.description})
				wantCode(t, err, tt.code)
			}
		}
		t.Run("because there are too many", func(t *testing.T) {
			n := docgen.MaxArchives - len(w.archives(c)) - 1
			must(t, w.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
				INSERT INTO items (id, kind, parent_id, owner_id, name, name_key, description, etag, version_id, version_number, size, sha1, created_at,
					created_by, modified_at, modified_by, content_created_at, content_modified_at, trashed_at, trashed_by, storage_policy_id)
				SELECT i, 0, parent_id, owner_id, 'many', 'many ' || i, '', 0, 0, 0, 0, '', 0, created_by, 0, created_by, 0, 0, 0, 0, 1
				FROM items, n WHERE items.id = $1`, made.ID, n))
			w.recount()
			w.archive(c, "the last")
			_, err := w.CreateArchive(ctx, c, docgen.NewArchive{Name: "one too many"})
			wantCode(t, err, docgen.CodeRefused)
			must(t, w.DeleteArchive(ctx, c, made.ID))
			w.archive(c, "in its place")
		})
	})
}

// TestScopesOfArchives tries the operations with every subset of the scopes that they require.
func TestScopesOfArchives(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		made := w.archive(w.archivist(), "a")
		asked := []docgen.Scope{docgen.ScopeRead, docgen.ScopeWrite, docgen.ScopeGlobalContent, docgen.ScopeManagedUsers}
		for set := 1; set < 1<<len(asked); set++ {
			var scopes []docgen.Scope
			for i, scope := range asked {
				if set&(1<<i) != 0 {
					scopes = append(scopes, scope)
				}
			}
			c := w.caller("admin", scopes...)
			write := slices.Contains(scopes, docgen.ScopeWrite) && slices.Contains(scopes, docgen.ScopeGlobalContent)
			read := write || slices.Contains(scopes, docgen.ScopeRead) && slices.Contains(scopes, docgen.ScopeGlobalContent)
			_, list := w.Archives(ctx, c, docgen.PageRequest{})
			_, create := w.CreateArchive(ctx, c, docgen.NewArchive{Name: "a"})
			_, placed := w.CreateArchive(ctx, c, docgen.NewArchive{Name: "a", PolicyID: new(int64(1))})
			_, update := w.UpdateArchive(ctx, c, made.ID, docgen.ArchiveChange{})
			for name, op := range map[string]struct {
				err     error
				allowed bool
			}{
				"Archives": {list, read}, "CreateArchive": {create, write}, "UpdateArchive": {update, write},
				"CreateArchive with a policy": {placed, write && slices.Contains(scopes, docgen.ScopeManagedUsers)},
				"DeleteArchive":               {w.DeleteArchive(ctx, c, 1), write},
			} {
				if docgen.IsCode(op.err, docgen.CodeScope) == op.allowed {
					t.Errorf("%s with the scopes %q: %v", name, scopes, op.err)
				}
			}
		}
	})
}

func TestDeletingArchives(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		c := w.archivist()
		made := w.archive(c, "a")
		file := w.upload(c, made.ID, "a.txt", "x")
		err := w.DeleteArchive(ctx, c, made.ID)
		wantCode(t, err, docgen.CodeFolderNotEmpty)
		must(t, w.TrashFile(ctx, c, file.ID, ""))

		keeping := w.again(docgen.Config{KeepArchives: true})
		wantCode(t, keeping.DeleteArchive(ctx, c, made.ID), docgen.CodeRefused)
		wantCode(t, keeping.DeleteArchive(ctx, w.alice, made.ID), docgen.CodeScope)

		must(t, w.DeleteArchive(ctx, c, made.ID))
		wantCode(t, w.DeleteArchive(ctx, c, made.ID), docgen.CodeNotFound)
		_, err = w.UpdateArchive(ctx, c, made.ID, docgen.ArchiveChange{})
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.CreateFile(ctx, c, docgen.NewFile{Name: "b.txt", ParentID: made.ID}, unread{t})
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.Restore(ctx, c, docgen.File, file.ID, docgen.Restoration{})
		wantCode(t, err, docgen.CodeNotFound)
		w.removeContents()
		w.wantNoOrphans()
		if again := w.archive(c, "A"); !slices.Equal(w.archives(c), []docgen.Archive{again}) {
			t.Errorf("archives = %+v, want the new one alone", w.archives(c))
		}
	})
}

// TestArchivesRaceForNames has two servers create archives with one name, and rename others to it, at the same time.
// One of them gets the name, and all others get an error.
func TestArchivesRaceForNames(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		c := w.archivist()
		other := w.again(docgen.Config{})
		for round := range 10 {
			name := fmt.Sprint("wanted ", round)
			var attempts []func() error
			for i, server := range []*world{w, other, w, other} {
				made := w.archive(c, fmt.Sprint("rival ", round, i))
				attempts = append(attempts,
					func() error {
						_, err := server.CreateArchive(ctx, c, docgen.NewArchive{Name: name})
						return err
					},
					func() error {
						_, err := server.UpdateArchive(ctx, c, made.ID, docgen.ArchiveChange{Name: new(strings.ToUpper(name))})
						return err
					})
			}
			errs := make([]error, len(attempts))
			var group sync.WaitGroup
			for i, attempt := range attempts {
				group.Go(func() { errs[i] = attempt() })
			}
			group.Wait()
			won := 0
			for _, err := range errs {
				if err == nil {
					won++
					continue
				}
				wantCode(t, err, docgen.CodeConflict)
			}
			if won != 1 {
				t.Errorf("%d got the name, want 1", won)
			}
		}
	})
}

// TestMovingIntoArchives moves a shared folder with a template into an archive, and out again to another user.
func TestMovingIntoArchives(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		c := w.archivist(docgen.ScopeDocGen)
		made := w.archive(c, "a")
		folder := w.folder(w.alice, 0, "folder")
		below := w.folder(w.alice, folder, "below")
		template := w.template(w.alice, below, "template.docx")
		other := w.upload(w.alice, 0, "other.txt", "12345")
		w.share(docgen.Folder, folder, w.bob, docgen.RoleEditor)
		w.share(docgen.File, template.ID, w.bob, docgen.RoleCoOwner)

		_, err := w.UpdateFolder(ctx, w.alice, folder, docgen.ItemChange{ParentID: &made.ID})
		wantCode(t, err, docgen.CodeNotFound) // other users do not see archives
		moved, err := w.UpdateFolder(ctx, c, folder, docgen.ItemChange{ParentID: &made.ID})
		must(t, err)
		_, err = w.UpdateFile(ctx, c, other.ID, docgen.ItemChange{ParentID: &below})
		must(t, err)
		if moved.Parent.ID != made.ID || len(moved.Path) != 1 || moved.Owner.ID != made.OwnerID {
			t.Errorf("moved = %+v, want it in the archive and the enterprise's", moved)
		}
		size := template.Size + 5
		if got := w.archives(c)[0].Size; got != size {
			t.Errorf("the archive holds %d bytes, want %d", got, size)
		}

		t.Run("takes everything from everybody else", func(t *testing.T) {
			for _, former := range []*docgen.Caller{w.alice, w.bob} {
				_, err := w.Folder(ctx, former, folder)
				wantCode(t, err, docgen.CodeNotFound)
				_, err = w.Content(ctx, former, template.ID, 0)
				wantCode(t, err, docgen.CodeNotFound)
				_, err = w.File(ctx, former, other.ID)
				wantCode(t, err, docgen.CodeNotFound)
				_, err = w.Template(ctx, former, template.ID)
				wantCode(t, err, docgen.CodeNotFound)
				if page, err := w.Templates(ctx, former, docgen.PageRequest{}); err != nil || len(page.Entries) != 0 {
					t.Errorf("Templates = %+v, %v, want none", page.Entries, err)
				}
			}
		})
		t.Run("changes nothing for its managers", func(t *testing.T) {
			if got := w.text(c, template.ID, 0); got != "text of template.docx" {
				t.Errorf("content = %q", got)
			}
			if names := w.names(c, below); !slices.Equal(names, []string{"other.txt", "template.docx"}) {
				t.Errorf("below = %q", names)
			}
			w.version(c, other.ID, "123")
			w.folder(c, below, "new folder")
			must(t, w.TrashFolder(ctx, c, w.folder(c, made.ID, "new"), false, ""))
			if got := w.archives(c)[0].Size; got != size-2 {
				t.Errorf("the archive holds %d bytes, want %d", got, size-2)
			}
		})
		t.Run("makes documents there", func(t *testing.T) {
			job := w.generate(c, template.ID, made.ID)
			file, err := w.File(ctx, c, job.OutputFileID)
			if err != nil || file.Owner.ID != made.OwnerID {
				t.Errorf("output = %+v, %v, want the enterprise's", file, err)
			}
			must(t, w.TrashFile(ctx, c, job.OutputFileID, ""))
		})
		t.Run("ends when it is moved out", func(t *testing.T) {
			_, err := w.UpdateFolder(ctx, c, folder, docgen.ItemChange{ParentID: new(int64(0)), ParentOwner: w.bob.User.ID})
			must(t, err)
			restored, err := w.Folder(ctx, w.bob, folder)
			if err != nil || restored.Owner.ID != w.bob.User.ID || restored.Parent.ID != 0 {
				t.Errorf("Folder = %+v, %v, want it in bob's root folder", restored, err)
			}
			_, err = w.Folder(ctx, w.alice, folder)
			wantCode(t, err, docgen.CodeNotFound)
			if n := w.count("SELECT COUNT(*) FROM collaborations"); n != 0 {
				t.Errorf("%d collaborations, want none", n)
			}
			if page, err := w.Templates(ctx, w.bob, docgen.PageRequest{}); err != nil || len(page.Entries) != 1 {
				t.Errorf("Templates = %+v, %v, want the one restored", page.Entries, err)
			}
			if got := w.archives(c)[0].Size; got != 0 {
				t.Errorf("the archive holds %d bytes, want none", got)
			}
			_, err = w.UpdateFile(ctx, c, other.ID, docgen.ItemChange{ParentID: new(w.folder(w.alice, 0, "alice's"))})
			must(t, err)
			if file, err := w.File(ctx, w.alice, other.ID); err != nil || file.Owner.ID != w.alice.User.ID {
				t.Errorf("File = %+v, %v, want alice's", file, err)
			}
		})
		t.Run("does not lead to strangers", func(t *testing.T) {
			account := query[int64](w, "SELECT account_id FROM enterprises")[0]
			for caller, owners := range map[*docgen.Caller][]int64{c: {4711, account}, w.alice: {4711, account, w.bob.User.ID}} {
				for _, owner := range owners {
					_, err := w.UpdateFile(ctx, caller, other.ID, docgen.ItemChange{ParentID: new(int64(0)), ParentOwner: owner})
					if got := problemNames(t, err); !slices.Equal(got, []string{"parent.user_id"}) {
						t.Errorf("into the root folder of %d: problems with %q", owner, got)
					}
				}
			}
			_, err := w.UpdateFile(ctx, c, other.ID, docgen.ItemChange{ParentID: &folder, ParentOwner: w.bob.User.ID})
			wantCode(t, err, docgen.CodeBadRequest)
		})
	})
}

// TestTemplatesInArchivesInclude shows that a template in an archive finds the files in its folder there, even if
// neither it nor its uploader could find them before.
func TestTemplatesInArchivesInclude(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		c := w.archivist()
		made := w.archive(c, "a")
		beside := w.upload(c, made.ID, "terms.docx", "terms")
		template := w.template(w.alice, 0, "template.docx")
		_, err := w.IncludedContent(ctx, template.VersionID, "terms.docx", docgen.Requester{})
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.UpdateFile(ctx, c, template.ID, docgen.ItemChange{ParentID: &made.ID})
		must(t, err)
		content, err := w.IncludedContent(ctx, template.VersionID, "terms.docx", docgen.Requester{})
		if err != nil || content.VersionID != beside.VersionID {
			t.Errorf("IncludedContent = %+v, %v, want the file next to it", content, err)
		}
		_, err = w.IncludedContent(ctx, template.VersionID, "none.docx", docgen.Requester{})
		wantCode(t, err, docgen.CodeNotFound)
	})
}

func TestStoragePolicies(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		c := w.archivist(docgen.ScopeManagedUsers)
		place := func() blob.Store {
			blobs, err := blob.Open(t.TempDir())
			must(t, err)
			return blobs
		}
		cold, warm := place(), place()
		both := w.again(docgen.Config{Policies: []docgen.NewStoragePolicy{{Name: "Cold", Blobs: cold}, {Name: "warm", Blobs: warm}}})
		list := func(w *world) (names []string) {
			for r := (docgen.PageRequest{Limit: 1}); ; {
				page, err := w.StoragePolicies(ctx, c, r)
				must(t, err)
				for _, p := range page.Entries {
					got, err := w.StoragePolicy(ctx, c, p.ID)
					if err != nil || got.Name != p.Name {
						t.Errorf("StoragePolicy(%d) = %+v, %v", p.ID, got, err)
					}
					names = append(names, p.Name)
				}
				if page.Prev != "" {
					before, err := w.StoragePolicies(ctx, c, docgen.PageRequest{Limit: 1, Marker: page.Prev})
					if err != nil || before.Entries[0].Name != names[len(names)-2] {
						t.Errorf("the page before = %+v, %v", before, err)
					}
				}
				if r.Marker = page.Next; r.Marker == "" {
					return names
				}
			}
		}
		if got := list(both); !slices.Equal(got, []string{"Default", "Cold", "warm"}) {
			t.Errorf("policies = %q", got)
		}
		if got := list(w); !slices.Equal(got, []string{"Default"}) {
			t.Errorf("policies of a server without = %q", got)
		}
		_, err := w.StoragePolicy(ctx, c, 4711)
		wantCode(t, err, docgen.CodeNotFound)
		for _, name := range []string{"default", "COLD", "", "a/b"} {
			policies := []docgen.NewStoragePolicy{{Name: "cold", Blobs: cold}, {Name: name, Blobs: warm}}
			if _, err := docgen.New(ctx, docgen.Config{Store: w.db, Blobs: w.blobs, Policies: policies}); err == nil {
				t.Errorf("a service with policies named cold and %q begins", name)
			}
		}
	})
}
