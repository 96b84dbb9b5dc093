package docgen_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// TestContentsBelongToTheirDatabase shows that a service does not start with contents of another database.
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

// Two servers that start at the same time on a new database, each with its own folder, would each lack the other's
// contents: one of them does not start. Readiness shows when a store is no longer the one that the server started with.
func TestOneStoreWins(t *testing.T) {
	storetest.RunConfig(t, func(t *testing.T, cfg store.Config) {
		const servers = 8
		services, stores := make([]*docgen.Service, servers), make([]blob.Store, servers)
		errs := make([]error, servers)
		var now clock
		now.micros.Store(noon.UnixMicro())
		var group sync.WaitGroup
		for i := range servers {
			var err error
			stores[i], err = blob.Open(t.TempDir())
			must(t, err)
			db := storetest.Open(t, cfg)
			group.Go(func() {
				services[i], errs[i] = docgen.New(t.Context(), docgen.Config{Store: db, Blobs: stores[i], Now: now.now})
			})
		}
		group.Wait()
		winner := -1
		for i, err := range errs {
			switch {
			case err == nil && winner >= 0:
				t.Errorf("servers %d and %d both began, with different stores", winner, i)
			case err == nil:
				winner = i
			case !errors.Is(err, docgen.ErrOtherContents):
				t.Errorf("server %d: %v, want ErrOtherContents", i, err)
			}
		}
		if winner < 0 {
			t.Fatal("no server began")
		}
		again, err := docgen.New(t.Context(), docgen.Config{Store: storetest.Open(t, cfg), Blobs: stores[winner], Now: now.now})
		if err != nil {
			t.Fatalf("a second server with the same store: %v", err)
		}
		for _, s := range []*docgen.Service{services[winner], again} {
			if err := s.Ready(t.Context())["blobs"]; err != nil {
				t.Errorf("ready = %v", err)
			}
		}
		now.advance(time.Minute) // the result of a check is cached for a second
		damage(t, stores[winner], "store", func([]byte) []byte { return []byte("another") })
		if err := again.Ready(t.Context())["blobs"]; !errors.Is(err, docgen.ErrOtherContents) {
			t.Errorf("ready with another store = %v, want ErrOtherContents", err)
		}
		now.advance(time.Minute)
		must(t, stores[winner].Delete(t.Context(), "store"))
		if err := again.Ready(t.Context())["blobs"]; !errors.Is(err, docgen.ErrOtherContents) {
			t.Errorf("ready without a store = %v, want ErrOtherContents", err)
		}
	})
}
