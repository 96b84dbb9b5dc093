package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"platen/store"
	"platen/store/storetest"
)

// TestKeptStatementsSeeChanges checks that a kept statement returns the current rows and the current columns.
func TestKeptStatementsSeeChanges(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	for i, change := range []string{
		"CREATE TABLE things (a BIGINT)", "INSERT INTO things VALUES (1)", "ALTER TABLE things ADD COLUMN b BIGINT", "DELETE FROM things",
	} {
		if _, err := db.Writer().ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		want := []string{"[a] 0", "[a] 1", "[a b] 1", "[a b] 0"}[i]
		if got := things(t, db.Reader()); got != want {
			t.Errorf("after %s: %s, want %s", change, got, want)
		}
	}
}

// things returns the columns of a table, and its number of rows.
func things(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM things")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	n := 0
	for rows.Next() {
		n++
	}
	if err != nil || rows.Err() != nil {
		t.Fatal(err, rows.Err())
	}
	return fmt.Sprint(columns, n)
}

// TestKeptStatementInUse runs a statement while the same statement is still in use. The rows of both are complete.
func TestKeptStatementInUse(t *testing.T) {
	const query = "WITH RECURSIVE n (i) AS (SELECT $1 UNION ALL SELECT i + 1 FROM n WHERE i < $2) SELECT i FROM n"
	db := storetest.Open(t, storetest.SQLite(t))
	sum := 0
	read := func(conn *sql.Conn, from, to int, each func()) {
		rows, err := conn.QueryContext(t.Context(), query, from, to)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var i int
			if err := rows.Scan(&i); err != nil {
				t.Fatal(err)
			}
			sum += i
			each()
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	onConn(t, db, func(conn *sql.Conn) {
		for range 2 {
			sum = 0
			read(conn, 1, 3, func() { read(conn, 10, 11, func() {}) })
			if sum != 1+2+3+3*(10+11) {
				t.Errorf("sum = %d, want 69", sum)
			}
		}
	})
}

// TestKeptStatementsAreFew runs very many different statements. A connection keeps only some of them.
func TestKeptStatementsAreFew(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	onConn(t, db, func(conn *sql.Conn) {
		for i := range store.KeptStatements + 10 {
			var got int
			if err := conn.QueryRowContext(t.Context(), fmt.Sprintf("SELECT %d", i)).Scan(&got); err != nil || got != i {
				t.Fatalf("SELECT %d = %d, %v", i, got, err)
			}
		}
		if n := store.Kept(t, conn); n != store.KeptStatements {
			t.Errorf("%d statements are kept, want %d", n, store.KeptStatements)
		}
	})
}

func onConn(t *testing.T, db *store.DB, do func(conn *sql.Conn)) {
	t.Helper()
	conn, err := db.Reader().Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	do(conn)
}
