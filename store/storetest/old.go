package storetest

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/pressly/goose/v3"

	"platen/store"
)

// rows contains, for some migrations, rows of every table as a server of that version may have left them. Before a migration that changes
// existing rows, such a file is added for the migration before it.
//
//go:embed rows/*.sql
var rows embed.FS

// RunOld runs test on databases of earlier versions, with the schema of a migration and rows in every table. Nothing has opened them since.
// old, the number of the migration in its file name, is also the name of the subtest.
func RunOld(t *testing.T, test func(t *testing.T, old string, cfg store.Config)) {
	t.Helper()
	files, err := rows.ReadDir("rows")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		old := file.Name()[:len(file.Name())-len(path.Ext(file.Name()))]
		t.Run(old, func(t *testing.T) {
			t.Run("sqlite", func(t *testing.T) {
				cfg := store.Config{Path: filepath.Join(t.TempDir(), "old.db"), Log: Log(t)}
				fill(t, Raw(t, cfg), goose.DialectSQLite3, old)
				test(t, old, cfg)
			})
			t.Run("postgres", func(t *testing.T) {
				cfg := EmptyPostgres(t)
				fill(t, Raw(t, cfg), goose.DialectPostgres, old)
				test(t, old, cfg)
			})
		})
	}
}

// RunPending runs test on databases with the rows of migration 00002 and the schema of migration 00007, the last before users took turns.
// Job 74 of batch 7d0b6d8e-3a53-4c8c-9d4b-0f6f4f0f7a11 is in progress, and job 73 waits.
func RunPending(t *testing.T, test func(t *testing.T, cfg store.Config)) {
	t.Helper()
	const old, last = "00002", "00007"
	run := func(dialect goose.Dialect, cfg store.Config) func(*testing.T) {
		return func(t *testing.T) {
			db := Raw(t, cfg)
			fill(t, db, dialect, old)
			if err := migrateTo(t.Context(), db, dialect, last); err != nil {
				t.Fatal(err)
			}
			test(t, cfg)
		}
	}
	t.Run("sqlite", run(goose.DialectSQLite3, store.Config{Path: filepath.Join(t.TempDir(), "old.db"), Log: Log(t)}))
	t.Run("postgres", run(goose.DialectPostgres, EmptyPostgres(t)))
}

// Raw opens a database without the store, and closes it after the test.
func Raw(t testing.TB, cfg store.Config) *sql.DB {
	t.Helper()
	driver, name := "pgx", cfg.URL
	if cfg.Path != "" {
		driver, name = "sqlite", "file:"+(&url.URL{Path: cfg.Path}).EscapedPath()+"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)"
	}
	db, err := sql.Open(driver, name)
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

// fill migrates a database up to a migration, and inserts the rows for it.
func fill(t testing.TB, db *sql.DB, dialect goose.Dialect, old string) {
	t.Helper()
	text, err := fs.ReadFile(rows, "rows/"+old+".sql")
	if err != nil {
		t.Fatal(err)
	}
	if err := migrateTo(t.Context(), db, dialect, old); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), string(text)); err != nil {
		t.Fatal(err)
	}
}

// migrateTo runs the migrations up to the given one, from the files that the store embeds.
func migrateTo(ctx context.Context, db *sql.DB, dialect goose.Dialect, old string) error {
	_, here, _, _ := runtime.Caller(0)
	provider, err := goose.NewProvider(dialect, db, os.DirFS(filepath.Join(filepath.Dir(here), "..", "migrations")))
	if err != nil {
		return err
	}
	number, err := strconv.ParseInt(old, 10, 64)
	if err != nil {
		return err
	}
	_, err = provider.UpTo(ctx, number)
	return err
}
