package store_test

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"platen/store"
	"platen/store/storetest"
)

// changedByMigrations lists what later migrations do to the rows of a migration. values has the new values of old columns, by table, first
// column of the row, and column. gone has the rows that are deleted. fresh has the values of new columns, and added the rows of new tables.
var changedByMigrations = map[string]struct {
	values map[string]string
	gone   []string
	fresh  map[string]string
	added  map[string][]row
}{
	"00002": {
		values: map[string]string{
			"items 32 owner_id": "11", "items 42 owner_id": "11", "docgen_jobs 73 waiting": "1", "docgen_jobs 74 waiting": "1",
			"docgen_batches 7d0b6d8e-3a53-4c8c-9d4b-0f6f4f0f7a11 number":         "73",
			"docgen_batches 7d0b6d8e-3a53-4c8c-9d4b-0f6f4f0f7a11 jobs_completed": "0",
			"docgen_batches 7d0b6d8e-3a53-4c8c-9d4b-0f6f4f0f7a11 jobs_failed":    "0",
			"docgen_batches 7d0b6d8e-3a53-4c8c-9d4b-0f6f4f0f7a11 ended_at":       "0",
		},
		gone: []string{"collaborations 63"},
		fresh: map[string]string{
			"enterprises account_id": "0",
			"users name_key":         "", "users platform_only": "0", "users external_id": "", "users profile": "", "users deleted_at": "0",
			"applications client_id": "", "applications secret_hash": "", "applications acts_as_users": "1",
			"tokens grant_id": "0", "tokens name": "", "tokens used_at": "0",
			"tokens idle": "0", "tokens address": "", "tokens agent": "",
			"items storage_policy_id":         "0",
			"file_versions storage_policy_id": "1", "file_versions wanted_policy_id": "1", "file_versions trashed_at": "0",
			"file_versions trashed_by":         "0",
			"file_versions content_created_at": "0", "file_versions content_modified_at": "0",
			"file_versions restored_at": "0", "file_versions restored_by": "0",
			"collaborations invite_login": "", "collaborations invite_key": "", "collaborations status": "accepted",
			"collaborations is_access_only": "0", "collaborations can_view_path": "0", "collaborations expires_at": "0",
			"collaborations acknowledged_at": "= created_at",
			"docgen_batches global_content":  "0", "docgen_batches removed_at": "0",
			"docgen_jobs isolated": "0", "docgen_jobs summary": "",
			"docgen_jobs waiting": "0", "docgen_jobs slot": "", "docgen_jobs due_at": "0", "docgen_jobs tries": "0", "docgen_jobs crashes": "0",
			"users weight":                "1",
			"users erased_at":             "0",
			"docgen_batches trace_parent": "",
			"docgen_batches number":       "71", "docgen_batches jobs_total": "2", "docgen_batches jobs_completed": "1",
			"docgen_batches jobs_incomplete": "0", "docgen_batches jobs_failed": "1", "docgen_batches ended_at": "3000000",
			"docgen_batches canceled_at": "0", "docgen_batches jobs_canceled": "0", "docgen_batches retry_of": "",
			"docgen_batches retry_of_job": "0", "docgen_jobs canceled": "0",
			"docgen_batches waiting_for": "", "docgen_batches pauses": "0", "docgen_batches paused_until": "0",
			"docgen_tag_readings includes":     "",
			"docgen_tag_readings requested_by": "0",
			"docgen_tag_readings mistakes":     "-1", "docgen_tag_readings warnings": "-1",
			"docgen_templates owner_id": "11", "docgen_templates default_missing": "", "docgen_templates default_locale": "",
			"docgen_templates default_time_zone": "", "docgen_templates samples_required": "0", "docgen_templates used_version_id": "0",
		},
		added: map[string][]row{"folder_counts": {
			{"#": "21", "folder_id": "21", "items": "1"}, {"#": "31", "folder_id": "31", "items": "3"}, {"#": "32", "folder_id": "32", "items": "1"},
		}, "settings": {
			{"#": "notice_token_ttl", "name": "notice_token_ttl", "value": ""},
		}, "docgen_turns": {
			{
				"#": "73", "id": "73", "user_id": "11", "lane": "pdf", "batch_id": "7d0b6d8e-3a53-4c8c-9d4b-0f6f4f0f7a11",
				"documents": "2", "turn": "0", "due_at": "0",
			},
		}, "event_positions": {{"#": "1", "id": "1", "next": "1"}}, "user_space": {
			{"#": "11", "user_id": "11", "bytes": "33", "files": "4", "max_bytes": "0"},
		}},
	},
}

// row is one row of a table, by the names of its columns.
type row map[string]string

