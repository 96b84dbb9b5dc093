package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/store"
	"platen/store/storetest"
)

// TestSnapshot checks that a snapshot is consistent while others write to the database, and that only its owner can read it.
func TestSnapshot(t *testing.T) {
	cfg := storetest.SQLite(t)
	db := storetest.Open(t, cfg)
	written, stop := make(chan error), make(chan struct{})
	pairs := func(db *store.DB) (a, b string) {
		t.Helper()
		must(t, db.Read(t.Context(), func(q *store.Queries) (err error) {
			a, err = q.Setting(t.Context(), "a")
			if err == nil {
				b, err = q.Setting(t.Context(), "b")
			}
			return err
		}))
		return a, b
	}
	write := func(n int) error {
		return db.Write(t.Context(), func(tx *store.Tx) error {
			for _, name := range []string{"a", "b"} {
				if _, err := tx.InsertSetting(t.Context(), name+strings.Repeat("x", n%100), "v"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, write(0))
	go func() {
		defer close(written)
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := write(n); err != nil {
				written <- err
				return
			}
		}
	}()
	path := filepath.Join(t.TempDir(), "copy.db")
	must(t, db.Snapshot(t.Context(), path))
	close(stop)
	must(t, <-written)

	info, err := os.Stat(path)
	must(t, err)
	if info.Mode() != 0o600 {
		t.Errorf("the mode of the copy is %v, want 0600", info.Mode())
	}
	copied, err := store.Open(t.Context(), store.Config{Path: path, NoMigrate: true})
	must(t, err)
	defer copied.Close()
	if a, b := pairs(copied); a != "v" || b != "v" {
		t.Errorf("the copy has %q and %q", a, b)
	}
	if problems, err := copied.CheckDatabase(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("the copy has the problems %q, %v", problems, err)
	}
	if err := db.Snapshot(t.Context(), path); !errors.Is(err, os.ErrExist) {
		t.Errorf("to an existing file: %v, want ErrExist", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Snapshot(canceled, path+"2"); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := os.Stat(path + "2"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a snapshot that failed left a file: %v", err)
	}
}

// TestCheckDatabase checks that CheckDatabase finds an overwritten page, and a row that refers to a missing one.
func TestCheckDatabase(t *testing.T) {
	cfg := storetest.SQLite(t)
	db, err := store.Open(t.Context(), cfg)
	must(t, err)
	raw := storetest.Raw(t, cfg)
	_, err = raw.ExecContext(t.Context(), "PRAGMA foreign_keys = 0; INSERT INTO folder_counts (folder_id, items) VALUES (7, 1)")
	must(t, err)
	problems, err := db.CheckDatabase(t.Context())
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0], "folder_counts names a row of items") {
		t.Errorf("problems = %q, %v", problems, err)
	}
	must(t, raw.Close())
	must(t, db.Close())
	f, err := os.OpenFile(cfg.Path, os.O_RDWR, 0)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	_, err = f.WriteAt(make([]byte, 4096), info.Size()/2/4096*4096)
	must(t, err)
	must(t, f.Close())
	db, err = store.Open(t.Context(), cfg)
	if err != nil {
		return // the damage prevents opening the database
	}
	defer db.Close()
	if problems, err := db.CheckDatabase(t.Context()); err == nil && len(problems) < 2 {
		t.Errorf("problems = %q, want one about the page too", problems)
	}
}

// TestBackUpBeforeMigration checks that an embedded database is copied before its schema changes, and that the last two copies are kept.
func TestBackUpBeforeMigration(t *testing.T) {
	storetest.RunOld(t, func(t *testing.T, old string, cfg store.Config) {
		if cfg.Path == "" {
			t.Skip("of the embedded database alone")
		}
		for i, name := range []string{".before-1", ".before-2"} {
			must(t, os.WriteFile(cfg.Path+name, nil, 0o600))
			at := time.Unix(int64(1000+i), 0)
			must(t, os.Chtimes(cfg.Path+name, at, at))
		}
		blocked := filepath.Join(cfg.Path+".before-3.tmp", "full")
		must(t, os.MkdirAll(blocked, 0o700))
		if db, err := store.Open(t.Context(), cfg); err == nil {
			t.Error("the schema was changed without a backup", db.Close())
		}
		raw := storetest.Raw(t, cfg)
		count := func(query string) (n int) {
			t.Helper()
			must(t, raw.QueryRowContext(t.Context(), query).Scan(&n))
			return n
		}
		if n := count("SELECT COUNT(*) FROM sqlite_master WHERE name = 'storage_policies'"); n != 0 {
			t.Error("the schema was changed without a backup")
		}
		users := count("SELECT COUNT(*) FROM users")
		must(t, os.RemoveAll(filepath.Dir(blocked)))
		for range 2 { // the second time, nothing changes
			db, err := store.Open(t.Context(), cfg)
			must(t, err)
			must(t, db.Close())
		}
		copies, err := filepath.Glob(cfg.Path + ".before-*")
		must(t, err)
		if want := []string{cfg.Path + ".before-2", cfg.Path + ".before-3"}; !slices.Equal(copies, want) {
			t.Fatalf("copies: %q, want %q", copies, want)
		}
		info, err := os.Stat(copies[1])
		must(t, err)
		if info.Mode() != 0o600 {
			t.Errorf("the mode of the copy is %v, want 0600", info.Mode())
		}
		raw = storetest.Raw(t, store.Config{Path: copies[1]})
		if n := count("SELECT COUNT(*) FROM users"); n != users {
			t.Errorf("the copy has %d users, want %d", n, users)
		}
		if n := count("SELECT MAX(version_id) FROM goose_db_version"); n != 2 {
			t.Errorf("the copy has the schema %d, want 2", n)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
