package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrSchema is returned by [Open] if the schema does not have this program's version and Open may not change it. The error also wraps
// ErrEmpty if there is no schema yet, and ErrNewer if the schema has a later version.
var (
	ErrSchema = errors.New("the database has the schema of another version")
	ErrEmpty  = errors.New("it has no tables yet")
	ErrNewer  = errors.New("it is newer than this program")
)

// migrationLock is the number of the advisory lock on PostgreSQL that a process holds while it migrates.
const migrationLock = 0x706c6174656e // "platen"

// migrateSQLite migrates while it holds a lock on a file next to the database.
func migrateSQLite(ctx context.Context, db *DB, cfg Config) error {
	lock, err := waitLockFile(ctx, db.queue.(*sqliteQueue).path+"-migrate.lock")
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer lock.Close()
	return migrate(ctx, db, cfg, goose.DialectSQLite3, db.queue.(*sqliteQueue).driver)
}

// migratePostgres migrates while a separate connection holds an advisory lock. Closing the connection releases the lock.
func migratePostgres(ctx context.Context, db *DB, cfg Config) error {
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SET lock_timeout TO 0"); err != nil { // another process may take long to migrate
		return fmt.Errorf("migrate: %w", err)
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	err = migrate(ctx, db, cfg, goose.DialectPostgres, db.queue.(*postgresQueue).driver)
	if err == nil && !cfg.NoMigrate {
		if _, err = conn.ExecContext(ctx, ratesTable); err == nil {
			_, err = conn.ExecContext(ctx, raisePositions)
		}
	}
	for _, undo := range []string{fmt.Sprintf("SELECT pg_advisory_unlock(%d)", migrationLock), "SET lock_timeout TO DEFAULT"} {
		if _, undoErr := conn.ExecContext(context.WithoutCancel(ctx), undo); undoErr != nil {
			err = errors.Join(err, fmt.Errorf("migrate: %w", undoErr))
		}
	}
	return err
}

// migrate migrates Platen's tables, then River's. The caller makes sure that only one process does so at a time.
func migrate[T any](ctx context.Context, db *DB, cfg Config, dialect goose.Dialect, driver riverdriver.Driver[T]) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	ours, err := goose.NewProvider(dialect, db.writer, files)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	rivers, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: riverLogger(cfg.Log)})
	if err != nil {
		return fmt.Errorf("migrate queue: %w", err)
	}
	if cfg.NoMigrate {
		if err := refuseEmpty(ctx, db); err != nil {
			return err
		}
		return checkSchema(ctx, ours, rivers.Validate)
	}
	if err := beforeMigration(ctx, db, cfg, ours, rivers.Validate); err != nil {
		return err
	}
	if _, err := ours.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if err := refuseNewer(ctx, ours); err != nil {
		return err
	}
	if _, err := rivers.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate queue: %w", err)
	}
	return nil
}

// beforeMigration backs up an embedded database before a migration changes it. A new database is not backed up.
func beforeMigration(ctx context.Context, db *DB, cfg Config, ours *goose.Provider,
	validateQueue func(context.Context, *rivermigrate.ValidateOpts) (*rivermigrate.ValidateResult, error)) error {
	if db.dialect != SQLite || errors.Is(refuseEmpty(ctx, db), ErrEmpty) {
		return nil
	}
	err := checkSchema(ctx, ours, validateQueue)
	if !errors.Is(err, ErrSchema) || errors.Is(err, ErrNewer) { // a database of a newer program is refused later
		return err
	}
	current, err := ours.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return backUpBeforeMigration(ctx, cfg.Path, current+1, cfg.Log)
}

// checkSchema returns an error that wraps ErrSchema unless the schema is exactly the one that this program needs. Its reads take the lock
// of SQLite, which a server that stops holds while it empties its log, so it repeats them.
func checkSchema(ctx context.Context, ours *goose.Provider,
	validateQueue func(context.Context, *rivermigrate.ValidateOpts) (*rivermigrate.ValidateResult, error)) error {
	return retry(ctx, func() error { return compareSchema(ctx, ours, validateQueue) })
}

func compareSchema(ctx context.Context, ours *goose.Provider,
	validateQueue func(context.Context, *rivermigrate.ValidateOpts) (*rivermigrate.ValidateResult, error)) error {
	pending, err := ours.HasPending(ctx)
	if err != nil {
		return fmt.Errorf("check schema: %w", err)
	}
	if pending {
		return fmt.Errorf("%w: it is older than this program", ErrSchema)
	}
	result, err := validateQueue(ctx, nil)
	if err != nil {
		return fmt.Errorf("check schema of the queue: %w", err)
	}
	if !result.OK {
		return fmt.Errorf("%w: its queue is older than this program", ErrSchema)
	}
	return refuseNewer(ctx, ours)
}

// versionsTable has the queries that report whether the table of applied migrations exists. Checking the migrations would create it.
var versionsTable = map[Dialect]string{
	SQLite:     "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'goose_db_version')",
	PostgreSQL: "SELECT to_regclass('goose_db_version') IS NOT NULL",
}

// refuseEmpty rejects a database without tables.
func refuseEmpty(ctx context.Context, db *DB) error {
	var there bool
	if err := db.writer.QueryRowContext(ctx, versionsTable[db.dialect]).Scan(&there); err != nil {
		return fmt.Errorf("check schema: %w", err)
	}
	if !there {
		return fmt.Errorf("%w: %w", ErrSchema, ErrEmpty)
	}
	return nil
}

// refuseNewer rejects a database that a newer program has changed.
func refuseNewer(ctx context.Context, ours *goose.Provider) error {
	current, target, err := ours.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("check schema: %w", err)
	}
	if current > target {
		return fmt.Errorf("%w: %w (%d, not %d)", ErrSchema, ErrNewer, current, target)
	}
	return nil
}
