package docgen_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"platen/docgen"
	"platen/store"
)

// countingDB counts the queries that go through it.
type countingDB struct {
	store.DBTX
	queries int
}

func (c *countingDB) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	c.queries++
	return c.DBTX.ExecContext(ctx, query, args...)
}

func (c *countingDB) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	c.queries++
	return c.DBTX.PrepareContext(ctx, query)
}

func (c *countingDB) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	c.queries++
	return c.DBTX.QueryContext(ctx, query, args...)
}

func (c *countingDB) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	c.queries++
	return c.DBTX.QueryRowContext(ctx, query, args...)
}

// However deep an item lies, and on however many of the folders above it a caller has a role, one query returns the
// caller's permissions on it.
func TestAccessIsOneQuery(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		folder := w.folder(w.alice, 0, "0")
		for depth := 1; depth < 10; depth++ {
			if depth%2 == 1 {
				w.share(docgen.Folder, folder, w.bob, docgen.RoleViewer)
			}
			folder = w.folder(w.alice, folder, fmt.Sprint(depth))
		}
		file := w.upload(w.alice, folder, "File.txt", "text").ID
		db := w.raw()
		defer db.Close()
		for name, caller := range map[string]*docgen.Caller{"owner": w.alice, "collaborator": w.bob} {
			counting := &countingDB{DBTX: db}
			must(t, w.Find(t.Context(), store.New(counting), caller, docgen.File, file))
			if counting.queries != 1 {
				t.Errorf("%s: %d queries, want 1", name, counting.queries)
			}
		}
		counting := &countingDB{DBTX: db}
		err := w.Find(t.Context(), store.New(counting), w.user("carol"), docgen.File, file)
		wantCode(t, err, docgen.CodeNotFound)
		if counting.queries != 1 {
			t.Errorf("a stranger: %d queries, want 1", counting.queries)
		}
	})
}
