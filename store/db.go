// Package store keeps Platen's rows and its job queue in one database: SQLite in a file, or PostgreSQL. One set of SQL statements serves
// both. A transaction changes rows and jobs together, so neither exists without the other.
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

// The number of attempts for a transaction that conflicts with another, and the first pause between them.
const (
	transactionTries = 5
	transactionPause = 5 * time.Millisecond
)

// defaultWriteWait is the maximum time that a transaction waits for its turn to write. It is short enough that requests are answered before
// their clients give up.
const defaultWriteWait = 5 * time.Second

// spareConns is the number of connections that are reserved for users who have none, however many the others use.
const spareConns = 2

// Dialect distinguishes the two databases in logs. The SQL is the same.
type Dialect string

// The databases that a DB can use.
const (
	SQLite     Dialect = "sqlite"
	PostgreSQL Dialect = "postgres"
)

// Config describes the database. Exactly one of Path and URL is set.
type Config struct {
	// Path is the file of a SQLite database on a local disk. Open creates a missing file, but not its directory.
	Path string
	// URL names a PostgreSQL database that only Platen uses, as postgres://user:password@host:port/name.
	URL string
	// MaxConns is the maximum number of connections to PostgreSQL. It is at least 4. 0 means pool_max_conns in the URL, or else 16.
	MaxConns int
	// WriteWait is the maximum time that [DB.Write] waits for its turn to write before it fails with ErrBusy. 0 means 5 s.
	WriteWait time.Duration
	// NoMigrate makes Open fail with [ErrSchema] instead of changing the schema. It is for commands that may run next to a server of
	// another version.
	NoMigrate bool
	// Log receives the messages of the queue and the migrations. nil means slog.Default().
	Log *slog.Logger
}

// DB is an open database with the schema that this program needs. It is safe for concurrent use.
type DB struct {
	dialect        Dialect
	reader, writer *sql.DB
	reads, writes  *fair.Slots // connections; database/sql would give a free one to a random waiter
	readOptions    *sql.TxOptions
	writeWait      time.Duration
	queue          queueDriver
	eventsAdded    chan struct{}
	log            *slog.Logger
	close          func() error
}

// Open opens the database, migrates its schema, and returns it ready for use. If several processes open the same database at the same time,
// one migrates it and the others wait.
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
	db.writeWait, db.eventsAdded = cfg.WriteWait, make(chan struct{}, 1)
	if err := migrate(ctx, db, cfg); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Close closes every connection. Stop a running [Queue] first.
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

// Read calls fn with queries that all see the same snapshot of the database. On SQLite, readers never wait for the writer. fn cannot change
// anything, because the database refuses it. fn may be called again if the transaction conflicts with another. If fn fails, Read returns
// its error unchanged.
//
// Users, as named by [fair.For] in ctx, take turns at the connections.
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
		defer tx.Rollback() // ends the snapshot, and nothing is lost
		return fn(New(tx))
	})
}

// ReadOne is Read for a single statement, which needs no transaction to see a snapshot.
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

// Write calls fn in a transaction. If Write returns nil, everything that fn did is durable. If Write returns an error or fn panics, none of
// it has happened. There is one exception: if a connection to PostgreSQL breaks during the commit, the outcome is unknown. If fn fails,
// Write returns its error unchanged.
//
// If the transaction conflicts with another, fn runs again from the start, so it must only use tx and set variables. On SQLite, all writers
// of the process wait for each other, so fn must not do slow work or call Write. Users, as named by [fair.For] in ctx, take turns at
// writing.
//
// If Write does not get its turn within [Config].WriteWait, it fails without calling fn, with an error that [IsBusy] recognizes. This
// happens when other transactions take too long, or another process holds the lock of the database.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	return retry(ctx, func() error { return db.writeOnce(ctx, true, fn) })
}

// WithLastStep returns a context in which every [DB.Write] calls step as the last step of its transaction. If step fails, so does the
// transaction. [DB.WriteAsync] does not call it.
func WithLastStep(ctx context.Context, step func(ctx context.Context, tx *Tx) error) context.Context {
	return context.WithValue(ctx, lastStepKey{}, step)
}

type lastStepKey struct{}

func lastStep(ctx context.Context) func(context.Context, *Tx) error {
	step, _ := ctx.Value(lastStepKey{}).(func(context.Context, *Tx) error)
	return step
}

// WriteAsync is Write without waiting for the disk. A loss of power within about a second may undo the transaction as a whole. A crash of
// the process alone never does.
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
	err = fn(tx)
	if last := lastStep(ctx); err == nil && wait && last != nil {
		err = last(ctx, tx)
	}
	if err != nil {
		return err
	}
	if err := sqlTx.Commit(); err != nil {
		if errors.Is(err, sql.ErrTxDone) { // database/sql rolled it back when ctx ended, so that is the error to report
			err = cmp.Or(ctx.Err(), err)
		}
		return fmt.Errorf("commit: %w", err)
	}
	db.queue.committed(tx.queues)
	if tx.events > 0 {
		db.noteEvents()
	}
	return nil
}

// writeConn waits until a deadline for a connection that writes. release returns it to the pool.
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

// begin begins a transaction. On SQLite, it waits until a deadline for another process to release the lock. SQLite itself waits for
// busyTimeout at a time and ignores ctx.
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

// retry calls attempt until it succeeds, fails permanently, or has failed the maximum number of times.
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

// lostRace reports whether the database rolled a transaction back only because it conflicted with another.
func lostRace(err error) bool {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgErr.Code == "40001" || pgErr.Code == "40P01" // serialization_failure, deadlock_detected
	}
	if sqliteErr, ok := errors.AsType[*sqlite.Error](err); ok {
		return sqliteErr.Code()&0xff == sqlitelib.SQLITE_BUSY // the low byte is the primary code
	}
	return false
}
