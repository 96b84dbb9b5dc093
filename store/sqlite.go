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

// minReaders is the least number of reading connections to a SQLite file.
const minReaders = 4

// busyTimeout is how long one statement waits for a lock that another process holds; see also DB.begin.
const busyTimeout = time.Second

// sqlitePragmas hold for every connection. There is no mmap_size: through a mapping a failing disk kills the process,
// through read(2) it is an error.
var sqlitePragmas = []string{
	fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
	"journal_mode(WAL)",
	"synchronous(NORMAL)", // see durable
	"foreign_keys(1)",
	"secure_delete(1)",   // what is deleted is overwritten with zeros
	"cache_size(-16000)", // KiB
	"temp_store(MEMORY)",
	"journal_size_limit(67108864)", // bytes; what the WAL is cut to after a burst
}

// openSQLite opens one connection that writes and several that read. With a second writing connection the two would run
// into each other's locks.
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
	// Others that open the same new file may be at the one step that SQLite does not wait for, which is turning to WAL.
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
		readOptions: &sql.TxOptions{ReadOnly: true}, // which the driver begins DEFERRED in spite of _txlock
		log:         cfg.Log,
		close:       func() error { return errors.Join(reader.Close(), writer.Close()) },
	}
	if db.queue, err = newSQLiteQueue(path, writer, cfg.Log); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// durable makes the commits of a connection survive a loss of power until the function it returns is called. DB.Write has
// its transactions so; the queue's own, in between, are on the disk with the next of these at the latest. Losing one of
// them means that a job runs again, which every job bears.
func durable(ctx context.Context, conn *sql.Conn) (end func() error, err error) {
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = FULL"); err != nil {
		return nil, err
	}
	return func() error {
		_, err := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA synchronous = NORMAL")
		return err
	}, nil
}

// createPrivate makes an empty file that only this user can read; SQLite would let everybody, and gives its companions
// (-wal, -shm) the mode of the file.
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

// TruncateLog empties the write-ahead log of SQLite, which still holds what was changed and deleted since it was last emptied. It
// waits for its turn to write, and for others to no longer need the log; after [Config].WriteWait it fails with an error that
// [IsBusy] recognizes. On PostgreSQL it does nothing: the server recycles its log by itself.
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
		if !time.Now().Before(deadline) { // SQLite has waited for busyTimeout at a time
			return fmt.Errorf("truncate the log: %w for %v: a transaction still needs it", ErrBusy, db.writeWait)
		}
	}
}
