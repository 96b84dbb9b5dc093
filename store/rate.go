package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// ratesTable is the table of request counts. It exists only on PostgreSQL, because SQLite serves a single process, which counts in memory.
// The table is unlogged: a crash of the database may lose counts, and writing them to the disk would be expensive. The fill factor leaves
// room in each page to update rows in place.
const ratesTable = `CREATE UNLOGGED TABLE IF NOT EXISTS rates (
    key      TEXT   NOT NULL PRIMARY KEY,
    period   BIGINT NOT NULL, -- the number of the last period in which something was counted
    current  BIGINT NOT NULL, -- what was counted in it
    previous BIGINT NOT NULL  -- and in the one before
) WITH (fillfactor = 50)`

// The counts of a row in period $2. If a clock that is ahead wrote a later period, its counts are those of now.
const (
	ratesCurrent  = `(CASE WHEN r.period >= $2 THEN r.current ELSE 0 END)`
	ratesPrevious = `(CASE WHEN r.period >= $2 THEN r.previous WHEN r.period = $2 - 1 THEN r.current ELSE 0 END)`
	ratesLeft     = `(CASE WHEN r.period > $2 THEN $4::bigint ELSE $5::bigint END)`
)

// The parameters are $1 key, $2 period, $3 limit, $4 length of a period, and $5 time left in this period. The row is locked before the
// condition is evaluated. If the condition is false, no row is returned.
var countRate = `
INSERT INTO rates AS r (key, period, current, previous) VALUES ($1, $2::bigint, 1, 0)
ON CONFLICT (key) DO UPDATE SET
    period = GREATEST(r.period, $2), current = ` + ratesCurrent + ` + 1, previous = ` + ratesPrevious + `
WHERE ` + ratesPrevious + ` * ` + ratesLeft + ` <= ($3::bigint - ` + ratesCurrent + ` - 1) * $4::bigint
RETURNING current, previous`

var readRate = `SELECT ` + ratesCurrent + `, ` + ratesPrevious + ` FROM rates r WHERE key = $1`

// sweepRates skips rows that are locked, because a row that is being updated is not old.
const sweepRates = `DELETE FROM rates WHERE key IN (SELECT key FROM rates WHERE period < $1 FOR UPDATE SKIP LOCKED)`

// A RateCounter counts events by key, for all processes that share a PostgreSQL database. The interface of the same name in package server
// describes its contract.
type RateCounter struct {
	db     *DB
	period time.Duration
	swept  atomic.Int64 // the last period in which old rows were removed
}

// NewRateCounter returns a counter with the given period on a PostgreSQL database.
func NewRateCounter(db *DB, period time.Duration) *RateCounter {
	return &RateCounter{db: db, period: period}
}

// Count adds one to the count of a key unless that would exceed limit. It runs one statement, or two if the limit is reached.
func (c *RateCounter) Count(ctx context.Context, key string, limit int, now time.Time) (counted bool, current, previous int, err error) {
	micros := c.period.Microseconds()
	period, left := now.UnixMicro()/micros, micros-now.UnixMicro()%micros
	c.sweep(ctx, period)
	row := c.db.writer.QueryRowContext(ctx, countRate, key, period, limit, micros, left)
	switch err := row.Scan(&current, &previous); {
	case err == nil:
		return true, current, previous, nil
	case !errors.Is(err, sql.ErrNoRows):
		return false, 0, 0, fmt.Errorf("count %s: %w", key, err)
	}
	if err := c.db.writer.QueryRowContext(ctx, readRate, key, period).Scan(&current, &previous); err != nil {
		return false, 0, 0, fmt.Errorf("read the count of %s: %w", key, err)
	}
	return false, current, previous, nil
}

// sweep removes outdated rows, once per period.
func (c *RateCounter) sweep(ctx context.Context, period int64) {
	last := c.swept.Load()
	if period <= last || !c.swept.CompareAndSwap(last, period) {
		return
	}
	if _, err := c.db.writer.ExecContext(ctx, sweepRates, period-1); err != nil {
		c.db.log.WarnContext(ctx, "old counts of requests are not removed", "error", err) // the next sweep removes them
	}
}
