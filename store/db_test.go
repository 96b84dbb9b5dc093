package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"platen/store"
	"platen/store/storetest"
)

func TestOpenNeedsOneDatabase(t *testing.T) {
	for _, cfg := range []store.Config{{}, {Path: "x", URL: "postgres://"}} {
		if db, err := store.Open(t.Context(), cfg); err == nil {
			t.Errorf("Open(%+v) = %v, want an error", cfg, db)
		}
	}
}

func TestOpenSQLite(t *testing.T) {
	cfg := storetest.SQLite(t)
	cfg.Path = filepath.Join(t.TempDir(), "odd name?a=b%20#.db")
	db := storetest.Open(t, cfg)
	t.Run("connections are durable and check foreign keys", func(t *testing.T) {
		pragmas := map[string]string{"journal_mode": "wal", "foreign_keys": "1", "busy_timeout": "1000"}
		for name, pool := range map[string]*sql.DB{"0": db.Writer(), "1": db.Reader()} {
			pragmas["query_only"] = name
			for pragma, want := range pragmas {
				var got string
				if err := pool.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
					t.Errorf("PRAGMA %s = %q, %v, want %q (query_only=%s)", pragma, got, err, want, name)
				}
			}
		}
	})
	t.Run("Write syncs its transactions and earlier ones of the queue", func(t *testing.T) {
		synchronous := func(db store.DBTX) (level string) {
			if err := db.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&level); err != nil {
				t.Fatal(err)
			}
			return level
		}
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			if got := synchronous(tx.SQL()); got != "2" {
				t.Errorf("in Write: PRAGMA synchronous = %s, want 2 (FULL)", got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := synchronous(db.Writer()); got != "1" {
			t.Errorf("after Write: PRAGMA synchronous = %s, want 1 (NORMAL)", got)
		}
	})
	t.Run("only one connection writes", func(t *testing.T) {
		if got := db.Writer().Stats().MaxOpenConnections; got != 1 {
			t.Errorf("MaxOpenConnections = %d, want 1: River and Platen must not wait for each other's locks", got)
		}
	})
	t.Run("other users cannot read its files", func(t *testing.T) {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			info, err := os.Stat(cfg.Path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("mode of %q = %v, want 0600", suffix, info.Mode())
			}
		}
	})
	t.Run("a missing directory is an error", func(t *testing.T) {
		_, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "no", "x.db")})
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("err = %v, want ErrNotExist", err)
		}
	})
}

