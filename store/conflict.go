package store

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// IsUniqueViolation reports whether a statement failed because a row with the same unique key was there. On PostgreSQL the
// transaction is then lost: ON CONFLICT DO NOTHING and the number of rows is the way to continue.
func IsUniqueViolation(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "23505"
	}
	lite, ok := errors.AsType[*sqlite.Error](err)
	return ok && lite.Code() == sqlitelib.SQLITE_CONSTRAINT_UNIQUE
}
