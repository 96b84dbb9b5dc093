// Package storetest runs tests on every database that Platen supports: SQLite in a temporary directory, and a real PostgreSQL that it
// starts for the test process.
//
// The environment variable PLATEN_TEST_POSTGRES changes that. "off" skips PostgreSQL. A postgres:// URL names a running server to use
// instead, whose user may create databases.
package storetest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"platen/store"
)

// Run runs test on an empty, migrated database of each kind, as the subtests "sqlite" and "postgres". The database is closed after the
// test.
func Run(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	RunConfig(t, func(t *testing.T, cfg store.Config) { test(t, Open(t, cfg)) })
}

// RunConfig is Run for tests that open the database themselves, perhaps several times.
func RunConfig(t *testing.T, test func(t *testing.T, cfg store.Config)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, Postgres(t)) })
}

// Open opens a database and closes it after the test.
func Open(t testing.TB, cfg store.Config) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// SQLite returns the configuration of a new, migrated SQLite database, which is deleted after the test.
func SQLite(t testing.TB) store.Config {
	t.Helper()
	migrated, err := migratedFile()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "platen.db")
	if err := os.WriteFile(path, migrated, 0o600); err != nil {
		t.Fatal(err)
	}
	return store.Config{Path: path, Log: Log(t)}
}

// migratedFile returns the bytes of a migrated SQLite database, which each test copies.
var migratedFile = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "platen-sqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "platen.db")
	db, err := store.Open(context.Background(), store.Config{Path: path})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil { // writes everything to the file
		return nil, err
	}
	return os.ReadFile(path)
})

// Postgres returns the configuration of a new, migrated PostgreSQL database, which is deleted after the test. It skips the test if
// PostgreSQL is turned off, and fails it if PostgreSQL is not available.
func Postgres(t testing.TB) store.Config {
	t.Helper()
	srv := sharedServer(t)
	return postgres(t, srv, srv.template)
}

// EmptyPostgres is Postgres for a database without tables.
func EmptyPostgres(t testing.TB) store.Config {
	t.Helper()
	return postgres(t, sharedServer(t), "template1")
}

func postgres(t testing.TB, srv *server, template string) store.Config {
	t.Helper()
	url, err := srv.createDatabase(t.Context(), template)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.dropDatabase(url) })
	return store.Config{URL: url, Log: Log(t)}
}

// Log returns a logger that writes to the test's output under -v, and otherwise nowhere.
func Log(t testing.TB) *slog.Logger {
	if testing.Verbose() {
		return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
	}
	return slog.New(slog.DiscardHandler)
}
