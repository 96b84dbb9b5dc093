package docgen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// verify verifies a world and returns the findings, each as kind, object, and path.
func (w *world) verify(t *testing.T, cfg docgen.VerifyConfig) (*docgen.Verification, []string) {
	t.Helper()
	found := []string{}
	cfg.Store = w.db
	if cfg.Policies == nil {
		cfg.Policies = []docgen.NewStoragePolicy{{Name: "Default", Blobs: w.blobs}}
	}
	sum, err := docgen.Verify(t.Context(), cfg, func(f docgen.Finding) {
		if f.Problem == "" {
			t.Errorf("a finding without a problem: %+v", f)
		}
		found = append(found, strings.TrimSpace(fmt.Sprintln(f.Kind, f.Path, f.Owner)))
	})
	must(t, err)
	slices.Sort(found)
	return sum, found
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("findings = %q, want %q", got, want)
	}
}

func TestVerify(t *testing.T) {
	storetest.RunConfig(t, func(t *testing.T, cfg store.Config) {
		blobs, err := blob.Open(t.TempDir())
		must(t, err)
		w := newWorld(t, cfg, blobs, docgen.Limits{})
		folder := w.folder(w.alice, 0, "Letters")
		first := w.upload(w.alice, folder, "a.txt", "first")
		second := w.upload(w.bob, 0, "b.txt", longText(2*block))
		_, err = w.CopyFile(t.Context(), w.alice, docgen.NewCopy{ItemID: first.ID, Name: "copy.txt"})
		must(t, err)
		settled := docgen.VerifyConfig{Settled: true}

		sum, found := w.verify(t, settled)
		want(t, found)
		if sum.Contents != 2 || sum.Bytes != 5+2*block || sum.Wrong() {
			t.Errorf("summary = %+v", sum)
		}

		key := w.keyOf(first)
		damage(t, blobs, key, func([]byte) []byte { return []byte("fir5t") })
		sum, found = w.verify(t, settled)
		want(t, found, "changed /Letters/a.txt alice@example.com", "changed /copy.txt alice@example.com")
		if !sum.Wrong() {
			t.Error("damage is not wrong")
		}
		damage(t, blobs, key, func([]byte) []byte { return []byte("first") })

		damage(t, blobs, w.keyOf(second), func(data []byte) []byte { return data[:block] })
		_, found = w.verify(t, settled)
		want(t, found, "changed /b.txt bob@example.com")
		must(t, blobs.Delete(t.Context(), w.keyOf(second)))
		_, found = w.verify(t, settled)
		want(t, found, "missing /b.txt bob@example.com")
		_, err = blobs.Put(t.Context(), w.keyOf(second), strings.NewReader(longText(2*block)))
		must(t, err)

		_, err = blobs.Put(t.Context(), "versions/77", strings.NewReader("an upload, perhaps"))
		must(t, err)
		sum, found = w.verify(t, docgen.VerifyConfig{})
		want(t, found)
		if sum.Unsaved != 1 {
			t.Errorf("%d objects may belong to uploads, want 1", sum.Unsaved)
		}
		sum, found = w.verify(t, settled)
		want(t, found, "orphaned")
		if sum.Wrong() {
			t.Error("an orphan is wrong")
		}
		must(t, blobs.Delete(t.Context(), "versions/77"))

		must(t, w.exec("UPDATE folder_counts SET items = 7 WHERE folder_id = $1", folder))
		must(t, w.exec("UPDATE items SET size = 1 WHERE id = $1", second.ID))
		_, found = w.verify(t, settled)
		want(t, found, "row", "row")
		must(t, w.exec("UPDATE folder_counts SET items = 1 WHERE folder_id = $1", folder))
		must(t, w.exec("UPDATE items SET size = $2 WHERE id = $1", second.ID, second.Size))

		other, err := blob.Open(t.TempDir())
		must(t, err)
		_, found = w.verify(t, docgen.VerifyConfig{Policies: []docgen.NewStoragePolicy{{Name: "default", Blobs: other}}})
		want(t, found, "missing /Letters/a.txt alice@example.com", "missing /b.txt bob@example.com", "missing /copy.txt alice@example.com",
			"store")
	})
}

// Operations of users during the verification are not findings.
func TestVerifyDuringOperations(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for i := range 20 {
			w.upload(w.alice, 0, fmt.Sprintf("%d.txt", i), longText(100))
		}
		rounds := make(chan struct{})
		users := make(chan error)
		go func() {
			defer close(users)
			for i := 0; ; i++ {
				select {
				case <-rounds:
					return
				default:
				}
				file, err := w.CreateFile(t.Context(), w.bob, docgen.NewFile{Name: fmt.Sprint(i)}, strings.NewReader(longText(1000)))
				if err == nil {
					err = w.TrashFile(t.Context(), w.bob, file.ID, "")
				}
				if err == nil {
					err = w.Purge(t.Context(), w.bob, docgen.File, file.ID)
				}
				if err == nil {
					err = w.RemoveContents(t.Context(),
						docgen.RemoveContents{Contents: []store.ContentPlace{{Key: fmt.Sprintf("versions/%d", file.VersionID), PolicyID: 1}}})
				}
				if err != nil {
					users <- err
					return
				}
			}
		}()
		w.clock.advance(time.Hour)
		for range 10 {
			_, found := w.verify(t, docgen.VerifyConfig{})
			want(t, found)
		}
		close(rounds)
		if err := <-users; err != nil {
			t.Error(err)
		}
	})
}
