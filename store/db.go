// Package store keeps Platen's rows and its queue of jobs in one database: SQLite in a file, or PostgreSQL. One SQL text
// serves both. Rows and jobs change together in one transaction, so that neither is there without the other.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"platen/fair"
)

// How often, and after which pause at first, a transaction is run again that lost against another.
const (
	transactionTries = 5
	transactionPause = 5 * time.Millisecond
)

// defaultWriteWait is how long a transaction waits for its turn to write: requests are answered before their clients give up.
const defaultWriteWait = 5 * time.Second

// spareConns is the number of connections that only users get who use none, however many others use.
const spareConns = 2

// Dialect distinguishes the two databases, for readers of logs; the SQL is the same.
type Dialect string

// The databases a DB can be.
const (
	SQLite     Dialect = "sqlite"
	PostgreSQL Dialect = "postgres"
)

// Config says where the database is. Exactly one of Path and URL is set.
type Config struct {
	// Path is the file of a SQLite database on a local disk. It is made when missing, its directory is not.
	Path string
	// URL names a PostgreSQL database that Platen has to itself, as postgres://user:password@host:port/name.
	URL string
	// MaxConns bounds the connections to PostgreSQL, at least 4; 0 leaves it to pool_max_conns in the URL, or else 16.
	MaxConns int
	// WriteWait is how long [DB.Write] waits for its turn to write before it fails with ErrBusy; 0 is 5 s.
	WriteWait time.Duration
	// NoMigrate makes Open fail with [ErrSchema] where it would have to change the schema: for a command that runs while a server of
	// another version may be running.
	NoMigrate bool
	// Log receives what the queue and the migrations have to say; nil is slog.Default().
	Log *slog.Logger
}

// DB is an open database with the schema this program needs. Its methods may be called from many goroutines.
type DB struct {
	dialect        Dialect
	reader, writer *sql.DB
	reads, writes  *fair.Slots // connections, because database/sql would give a free one to a random waiter
	readOptions    *sql.TxOptions
	writeWait      time.Duration
	queue          queueDriver
	log            *slog.Logger
	close          func() error
}

// Open opens the database, brings its schema up to date and returns it ready for use. Several processes may open the same
// database at the same time: one of them migrates, the others wait for it.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if (cfg.Path == "") == (cfg.URL == "") {
		return nil, errors.New("open database: give either the path of a SQLite file or the URL of a PostgreSQL database")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	cfg.WriteWait = cmp.Or(cfg.WriteWait, defaultWriteWait)
	open, migrate := openSQLite, migrateSQLite
	if cfg.URL != "" {
		open, migrate = openPostgres, migratePostgres
	}
	db, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	db.writeWait = cfg.WriteWait
	if err := migrate(ctx, db, cfg); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Close closes every connection. A running [Queue] has to be stopped first.
func (db *DB) Close() error { return db.close() }

// Dialect returns the kind of this database.
func (db *DB) Dialect() Dialect { return db.dialect }

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	if err := db.reader.QueryRowContext(ctx, "SELECT 1").Scan(&one); err != nil {
		return fmt.Errorf("ping database: %w", err)
	}
	return nil
}

// Read calls fn with queries that all see the database as it was at one moment. On SQLite readers never wait for the
// writer. fn must not change anything (the database refuses it), and it may be called again when the database asks for
// that. The error is fn's own, unchanged, where fn fails.
//
// Users take turns at the connections, as [fair.For] names them in ctx.
func (db *DB) Read(ctx context.Context, fn func(q *Queries) error) error {
	return retry(ctx, func() error {
		turn, err := db.reads.Acquire(ctx, fair.ClaimantOf(ctx))
		if err != nil {
			return fmt.Errorf("wait to read: %w", err)
		}
		defer turn.Release()
		tx, err := db.reader.BeginTx(ctx, db.readOptions)
		if err != nil {
			return fmt.Errorf("begin to read: %w", err)
		}
		defer tx.Rollback() // ends the snapshot; there is nothing to commit
		return fn(New(tx))
	})
}

// ReadOne is Read for a single statement, which sees the database as it was at one moment without a transaction.
func (db *DB) ReadOne(ctx context.Context, fn func(q *Queries) error) error {
	return retry(ctx, func() error {
		turn, err := db.reads.Acquire(ctx, fair.ClaimantOf(ctx))
		if err != nil {
			return fmt.Errorf("wait to read: %w", err)
		}
		defer turn.Release()
		return fn(New(db.reader))
	})
}

