package docgen_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"platen/blob"
	"platen/blob/blobtest"
	"platen/docgen"
)

// meddled is a store that runs a function before the next content is read, or after the next is stored.
type meddled struct {
	*blobtest.Faulty
	before func() // the next Open
	after  func() // the next Put
}

func (m *meddled) Put(ctx context.Context, key string, r io.Reader) (int64, error) {
	n, err := m.Faulty.Put(ctx, key, r)
	if after := m.after; after != nil {
		m.after = nil
		after()
	}
	return n, err
}

func (m *meddled) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if before := m.before; before != nil {
		m.before = nil
		before()
	}
	return m.Faulty.Open(ctx, key, offset, length)
}

// stores is a world whose service has the storage policy "cold" in addition to the default, with an archive that uses
// it.
type stores struct {
	*world
	c         *docgen.Caller
	hot, cold *meddled
	coldID    int64
	archive   int64
}

func newStores(t *testing.T, w *world) *stores {
	t.Helper()
	ctx := t.Context()
	coldBlobs, err := blob.Open(t.TempDir())
	must(t, err)
	s := &stores{world: w, hot: &meddled{Faulty: blobtest.NewFaulty(w.blobs)}, cold: &meddled{Faulty: blobtest.NewFaulty(coldBlobs)}}
	w.Service, err = docgen.New(ctx, s.config())
	must(t, err)
	s.c = w.archivist(docgen.ScopeManagedUsers, docgen.ScopeDocGen)
	page, err := w.StoragePolicies(ctx, s.c, docgen.PageRequest{})
	must(t, err)
	s.coldID = page.Entries[1].ID
	made, err := w.CreateArchive(ctx, s.c, docgen.NewArchive{Name: "cold", PolicyID: &s.coldID})
	must(t, err)
	s.archive = made.ID
	return s
}

func (s *stores) config() docgen.Config {
	return docgen.Config{Store: s.db, Blobs: s.hot, Now: s.clock.now, Policies: []docgen.NewStoragePolicy{{Name: "cold", Blobs: s.cold}}}
}

// in returns the number of versions stored by a policy.
func (s *stores) in(policy int64) int {
	return query[int](s.world, "SELECT COUNT(*) FROM file_versions WHERE storage_policy_id = $1", policy)[0]
}

// wantWhole checks that each store holds exactly the contents that versions there refer to, and that all contents are
// in the right store.
func (s *stores) wantWhole() {
	s.t.Helper()
	for policy, blobs := range map[int64]blob.Store{1: s.hot, s.coldID: s.cold} {
		got := []string{}
		for info, err := range blobs.List(s.t.Context(), "versions/") {
			must(s.t, err)
			got = append(got, info.Key)
		}
		want := query[string](s.world, "SELECT DISTINCT blob_key FROM file_versions WHERE storage_policy_id = $1", policy)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			s.t.Errorf("contents of policy %d = %q, want those that versions name: %q", policy, got, want)
		}
	}
	if n := s.count("SELECT COUNT(*) FROM file_versions WHERE storage_policy_id <> wanted_policy_id"); n != 0 {
		s.t.Errorf("%d contents are not where they are wanted", n)
	}
}

func (s *stores) tasks() int {
	return s.count("SELECT COUNT(*) FROM river_job WHERE kind = 'relocate_contents'")
}

func (s *stores) relocate(want int) {
	s.t.Helper()
	moved, more, err := s.Relocate(s.t.Context())
	if err != nil || more || moved != want {
		s.t.Errorf("Relocate = %d, %t, %v, want %d", moved, more, err, want)
	}
}

