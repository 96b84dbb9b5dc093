package store_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"platen/store"
	"platen/store/storetest"
)

// runEmpty runs test on databases without tables.
func runEmpty(t *testing.T, test func(t *testing.T, cfg store.Config)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, store.Config{Path: filepath.Join(t.TempDir(), "new.db"), Log: storetest.Log(t)})
	})
	t.Run("postgres", func(t *testing.T) { test(t, storetest.EmptyPostgres(t)) })
}

func TestConcurrentOpen(t *testing.T) {
	runEmpty(t, func(t *testing.T, cfg store.Config) {
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				db, err := store.Open(t.Context(), cfg)
				if err != nil {
					t.Error(err)
					return
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		db := storetest.Open(t, cfg)
		enqueue(t, db, numbers(1)...) // River's tables exist
		if got := setting(t, db, "none"); got != "" {
			t.Errorf("setting = %q", got)
		}
	})
}

func TestNoMigrate(t *testing.T) {
	runEmpty(t, func(t *testing.T, cfg store.Config) {
		careful := cfg
		careful.NoMigrate = true
		for range 2 { // the first attempt has changed nothing
			if db, err := store.Open(t.Context(), careful); !errors.Is(err, store.ErrSchema) || !errors.Is(err, store.ErrEmpty) {
				t.Fatalf("Open of an empty database = %v, %v; want ErrSchema and ErrEmpty", db, err)
			}
		}
		storetest.Open(t, cfg)
		storetest.Open(t, careful)
	})
}

func TestNewerSchemaIsRefused(t *testing.T) {
	storetest.RunConfig(t, func(t *testing.T, cfg store.Config) {
		db := storetest.Open(t, cfg)
		if _, err := db.Writer().ExecContext(t.Context(),
			"INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)"); err != nil {
			t.Fatal(err)
		}
		for _, noMigrate := range []bool{false, true} {
			cfg.NoMigrate = noMigrate
			if db, err := store.Open(t.Context(), cfg); !errors.Is(err, store.ErrSchema) || !errors.Is(err, store.ErrNewer) {
				t.Errorf("Open (NoMigrate %v) = %v, %v; want ErrSchema and ErrNewer", noMigrate, db, err)
			}
		}
	})
}

// TestMinimumConnections opens a database with one connection, although one holds the migration lock while another migrates.
func TestMinimumConnections(t *testing.T) {
	cfg := storetest.Postgres(t)
	cfg.MaxConns = 1
	storetest.Open(t, cfg)
}