// TestOldDatabases opens databases of earlier versions. Every row still exists, with the columns that were added since.
func TestOldDatabases(t *testing.T) {
	storetest.RunOld(t, func(t *testing.T, old string, cfg store.Config) {
		before := contents(t, storetest.Raw(t, cfg), cfg)
		for table, rows := range before {
			if len(rows) == 0 {
				t.Errorf("the table %s of the old database is empty: add its rows to store/storetest/rows", table)
			}
		}
		careful := cfg
		careful.NoMigrate = true
		if db, err := store.Open(t.Context(), careful); !errors.Is(err, store.ErrSchema) {
			t.Fatalf("Open without migrating = %v, %v; want ErrSchema", db, err)
		}
		storetest.Open(t, cfg)
		raw := storetest.Raw(t, cfg) // this connection has not planned its queries before the tables changed
		after := contents(t, raw, cfg)
		want := changedByMigrations[old]
		for table, rows := range before {
			rows = slices.DeleteFunc(rows, func(r row) bool { return slices.Contains(want.gone, table+" "+r["#"]) })
			kept := slices.DeleteFunc(slices.Clone(after[table]), func(r row) bool {
				return slices.ContainsFunc(want.added[table], func(added row) bool { return maps.Equal(r, added) })
			})
			if len(kept) != len(rows) || len(after[table]) != len(rows)+len(want.added[table]) {
				t.Errorf("%s has %d rows, want %d", table, len(after[table]), len(rows)+len(want.added[table]))
				continue
			}
			for i, r := range rows {
				checkRow(t, table, r, kept[i], want.values, want.fresh)
			}
		}
		for table, rows := range after {
			if _, known := before[table]; !known && !strings.HasPrefix(table, "river_") && !slices.EqualFunc(rows, want.added[table], maps.Equal) {
				t.Errorf("the new table %s contains %v, want %v", table, rows, want.added[table])
			}
		}
		checkReferences(t, raw, cfg)
		checkIndexes(t, raw, cfg)
	})
}

// checkRow compares a row after the migrations with the row before.
func checkRow(t *testing.T, table string, before, after row, changed, fresh map[string]string) {
	t.Helper()
	for column, got := range after {
		want, known := before[column]
		if value, ok := changed[table+" "+before["#"]+" "+column]; ok {
			want = value
		} else if !known {
			if want, ok = fresh[table+" "+column]; !ok {
				t.Errorf("changedByMigrations lacks the new column %s of %s", column, table)
			}
		}
		if other, ok := strings.CutPrefix(want, "= "); ok {
			want = before[other]
		}
		if got != want {
			t.Errorf("%s of %s %s is %q, want %q", column, table, before["#"], got, want)
		}
	}
	for column := range before {
		if _, ok := after[column]; !ok {
			t.Errorf("the column %s of %s is missing", column, table)
		}
	}
}

// contents reads all tables except those of the migrations themselves, each in the order of its first columns. The first column of a row is
// also called #.
func contents(t *testing.T, db *sql.DB, cfg store.Config) map[string][]row {
	t.Helper()
	all := map[string][]row{}
	for _, table := range column(t, db, tablesOf(cfg)) {
		all[table] = rowsOf(t, db, table)
	}
	return all
}

func tablesOf(cfg store.Config) string {
	if cfg.Path != "" {
		return "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose_%'"
	}
	return "SELECT table_name FROM information_schema.tables " +
		"WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT LIKE 'goose_%'"
}

func rowsOf(t *testing.T, db *sql.DB, table string) []row {
	t.Helper()
	found, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var list []row
	for found.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		r := row{"#": fmt.Sprint(values[0])}
		for i, name := range columns {
			r[name] = text(values[i])
		}
		list = append(list, r)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(list, func(a, b row) int {
		return cmp.Or(cmp.Compare(a["#"], b["#"]), cmp.Compare(a[columns[1]], b[columns[1]]))
	})
	return list
}

// text formats a value in the same way on both databases. In SQLite, a BOOLEAN is a number.
func text(value any) string {
	if truth, ok := value.(bool); ok {
		return map[bool]string{false: "0", true: "1"}[truth]
	}
	return fmt.Sprint(value)
}

// column returns the only column of a query.
func column(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	found, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var list []string
	for found.Next() {
		var text string
		if err := found.Scan(&text); err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// checkReferences checks that every reference is to a table and a row that exist. PostgreSQL ensures both for every reference.
func checkReferences(t *testing.T, db *sql.DB, cfg store.Config) {
	t.Helper()
	if cfg.Path != "" {
		if broken := column(t, db, `SELECT "table" || ' ' || rowid FROM pragma_foreign_key_check`); len(broken) > 0 {
			t.Errorf("references to missing rows: %q", broken)
		}
		if sound := column(t, db, "PRAGMA integrity_check"); !slices.Equal(sound, []string{"ok"}) {
			t.Errorf("the database is damaged: %q", sound)
		}
		lost := column(t, db, `SELECT DISTINCT tables.name || ' to ' || f."table"
			FROM sqlite_master tables, pragma_foreign_key_list(tables.name) f
			WHERE tables.type = 'table' AND f."table" NOT IN (SELECT name FROM sqlite_master WHERE type = 'table')`)
		if len(lost) > 0 {
			t.Errorf("references to missing tables: %q", lost)
		}
	}
	for _, statement := range []string{
		"INSERT INTO docgen_inputs (job_id, data) VALUES (1, '')",
		"DELETE FROM docgen_batches", "DELETE FROM items", "DELETE FROM users", "DELETE FROM file_versions",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("%s succeeds in spite of references", statement)
		}
	}
}

var indexChange = regexp.MustCompile(`(?m)^(CREATE INDEX|CREATE UNIQUE INDEX|DROP INDEX) (\w+)`)

// checkIndexes checks that all indexes of the migrations exist. A migration that creates a table again must also create its indexes again.
func checkIndexes(t *testing.T, db *sql.DB, cfg store.Config) {
	t.Helper()
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no migrations:", err)
	}
	want := map[string]bool{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		for _, change := range indexChange.FindAllStringSubmatch(up, -1) {
			want[change[2]] = change[1] != "DROP INDEX"
		}
	}
	query := "SELECT indexname FROM pg_indexes WHERE schemaname = 'public'"
	if cfg.Path != "" {
		query = "SELECT name FROM sqlite_master WHERE type = 'index'"
	}
	have := column(t, db, query)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if slices.Contains(have, name) != want[name] {
			t.Errorf("index %s exists: %v, want %v", name, !want[name], want[name])
		}
	}
}