func TestContentsMoveToArchivePolicy(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := newStores(t, w)
		ctx := t.Context()
		t.Run("immediately, if they are created there", func(t *testing.T) {
			file := s.upload(s.c, s.folder(s.c, s.archive, "folder"), "a.txt", "one")
			s.version(s.c, file.ID, "two")
			s.generate(s.c, s.template(s.alice, 0, "template.docx").ID, s.archive)
			if cold, hot := s.in(s.coldID), s.in(1); cold != 3 || hot != 1 {
				t.Errorf("%d contents in the archive's store and %d in the default, want 3 and 1", cold, hot)
			}
			if n := s.tasks(); n != 0 {
				t.Errorf("%d tasks, want none", n)
			}
			s.wantWhole()
		})
		t.Run("by a task, where they are moved in and out", func(t *testing.T) {
			folder := s.folder(s.alice, 0, "moved")
			file := s.upload(s.alice, folder, "a.txt", "one")
			s.version(s.alice, file.ID, "two")
			trashed := s.upload(s.alice, folder, "b.txt", "in the trash")
			must(t, s.TrashFile(ctx, s.alice, trashed.ID, ""))
			before := s.in(s.coldID)
			move := func(id, parent int64, owner *docgen.Caller) {
				t.Helper()
				_, err := s.UpdateFolder(ctx, s.c, id, docgen.ItemChange{ParentID: &parent, ParentOwner: owner.User.ID})
				must(t, err)
			}
			wantTexts := func() {
				t.Helper()
				if one, two := s.text(s.c, file.ID, file.VersionID), s.text(s.c, file.ID, 0); one != "one" || two != "two" {
					t.Errorf("contents = %q, %q", one, two)
				}
			}
			_, err := s.UpdateFolder(ctx, s.c, folder, docgen.ItemChange{ParentID: new(s.folder(s.c, s.archive, "deeper"))})
			must(t, err)
			wantTexts()
			if n := s.tasks(); n != 1 {
				t.Errorf("%d tasks, want 1", n)
			}
			s.relocate(3)
			s.relocate(0)
			wantTexts()
			if n := s.in(s.coldID); n != before+3 {
				t.Errorf("%d contents in the archive's store, want %d", n, before+3)
			}
			s.wantWhole()
			move(folder, 0, s.bob)
			s.relocate(3)
			wantTexts()
			if n := s.in(s.coldID); n != before {
				t.Errorf("%d contents in the archive's store, want %d", n, before)
			}
			s.wantWhole()
			_, err = s.UpdateFolder(ctx, s.c, folder, docgen.ItemChange{ParentID: &s.archive})
			must(t, err)
			_, err = s.UpdateFile(ctx, s.c, file.ID, docgen.ItemChange{ParentID: new(int64(0)), ParentOwner: s.bob.User.ID})
			must(t, err)
			s.relocate(1) // what was moved back out in time stays
			wantTexts()
			s.wantWhole()
		})
	})
}

// TestRelocationDuringChanges shows that contents stay intact if they are moved, deleted, or read during relocation.
func TestRelocationDuringChanges(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := newStores(t, w)
		ctx := t.Context()
		file := s.upload(s.alice, 0, "a.txt", "one")
		into := func() {
			t.Helper()
			_, err := s.UpdateFile(ctx, s.c, file.ID, docgen.ItemChange{ParentID: &s.archive})
			must(t, err)
		}
		out := func() {
			t.Helper()
			_, err := s.UpdateFile(ctx, s.c, file.ID, docgen.ItemChange{ParentID: new(int64(0)), ParentOwner: s.alice.User.ID})
			must(t, err)
		}
		t.Run("moved back", func(t *testing.T) {
			into()
			s.hot.before = out
			s.relocate(0)
			s.wantWhole()
		})
		t.Run("carried by another server", func(t *testing.T) {
			into()
			s.hot.before = func() { s.relocate(1) }
			s.relocate(0)
			s.wantWhole()
			out()
			s.relocate(1)
		})
		t.Run("read", func(t *testing.T) {
			content, err := s.Content(ctx, s.alice, file.ID, 0)
			must(t, err)
			into()
			s.relocate(1)
			r, err := content.Open(ctx, 1, 1)
			must(t, err)
			data, err := io.ReadAll(r)
			if err := errors.Join(err, r.Close()); err != nil || string(data) != "n" {
				t.Errorf("read %q, %v", data, err)
			}
			out()
			s.relocate(1)
		})
		t.Run("uploaded", func(t *testing.T) {
			folder := s.folder(s.alice, 0, "folder")
			content := &lazily{first: func() { // the folder moves while the content is uploaded
				_, err := s.UpdateFolder(ctx, s.c, folder, docgen.ItemChange{ParentID: &s.archive})
				must(t, err)
			}, Reader: reader("late")}
			late, err := s.CreateFile(ctx, s.c, docgen.NewFile{Name: "late.txt", ParentID: folder}, content)
			must(t, err)
			s.relocate(1)
			if text := s.text(s.c, late.ID, 0); text != "late" {
				t.Errorf("content = %q", text)
			}
			s.wantWhole()
		})
		t.Run("removed for good", func(t *testing.T) {
			gone := s.upload(s.c, s.archive, "gone.txt", "gone")
			_, err := s.UpdateFile(ctx, s.c, gone.ID, docgen.ItemChange{ParentID: new(int64(0))})
			must(t, err)
			s.cold.before = func() {
				must(t, s.exec("DELETE FROM file_versions WHERE id = $1", gone.VersionID))
				must(t, s.exec("DELETE FROM items WHERE id = $1", gone.ID))
				s.recount()
			}
			s.relocate(0)
			must(t, s.cold.Delete(ctx, fmt.Sprint("versions/", gone.VersionID))) // as who removes it does
			s.wantWhole()
		})
		t.Run("shared by two versions", func(t *testing.T) {
			other := s.upload(s.alice, 0, "b.txt", "other")
			must(t, s.exec("UPDATE file_versions SET blob_key = $1, size = 3, sha1 = $2 WHERE id = $3",
				fmt.Sprint("versions/", file.VersionID), file.SHA1, other.VersionID))
			key := query[string](s.world, "SELECT blob_key FROM file_versions WHERE id = $1", file.VersionID)[0]
			must(t, s.exec("UPDATE file_versions SET blob_key = $1 WHERE id = $2", key, other.VersionID))
			s.recount() // the other file is smaller now
			into()
			s.relocate(1)
			if one, two := s.text(s.c, file.ID, 0), s.text(s.alice, other.ID, 0); one != "one" || two != "one" {
				t.Errorf("contents = %q, %q", one, two)
			}
		})
	})
}

