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

// storeConfig returns the location of the database.
func (l *location) storeConfig(log *slog.Logger) store.Config {
	if l.Database != "" {
		return store.Config{URL: l.Database, Log: log}
	}
	return store.Config{Path: filepath.Join(l.Data, databaseName), Log: log}
}

// withService is withNewService for an existing data folder. If the folder has no database, it creates nothing and returns an error,
// because the folder is probably the wrong one.
func (l *location) withService(ctx context.Context, fn func(*docgen.Service) error) error {
	if err := l.mustExist(); err != nil {
		return err
	}
	return l.withNewService(ctx, fn)
}

// mustExist returns an error if the database is in the data folder, but missing there. The error names the folder.
func (l *location) mustExist() error {
	path, err := filepath.Abs(filepath.Join(l.Data, databaseName))
	if l.Database != "" || err != nil {
		return err
	}
	if _, err = os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("there is no server in the data folder %s: it has no %s, and nothing was created. Select the folder with --data "+
		"or PLATEN_DATA, or create a server there with platen serve or platen user create", filepath.Dir(path), databaseName)
}

// withNewService calls fn with a service on the database, without blob stores, for commands that need no file contents. It works whether
// or not a server is running. If a server uses the database, its schema stays; otherwise, the schema is migrated, and a missing database
// is created with its folder.
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

// isServed reports whether a server uses the data folder, which it creates if missing, unless the database is elsewhere.
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

// newLogger returns a logger for the formats and levels of config.
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

// writeAtomically replaces the file at path with the output of write. If write fails, an existing file stays as it was.
func writeAtomically(path string, write func(io.Writer) error) (err error) {
	folder := filepath.Dir(path)
	f, err := os.OpenFile(filepath.Join(folder, ".platen-"+rand.Text()+".tmp"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if failed, ok := errors.AsType[*fs.PathError](err); ok { // it names the temporary file
		return &fs.PathError{Op: "write to", Path: folder, Err: failed.Err}
	}
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
		return fmt.Errorf("replace %s: %w", filepath.Base(path), err)
	}
	return nil
}
