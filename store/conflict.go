package store

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// IsUniqueViolation reports whether a statement failed because a row with the same unique key exists. On PostgreSQL, the transaction cannot
// continue after that. To continue, use ON CONFLICT DO NOTHING and check the number of affected rows.
func IsUniqueViolation(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "23505"
	}
	lite, ok := errors.AsType[*sqlite.Error](err)
	return ok && lite.Code() == sqlitelib.SQLITE_CONSTRAINT_UNIQUE
}