// lazily is content that runs a function before it is read.
type lazily struct {
	once  sync.Once
	first func()
	io.Reader
}

func (l *lazily) Read(p []byte) (int, error) {
	l.once.Do(l.first)
	return l.Reader.Read(p)
}

// TestRelocationFails interrupts relocation at each of its steps. In all cases, all contents can be read, and the next
// attempt and the sweep restore a consistent state.
func TestRelocationFails(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := newStores(t, w)
		ctx := t.Context()
		s.clock.micros.Store(time.Now().UnixMicro()) // contents have the time of the disk
		broken := errors.New("the power is gone")
		for name, fail := range map[string]func(){
			"reading":  func() { s.hot.Fail(blobtest.Open, 1, broken) },
			"copying":  func() { s.cold.Fail(blobtest.Put, 1, broken) },
			"removing": func() { s.hot.Fail(blobtest.Delete, 1, broken) },
			"no room":  func() { s.cold.Room(2) },
			"naming":   nil, // see below
		} {
			t.Run(name, func(t *testing.T) {
				files := []*docgen.Item{s.upload(s.alice, 0, "a.txt", "first"), s.upload(s.alice, 0, "b.txt", "second")}
				for _, file := range files {
					_, err := s.UpdateFile(ctx, s.c, file.ID, docgen.ItemChange{ParentID: &s.archive})
					must(t, err)
				}
				wantTexts := func() {
					t.Helper()
					if first, second := s.text(s.c, files[0].ID, 0), s.text(s.c, files[1].ID, 0); first != "first" || second != "second" {
						t.Errorf("contents = %q, %q", first, second)
					}
				}
				relocating, cancel := context.WithCancel(ctx)
				if fail == nil { // the process ends between copying and naming
					s.cold.after = cancel
				} else {
					fail()
				}
				_, more, err := s.Relocate(relocating)
				if err == nil || more {
					t.Errorf("Relocate = %t, %v, want the fault", more, err)
				}
				cancel()
				s.cold.Room(-1)
				wantTexts()
				_, _, err = s.Relocate(ctx)
				must(t, err)
				s.clock.advance(25 * time.Hour)
				_, err = s.Sweep(ctx)
				must(t, err)
				wantTexts()
				s.wantWhole()
				for _, file := range files {
					must(t, s.TrashFile(ctx, s.c, file.ID, ""))
				}
			})
		}
		t.Run("damaged contents stay, and do not block others", func(t *testing.T) {
			damaged, sound := s.upload(s.alice, 0, "a.txt", "first"), s.upload(s.alice, 0, "b.txt", "second")
			must(t, s.exec("UPDATE file_versions SET sha1 = 'x' WHERE id = $1", damaged.VersionID))
			for _, file := range []*docgen.Item{damaged, sound} {
				_, err := s.UpdateFile(ctx, s.c, file.ID, docgen.ItemChange{ParentID: &s.archive})
				must(t, err)
			}
			if moved, _, err := s.Relocate(ctx); err == nil || moved != 1 {
				t.Errorf("Relocate = %d, %v, want one and why not the other", moved, err)
			}
			content, err := s.Content(ctx, s.c, damaged.ID, 0)
			must(t, err)
			if _, err := content.Open(ctx, 0, -1); !docgen.IsCode(err, docgen.CodeContentDamaged) {
				t.Errorf("the damaged content is read: %v", err)
			}
			if kept, err := blob.ReadAll(ctx, s.blobs, s.keyOf(damaged), 100); err != nil || string(kept) != "first" {
				t.Errorf("its object = %q, %v", kept, err)
			}
		})
	})
}

