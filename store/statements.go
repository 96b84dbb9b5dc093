package store

import (
	"context"
	"database/sql/driver"
	"regexp"

	"modernc.org/sqlite"
)

// keptStatements is the maximum number of statements that a connection keeps. It is larger than the number of different statements.
const keptStatements = 256

// limits matches the parameters of LIMIT and OFFSET. Since version 3.47, SQLite compiles a statement whose LIMIT is a bare parameter again
// each time the parameter is bound.
var limits = regexp.MustCompile(`\b(LIMIT|OFFSET) (\$\d+)`)

// keepable matches the statements that are kept. A PRAGMA is not kept, because it may take effect when it is compiled, and would not take
// effect a second time.
var keepable = regexp.MustCompile(`^(?:\s|--[^\n]*\n)*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b`)

// A connector opens connections to a SQLite file that keep their compiled statements. Compiling a statement takes longer than finding or
// changing a row.
type connector struct{ dsn string }

func (c connector) Driver() driver.Driver { return &sqlite.Driver{} }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	return &keepingConn{sqliteConn: conn.(sqliteConn), kept: map[string]sqliteStmt{}}, nil
}

// sqliteConn and sqliteStmt are the methods of the driver's connections and statements, without the shortcuts that let database/sql bypass
// PrepareContext.
type (
	sqliteConn interface {
		driver.Conn
		driver.ConnPrepareContext
		driver.ConnBeginTx
		driver.Pinger
		driver.SessionResetter
		driver.Validator
	}
	sqliteStmt interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}
)

// A keepingConn keeps compiled statements. One goroutine uses it at a time, as database/sql promises.
type keepingConn struct {
	sqliteConn
	kept map[string]sqliteStmt // by text, without those in use
}

// PrepareContext returns a kept statement, or compiles it.
func (c *keepingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if stmt, ok := c.kept[query]; ok {
		delete(c.kept, query)
		return &keptStmt{sqliteStmt: stmt, conn: c, query: query}, nil
	}
	if !keepable.MatchString(query) {
		return c.sqliteConn.PrepareContext(ctx, query)
	}
	stmt, err := c.sqliteConn.PrepareContext(ctx, limits.ReplaceAllString(query, "$1 CAST($2 AS BIGINT)"))
	if err != nil {
		return nil, err
	}
	return &keptStmt{sqliteStmt: stmt.(sqliteStmt), conn: c, query: query}, nil
}

// Close closes the kept statements and the connection. database/sql has already closed those in use.
func (c *keepingConn) Close() error {
	kept := c.kept
	c.kept = nil
	for _, stmt := range kept {
		if err := stmt.Close(); err != nil {
			return err
		}
	}
	return c.sqliteConn.Close()
}

// A keptStmt is a statement in use.
type keptStmt struct {
	sqliteStmt
	conn  *keepingConn
	query string
}

// Close keeps the statement, unless there is already one with its text or there are enough.
func (s *keptStmt) Close() error {
	if _, there := s.conn.kept[s.query]; there || s.conn.kept == nil || len(s.conn.kept) >= keptStatements {
		return s.sqliteStmt.Close()
	}
	s.conn.kept[s.query] = s.sqliteStmt
	return nil
}