// setting reads a row as the service does. It returns "" if the row does not exist.
func setting(t *testing.T, db *store.DB, name string) string {
	t.Helper()
	var value string
	err := db.Read(t.Context(), func(q *store.Queries) (err error) {
		value, err = q.Setting(t.Context(), name)
		return err
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	return value
}

func set(ctx context.Context, tx *store.Tx, name, value string) error {
	_, err := tx.InsertSetting(ctx, name, value)
	return err
}

func TestWrite(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		t.Run("changes are visible once it returns", func(t *testing.T) {
			if err := db.Write(ctx, func(tx *store.Tx) error { return set(ctx, tx, "a", "1") }); err != nil {
				t.Fatal(err)
			}
			if got := setting(t, db, "a"); got != "1" {
				t.Errorf("setting = %q, want 1", got)
			}
		})
		t.Run("an error undoes everything and is returned unchanged", func(t *testing.T) {
			boom := errors.New("boom")
			err := db.Write(ctx, func(tx *store.Tx) error {
				return errors.Join(set(ctx, tx, "b", "1"), boom)
			})
			if !errors.Is(err, boom) {
				t.Errorf("err = %v, want boom", err)
			}
			if got := setting(t, db, "b"); got != "" {
				t.Errorf("setting = %q, want none", got)
			}
		})
		t.Run("a panic undoes everything and propagates", func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
				if got := setting(t, db, "c"); got != "" {
					t.Errorf("setting = %q, want none", got)
				}
			}()
			_ = db.Write(ctx, func(tx *store.Tx) error {
				if err := set(ctx, tx, "c", "1"); err != nil {
					t.Error(err)
				}
				panic("boom")
			})
		})
		t.Run("a canceled context undoes everything", func(t *testing.T) {
			ctx, cancel := context.WithCancel(ctx)
			err := db.Write(ctx, func(tx *store.Tx) error {
				defer cancel()
				return set(ctx, tx, "d", "1")
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("err = %v, want Canceled", err)
			}
			if got := setting(t, db, "d"); got != "" {
				t.Errorf("setting = %q, want none", got)
			}
		})
		t.Run("it runs again after a conflict with another transaction", func(t *testing.T) {
			calls := 0
			err := db.Write(ctx, func(tx *store.Tx) error {
				calls++
				if calls < 3 {
					return fmt.Errorf("update: %w", &pgconn.PgError{Code: "40001"})
				}
				return set(ctx, tx, "e", strconv.Itoa(calls))
			})
			if err != nil || setting(t, db, "e") != "3" {
				t.Errorf("after %d calls: %v, setting %q, want 3", calls, err, setting(t, db, "e"))
			}
		})
		t.Run("concurrent writes all succeed", func(t *testing.T) {
			var wg sync.WaitGroup
			for i := range 50 {
				wg.Go(func() {
					if err := db.Write(ctx, func(tx *store.Tx) error { return set(ctx, tx, fmt.Sprint("many", i), "1") }); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for i := range 50 {
				if setting(t, db, fmt.Sprint("many", i)) != "1" {
					t.Errorf("write %d is lost", i)
				}
			}
		})
	})
}

func TestRead(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		t.Run("it sees a snapshot, whatever is committed in the meantime", func(t *testing.T) {
			err := db.Read(ctx, func(q *store.Queries) error {
				if _, err := q.Setting(ctx, "x"); !errors.Is(err, sql.ErrNoRows) {
					t.Errorf("before the commit: %v, want no rows", err)
				}
				if err := db.Write(ctx, func(tx *store.Tx) error { return set(ctx, tx, "x", "1") }); err != nil {
					return err
				}
				if _, err := q.Setting(ctx, "x"); !errors.Is(err, sql.ErrNoRows) {
					t.Errorf("after the commit: %v, want still no rows", err)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
		t.Run("it neither waits for a writer nor sees uncommitted changes", func(t *testing.T) {
			err := db.Write(ctx, func(tx *store.Tx) error {
				if err := set(ctx, tx, "y", "1"); err != nil {
					return err
				}
				if got := setting(t, db, "y"); got != "" {
					t.Errorf("a reader sees %q", got)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
		t.Run("it cannot write", func(t *testing.T) {
			err := db.Read(ctx, func(q *store.Queries) error {
				_, err := q.InsertSetting(ctx, "z", "1")
				return err
			})
			if err == nil || setting(t, db, "z") != "" {
				t.Errorf("err = %v, setting %q, want an error and nothing written", err, setting(t, db, "z"))
			}
		})
	})
}

// TestKeysHaveOneOrder checks that both databases sort keys alike, because listings page by name_key. The schema makes such keys
// hexadecimal, since PostgreSQL compares text by its locale. Plain text would fail here.
func TestKeysHaveOneOrder(t *testing.T) {
	names := []string{"a", "B", "ä", "a b", "a-b", "ab", "Z", "z", "10", "9", "ß", "é", "_", "A1"}
	var orders [][]int64
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		var got []int64
		if err := db.Write(ctx, func(tx *store.Tx) error {
			if err := tx.InsertEnterprise(ctx, 1, "e", 1); err != nil {
				return err
			}
			if _, err := tx.InsertUser(ctx, store.InsertUserParams{ID: 1, EnterpriseID: 1, Login: "l", LoginKey: "l", Name: "n",
				Kind: "managed", Role: "user", Status: "active", RootFolderID: 1, CreatedAt: 1, ModifiedAt: 1}); err != nil {
				return err
			}
			root := sql.NullInt64{}
			for i, name := range append([]string{""}, names...) {
				if _, err := tx.InsertItem(ctx, store.InsertItemParams{ID: int64(i + 1), ParentID: root, OwnerID: 1, Name: name,
					NameKey: fmt.Sprintf("%x", name), CreatedBy: 1, ModifiedBy: 1}); err != nil {
					return err
				}
				root = sql.NullInt64{Int64: 1, Valid: true}
			}
			items, err := tx.ListInOrder(ctx, store.Listing{FolderID: root.Int64}, store.ListingOrder{By: "name"}, 100, 0)
			for _, item := range items {
				got = append(got, item.ID)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		sorted := slices.Sorted(slices.Values(names))
		for i, id := range got {
			if names[id-2] != sorted[i] {
				t.Errorf("at %d: %q, want %q", i, names[id-2], sorted[i])
			}
		}
		orders = append(orders, got)
	})
	if len(orders) == 2 && !slices.Equal(orders[0], orders[1]) {
		t.Errorf("SQLite lists %v, PostgreSQL %v", orders[0], orders[1])
	}
}

// TestDeletedDataIsOverwritten deletes a row of a SQLite database and empties the log. The files then contain nothing of the row.
func TestDeletedDataIsOverwritten(t *testing.T) {
	cfg := storetest.SQLite(t)
	db, ctx := storetest.Open(t, cfg), t.Context()
	const secret = "born on 29 February 1904"
	write := func(change func(tx *store.Tx) (int64, error)) {
		t.Helper()
		err := db.Write(ctx, func(tx *store.Tx) error {
			_, err := change(tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	write(func(tx *store.Tx) (int64, error) {
		return tx.InsertSetting(ctx, "secret", strings.Repeat(secret, 1000))
	}) // on separate pages too
	write(func(tx *store.Tx) (int64, error) { return tx.DeleteSetting(ctx, "secret") })
	if err := db.TruncateLog(ctx); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{cfg.Path, cfg.Path + "-wal"} {
		data, err := os.ReadFile(path)
		if err != nil || bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s still contains deleted data, or cannot be read: %v", filepath.Base(path), err)
		}
	}
}
