package docgen_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
)

// pastVersions lists the ids of the past versions of a file.
func (w *world) pastVersions(c *docgen.Caller, file int64) []int64 {
	w.t.Helper()
	page, err := w.Versions(w.t.Context(), c, file, docgen.OffsetRequest{Limit: docgen.MaxPageLimit})
	must(w.t, err)
	if page.Total != len(page.Entries) {
		w.t.Errorf("total %d of %d versions", page.Total, len(page.Entries))
	}
	ids := []int64{}
	for _, v := range page.Entries {
		ids = append(ids, v.ID)
	}
	return ids
}

func TestVersions(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		first := w.upload(w.alice, 0, "a.txt", "one")
		if got := w.pastVersions(w.alice, first.ID); len(got) != 0 {
			t.Errorf("versions before the first: %v", got)
		}
		w.clock.advance(time.Minute)
		second := w.version(w.alice, first.ID, "second")
		third := w.version(w.alice, first.ID, "3")
		if got, want := w.pastVersions(w.alice, first.ID), []int64{second.VersionID, first.VersionID}; !slices.Equal(got, want) {
			t.Errorf("past versions %v, want %v: the newest first, without the current one", got, want)
		}
		alice := docgen.UserRef{ID: w.alice.User.ID, Name: "alice", Login: "alice@example.com"}
		want := docgen.Version{ID: first.VersionID, Number: 1, Name: "a.txt", SHA1: sha1Of("one"), Size: 3, CreatedAt: noon, CreatedBy: alice}
		version := func() docgen.Version {
			t.Helper()
			got, err := w.Version(ctx, w.alice, first.ID, first.VersionID)
			must(t, err)
			return got
		}
		if diff := cmp.Diff(want, version()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		t.Run("are listed by pages", func(t *testing.T) {
			page, err := w.Versions(ctx, w.alice, first.ID, docgen.OffsetRequest{Offset: 1, Limit: 1})
			must(t, err)
			if page.Total != 2 || len(page.Entries) != 1 || page.Entries[0].ID != first.VersionID {
				t.Errorf("the second page is %+v", page)
			}
		})
		t.Run("of another file are not found", func(t *testing.T) {
			other := w.upload(w.alice, 0, "other.txt", "x")
			_, err := w.Version(ctx, w.alice, first.ID, other.VersionID)
			wantCode(t, err, docgen.CodeNotFound)
			wantCode(t, w.TrashVersion(ctx, w.alice, first.ID, other.VersionID, ""), docgen.CodeNotFound)
			_, err = w.PromoteVersion(ctx, w.alice, first.ID, other.VersionID)
			wantCode(t, err, docgen.CodeNotFound)
		})
		t.Run("go into the trash and come back", func(t *testing.T) {
			wantCode(t, w.TrashVersion(ctx, w.alice, first.ID, first.VersionID, "77"), docgen.CodePrecondition)
			wantCode(t, w.TrashVersion(ctx, w.alice, first.ID, third.VersionID, ""), docgen.CodeForbidden) // the current one
			_, err := w.RestoreVersion(ctx, w.alice, first.ID, first.VersionID)
			wantCode(t, err, docgen.CodeNotTrashed)
			must(t, w.TrashVersion(ctx, w.alice, first.ID, first.VersionID, "2"))
			want.TrashedAt, want.TrashedBy = noon.Add(time.Minute), &alice
			if diff := cmp.Diff(want, version()); diff != "" {
				t.Errorf("in the trash (-want +got):\n%s", diff)
			}
			if got := w.pastVersions(w.alice, first.ID); len(got) != 2 {
				t.Errorf("with one in the trash there are %d", len(got))
			}
			wantCode(t, w.TrashVersion(ctx, w.alice, first.ID, first.VersionID, ""), docgen.CodeTrashed)
			_, err = w.Content(ctx, w.alice, first.ID, first.VersionID)
			wantCode(t, err, docgen.CodeTrashed)
			_, err = w.PromoteVersion(ctx, w.alice, first.ID, first.VersionID)
			wantCode(t, err, docgen.CodeTrashed)
			_, err = w.CopyFile(ctx, w.alice, docgen.NewCopy{ItemID: first.ID, VersionID: first.VersionID, Name: "copy"})
			wantCode(t, err, docgen.CodeTrashed)

			restored, err := w.RestoreVersion(ctx, w.alice, first.ID, first.VersionID)
			must(t, err)
			want.TrashedAt, want.TrashedBy, want.RestoredAt, want.RestoredBy = time.Time{}, nil, noon.Add(time.Minute), &alice
			if diff := cmp.Diff(want, restored); diff != "" {
				t.Errorf("restored (-want +got):\n%s", diff)
			}
			if text := w.text(w.alice, first.ID, first.VersionID); text != "one" {
				t.Errorf("content %q", text)
			}
		})
	})
}

