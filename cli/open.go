package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"platen/docgen"
	"platen/server"
	"platen/store"
)

const databaseName = "platen.db"

// storeConfig says where the database is.
func (l *location) storeConfig(log *slog.Logger) store.Config {
	if l.Database != "" {
		return store.Config{URL: l.Database, Log: log}
	}
	return store.Config{Path: filepath.Join(l.Data, databaseName), Log: log}
}

// withService is withNewService for a data folder that exists. In any other it makes nothing and returns an error: the folder is
// most likely the wrong one.
func (l *location) withService(ctx context.Context, fn func(*docgen.Service) error) error {
	if err := l.mustExist(); err != nil {
		return err
	}
	return l.withNewService(ctx, fn)
}

// mustExist returns an error that says where a database was looked for, if there is none in the data folder and it is not
// elsewhere.
func (l *location) mustExist() error {
	path, err := filepath.Abs(filepath.Join(l.Data, databaseName))
	if l.Database != "" || err != nil {
		return err
	}
	if _, err = os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("there is no server in the data folder %s: it has no %s, and nothing was created. Name the folder with --data or PLATEN_DATA, "+
		"or create a server there with platen serve or platen user create", filepath.Dir(path), databaseName)
}

// withNewService calls fn with the service on the database alone, whether or not a server runs on it: for commands that
// touch no contents of files. A database that a server uses is left as that server has it; one that none uses is brought
// up to date, and created with its folder when there is none.
func (l *location) withNewService(ctx context.Context, fn func(*docgen.Service) error) (err error) {
	cfg := l.storeConfig(slog.New(slog.DiscardHandler))
	if cfg.NoMigrate, err = l.isServed(); err != nil {
		return err
	}
	db, err := store.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	service, err := docgen.New(ctx, docgen.Config{Store: db, Notification: server.Notification})
	if err != nil {
		return err
	}
	return fn(service)
}

// isServed tells whether a server runs on the data folder, which is made when missing, unless the database is elsewhere.
func (l *location) isServed() (bool, error) {
	if _, err := os.Stat(l.Data); l.Database != "" && errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	lock, err := store.LockDir(l.Data)
	if errors.Is(err, store.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Unlock()
}

// newLogger returns a logger in one of the formats and from one of the levels that config knows.
func newLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	options := &slog.HandlerOptions{}
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, usagef("--log-level: %w", err)
	}
	options.Level = least
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return slog.New(slog.NewTextHandler(w, options)), nil
}

// writeAtomically makes the file at path of what write writes: all of it, or nothing, in which case a file that was
// there before stays as it was.
func writeAtomically(path string, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), ".platen-"+rand.Text()+".tmp"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("put %s in its place: %w", filepath.Base(path), err)
	}
	return nil
}
