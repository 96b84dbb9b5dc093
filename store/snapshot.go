package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	sqlitelib "modernc.org/sqlite/lib"

	"modernc.org/sqlite"
)

// ErrNoSpace means that a snapshot was not written because the disk has too little space for it.
var ErrNoSpace = errors.New("no space left on the disk")

// Snapshot writes a consistent copy of a SQLite database to a new file. When Snapshot returns nil, the file is durable and complete without
// companion files (-wal), and only this user can read it. If Snapshot fails, there is no file. Writers do not wait for it, but the
// write-ahead log grows until it is done.
func (db *DB) Snapshot(ctx context.Context, path string) error {
	queue, ok := db.queue.(*sqliteQueue)
	if !ok {
		return errors.New("snapshot: only of the embedded database")
	}
	return snapshot(ctx, queue.path, path)
}

func snapshot(ctx context.Context, from, to string) (err error) {
	f, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(to))
		}
	}()
	conn := sql.OpenDB(connector{sqliteDSN(from, "_txlock=deferred")})
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetMaxOpenConns(1)
	if err := enoughRoom(ctx, conn, filepath.Dir(to)); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if _, err := conn.ExecContext(ctx, "VACUUM INTO $1", to); err != nil { // into the empty file, which keeps its mode
		return fmt.Errorf("snapshot: %w", classify(err))
	}
	if err := errors.Join(f.Sync(), syncDir(filepath.Dir(to))); err != nil {
		return fmt.Errorf("snapshot: %w", classify(err))
	}
	return nil
}

// enoughRoom returns an error that wraps ErrNoSpace if a copy of a database does not fit in a directory.
func enoughRoom(ctx context.Context, db *sql.DB, dir string) error {
	var need uint64
	err := db.QueryRowContext(ctx, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`).Scan(&need)
	if err != nil {
		return err
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return fmt.Errorf("statfs %s: %w", dir, err)
	}
	if free := disk.Bavail * uint64(disk.Bsize); free < need {
		return fmt.Errorf("%w: %s has %d MiB free, and the copy needs %d MiB", ErrNoSpace, dir, free>>20, need>>20+1)
	}
	return nil
}

// classify marks errors that mean a full disk.
func classify(err error) error {
	sqliteErr, ok := errors.AsType[*sqlite.Error](err)
	if ok && sqliteErr.Code()&0xff == sqlitelib.SQLITE_FULL || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// keptBeforeMigrations is the number of backups from before migrations that are kept.
const keptBeforeMigrations = 2

// backUpBeforeMigration copies a SQLite database to platen.db.before-N, where N is the first pending migration, and removes all older
// copies of this kind except the last one.
func backUpBeforeMigration(ctx context.Context, path string, next int64, log *slog.Logger) error {
	name := fmt.Sprintf("%s.before-%d", path, next)
	log.InfoContext(ctx, "backing up the database before its schema changes", "to", name)
	draft := name + ".tmp"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by a process that was killed
		return err
	}
	if err := snapshot(ctx, path, draft); err != nil {
		return fmt.Errorf("back up the database before its schema changes, which nothing did yet: %w", err)
	}
	if err := errors.Join(os.Rename(draft, name), syncDir(filepath.Dir(name))); err != nil {
		return fmt.Errorf("back up the database before its schema changes: %w", err)
	}
	return removeOldCopies(path + ".before-")
}

// removeOldCopies removes the files whose names begin with a prefix, except the last ones.
func removeOldCopies(prefix string) error {
	entries, err := os.ReadDir(filepath.Dir(prefix))
	if err != nil {
		return err
	}
	var copies []fs.FileInfo
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), filepath.Base(prefix)) || !entry.Type().IsRegular() {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		copies = append(copies, info)
	}
	slices.SortFunc(copies, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(b.Name(), a.Name()))
	})
	for _, old := range copies[min(len(copies), keptBeforeMigrations):] {
		if err := os.Remove(filepath.Join(filepath.Dir(prefix), old.Name())); err != nil {
			return err
		}
	}
	return nil
}
