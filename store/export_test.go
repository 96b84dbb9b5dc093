package store

import (
	"context"
	"database/sql"
	"testing"

	"github.com/riverqueue/river"
)

func (db *DB) Reader() *sql.DB { return db.reader }
func (db *DB) Writer() *sql.DB { return db.writer }

// Waiting returns the number of transactions that wait for their turn.
func (db *DB) Waiting() int {
	if db.reads == db.writes {
		return db.reads.Waiting()
	}
	return db.reads.Waiting() + db.writes.Waiting()
}

// SQL returns the transaction itself.
func (tx *Tx) SQL() DBTX { return tx.sqlTx }

func (q *Queue) RiverConfig() *river.Config { return q.riverConfig() }

type JoinedTx = joinedTx

// CountRiverJobs counts River's jobs as this transaction sees them.
func (tx *Tx) CountRiverJobs(ctx context.Context) (n int, err error) {
	err = tx.sqlTx.QueryRowContext(ctx, "SELECT COUNT(*) FROM river_job").Scan(&n)
	return n, err
}

const KeptStatements = keptStatements

// Kept returns the number of statements that a reading connection to SQLite keeps.
func Kept(t *testing.T, conn *sql.Conn) (n int) {
	t.Helper()
	err := conn.Raw(func(driverConn any) error {
		n = len(driverConn.(*keepingConn).kept)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
