package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"platen/fair"
)

// minReaders is the minimum number of reading connections to a SQLite file.
const minReaders = 4

// busyTimeout is the maximum time that one statement waits for a lock that another process holds. See also DB.begin.
const busyTimeout = time.Second

// sqlitePragmas apply to every connection. mmap_size is not set: with a mapping, a failing disk would kill the process, while read(2)
// returns an error.
var sqlitePragmas = []string{
	fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
	"journal_mode(WAL)",
	"synchronous(NORMAL)", // see durable
	"foreign_keys(1)",
	"secure_delete(1)",   // overwrites deleted data with zeros
	"cache_size(-16000)", // KiB
	"temp_store(MEMORY)",
	"journal_size_limit(67108864)", // bytes; the WAL is truncated to this size after a burst
}

// openSQLite opens one connection that writes and several that read. Two writing connections would conflict with each other's locks.
func openSQLite(ctx context.Context, cfg Config) (*DB, error) {
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := createPrivate(path); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	writer := sql.OpenDB(connector{sqliteDSN(path, "_txlock=immediate")})
	writer.SetMaxOpenConns(1)
	// SQLite does not wait for locks while it turns a database to WAL, and another process may be opening the same new file.
	if err := retry(ctx, func() error { return writer.PingContext(ctx) }); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), writer.Close())
	}
	reader := sql.OpenDB(connector{sqliteDSN(path, "_pragma=query_only(1)")})
	readers := max(minReaders, runtime.NumCPU())
	reader.SetMaxOpenConns(readers + spareConns)
	reader.SetMaxIdleConns(readers + spareConns)

	db := &DB{
		dialect:     SQLite,
		reader:      reader,
		writer:      writer,
		reads:       fair.New(fair.Config{Slots: readers, Spare: spareConns}),
		writes:      fair.New(fair.Config{Slots: 1}),
		readOptions: &sql.TxOptions{ReadOnly: true}, // the driver then begins DEFERRED in spite of _txlock
		log:         cfg.Log,
		close:       func() error { return errors.Join(reader.Close(), writer.Close()) },
	}
	if db.queue, err = newSQLiteQueue(path, writer, cfg.Log); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// durable makes the commits of a connection survive a loss of power until end is called. DB.Write uses it for its transactions. Those of
// the queue, in between, become durable with the next one of DB.Write. If one of them is lost, a job runs again, which every job tolerates.
func durable(ctx context.Context, conn *sql.Conn) (end func() error, err error) {
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = FULL"); err != nil {
		return nil, err
	}
	return func() error {
		_, err := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA synchronous = NORMAL")
		return err
	}, nil
}

// createPrivate creates an empty file that only this user can read. SQLite would let everyone read it. SQLite gives its companion files
// (-wal, -shm) the mode of the database.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func sqliteDSN(path, param string) string {
	pragmas := "&_pragma=" + strings.Join(sqlitePragmas, "&_pragma=")
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + param + pragmas
}

// TruncateLog empties the write-ahead log of SQLite, which still contains data that was changed or deleted since it was last emptied. It
// waits for its turn to write, and until no other process needs the log. If that takes longer than [Config].WriteWait, it fails with an
// error that [IsBusy] recognizes. On PostgreSQL it does nothing, because the server recycles its log.
func (db *DB) TruncateLog(ctx context.Context) error {
	if db.dialect != SQLite {
		return nil
	}
	deadline := time.Now().Add(db.writeWait)
	conn, release, err := db.writeConn(ctx, deadline)
	if err != nil {
		return fmt.Errorf("truncate the log: %w", err)
	}
	defer release()
	for {
		var busy, frames, moved int64
		err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
		if err == nil && busy == 0 {
			return nil
		}
		if err != nil && !lostRace(err) || ctx.Err() != nil {
			return fmt.Errorf("truncate the log: %w", cmp.Or(ctx.Err(), err))
		}
		if !time.Now().Before(deadline) { // SQLite waits for busyTimeout at a time
			return fmt.Errorf("truncate the log: %w for %v: a transaction still needs it", ErrBusy, db.writeWait)
		}
	}
}
