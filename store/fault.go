package store

import (
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// ErrBusy is returned by [DB.Write] if it did not get its turn to write in time. Nothing was written.
var ErrBusy = errors.New("the database was busy with other writers")

// IsBusy reports whether an operation failed only because the database was busy or could not be reached. Nothing was written, and
// the same operation can succeed a few seconds later.
func IsBusy(err error) bool {
	if errors.Is(err, ErrBusy) {
		return true
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return lite.Code()&0xff == sqlitelib.SQLITE_BUSY
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pg.Code {
		case "55P03", "53300", "57P03": // lock_not_available, too_many_connections, cannot_connect_now
			return true
		}
		return false
	}
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok
}

// ErrDisconnected is in the chain of errors that [DB.Read] and [DB.Write] return when their connection to PostgreSQL broke. The transaction
// may have been committed.
var ErrDisconnected = errors.New("the connection to the database broke")

// isBroken reports whether an operation failed because its connection broke or the server closed it.
func isBroken(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(pg.Code, "57P") || strings.HasPrefix(pg.Code, "08") // operator_intervention, connection_exception
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	return errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF)
}

// IsFull reports whether an operation failed because no disk space is left for the database. Nothing was written.
func IsFull(err error) bool {
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		// SQLite returns the second code when it cannot enlarge the index of its log.
		return lite.Code()&0xff == sqlitelib.SQLITE_FULL || lite.Code() == sqlitelib.SQLITE_IOERR_SHMSIZE
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "53100" // disk_full
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