// Write calls fn in one transaction: all that fn does is durable when Write returns nil, and none of it has happened when
// Write returns an error or fn panics. The one exception is a connection to PostgreSQL that breaks during the commit: then
// nobody knows. The error is fn's own, unchanged, where fn fails.
//
// fn runs again from the start when the transaction loses against another, so it must do nothing but use tx and set
// variables. On SQLite all writers of the process wait for each other: fn does no slow work and does not call Write. Users
// take turns at writing, as [fair.For] names them in ctx.
//
// Write fails with an error that [IsBusy] recognizes, without calling fn, when it does not get its turn within
// [Config].WriteWait: because other transactions take that long, or another process holds the lock of the database.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	return retry(ctx, func() error { return db.writeOnce(ctx, true, fn) })
}

// WriteAsync is Write for what may be lost with the power within about a second, as if it had not happened: it does not
// wait for the disk. What it did is never lost with the process alone.
func (db *DB) WriteAsync(ctx context.Context, fn func(tx *Tx) error) error {
	return retry(ctx, func() error { return db.writeOnce(ctx, false, fn) })
}

func (db *DB) writeOnce(ctx context.Context, wait bool, fn func(tx *Tx) error) error {
	deadline := time.Now().Add(db.writeWait)
	conn, release, err := db.writeConn(ctx, deadline)
	if err != nil {
		return fmt.Errorf("connect to write: %w", err)
	}
	defer release()
	if wait && db.dialect == SQLite {
		end, err := durable(ctx, conn)
		if err != nil {
			return fmt.Errorf("begin to write: %w", err)
		}
		defer func() {
			if err := end(); err != nil { // the transaction is durable anyway, and so are later ones
				db.log.WarnContext(ctx, "the database stays at its slower, most careful setting", "error", err)
			}
		}()
	}
	sqlTx, err := db.begin(ctx, conn, deadline)
	if err != nil {
		return fmt.Errorf("begin to write: %w", err)
	}
	defer sqlTx.Rollback() // does nothing after the commit
	tx := &Tx{Queries: New(sqlTx), db: db, conn: conn, sqlTx: sqlTx}
	if !wait && db.dialect == PostgreSQL {
		if _, err := sqlTx.ExecContext(ctx, "SET LOCAL synchronous_commit TO off"); err != nil {
			return fmt.Errorf("begin to write: %w", err)
		}
	}
	if err := fn(tx); err != nil {
		return err
	}
	if err := sqlTx.Commit(); err != nil {
		if errors.Is(err, sql.ErrTxDone) { // rolled back by database/sql when ctx ended, which is the reason to give
			err = cmp.Or(ctx.Err(), err)
		}
		return fmt.Errorf("commit: %w", err)
	}
	db.queue.committed(tx.queues)
	return nil
}

// writeConn waits for a connection that writes, until a deadline. It is given back by release.
func (db *DB) writeConn(ctx context.Context, deadline time.Time) (conn *sql.Conn, release func(), err error) {
	waiting, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	turn, err := db.writes.Acquire(waiting, fair.ClaimantOf(ctx))
	if err == nil {
		if conn, err = db.writer.Conn(waiting); err != nil {
			turn.Release()
		}
	}
	if err == nil {
		return conn, func() { conn.Close(); turn.Release() }, nil //nolint:errcheck // it goes back to the pool
	}
	if waiting.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w for %v", ErrBusy, db.writeWait)
	}
	return nil, nil, err
}

// begin begins a transaction. On SQLite it waits until a deadline for another process to give up the lock; SQLite itself waits
// for busyTimeout at a time, without a look at ctx.
func (db *DB) begin(ctx context.Context, conn *sql.Conn, deadline time.Time) (*sql.Tx, error) {
	for {
		tx, err := conn.BeginTx(ctx, nil)
		if err == nil || db.dialect != SQLite || !lostRace(err) {
			return tx, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !time.Now().Before(deadline) {
			return nil, fmt.Errorf("%w for %v: another process holds its lock: %w", ErrBusy, db.writeWait, err)
		}
	}
}

// retry calls attempt until it succeeds, fails permanently, or has been tried often enough.
func retry(ctx context.Context, attempt func() error) error {
	pause := transactionPause
	for try := 1; ; try++ {
		err := attempt()
		if isBroken(err) {
			return fmt.Errorf("%w: %w", ErrDisconnected, err)
		}
		if err == nil || try == transactionTries || errors.Is(err, ErrBusy) || !lostRace(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause + rand.N(pause)):
			pause *= 2
		}
	}
}

// lostRace reports whether the database rolled a transaction back only because of another one.
func lostRace(err error) bool {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgErr.Code == "40001" || pgErr.Code == "40P01" // serialization_failure, deadlock_detected
	}
	if sqliteErr, ok := errors.AsType[*sqlite.Error](err); ok {
		return sqliteErr.Code()&0xff == sqlitelib.SQLITE_BUSY // the low byte is the primary code
	}
	return false
}