func TestPromoteVersion(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		first := w.template(w.alice, 0, "a.docx")
		_, err := w.CreateVersion(ctx, w.alice, docgen.NewVersion{FileID: first.ID, Name: "b.docx"}, reader("second"))
		must(t, err)
		w.clock.advance(time.Minute)
		promoted, err := w.PromoteVersion(ctx, w.alice, first.ID, first.VersionID)
		must(t, err)
		if promoted.Number != 3 || promoted.Name != "a.docx" || promoted.SHA1 != first.SHA1 || promoted.ID == first.VersionID ||
			!promoted.CreatedAt.Equal(noon.Add(time.Minute)) {
			t.Errorf("promoted %+v", promoted)
		}
		file, err := w.File(ctx, w.alice, first.ID)
		must(t, err)
		if file.Name != "a.docx" || file.Size != first.Size || file.VersionID != promoted.ID || file.VersionNumber != 3 || file.ETag != 2 {
			t.Errorf("file %+v", file)
		}
		if text := w.text(w.alice, first.ID, 0); text != "text of a.docx" {
			t.Errorf("content %q", text)
		}
		if n := len(w.keys()); n != 2 {
			t.Errorf("%d contents, want 2: the content itself is not copied", n)
		}
		w.wantNoOrphans()
		t.Run("has the tags of a template read", func(t *testing.T) {
			if n := query[int](w, "SELECT COUNT(*) FROM docgen_tag_readings WHERE version_id = $1", promoted.ID)[0]; n != 1 {
				t.Errorf("%d readings of the new version, want 1", n)
			}
		})
		t.Run("under a name that is taken meanwhile", func(t *testing.T) {
			_, err := w.UpdateFile(ctx, w.alice, first.ID, docgen.ItemChange{Name: new("c.docx")})
			must(t, err)
			w.upload(w.alice, 0, "A.docx", "x")
			_, err = w.PromoteVersion(ctx, w.alice, first.ID, first.VersionID)
			wantCode(t, err, docgen.CodeNameInUse)
		})
		t.Run("and the current one is but another version of the same", func(t *testing.T) {
			again, err := w.PromoteVersion(ctx, w.alice, first.ID, w.version(w.alice, first.ID, "now").VersionID)
			must(t, err)
			if text := w.text(w.alice, first.ID, 0); text != "now" || again.Number != 5 {
				t.Errorf("version %d with %q", again.Number, text)
			}
		})
	})
}

// TestTrashedTemplateVersion shows that no new batch uses a version in the trash, and that batches that use it continue.
func TestTrashedTemplateVersion(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		p := w.newPress("a")
		w.version(w.alice, p.template.ID, "newer")
		must(t, w.TrashVersion(ctx, w.alice, p.template.ID, p.template.VersionID, ""))
		claim := p.claim()
		content, err := w.TemplateContent(ctx, claim.TemplateVersionID)
		must(t, err)
		if content.SHA1 != p.template.SHA1 {
			t.Errorf("content = %+v, want that of the pinned version", content)
		}
		p.complete(claim, p.results(claim, "x"))
		p.wantStatuses(docgen.StatusCompleted)

		b := batchOf(p.template.ID, p.folder, "{}")
		b.VersionID = p.template.VersionID
		_, err = w.CreateBatch(ctx, w.alice, b)
		wantCode(t, err, docgen.CodeTrashed)
		_, _, err = w.Tags(ctx, w.alice, p.template.ID, p.template.VersionID, docgen.PageRequest{})
		wantCode(t, err, docgen.CodeTrashed)
	})
}

// TestConcurrentPromotions promotes and uploads at the same time: version numbers are unique, the last version is the
// current one of the file, and nothing is lost.
func TestConcurrentPromotions(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		file := w.upload(w.alice, 0, "a.txt", "first")
		errs := make([]error, 16)
		var group sync.WaitGroup
		for i := range errs {
			group.Go(func() {
				if i%2 == 0 {
					_, errs[i] = w.PromoteVersion(ctx, w.alice, file.ID, file.VersionID)
				} else {
					_, errs[i] = w.CreateVersion(ctx, w.alice, docgen.NewVersion{FileID: file.ID}, reader("new"))
				}
			})
		}
		group.Wait()
		must(t, errors.Join(errs...))
		numbers := query[int](w, "SELECT number FROM file_versions ORDER BY number")
		for i, n := range numbers {
			if n != i+1 {
				t.Fatalf("numbers %v", numbers)
			}
		}
		now, err := w.File(ctx, w.alice, file.ID)
		must(t, err)
		if now.VersionNumber != 17 || len(numbers) != 17 || len(w.pastVersions(w.alice, file.ID)) != 16 {
			t.Errorf("version %d of %d", now.VersionNumber, len(numbers))
		}
		if sum := query[string](w, "SELECT sha1 FROM file_versions WHERE number = 17")[0]; sum != now.SHA1 {
			t.Errorf("the file has %s, its current version %s", now.SHA1, sum)
		}
		w.wantNoOrphans()
	})
}
