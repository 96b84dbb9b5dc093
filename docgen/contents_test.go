package docgen_test

import (
	"errors"
	"testing"

	"platen/blob"
	"platen/docgen"
)

// TestContentsBelongToTheirDatabase shows that a service does not begin on contents that its rows do not mean.
func TestContentsBelongToTheirDatabase(t *testing.T) {
	open := func(w *world, blobs blob.Store) error {
		_, err := docgen.New(w.t.Context(), docgen.Config{Store: w.db, Blobs: blobs})
		return err
	}
	empty := func(t *testing.T) blob.Store {
		blobs, err := blob.Open(t.TempDir())
		must(t, err)
		return blobs
	}
	run(t, func(t *testing.T, w *world) {
		w.upload(w.alice, 0, "a.txt", "x")
		if err := open(w, w.blobs); err != nil {
			t.Errorf("its own contents: %v", err)
		}
		if err := open(w, nil); err != nil {
			t.Errorf("without contents: %v", err)
		}
		if err := open(w, empty(t)); !errors.Is(err, docgen.ErrOtherContents) {
			t.Errorf("an empty blob store: %v, want ErrOtherContents", err)
		}
		others := empty(t)
		_, err := others.Put(t.Context(), "contents", reader("another"))
		must(t, err)
		if err := open(w, others); !errors.Is(err, docgen.ErrOtherContents) {
			t.Errorf("another's blob store: %v, want ErrOtherContents", err)
		}
	})
}
