package store

import (
	"context"
	"database/sql/driver"
	"regexp"

	"modernc.org/sqlite"
)

// keptStatements is how many statements a connection keeps at most: more than there are texts.
const keptStatements = 256

// limits are what SQLite, from 3.47 on, looks at while it compiles: a statement whose LIMIT is a bare parameter it compiles
// again whenever that is bound.
var limits = regexp.MustCompile(`\b(LIMIT|OFFSET) (\$\d+)`)

// keepable are the statements that are kept. A setting (PRAGMA) may take effect when it is compiled, and would not a second
// time.
var keepable = regexp.MustCompile(`^(?:\s|--[^\n]*\n)*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b`)

// A connector opens connections to a SQLite file that keep the statements they have compiled: to compile one takes longer
// than to find a row, or to change it.
type connector struct{ dsn string }

func (c connector) Driver() driver.Driver { return &sqlite.Driver{} }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	return &keepingConn{sqliteConn: conn.(sqliteConn), kept: map[string]sqliteStmt{}}, nil
}

// sqliteConn and sqliteStmt are what a connection and a statement of the driver can do, without the shortcuts by which
// database/sql would pass by PrepareContext.
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

// A keepingConn is used by one goroutine at a time, as database/sql promises.
type keepingConn struct {
	sqliteConn
	kept map[string]sqliteStmt // by text; those in use are not among them
}

// PrepareContext takes a statement out of those that are kept, or compiles it.
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

// Close closes the statements that are kept, and the connection. Those in use database/sql closes before.
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

// Close puts the statement back, unless there is one of its text already or there are enough.
func (s *keptStmt) Close() error {
	if _, there := s.conn.kept[s.query]; there || s.conn.kept == nil || len(s.conn.kept) >= keptStatements {
		return s.sqliteStmt.Close()
	}
	s.conn.kept[s.query] = s.sqliteStmt
	return nil
}