// TestRelocationTimeLimit shows that a task stops in time, and that the next one continues.
func TestRelocationTimeLimit(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := newStores(t, w)
		ctx := t.Context()
		folder := s.folder(s.alice, 0, "folder")
		for i := range 120 {
			s.upload(s.alice, folder, fmt.Sprint(i), "x")
		}
		_, err := s.UpdateFolder(ctx, s.c, folder, docgen.ItemChange{ParentID: &s.archive})
		must(t, err)
		s.hot.before = func() { s.clock.advance(2 * time.Minute) }
		moved, more, err := s.Relocate(ctx)
		if err != nil || !more || moved != 1 {
			t.Errorf("Relocate = %d, %t, %v, want one and more to come", moved, more, err)
		}
		s.relocate(119)
		s.wantWhole()
		must(t, s.ScheduleRelocation(ctx))
		must(t, s.ScheduleRelocation(ctx))
		if n := s.tasks(); n != 2 {
			t.Errorf("%d tasks, want that of the move and one that comes again", n)
		}
	})
}

// TestPoliciesBelongToTheirContents shows with which stores a service does not start.
func TestPoliciesBelongToTheirContents(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := newStores(t, w)
		ctx := t.Context()
		start := func(change func(*docgen.Config)) error {
			cfg := s.config()
			change(&cfg)
			_, err := docgen.New(ctx, cfg)
			return err
		}
		without := func(cfg *docgen.Config) { cfg.Policies = nil }
		at := func(blobs blob.Store) func(*docgen.Config) {
			return func(cfg *docgen.Config) { cfg.Policies[0].Blobs = blobs }
		}
		empty := func() blob.Store {
			blobs, err := blob.Open(t.TempDir())
			must(t, err)
			return blobs
		}
		wantStart := func(what string, change func(*docgen.Config), want error) {
			t.Helper()
			if err := start(change); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		wantStart("with all", func(*docgen.Config) {}, nil)
		wantStart("without the policy of an archive", without, docgen.ErrPolicyMissing)
		wantStart("without contents", func(cfg *docgen.Config) { *cfg = docgen.Config{Store: s.db} }, nil)
		wantStart("with another name for the place", func(cfg *docgen.Config) { cfg.Policies[0].Name = "x" }, docgen.ErrPolicyMissing)

		folder := s.folder(s.c, s.archive, "folder")
		s.upload(s.c, folder, "a.txt", "x")
		wantStart("with an empty place", at(empty()), docgen.ErrOtherContents)
		wantStart("with the default place", at(s.hot), docgen.ErrOtherContents)
		wantStart("with one place for two", func(cfg *docgen.Config) {
			cfg.Policies = append(cfg.Policies, docgen.NewStoragePolicy{Name: "two", Blobs: s.cold})
		}, docgen.ErrOtherContents)

		_, err := s.UpdateFolder(ctx, s.c, folder, docgen.ItemChange{ParentID: new(int64(0))})
		must(t, err)
		must(t, s.DeleteArchive(ctx, s.c, s.archive))
		wantStart("without the policy of what waits to be carried away", without, docgen.ErrPolicyMissing)
		s.relocate(1)
		wantStart("without a policy that nothing has", without, nil)
		wantStart("with a new place for it", at(empty()), nil)

		fault := errors.New("read-only")
		s.cold.Fail(blobtest.Check, 1, fault)
		if ready := s.Ready(ctx); !errors.Is(ready["blobs"], fault) {
			t.Errorf("Ready = %v", ready)
		}
	})
}
